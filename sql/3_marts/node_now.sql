-- grain: node with GPUs that the newest inventory of its cluster still saw
with inventory as (
    select
        node.cluster_id,
        max(node.alive_until) as inventory_until
    from stg_node as node
    group by node.cluster_id
),

billed as (
    select
        cost.cluster_id,
        cost.node,
        count(*) as billed_hours
    from int_node_cost_hour as cost
    group by
        cost.cluster_id,
        cost.node
),

gpu_pod as (
    select distinct
        holder.cluster_id,
        holder.pod_uid
    from gpu_holder as holder
),

seen_pod as (
    -- also pods that ask for nothing: they run somewhere all the same
    select
        pod.cluster_id,
        pod.node,
        pod.pod_uid,
        max(pod.valid_to) as valid_to,
        max(case when pod.is_daemon or pod.namespace = 'kube-system' then 1 else 0 end) as shared
    from raw.pod as pod
    cross join run_window
    where
        pod.node is not null
        and pod.valid_from < run_window.window_end
        and pod.valid_to > run_window.window_start
    group by
        pod.cluster_id,
        pod.node,
        pod.pod_uid
),

pod_asked as (
    select
        request.cluster_id,
        request.node,
        request.pod_uid,
        max(request.valid_to) as valid_to,
        sum(case when request.resource = 'cpu' then request.quantity else 0e0 end) as vcpu,
        sum(case when request.resource = 'memory' then request.quantity else 0e0 end) as memory_gib
    from stg_container_request as request
    group by
        request.cluster_id,
        request.node,
        request.pod_uid
),

every_pod as (
    select
        seen_pod.cluster_id,
        seen_pod.node,
        seen_pod.pod_uid,
        seen_pod.valid_to,
        seen_pod.shared
    from seen_pod
    union all
    select
        pod_asked.cluster_id,
        pod_asked.node,
        pod_asked.pod_uid,
        pod_asked.valid_to,
        case when pod.is_shared then 1 else 0 end as shared
    from pod_asked
    inner join int_pod as pod
        on
            pod_asked.cluster_id = pod.cluster_id
            and pod_asked.pod_uid = pod.pod_uid
),

running_pod as (
    select
        every_pod.cluster_id,
        every_pod.node,
        every_pod.pod_uid,
        max(every_pod.shared) as shared
    from every_pod
    inner join inventory
        on every_pod.cluster_id = inventory.cluster_id
    where every_pod.valid_to >= inventory.inventory_until - interval '5 minutes'
    group by
        every_pod.cluster_id,
        every_pod.node,
        every_pod.pod_uid
),

other as (
    select
        running_pod.cluster_id,
        running_pod.node,
        count(*) as other_pods,
        sum(pod_asked.vcpu) as other_vcpu,
        sum(pod_asked.memory_gib) as other_memory_gib
    from running_pod
    left join gpu_pod
        on
            running_pod.cluster_id = gpu_pod.cluster_id
            and running_pod.pod_uid = gpu_pod.pod_uid
    left join pod_asked
        on
            running_pod.cluster_id = pod_asked.cluster_id
            and running_pod.pod_uid = pod_asked.pod_uid
            and running_pod.node = pod_asked.node
    where
        running_pod.shared = 0
        and gpu_pod.pod_uid is null
    group by
        running_pod.cluster_id,
        running_pod.node
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
    case when other.other_pods is null then 0 else other.other_pods end as other_pods,
    case when other.other_vcpu is null then 0e0 else other.other_vcpu end as other_vcpu,
    case when other.other_memory_gib is null then 0e0 else other.other_memory_gib end as other_memory_gib,
    unheld.unheld_gpu_hours,
    unheld.unheld_observed_ratio,
    unheld.unheld_activity_max,
    unheld.unheld_memory_gib,
    billed.billed_hours is not null as is_billed,
    -- the machine, not the name, which may have been another's before
    case when machine.alive_since is null then node.first_seen else machine.alive_since end as alive_since
from stg_node as node
inner join inventory
    on node.cluster_id = inventory.cluster_id
left join stg_node_machine as machine
    on
        node.cluster_id = machine.cluster_id
        and node.node = machine.node
        and node.resource_key = machine.resource_key
left join billed
    on
        node.cluster_id = billed.cluster_id
        and node.node = billed.node
left join other
    on
        node.cluster_id = other.cluster_id
        and node.node = other.node
left join int_node_unheld as unheld
    on
        node.cluster_id = unheld.cluster_id
        and node.node = unheld.node
where
    node.gpu_count > 0
    and node.alive_until >= inventory.inventory_until - interval '1 hour'
