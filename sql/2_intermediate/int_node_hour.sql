-- grain: node x hour in which some inventory saw it, and what it was made of in that hour
with hours as (
    select
        span.cluster_id,
        span.node,
        span.valid_from,
        span.valid_to,
        explode(sequence(
            date_trunc('hour', span.valid_from),
            date_trunc('hour', span.valid_to - interval '1 microsecond'),
            interval '1 hour'
        )) as hour_start
    from stg_node_span as span
),

alive as (
    select
        hours.cluster_id,
        hours.node,
        hours.hour_start,
        sum(
            unix_timestamp(least(hours.valid_to, hours.hour_start + interval '1 hour'))
            - unix_timestamp(greatest(hours.valid_from, hours.hour_start))
        ) / 3600e0 as alive_hours
    from hours
    group by
        hours.cluster_id,
        hours.node,
        hours.hour_start
),

shape as (
    -- a name that passes to another machine, or a node that is changed: the shape then, not the newest
    select
        node.cluster_id,
        node.node,
        node.gpu_count,
        node.vcpu,
        node.memory_gib,
        min(node.valid_from) as valid_from,
        max(node.valid_to) as valid_to
    from raw.node as node
    where
        node.gpu_count is not null
        and node.vcpu is not null
        and node.memory_gib is not null
    group by
        node.cluster_id,
        node.node,
        node.gpu_count,
        node.vcpu,
        node.memory_gib
),

shapes as (
    select
        shape.cluster_id,
        shape.node,
        count(*) as shape_count
    from shape
    group by
        shape.cluster_id,
        shape.node
),

changed as (
    select
        alive.cluster_id,
        alive.node,
        alive.hour_start,
        shape.gpu_count,
        shape.vcpu,
        shape.memory_gib,
        row_number() over (
            partition by alive.cluster_id, alive.node, alive.hour_start
            order by shape.valid_to desc nulls last, shape.gpu_count desc nulls last
        ) as place
    from alive
    inner join shapes
        on
            alive.cluster_id = shapes.cluster_id
            and alive.node = shapes.node
    inner join shape
        on
            alive.cluster_id = shape.cluster_id
            and alive.node = shape.node
            and alive.hour_start + interval '1 hour' > shape.valid_from
            and alive.hour_start < shape.valid_to
    where shapes.shape_count > 1
)

select
    alive.cluster_id,
    alive.node,
    alive.hour_start,
    alive.alive_hours,
    case when changed.place is null then node.gpu_count else changed.gpu_count end as gpu_count,
    case when changed.place is null then node.vcpu else changed.vcpu end as vcpu,
    case when changed.place is null then node.memory_gib else changed.memory_gib end as memory_gib
from alive
inner join stg_node as node
    on
        alive.cluster_id = node.cluster_id
        and alive.node = node.node
left join changed
    on
        alive.cluster_id = changed.cluster_id
        and alive.node = changed.node
        and alive.hour_start = changed.hour_start
        and changed.place = 1
