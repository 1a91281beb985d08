-- grain: node x hour with charges; the parts add up to effective_usd, rounding at most 0.000001 USD a day
with parts as (
    select
        cost.cluster_id,
        cost.node,
        node.pool,
        cost.hour_start,
        cost.effective_usd,
        cost.billed_usd,
        cost.list_usd,
        cost.contracted_usd,
        case
            when part.workload_ratio is null then cast(0 as decimal(38, 15))
            else cast(cost.effective_usd * part.workload_ratio as decimal(38, 15))
        end as workload_usd,
        case
            when part.shared_ratio is null then cast(0 as decimal(38, 15))
            else cast(cost.effective_usd * part.shared_ratio as decimal(38, 15))
        end as shared_usd,
        case
            when part.idle_ratio is null then cast(0 as decimal(38, 15))
            else cast(cost.effective_usd * part.idle_ratio as decimal(38, 15))
        end as idle_usd,
        case
            -- no inventory saw this machine in that hour, or nobody can say how its cost splits
            when part.unattributed_ratio is null then cast(cost.effective_usd as decimal(38, 15))
            else cast(cost.effective_usd * part.unattributed_ratio as decimal(38, 15))
        end as unattributed_usd
    from int_node_cost_hour as cost
    inner join stg_node as node
        on
            cost.cluster_id = node.cluster_id
            and cost.node = node.node
    left join int_node_parts_hour as part
        on
            cost.cluster_id = part.cluster_id
            and cost.node = part.node
            and cost.hour_start = part.hour_start
)

select
    parts.cluster_id,
    parts.node,
    parts.pool,
    parts.hour_start,
    parts.effective_usd,
    parts.billed_usd,
    parts.list_usd,
    parts.contracted_usd,
    parts.workload_usd,
    parts.shared_usd,
    parts.idle_usd,
    parts.unattributed_usd,
    parts.effective_usd - parts.workload_usd - parts.shared_usd - parts.idle_usd - parts.unattributed_usd
        as rounding_usd
from parts
