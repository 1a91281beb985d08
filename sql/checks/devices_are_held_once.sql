-- promise: no device is held whole by two pods for more than the half hour by which slow scrapes may be off
with overlap as (
    select
        one.cluster_id,
        one.node,
        one.gpu_uuid,
        one.mig_instance_id,
        one.pod as first_pod,
        other.pod as second_pod,
        greatest(one.held_from, other.held_from) as overlap_from,
        unix_timestamp(least(one.held_to, other.held_to))
        - unix_timestamp(greatest(one.held_from, other.held_from)) as overlap_seconds
    from gpu_holder as one
    inner join gpu_holder as other
        on
            one.cluster_id = other.cluster_id
            and one.gpu_uuid = other.gpu_uuid
            and one.mig_instance_id = other.mig_instance_id
            and one.held_from < other.held_to
            and one.held_to > other.held_from
            and one.holder_number < other.holder_number
    where
        one.resource = other.resource
        and one.devices = 1e0
)

select
    'node ' || overlap.cluster_id || '/' || overlap.node || ', '
    || cast(cast(overlap.overlap_from as date) as varchar(10)) || ': GPU ' || overlap.gpu_uuid || ' is held by '
    || overlap.first_pod || ' and ' || overlap.second_pod || ' at once for '
    || cast(overlap.overlap_seconds as varchar(32)) || ' s' as message
from overlap
where overlap.overlap_seconds > 1800
