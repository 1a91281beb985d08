-- grain: workload x day; effective_usd is what it held, idle_usd and unknown_usd are parts of that
with gpu_time as (
    select
        holder.cluster_id,
        holder.pod_uid,
        holder.node,
        holder.hour_start,
        sum(holder.held_gpu_hours) as gpu_hours,
        sum(holder.idle_gpu_hours) as idle_gpu_hours,
        sum(holder.held_gpu_hours - holder.observed_gpu_hours) as unknown_gpu_hours,
        cast(0 as double) as vcpu_hours,
        cast(0 as double) as memory_gib_hours
    from int_holder_hour as holder
    group by
        holder.cluster_id,
        holder.pod_uid,
        holder.node,
        holder.hour_start
),

pod_time as (
    select * from gpu_time
    union all
    select
        pod_hour.cluster_id,
        pod_hour.pod_uid,
        pod_hour.node,
        pod_hour.hour_start,
        cast(0 as double) as gpu_hours,
        cast(0 as double) as idle_gpu_hours,
        cast(0 as double) as unknown_gpu_hours,
        pod_hour.vcpu_hours,
        pod_hour.memory_gib_hours
    from int_pod_hour as pod_hour
),

workload_time as (
    select
        pod_time.cluster_id,
        pod_time.node,
        pod_time.hour_start,
        pod.namespace,
        pod.workload_kind,
        pod.workload_name,
        pod.team,
        pod.workload_class,
        sum(pod_time.gpu_hours) as gpu_hours,
        sum(pod_time.idle_gpu_hours) as idle_gpu_hours,
        sum(pod_time.unknown_gpu_hours) as unknown_gpu_hours,
        sum(pod_time.vcpu_hours) as vcpu_hours,
        sum(pod_time.memory_gib_hours) as memory_gib_hours
    from pod_time
    inner join int_pod as pod
        on
            pod_time.cluster_id = pod.cluster_id
            and pod_time.pod_uid = pod.pod_uid
    where not pod.is_shared
    group by
        pod_time.cluster_id,
        pod_time.node,
        pod_time.hour_start,
        pod.namespace,
        pod.workload_kind,
        pod.workload_name,
        pod.team,
        pod.workload_class
),

ratios as (
    select
        workload_time.*,
        cost.effective_usd as node_effective_usd,
        cost.billed_usd as node_billed_usd,
        cost.list_usd as node_list_usd,
        case
            when part.ratio_per_gpu_hour is null then 0e0
            else workload_time.gpu_hours * part.ratio_per_gpu_hour
        end as gpu_ratio,
        case
            when part.ratio_per_gpu_hour is null then 0e0
            else workload_time.idle_gpu_hours * part.ratio_per_gpu_hour
        end as idle_ratio,
        case
            when part.ratio_per_gpu_hour is null then 0e0
            else workload_time.unknown_gpu_hours * part.ratio_per_gpu_hour
        end as unknown_ratio,
        case
            when part.ratio_per_vcpu_hour is null then 0e0
            else workload_time.vcpu_hours * part.ratio_per_vcpu_hour
        end as vcpu_ratio,
        case
            when part.ratio_per_memory_gib_hour is null then 0e0
            else workload_time.memory_gib_hours * part.ratio_per_memory_gib_hour
        end as memory_ratio
    from workload_time
    left join int_node_cost_hour as cost
        on
            workload_time.cluster_id = cost.cluster_id
            and workload_time.node = cost.node
            and workload_time.hour_start = cost.hour_start
    left join int_node_parts_hour as part
        on
            workload_time.cluster_id = part.cluster_id
            and workload_time.node = part.node
            and workload_time.hour_start = part.hour_start
)

select
    ratios.cluster_id,
    ratios.namespace,
    ratios.workload_kind,
    ratios.workload_name,
    ratios.team,
    ratios.workload_class,
    date_trunc('day', ratios.hour_start) as day_start,
    sum(
        cast(
            ratios.node_effective_usd * (ratios.gpu_ratio + ratios.vcpu_ratio + ratios.memory_ratio)
            as decimal(38, 15)
        )
    ) as effective_usd,
    sum(cast(ratios.node_effective_usd * ratios.gpu_ratio as decimal(38, 15))) as gpu_usd,
    sum(cast(ratios.node_effective_usd * ratios.vcpu_ratio as decimal(38, 15))) as cpu_usd,
    sum(cast(ratios.node_effective_usd * ratios.memory_ratio as decimal(38, 15))) as memory_usd,
    sum(cast(ratios.node_effective_usd * ratios.idle_ratio as decimal(38, 15))) as idle_usd,
    sum(cast(ratios.node_effective_usd * ratios.unknown_ratio as decimal(38, 15))) as unknown_usd,
    sum(
        cast(
            ratios.node_billed_usd * (ratios.gpu_ratio + ratios.vcpu_ratio + ratios.memory_ratio)
            as decimal(38, 15)
        )
    ) as billed_usd,
    sum(
        cast(
            ratios.node_list_usd * (ratios.gpu_ratio + ratios.vcpu_ratio + ratios.memory_ratio)
            as decimal(38, 15)
        )
    ) as list_usd,
    sum(ratios.gpu_hours) as gpu_hours,
    sum(ratios.idle_gpu_hours) as idle_gpu_hours,
    sum(ratios.unknown_gpu_hours) as unknown_gpu_hours,
    -- hours held on machines no bill names: their dollars are unknown, not zero
    sum(case when ratios.node_effective_usd is null then ratios.gpu_hours else 0e0 end) as unpriced_gpu_hours
from ratios
group by
    ratios.cluster_id,
    ratios.namespace,
    ratios.workload_kind,
    ratios.workload_name,
    ratios.team,
    ratios.workload_class,
    date_trunc('day', ratios.hour_start)
