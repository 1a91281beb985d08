-- promise: no part of a positive charge is negative, nor the other way round
select
    'node ' || cost.cluster_id || '/' || cost.node || ', ' || cast(cost.hour_start as varchar(32))
    || ': bill ' || cast(cost.effective_usd as varchar(64)) || ' USD, a part is of the other sign' as message
from cost_by_node_hour as cost
where
    (cost.effective_usd >= 0 and least(cost.workload_usd, cost.shared_usd, cost.idle_usd, cost.unattributed_usd) < 0)
    or (
        cost.effective_usd < 0
        and greatest(cost.workload_usd, cost.shared_usd, cost.idle_usd, cost.unattributed_usd) > 0
    )
