-- grain: GPU node; what its devices did in the last 14 days of the window while no pod held them
with span as (
    select
        greatest(run_window.window_start, run_window.window_end - interval '14 days') as span_start,
        run_window.window_end as span_end
    from run_window
),

held as (
    select distinct
        holder.cluster_id,
        holder.gpu_uuid,
        holder.hour_start
    from int_holder_hour as holder
    where holder.gpu_uuid is not null
),

unheld as (
    select
        gpu.cluster_id,
        gpu.node,
        gpu.gpu_uuid,
        gpu.hour_start,
        max(gpu.activity_max) as activity_max,
        max(gpu.memory_used_gib_max) as memory_used_gib_max
    from int_gpu_hour as gpu
    cross join span
    left join held
        on
            gpu.cluster_id = held.cluster_id
            and gpu.gpu_uuid = held.gpu_uuid
            and gpu.hour_start = held.hour_start
    where
        gpu.hour_start >= span.span_start
        and gpu.hour_start < span.span_end
        and held.gpu_uuid is null
    group by
        gpu.cluster_id,
        gpu.node,
        gpu.gpu_uuid,
        gpu.hour_start
),

busiest as (
    select
        unheld.cluster_id,
        unheld.node,
        max(unheld.activity_max) as unheld_activity_max,
        max(unheld.memory_used_gib_max) as unheld_memory_gib
    from unheld
    group by
        unheld.cluster_id,
        unheld.node
),

time_unheld as (
    select
        idle.cluster_id,
        idle.node,
        sum(idle.idle_gpu_hours + idle.unseen_gpu_hours) as unheld_gpu_hours,
        sum(idle.idle_gpu_hours) as observed_gpu_hours
    from int_node_idle_hour as idle
    cross join span
    where
        idle.hour_start >= span.span_start
        and idle.hour_start < span.span_end
    group by
        idle.cluster_id,
        idle.node
)

select
    time_unheld.cluster_id,
    time_unheld.node,
    time_unheld.unheld_gpu_hours,
    case
        when time_unheld.unheld_gpu_hours > 0
            then time_unheld.observed_gpu_hours / time_unheld.unheld_gpu_hours
    end as unheld_observed_ratio,
    busiest.unheld_activity_max,
    busiest.unheld_memory_gib
from time_unheld
left join busiest
    on
        time_unheld.cluster_id = busiest.cluster_id
        and time_unheld.node = busiest.node
