-- promise: workload + shared + idle + unattributed of a node and day equal its bill, to 0.000001 USD
with days as (
    select
        cost.cluster_id,
        cost.node,
        date_trunc('day', cost.hour_start) as day_start,
        sum(cost.effective_usd) as effective_usd,
        sum(cost.rounding_usd) as rounding_usd
    from cost_by_node_hour as cost
    group by
        cost.cluster_id,
        cost.node,
        date_trunc('day', cost.hour_start)
)

select
    'node ' || days.cluster_id || '/' || days.node || ', ' || cast(cast(days.day_start as date) as varchar(10))
    || ': bill ' || cast(days.effective_usd as varchar(64)) || ' USD, parts differ by '
    || cast(days.rounding_usd as varchar(64)) || ' USD' as message
from days
where abs(days.rounding_usd) > cast('0.000001' as decimal(38, 15))
