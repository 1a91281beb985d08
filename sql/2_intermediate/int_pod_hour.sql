-- grain: pod x hour; CPU and memory it asked for
with hours as (
    select
        request.*,
        explode(sequence(
            date_trunc('hour', request.valid_from),
            date_trunc('hour', request.valid_to - interval '1 microsecond'),
            interval '1 hour'
        )) as hour_start
    from stg_container_request as request
    where request.resource in ('cpu', 'memory')
),

spans as (
    select
        hours.*,
        (
            unix_timestamp(least(hours.valid_to, hours.hour_start + interval '1 hour'))
            - unix_timestamp(greatest(hours.valid_from, hours.hour_start))
        ) / 3600e0 as span_hours
    from hours
)

select
    spans.cluster_id,
    spans.pod_uid,
    spans.node,
    spans.hour_start,
    sum(case when spans.resource = 'cpu' then spans.quantity * spans.span_hours else 0e0 end) as vcpu_hours,
    sum(case when spans.resource = 'memory' then spans.quantity * spans.span_hours else 0e0 end) as memory_gib_hours
from spans
group by
    spans.cluster_id,
    spans.pod_uid,
    spans.node,
    spans.hour_start
