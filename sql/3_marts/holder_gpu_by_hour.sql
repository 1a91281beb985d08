-- grain: pod x GPU or MIG instance x hour of holding; used + idle + unknown = held
-- materialized: view
select
    holder.cluster_id,
    holder.namespace,
    holder.workload_kind,
    holder.workload_name,
    holder.pod,
    holder.pod_uid,
    holder.node,
    node.pool,
    holder.resource,
    holder.mig_profile,
    holder.gpu_uuid,
    holder.mig_instance_id,
    holder.attribution,
    hour.hour_start,
    hour.held_gpu_hours,
    hour.observed_gpu_hours - hour.idle_gpu_hours as used_gpu_hours,
    hour.idle_gpu_hours,
    hour.held_gpu_hours - hour.observed_gpu_hours as unknown_gpu_hours,
    hour.observed_buckets,
    hour.idle_buckets,
    hour.is_stuck,
    hour.telemetry_level,
    hour.activity_max,
    hour.sm_active_ratio_max,
    hour.memory_used_gib_max,
    hour.memory_total_gib
from int_holder_hour as hour
inner join int_holder_pod as holder
    on hour.holder_number = holder.holder_number
left join stg_node as node
    on
        holder.cluster_id = node.cluster_id
        and holder.node = node.node
