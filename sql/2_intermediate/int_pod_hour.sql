-- grain: pod x span x hour; CPU and memory it asked for
with spans as (
    -- the containers of a pod mostly start and end together: one span for both resources of all of them
    select
        request.cluster_id,
        request.pod_uid,
        request.node,
        request.valid_from,
        request.valid_to,
        sum(case when request.resource = 'cpu' then request.quantity else 0e0 end) as vcpu,
        sum(case when request.resource = 'memory' then request.quantity else 0e0 end) as memory_gib
    from stg_container_request as request
    where request.resource in ('cpu', 'memory')
    group by
        request.cluster_id,
        request.pod_uid,
        request.node,
        request.valid_from,
        request.valid_to
),

hours as (
    select
        spans.*,
        explode(sequence(
            date_trunc('hour', spans.valid_from),
            date_trunc('hour', spans.valid_to - interval '1 microsecond'),
            interval '1 hour'
        )) as hour_start
    from spans
),

measured as (
    select
        hours.*,
        (
            unix_timestamp(least(hours.valid_to, hours.hour_start + interval '1 hour'))
            - unix_timestamp(greatest(hours.valid_from, hours.hour_start))
        ) / 3600e0 as span_hours
    from hours
)

select
    measured.cluster_id,
    measured.pod_uid,
    measured.node,
    measured.hour_start,
    measured.vcpu * measured.span_hours as vcpu_hours,
    measured.memory_gib * measured.span_hours as memory_gib_hours
from measured
