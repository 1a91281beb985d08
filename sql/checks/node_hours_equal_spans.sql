-- promise: the hours of each node add up to the time an inventory saw it
with spans as (
    select
        span.cluster_id,
        span.node,
        sum(unix_timestamp(span.valid_to) - unix_timestamp(span.valid_from)) / 3600e0 as alive_hours
    from stg_node_span as span
    group by
        span.cluster_id,
        span.node
),

hours as (
    select
        hour.cluster_id,
        hour.node,
        sum(hour.alive_hours) as alive_hours
    from int_node_hour as hour
    group by
        hour.cluster_id,
        hour.node
)

select
    'node ' || spans.cluster_id || '/' || spans.node || ' was alive ' || cast(spans.alive_hours as varchar(32))
    || ' h, by the hour ' || case when hours.alive_hours is null then 'none' else cast(hours.alive_hours as varchar(32))
    end as message
from spans
left join hours
    on
        spans.cluster_id = hours.cluster_id
        and spans.node = hours.node
where
    hours.alive_hours is null
    or abs(spans.alive_hours - hours.alive_hours) > 1e-6
