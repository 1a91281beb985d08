-- grain: holder (row of gpu_holder) x hour of holding
with hours as (
    select
        holder.holder_number,
        holder.cluster_id,
        holder.node,
        holder.gpu_uuid,
        holder.mig_instance_id,
        holder.devices,
        holder.held_from,
        holder.held_to,
        explode(sequence(
            date_trunc('hour', holder.held_from),
            date_trunc('hour', holder.held_to - interval '1 microsecond'),
            interval '1 hour'
        )) as hour_start
    from gpu_holder as holder
    where holder.held_to > holder.held_from
),

claimed as (
    select
        hours.holder_number,
        hours.cluster_id,
        hours.node,
        hours.gpu_uuid,
        hours.mig_instance_id,
        hours.hour_start,
        hours.devices
        * (
            unix_timestamp(least(hours.held_to, hours.hour_start + interval '1 hour'))
            - unix_timestamp(greatest(hours.held_from, hours.hour_start))
        ) / 3600e0 as claimed_gpu_hours
    from hours
),

claimed_node as (
    select
        claimed.cluster_id,
        claimed.node,
        claimed.hour_start,
        sum(claimed.claimed_gpu_hours) as claimed_gpu_hours
    from claimed
    group by
        claimed.cluster_id,
        claimed.node,
        claimed.hour_start
),

fitted as (
    -- one pod follows another, and each is known to the nearest scrape: together they hold what there is, no more
    select
        claimed_node.cluster_id,
        claimed_node.node,
        claimed_node.hour_start,
        node.alive_hours,
        case
            when claimed_node.claimed_gpu_hours > node.gpu_count * node.alive_hours
                then node.gpu_count * node.alive_hours / claimed_node.claimed_gpu_hours
            else 1e0
        end as fitting_ratio
    from claimed_node
    left join int_node_hour as node
        on
            claimed_node.cluster_id = node.cluster_id
            and claimed_node.node = node.node
            and claimed_node.hour_start = node.hour_start
),

seen as (
    select
        claimed.holder_number,
        claimed.cluster_id,
        claimed.node,
        claimed.gpu_uuid,
        claimed.hour_start,
        claimed.claimed_gpu_hours,
        claimed.claimed_gpu_hours * fitted.fitting_ratio as held_gpu_hours,
        case
            when gpu.observed_buckets > 0 then least(1e0, gpu.observed_buckets / (12e0 * fitted.alive_hours))
            else 0e0
        end as observed_ratio,
        case
            when gpu.observed_buckets > 0 then gpu.idle_buckets / cast(gpu.observed_buckets as double)
            else 0e0
        end as idle_ratio,
        gpu.observed_buckets,
        gpu.idle_buckets,
        gpu.is_stuck,
        gpu.telemetry_level,
        gpu.activity_max,
        gpu.sm_active_ratio_max,
        gpu.memory_used_gib_max,
        gpu.memory_total_gib
    from claimed
    inner join fitted
        on
            claimed.cluster_id = fitted.cluster_id
            and claimed.node = fitted.node
            and claimed.hour_start = fitted.hour_start
    left join int_gpu_hour as gpu
        on
            claimed.cluster_id = gpu.cluster_id
            and claimed.gpu_uuid = gpu.gpu_uuid
            and claimed.mig_instance_id = gpu.mig_instance_id
            and claimed.hour_start = gpu.hour_start
)

select
    seen.holder_number,
    seen.cluster_id,
    seen.node,
    seen.gpu_uuid,
    seen.hour_start,
    seen.claimed_gpu_hours,
    seen.held_gpu_hours,
    seen.held_gpu_hours * seen.observed_ratio as observed_gpu_hours,
    seen.held_gpu_hours * seen.observed_ratio * seen.idle_ratio as idle_gpu_hours,
    seen.observed_buckets,
    seen.idle_buckets,
    seen.is_stuck,
    seen.telemetry_level,
    seen.activity_max,
    seen.sm_active_ratio_max,
    seen.memory_used_gib_max,
    seen.memory_total_gib
from seen
