-- grain: GPU node x hour; GPU time that nobody held, told apart by whether telemetry saw it
with held_device as (
    select
        holder.cluster_id,
        holder.node,
        holder.gpu_uuid,
        holder.hour_start,
        sum(holder.held_gpu_hours) as held_gpu_hours
    from int_holder_hour as holder
    where holder.gpu_uuid is not null
    group by
        holder.cluster_id,
        holder.node,
        holder.gpu_uuid,
        holder.hour_start
),

held_node as (
    select
        holder.cluster_id,
        holder.node,
        holder.hour_start,
        sum(holder.held_gpu_hours) as held_gpu_hours,
        sum(holder.claimed_gpu_hours) as claimed_gpu_hours,
        max(case when holder.claimed_gpu_hours is null then 1 else 0 end) as unknown_shares
    from int_holder_hour as holder
    group by
        holder.cluster_id,
        holder.node,
        holder.hour_start
),

roomy as (
    -- most hours of most nodes are held whole: only the others need a look at each device
    select
        node.cluster_id,
        node.node,
        node.hour_start,
        node.alive_hours
    from int_node_hour as node
    left join held_node as held
        on
            node.cluster_id = held.cluster_id
            and node.node = held.node
            and node.hour_start = held.hour_start
    where
        held.held_gpu_hours is null
        or held.held_gpu_hours < node.gpu_count * node.alive_hours - 1e-9
),

seen_device as (
    select
        gpu.cluster_id,
        gpu.node,
        gpu.gpu_uuid,
        gpu.hour_start,
        max(gpu.observed_buckets) as observed_buckets,
        max(roomy.alive_hours) as alive_hours
    from int_gpu_hour as gpu
    inner join roomy
        on
            gpu.cluster_id = roomy.cluster_id
            and gpu.node = roomy.node
            and gpu.hour_start = roomy.hour_start
    group by
        gpu.cluster_id,
        gpu.node,
        gpu.gpu_uuid,
        gpu.hour_start
),

free_device as (
    select
        seen.cluster_id,
        seen.node,
        seen.hour_start,
        greatest(
            0e0,
            seen.alive_hours - case when held.held_gpu_hours is null then 0e0 else held.held_gpu_hours end
        ) as free_hours,
        least(1e0, seen.observed_buckets / (12e0 * seen.alive_hours)) as observed_ratio
    from seen_device as seen
    left join held_device as held
        on
            seen.cluster_id = held.cluster_id
            and seen.gpu_uuid = held.gpu_uuid
            and seen.hour_start = held.hour_start
),

free_node as (
    select
        free_device.cluster_id,
        free_device.node,
        free_device.hour_start,
        count(*) as seen_devices,
        sum(free_device.free_hours) as free_hours,
        sum(free_device.free_hours * free_device.observed_ratio) as observed_free_hours
    from free_device
    group by
        free_device.cluster_id,
        free_device.node,
        free_device.hour_start
),

joined as (
    select
        node.cluster_id,
        node.node,
        node.hour_start,
        node.alive_hours,
        node.gpu_count * node.alive_hours as device_hours,
        held.claimed_gpu_hours,
        held.unknown_shares,
        case when held.held_gpu_hours is null then 0e0 else held.held_gpu_hours end as held_gpu_hours,
        -- devices telemetry never showed are free too, and unobserved
        case when free.free_hours is null then 0e0 else free.free_hours end
        + greatest(
            0e0,
            node.gpu_count - case when free.seen_devices is null then 0 else free.seen_devices end
        ) * node.alive_hours as free_device_hours,
        case
            -- somebody holds a share nobody can name: what is free is not known
            when held.unknown_shares = 1 or free.observed_free_hours is null then 0e0
            else free.observed_free_hours
        end as observed_free_hours
    from int_node_hour as node
    left join held_node as held
        on
            node.cluster_id = held.cluster_id
            and node.node = held.node
            and node.hour_start = held.hour_start
    left join free_node as free
        on
            node.cluster_id = free.cluster_id
            and node.node = free.node
            and node.hour_start = free.hour_start
    where node.gpu_count > 0
),

unheld as (
    select
        joined.*,
        greatest(0e0, joined.device_hours - joined.held_gpu_hours) as free_gpu_hours
    from joined
)

select
    unheld.cluster_id,
    unheld.node,
    unheld.hour_start,
    unheld.device_hours,
    unheld.held_gpu_hours,
    unheld.claimed_gpu_hours,
    case
        when unheld.free_device_hours > 0
            then least(
                unheld.free_gpu_hours,
                unheld.observed_free_hours * least(1e0, unheld.free_gpu_hours / unheld.free_device_hours)
            )
        else 0e0
    end as idle_gpu_hours,
    unheld.free_gpu_hours
    - case
        when unheld.free_device_hours > 0
            then least(
                unheld.free_gpu_hours,
                unheld.observed_free_hours * least(1e0, unheld.free_gpu_hours / unheld.free_device_hours)
            )
        else 0e0
    end as unseen_gpu_hours
from unheld
