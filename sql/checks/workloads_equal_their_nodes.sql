-- promise: what workloads cost is the workload part of their nodes, to 0.000001 USD a node and day
with by_node as (
    select
        date_trunc('day', cost.hour_start) as day_start,
        cost.cluster_id,
        count(distinct cost.node) as nodes,
        sum(cost.workload_usd) as usd
    from cost_by_node_hour as cost
    group by
        date_trunc('day', cost.hour_start),
        cost.cluster_id
),

by_workload as (
    select
        cost.day_start,
        cost.cluster_id,
        sum(cost.effective_usd) as usd
    from cost_by_workload_day as cost
    group by
        cost.day_start,
        cost.cluster_id
)

select
    'cluster ' || by_node.cluster_id || ', ' || cast(cast(by_node.day_start as date) as varchar(10))
    || ': nodes charge their workloads ' || cast(by_node.usd as varchar(64)) || ' USD, workloads sum to '
    || case when by_workload.usd is null then 'nothing' else cast(by_workload.usd as varchar(64)) end as message
from by_node
left join by_workload
    on
        by_node.cluster_id = by_workload.cluster_id
        and by_node.day_start = by_workload.day_start
where
    abs(by_node.usd - case when by_workload.usd is null then cast(0 as decimal(38, 15)) else by_workload.usd end)
    > cast('0.000001' as decimal(38, 15)) * by_node.nodes
