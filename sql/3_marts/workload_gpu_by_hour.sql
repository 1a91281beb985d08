-- grain: workload x hour in which it held GPUs; used + idle + unknown = allocated
select
    holder.cluster_id,
    holder.namespace,
    pod.workload_kind,
    pod.workload_name,
    pod.team,
    pod.workload_class,
    holder.hour_start,
    sum(holder.held_gpu_hours) as allocated_gpu_hours,
    sum(holder.observed_gpu_hours - holder.idle_gpu_hours) as used_gpu_hours,
    sum(holder.idle_gpu_hours) as idle_gpu_hours,
    sum(holder.held_gpu_hours - holder.observed_gpu_hours) as unknown_gpu_hours,
    max(holder.sm_active_ratio_max) as sm_active_ratio_max,
    max(holder.memory_used_gib_max) as memory_used_gib_max
from int_holder_hour as holder
inner join int_pod as pod
    on
        holder.cluster_id = pod.cluster_id
        and holder.pod_uid = pod.pod_uid
group by
    holder.cluster_id,
    holder.namespace,
    pod.workload_kind,
    pod.workload_name,
    pod.team,
    pod.workload_class,
    holder.hour_start
