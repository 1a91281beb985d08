-- grain: container x GPU or MIG instance x hour of holding
with hours as (
    select
        holder.*,
        explode(sequence(
            date_trunc('hour', holder.held_from),
            date_trunc('hour', holder.held_to - interval '1 microsecond'),
            interval '1 hour'
        )) as hour_start
    from gpu_holder as holder
    where holder.held_to > holder.held_from
),

held as (
    select
        hours.*,
        (
            unix_timestamp(least(hours.held_to, hours.hour_start + interval '1 hour'))
            - unix_timestamp(greatest(hours.held_from, hours.hour_start))
        ) / 3600e0 as span_hours
    from hours
)

select
    held.cluster_id,
    held.namespace,
    held.pod,
    held.pod_uid,
    held.container,
    held.node,
    held.resource,
    held.mig_profile,
    held.gpu_uuid,
    held.mig_instance_id,
    held.attribution,
    held.devices,
    held.hour_start,
    held.devices * held.span_hours as held_gpu_hours,
    held.devices * held.span_hours
    * case
        when gpu.observed_buckets > 0
            then least(1e0, gpu.observed_buckets / (12e0 * node.alive_hours))
        else 0e0
    end as observed_gpu_hours,
    held.devices * held.span_hours
    * case
        when gpu.observed_buckets > 0
            then least(1e0, gpu.observed_buckets / (12e0 * node.alive_hours))
                * gpu.idle_buckets / gpu.observed_buckets
        else 0e0
    end as idle_gpu_hours,
    gpu.observed_buckets,
    gpu.idle_buckets,
    gpu.is_stuck,
    gpu.telemetry_level,
    gpu.activity_max,
    gpu.sm_active_ratio_max,
    gpu.gr_engine_active_ratio_max,
    gpu.memory_used_gib_max,
    gpu.memory_total_gib
from held
left join int_gpu_hour as gpu
    on
        held.cluster_id = gpu.cluster_id
        and held.gpu_uuid = gpu.gpu_uuid
        and held.mig_instance_id = gpu.mig_instance_id
        and held.hour_start = gpu.hour_start
left join int_node_hour as node
    on
        held.cluster_id = node.cluster_id
        and held.node = node.node
        and held.hour_start = node.hour_start
