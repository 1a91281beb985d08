-- grain: node with GPUs alive at the end of the window
with billed as (
    select
        cost.cluster_id,
        cost.node,
        count(*) as billed_hours
    from int_node_cost_hour as cost
    group by
        cost.cluster_id,
        cost.node
)

select
    node.cluster_id,
    node.node,
    node.resource_key,
    node.pool,
    node.instance_type,
    node.region,
    node.zone,
    node.capacity_type,
    node.gpu_model,
    node.gpu_count,
    node.gpu_replicas,
    node.sharing,
    node.mig_strategy,
    node.vcpu,
    node.memory_gib,
    billed.billed_hours is not null as is_billed,
    node.alive_since
from stg_node as node
cross join run_window
left join billed
    on
        node.cluster_id = billed.cluster_id
        and node.node = billed.node
where
    node.gpu_count > 0
    and node.alive_until >= run_window.window_end - interval '1 hour'
