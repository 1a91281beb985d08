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
),

other_pod as (
    -- work that asks for no GPU and would have to go somewhere else
    select
        request.cluster_id,
        request.node,
        count(distinct request.pod_uid) as other_pods
    from stg_container_request as request
    cross join run_window
    inner join int_pod as pod
        on
            request.cluster_id = pod.cluster_id
            and request.pod_uid = pod.pod_uid
    left join int_gpu_request as gpu
        on
            request.cluster_id = gpu.cluster_id
            and request.pod_uid = gpu.pod_uid
    where
        request.valid_to >= run_window.window_end - interval '1 hour'
        and not pod.is_shared
        and gpu.pod_uid is null
    group by
        request.cluster_id,
        request.node
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
    node.labels,
    case when other_pod.other_pods is null then 0 else other_pod.other_pods end as other_pods,
    billed.billed_hours is not null as is_billed,
    node.alive_since
from stg_node as node
cross join run_window
left join billed
    on
        node.cluster_id = billed.cluster_id
        and node.node = billed.node
left join other_pod
    on
        node.cluster_id = other_pod.cluster_id
        and node.node = other_pod.node
where
    node.gpu_count > 0
    and node.alive_until >= run_window.window_end - interval '1 hour'
