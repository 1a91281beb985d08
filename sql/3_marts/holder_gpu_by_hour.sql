-- grain: pod x GPU or MIG instance x hour of holding; used + idle + unknown = held
-- materialized: view
select
    holder.cluster_id,
    holder.namespace,
    pod.workload_kind,
    pod.workload_name,
    holder.pod,
    holder.pod_uid,
    holder.node,
    node.pool,
    holder.resource,
    holder.mig_profile,
    holder.gpu_uuid,
    holder.mig_instance_id,
    holder.attribution,
    holder.hour_start,
    holder.held_gpu_hours,
    holder.observed_gpu_hours - holder.idle_gpu_hours as used_gpu_hours,
    holder.idle_gpu_hours,
    holder.held_gpu_hours - holder.observed_gpu_hours as unknown_gpu_hours,
    holder.observed_buckets,
    holder.idle_buckets,
    holder.is_stuck,
    holder.telemetry_level,
    holder.activity_max,
    holder.sm_active_ratio_max,
    holder.gr_engine_active_ratio_max,
    holder.memory_used_gib_max,
    holder.memory_total_gib
from int_holder_hour as holder
inner join int_pod as pod
    on
        holder.cluster_id = pod.cluster_id
        and holder.pod_uid = pod.pod_uid
left join stg_node as node
    on
        holder.cluster_id = node.cluster_id
        and holder.node = node.node
