-- grain: GPU node x day; GPU-hours that existed, that telemetry saw, and how well
with existed as (
    select
        node.cluster_id,
        node.node,
        date_trunc('day', node.hour_start) as day_start,
        sum(node.alive_hours * attribute.gpu_count) as gpu_hours
    from int_node_hour as node
    inner join stg_node as attribute
        on
            node.cluster_id = attribute.cluster_id
            and node.node = attribute.node
    where attribute.gpu_count > 0
    group by
        node.cluster_id,
        node.node,
        date_trunc('day', node.hour_start)
),

device_hour as (
    select
        gpu.cluster_id,
        gpu.node,
        gpu.gpu_uuid,
        gpu.hour_start,
        max(gpu.observed_buckets) as observed_buckets,
        max(gpu.telemetry_level) as telemetry_level,
        max(case when gpu.is_stuck then 1 else 0 end) as stuck_hours
    from gpu_by_hour as gpu
    group by
        gpu.cluster_id,
        gpu.node,
        gpu.gpu_uuid,
        gpu.hour_start
),

seen as (
    select
        device_hour.cluster_id,
        device_hour.node,
        date_trunc('day', device_hour.hour_start) as day_start,
        sum(device_hour.observed_buckets) / 12e0 as observed_gpu_hours,
        max(device_hour.telemetry_level) as telemetry_level,
        sum(device_hour.stuck_hours) as stuck_gpu_hours
    from device_hour
    group by
        device_hour.cluster_id,
        device_hour.node,
        date_trunc('day', device_hour.hour_start)
)

select
    existed.cluster_id,
    existed.node,
    attribute.gpu_model,
    existed.day_start,
    existed.gpu_hours,
    seen.observed_gpu_hours,
    seen.stuck_gpu_hours,
    case when seen.telemetry_level is null then 0 else seen.telemetry_level end as telemetry_level
from existed
inner join stg_node as attribute
    on
        existed.cluster_id = attribute.cluster_id
        and existed.node = attribute.node
left join seen
    on
        existed.cluster_id = seen.cluster_id
        and existed.node = seen.node
        and existed.day_start = seen.day_start
