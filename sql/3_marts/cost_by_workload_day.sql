-- grain: workload x day; effective_usd is what it held, idle_usd and unknown_usd are parts of that
with gpu_cost as (
    select
        holder.holder_number,
        date_trunc('day', holder.hour_start) as day_start,
        sum(cast(cost.effective_usd * holder.held_gpu_hours * part.ratio_per_gpu_hour as decimal(38, 15)))
            as gpu_usd,
        sum(cast(cost.effective_usd * holder.idle_gpu_hours * part.ratio_per_gpu_hour as decimal(38, 15)))
            as idle_usd,
        sum(
            cast(
                cost.effective_usd * (holder.held_gpu_hours - holder.observed_gpu_hours) * part.ratio_per_gpu_hour
                as decimal(38, 15)
            )
        ) as unknown_usd,
        sum(cast(cost.billed_usd * holder.held_gpu_hours * part.ratio_per_gpu_hour as decimal(38, 15)))
            as billed_usd,
        sum(cast(cost.list_usd * holder.held_gpu_hours * part.ratio_per_gpu_hour as decimal(38, 15))) as list_usd,
        sum(holder.held_gpu_hours) as gpu_hours,
        sum(holder.idle_gpu_hours) as idle_gpu_hours,
        sum(holder.held_gpu_hours - holder.observed_gpu_hours) as unknown_gpu_hours,
        -- hours held on machines no bill names: their dollars are unknown, not zero
        sum(case when cost.effective_usd is null then holder.held_gpu_hours else 0e0 end) as unpriced_gpu_hours
    from int_holder_hour as holder
    left join int_node_cost_hour as cost
        on
            holder.cluster_id = cost.cluster_id
            and holder.node = cost.node
            and holder.hour_start = cost.hour_start
    left join int_node_parts_hour as part
        on
            holder.cluster_id = part.cluster_id
            and holder.node = part.node
            and holder.hour_start = part.hour_start
    group by
        holder.holder_number,
        date_trunc('day', holder.hour_start)
),

host_cost as (
    select
        pod_hour.cluster_id,
        pod_hour.pod_uid,
        date_trunc('day', pod_hour.hour_start) as day_start,
        sum(cast(cost.effective_usd * pod_hour.vcpu_hours * part.ratio_per_vcpu_hour as decimal(38, 15)))
            as cpu_usd,
        sum(
            cast(cost.effective_usd * pod_hour.memory_gib_hours * part.ratio_per_memory_gib_hour as decimal(38, 15))
        ) as memory_usd,
        sum(
            cast(
                cost.billed_usd * (
                    pod_hour.vcpu_hours * part.ratio_per_vcpu_hour
                    + pod_hour.memory_gib_hours * part.ratio_per_memory_gib_hour
                ) as decimal(38, 15)
            )
        ) as billed_usd,
        sum(
            cast(
                cost.list_usd * (
                    pod_hour.vcpu_hours * part.ratio_per_vcpu_hour
                    + pod_hour.memory_gib_hours * part.ratio_per_memory_gib_hour
                ) as decimal(38, 15)
            )
        ) as list_usd
    from int_pod_hour as pod_hour
    inner join int_node_cost_hour as cost
        on
            pod_hour.cluster_id = cost.cluster_id
            and pod_hour.node = cost.node
            and pod_hour.hour_start = cost.hour_start
    inner join int_node_parts_hour as part
        on
            pod_hour.cluster_id = part.cluster_id
            and pod_hour.node = part.node
            and pod_hour.hour_start = part.hour_start
    group by
        pod_hour.cluster_id,
        pod_hour.pod_uid,
        date_trunc('day', pod_hour.hour_start)
),

pod_day as (
    select
        holder.cluster_id,
        holder.pod_uid,
        gpu_cost.day_start,
        gpu_cost.gpu_usd,
        cast(null as decimal(38, 15)) as cpu_usd,
        cast(null as decimal(38, 15)) as memory_usd,
        gpu_cost.idle_usd,
        gpu_cost.unknown_usd,
        gpu_cost.billed_usd,
        gpu_cost.list_usd,
        gpu_cost.gpu_hours,
        gpu_cost.idle_gpu_hours,
        gpu_cost.unknown_gpu_hours,
        gpu_cost.unpriced_gpu_hours
    from gpu_cost
    inner join gpu_holder as holder
        on gpu_cost.holder_number = holder.holder_number
    union all
    select
        host_cost.cluster_id,
        host_cost.pod_uid,
        host_cost.day_start,
        cast(null as decimal(38, 15)) as gpu_usd,
        host_cost.cpu_usd,
        host_cost.memory_usd,
        cast(null as decimal(38, 15)) as idle_usd,
        cast(null as decimal(38, 15)) as unknown_usd,
        host_cost.billed_usd,
        host_cost.list_usd,
        0e0 as gpu_hours,
        0e0 as idle_gpu_hours,
        0e0 as unknown_gpu_hours,
        0e0 as unpriced_gpu_hours
    from host_cost
),

workload_day as (
    select
        pod_day.cluster_id,
        pod.namespace,
        pod.workload_kind,
        pod.workload_name,
        pod.team,
        pod.workload_class,
        pod_day.day_start,
        sum(pod_day.gpu_usd) as gpu_usd,
        sum(pod_day.cpu_usd) as cpu_usd,
        sum(pod_day.memory_usd) as memory_usd,
        sum(pod_day.idle_usd) as idle_usd,
        sum(pod_day.unknown_usd) as unknown_usd,
        sum(pod_day.billed_usd) as billed_usd,
        sum(pod_day.list_usd) as list_usd,
        sum(pod_day.gpu_hours) as gpu_hours,
        sum(pod_day.idle_gpu_hours) as idle_gpu_hours,
        sum(pod_day.unknown_gpu_hours) as unknown_gpu_hours,
        sum(pod_day.unpriced_gpu_hours) as unpriced_gpu_hours
    from pod_day
    inner join int_pod as pod
        on
            pod_day.cluster_id = pod.cluster_id
            and pod_day.pod_uid = pod.pod_uid
    where not pod.is_shared
    group by
        pod_day.cluster_id,
        pod.namespace,
        pod.workload_kind,
        pod.workload_name,
        pod.team,
        pod.workload_class,
        pod_day.day_start
)

select
    workload_day.cluster_id,
    workload_day.namespace,
    workload_day.workload_kind,
    workload_day.workload_name,
    workload_day.team,
    workload_day.workload_class,
    workload_day.day_start,
    -- what a workload did not hold costs it nothing; what no bill names stays unknown
    case
        when workload_day.gpu_usd is null
            then
                case
                    when workload_day.cpu_usd is null then workload_day.memory_usd
                    when workload_day.memory_usd is null then workload_day.cpu_usd
                    else workload_day.cpu_usd + workload_day.memory_usd
                end
        when workload_day.cpu_usd is null then workload_day.gpu_usd
        else workload_day.gpu_usd + workload_day.cpu_usd + workload_day.memory_usd
    end as effective_usd,
    workload_day.gpu_usd,
    workload_day.cpu_usd,
    workload_day.memory_usd,
    workload_day.idle_usd,
    workload_day.unknown_usd,
    workload_day.billed_usd,
    workload_day.list_usd,
    workload_day.gpu_hours,
    workload_day.idle_gpu_hours,
    workload_day.unknown_gpu_hours,
    workload_day.unpriced_gpu_hours
from workload_day
