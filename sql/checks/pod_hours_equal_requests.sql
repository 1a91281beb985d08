-- promise: the CPU and memory of each node's pods, hour by hour, are what their containers asked for
with asked as (
    select
        request.cluster_id,
        request.node,
        request.resource,
        sum(request.quantity * (unix_timestamp(request.valid_to) - unix_timestamp(request.valid_from)) / 3600e0)
            as unit_hours
    from stg_container_request as request
    where request.resource in ('cpu', 'memory')
    group by
        request.cluster_id,
        request.node,
        request.resource
),

hours as (
    select
        hour.cluster_id,
        hour.node,
        sum(hour.vcpu_hours) as vcpu_hours,
        sum(hour.memory_gib_hours) as memory_gib_hours
    from int_pod_hour as hour
    group by
        hour.cluster_id,
        hour.node
)

select
    'node ' || asked.cluster_id || '/' || asked.node || ': pods asked for '
    || cast(asked.unit_hours as varchar(32)) || ' hours of ' || asked.resource || ', the hours differ' as message
from asked
left join hours
    on
        asked.cluster_id = hours.cluster_id
        and asked.node = hours.node
where
    hours.node is null
    or (asked.resource = 'cpu' and abs(asked.unit_hours - hours.vcpu_hours) > 1e-6 * (1e0 + asked.unit_hours))
    or (
        asked.resource = 'memory'
        and abs(asked.unit_hours - hours.memory_gib_hours) > 1e-6 * (1e0 + asked.unit_hours)
    )
