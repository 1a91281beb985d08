-- grain: workload x hour in which it held GPUs; used + idle + unknown = allocated
with numbered as (
    select
        holder.workload_number,
        hour.hour_start,
        sum(hour.held_gpu_hours) as allocated_gpu_hours,
        sum(hour.observed_gpu_hours - hour.idle_gpu_hours) as used_gpu_hours,
        sum(hour.idle_gpu_hours) as idle_gpu_hours,
        sum(hour.held_gpu_hours - hour.observed_gpu_hours) as unknown_gpu_hours,
        max(hour.sm_active_ratio_max) as sm_active_ratio_max,
        max(hour.memory_used_gib_max) as memory_used_gib_max
    from int_holder_hour as hour
    inner join int_holder_pod as holder
        on hour.holder_number = holder.holder_number
    group by
        holder.workload_number,
        hour.hour_start
),

named as (
    select distinct
        pod.workload_number,
        pod.cluster_id,
        pod.namespace,
        pod.workload_kind,
        pod.workload_name,
        pod.team,
        pod.workload_class
    from int_pod as pod
)

select
    named.cluster_id,
    named.namespace,
    named.workload_kind,
    named.workload_name,
    named.team,
    named.workload_class,
    numbered.hour_start,
    numbered.allocated_gpu_hours,
    numbered.used_gpu_hours,
    numbered.idle_gpu_hours,
    numbered.unknown_gpu_hours,
    numbered.sm_active_ratio_max,
    numbered.memory_used_gib_max
from numbered
inner join named
    on numbered.workload_number = named.workload_number
