-- grain: node x hour; shares of the node's hour by who held it: workloads, shared pods, nobody, unknown
with pod_hours as (
    select
        pod_hour.cluster_id,
        pod_hour.node,
        pod_hour.hour_start,
        sum(case when pod.is_shared then 0e0 else pod_hour.vcpu_hours end) as workload_vcpu_hours,
        sum(case when pod.is_shared then pod_hour.vcpu_hours else 0e0 end) as shared_vcpu_hours,
        sum(case when pod.is_shared then 0e0 else pod_hour.memory_gib_hours end) as workload_memory_gib_hours,
        sum(case when pod.is_shared then pod_hour.memory_gib_hours else 0e0 end) as shared_memory_gib_hours
    from int_pod_hour as pod_hour
    inner join int_pod as pod
        on
            pod_hour.cluster_id = pod.cluster_id
            and pod_hour.pod_uid = pod.pod_uid
    group by
        pod_hour.cluster_id,
        pod_hour.node,
        pod_hour.hour_start
),

held_by_shared as (
    select
        hour.cluster_id,
        hour.node,
        hour.hour_start,
        sum(case when holder.is_shared then hour.held_gpu_hours else 0e0 end) as shared_gpu_hours,
        sum(case when holder.is_shared then 0e0 else hour.held_gpu_hours end) as workload_gpu_hours
    from int_holder_hour as hour
    inner join int_holder_pod as holder
        on hour.holder_number = holder.holder_number
    group by
        hour.cluster_id,
        hour.node,
        hour.hour_start
),

joined as (
    select
        node.cluster_id,
        node.node,
        node.hour_start,
        share.gpu_ratio,
        share.vcpu_ratio,
        share.memory_ratio,
        gpu.device_hours,
        gpu.idle_gpu_hours,
        gpu.unseen_gpu_hours,
        -- requests known to the nearest scrape may overlap: together they hold what there is, no more
        greatest(node.vcpu * node.alive_hours, pods.workload_vcpu_hours + pods.shared_vcpu_hours) as node_vcpu_hours,
        greatest(
            node.memory_gib * node.alive_hours,
            pods.workload_memory_gib_hours + pods.shared_memory_gib_hours
        ) as node_memory_gib_hours,
        case when held.workload_gpu_hours is null then 0e0 else held.workload_gpu_hours end as workload_gpu_hours,
        case when held.shared_gpu_hours is null then 0e0 else held.shared_gpu_hours end as shared_gpu_hours,
        case when pods.workload_vcpu_hours is null then 0e0 else pods.workload_vcpu_hours end
            as workload_vcpu_hours,
        case when pods.shared_vcpu_hours is null then 0e0 else pods.shared_vcpu_hours end as shared_vcpu_hours,
        case when pods.workload_memory_gib_hours is null then 0e0 else pods.workload_memory_gib_hours end
            as workload_memory_gib_hours,
        case when pods.shared_memory_gib_hours is null then 0e0 else pods.shared_memory_gib_hours end
            as shared_memory_gib_hours
    from int_node_hour as node
    inner join int_node_share as share
        on
            node.cluster_id = share.cluster_id
            and node.node = share.node
    left join int_node_idle_hour as gpu
        on
            node.cluster_id = gpu.cluster_id
            and node.node = gpu.node
            and node.hour_start = gpu.hour_start
    left join held_by_shared as held
        on
            node.cluster_id = held.cluster_id
            and node.node = held.node
            and node.hour_start = held.hour_start
    left join pod_hours as pods
        on
            node.cluster_id = pods.cluster_id
            and node.node = pods.node
            and node.hour_start = pods.hour_start
    where node.alive_hours > 0
),

divided as (
    select
        joined.cluster_id,
        joined.node,
        joined.hour_start,
        -- dollars of the node's hour for each GPU-hour, vCPU-hour and GiB-hour held, as ratios of its cost
        case when joined.device_hours > 0 then joined.gpu_ratio / joined.device_hours end as ratio_per_gpu_hour,
        joined.vcpu_ratio / joined.node_vcpu_hours as ratio_per_vcpu_hour,
        joined.memory_ratio / joined.node_memory_gib_hours as ratio_per_memory_gib_hour,
        joined.workload_gpu_hours,
        joined.shared_gpu_hours,
        joined.idle_gpu_hours,
        joined.unseen_gpu_hours,
        joined.workload_vcpu_hours,
        joined.shared_vcpu_hours,
        joined.workload_memory_gib_hours,
        joined.shared_memory_gib_hours,
        greatest(0e0, joined.node_vcpu_hours - joined.workload_vcpu_hours - joined.shared_vcpu_hours)
            as free_vcpu_hours,
        greatest(
            0e0,
            joined.node_memory_gib_hours - joined.workload_memory_gib_hours - joined.shared_memory_gib_hours
        ) as free_memory_gib_hours
    from joined
)

select
    divided.cluster_id,
    divided.node,
    divided.hour_start,
    divided.ratio_per_gpu_hour,
    divided.ratio_per_vcpu_hour,
    divided.ratio_per_memory_gib_hour,
    case
        when divided.ratio_per_gpu_hour is not null then divided.workload_gpu_hours * divided.ratio_per_gpu_hour
        else 0e0
    end
    + divided.workload_vcpu_hours * divided.ratio_per_vcpu_hour
    + divided.workload_memory_gib_hours * divided.ratio_per_memory_gib_hour as workload_ratio,
    case
        when divided.ratio_per_gpu_hour is not null then divided.shared_gpu_hours * divided.ratio_per_gpu_hour
        else 0e0
    end
    + divided.shared_vcpu_hours * divided.ratio_per_vcpu_hour
    + divided.shared_memory_gib_hours * divided.ratio_per_memory_gib_hour as shared_ratio,
    case
        when divided.ratio_per_gpu_hour is not null then divided.idle_gpu_hours * divided.ratio_per_gpu_hour
        else 0e0
    end
    + divided.free_vcpu_hours * divided.ratio_per_vcpu_hour
    + divided.free_memory_gib_hours * divided.ratio_per_memory_gib_hour as idle_ratio,
    case
        when divided.ratio_per_gpu_hour is not null then divided.unseen_gpu_hours * divided.ratio_per_gpu_hour
        else 0e0
    end as unattributed_ratio
from divided
