-- grain: cluster x day; every GPU-hour that existed is used, idle, unallocated or unknown
with held as (
    select
        holder.cluster_id,
        holder.node,
        holder.hour_start,
        sum(holder.observed_gpu_hours - holder.idle_gpu_hours) as used_gpu_hours,
        sum(holder.idle_gpu_hours) as idle_gpu_hours,
        sum(holder.held_gpu_hours - holder.observed_gpu_hours) as unknown_gpu_hours
    from int_holder_hour as holder
    group by
        holder.cluster_id,
        holder.node,
        holder.hour_start
)

select
    node.cluster_id,
    date_trunc('day', node.hour_start) as day_start,
    sum(node.device_hours) as gpu_hours,
    sum(case when held.used_gpu_hours is null then 0e0 else held.used_gpu_hours end) as used_gpu_hours,
    sum(case when held.idle_gpu_hours is null then 0e0 else held.idle_gpu_hours end) as idle_gpu_hours,
    sum(node.idle_gpu_hours) as unallocated_gpu_hours,
    sum(case when held.unknown_gpu_hours is null then 0e0 else held.unknown_gpu_hours end + node.unseen_gpu_hours)
        as unknown_gpu_hours
from int_node_idle_hour as node
left join held
    on
        node.cluster_id = held.cluster_id
        and node.node = held.node
        and node.hour_start = held.hour_start
group by
    node.cluster_id,
    date_trunc('day', node.hour_start)
