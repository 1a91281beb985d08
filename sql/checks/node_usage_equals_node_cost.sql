-- promise: the usage that savings are priced on is the cost that is attributed, node by node
with used as (
    select
        usage.cluster_id,
        usage.node,
        sum(usage.effective_usd) as effective_usd,
        sum(usage.billed_usd) as billed_usd
    from node_usage_by_hour as usage
    group by
        usage.cluster_id,
        usage.node
),

attributed as (
    select
        cost.cluster_id,
        cost.node,
        sum(cost.effective_usd) as effective_usd,
        sum(cost.billed_usd) as billed_usd
    from cost_by_node_hour as cost
    group by
        cost.cluster_id,
        cost.node
)

select
    'node ' || attributed.cluster_id || '/' || attributed.node || ': attributed '
    || cast(attributed.effective_usd as varchar(64)) || ' USD, its usage says '
    || case when used.effective_usd is null then 'nothing' else cast(used.effective_usd as varchar(64)) end as message
from attributed
left join used
    on
        attributed.cluster_id = used.cluster_id
        and attributed.node = used.node
where
    used.effective_usd is null
    or used.effective_usd <> attributed.effective_usd
    or used.billed_usd <> attributed.billed_usd
