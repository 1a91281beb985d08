-- grain: node x hour in which some inventory saw it
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
)

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
