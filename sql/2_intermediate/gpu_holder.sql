-- grain: pod x GPU or MIG instance x span; one row without a device for what no label and no elimination tells
with hinted as (
    select
        request.cluster_id,
        request.pod_uid,
        request.resource,
        request.valid_from,
        request.valid_to,
        request.quantity,
        hint.gpu_uuid,
        hint.mig_instance_id,
        min(hint.valid_from) as first_named
    from int_gpu_request as request
    inner join stg_gpu_pod_hint as hint
        on
            request.cluster_id = hint.cluster_id
            and request.namespace = hint.namespace
            and request.pod = hint.pod
            and request.valid_from < hint.valid_to
            and request.valid_to > hint.valid_from
    left join int_device as device
        on
            hint.cluster_id = device.cluster_id
            and hint.gpu_uuid = device.gpu_uuid
            and hint.mig_instance_id = device.mig_instance_id
    where
        -- a whole GPU is never held through the label of a slice, nor a slice through its parent's
        (request.mig_profile is null and hint.mig_instance_id = '')
        or (request.mig_profile = device.mig_profile and hint.mig_instance_id <> '')
    group by
        request.cluster_id,
        request.pod_uid,
        request.resource,
        request.valid_from,
        request.valid_to,
        request.quantity,
        hint.gpu_uuid,
        hint.mig_instance_id
),

ordered as (
    select
        hinted.*,
        row_number() over (
            partition by hinted.cluster_id, hinted.pod_uid, hinted.resource, hinted.valid_from
            order by
                hinted.first_named asc nulls last,
                hinted.gpu_uuid asc nulls last,
                hinted.mig_instance_id asc nulls last
        ) as place
    from hinted
),

waved as (
    -- more devices named than asked for: the pod was dealt others, as many at a time as it asks for
    select
        ordered.*,
        floor((ordered.place - 1) / ordered.quantity) as wave
    from ordered
),

wave as (
    select
        waved.cluster_id,
        waved.pod_uid,
        waved.resource,
        waved.valid_from,
        waved.valid_to,
        waved.quantity,
        waved.wave,
        min(waved.first_named) as first_named,
        count(*) as named_units
    from waved
    group by
        waved.cluster_id,
        waved.pod_uid,
        waved.resource,
        waved.valid_from,
        waved.valid_to,
        waved.quantity,
        waved.wave
),

wave_span as (
    select
        wave.*,
        case when wave.wave = 0 then wave.valid_from else greatest(wave.valid_from, wave.first_named) end
            as wave_from,
        least(
            wave.valid_to,
            lead(wave.first_named, 1, wave.valid_to) over (
                partition by wave.cluster_id, wave.pod_uid, wave.resource, wave.valid_from
                order by wave.wave asc nulls last
            )
        ) as wave_to,
        count(*) over (
            partition by wave.cluster_id, wave.pod_uid, wave.resource, wave.valid_from
        ) as waves
    from wave
),

direct as (
    select
        waved.cluster_id,
        waved.pod_uid,
        waved.resource,
        waved.valid_from,
        waved.gpu_uuid,
        waved.mig_instance_id,
        span.wave_from,
        span.wave_to,
        case when span.waves > 1 then 'estimated' else 'direct' end as attribution
    from waved
    inner join wave_span as span
        on
            waved.cluster_id = span.cluster_id
            and waved.pod_uid = span.pod_uid
            and waved.resource = span.resource
            and waved.valid_from = span.valid_from
            and waved.wave = span.wave
),

untold as (
    -- what nothing names: all of a pod no label names, or the rest of one that labels name in part
    select
        request.cluster_id,
        request.pod_uid,
        request.node,
        request.resource,
        request.mig_profile,
        request.is_shared_device,
        request.valid_from,
        case when span.wave_from is null then request.valid_from else span.wave_from end as untold_from,
        case when span.wave_to is null then request.valid_to else span.wave_to end as untold_to,
        request.quantity - case when span.named_units is null then 0 else span.named_units end as untold_units
    from int_gpu_request as request
    left join wave_span as span
        on
            request.cluster_id = span.cluster_id
            and request.pod_uid = span.pod_uid
            and request.resource = span.resource
            and request.valid_from = span.valid_from
    where span.named_units is null or span.named_units < request.quantity
),

rivalled as (
    select distinct
        untold.cluster_id,
        untold.pod_uid,
        untold.resource,
        untold.untold_from
    from untold
    inner join untold as rival
        on
            untold.cluster_id = rival.cluster_id
            and untold.node = rival.node
            and untold.pod_uid <> rival.pod_uid
            -- a pod that follows another on the same node overlaps it by a scrape, and is no rival
            and unix_timestamp(least(untold.untold_to, rival.untold_to))
            - unix_timestamp(greatest(untold.untold_from, rival.untold_from)) > 1800
    where not untold.is_shared_device
),

occupied as (
    select distinct
        untold.cluster_id,
        untold.pod_uid,
        untold.resource,
        untold.untold_from,
        direct.gpu_uuid,
        direct.mig_instance_id
    from untold
    inner join int_gpu_request as other
        on
            untold.cluster_id = other.cluster_id
            and untold.node = other.node
    inner join direct
        on
            other.cluster_id = direct.cluster_id
            and other.pod_uid = direct.pod_uid
            and other.resource = direct.resource
            and other.valid_from = direct.valid_from
            and unix_timestamp(least(untold.untold_to, direct.wave_to))
            - unix_timestamp(greatest(untold.untold_from, direct.wave_from)) > 1800
    where not untold.is_shared_device
),

free_device as (
    select
        untold.cluster_id,
        untold.pod_uid,
        untold.resource,
        untold.valid_from,
        untold.untold_from,
        untold.untold_to,
        untold.untold_units,
        device.gpu_uuid,
        device.mig_instance_id,
        count(*) over (
            partition by untold.cluster_id, untold.pod_uid, untold.resource, untold.untold_from
        ) as free_devices
    from untold
    inner join int_device as device
        on
            untold.cluster_id = device.cluster_id
            and untold.node = device.node
            and (
                (untold.mig_profile is null and device.mig_instance_id = '')
                or untold.mig_profile = device.mig_profile
            )
    left join rivalled
        on
            untold.cluster_id = rivalled.cluster_id
            and untold.pod_uid = rivalled.pod_uid
            and untold.resource = rivalled.resource
            and untold.untold_from = rivalled.untold_from
    left join occupied
        on
            untold.cluster_id = occupied.cluster_id
            and untold.pod_uid = occupied.pod_uid
            and untold.resource = occupied.resource
            and untold.untold_from = occupied.untold_from
            and device.gpu_uuid = occupied.gpu_uuid
            and device.mig_instance_id = occupied.mig_instance_id
    where
        rivalled.pod_uid is null
        and occupied.gpu_uuid is null
),

eliminated as (
    select free_device.*
    from free_device
    where free_device.free_devices = free_device.untold_units
),

told as (
    select distinct
        eliminated.cluster_id,
        eliminated.pod_uid,
        eliminated.resource,
        eliminated.untold_from
    from eliminated
),

named as (
    select
        direct.cluster_id,
        direct.pod_uid,
        direct.resource,
        direct.valid_from,
        direct.gpu_uuid,
        direct.mig_instance_id,
        direct.attribution,
        1e0 as units,
        direct.wave_from as held_from,
        direct.wave_to as held_to
    from direct
    union all
    select
        eliminated.cluster_id,
        eliminated.pod_uid,
        eliminated.resource,
        eliminated.valid_from,
        eliminated.gpu_uuid,
        eliminated.mig_instance_id,
        'estimated' as attribution,
        1e0 as units,
        eliminated.untold_from as held_from,
        eliminated.untold_to as held_to
    from eliminated
    union all
    select
        untold.cluster_id,
        untold.pod_uid,
        untold.resource,
        untold.valid_from,
        cast(null as varchar(64)) as gpu_uuid,
        cast(null as varchar(64)) as mig_instance_id,
        'unknown' as attribution,
        untold.untold_units as units,
        untold.untold_from as held_from,
        untold.untold_to as held_to
    from untold
    left join told
        on
            untold.cluster_id = told.cluster_id
            and untold.pod_uid = told.pod_uid
            and untold.resource = told.resource
            and untold.untold_from = told.untold_from
    where told.pod_uid is null
)

select
    row_number() over (
        order by
            request.cluster_id asc nulls last,
            request.pod_uid asc nulls last,
            request.resource asc nulls last,
            named.held_from asc nulls last,
            named.gpu_uuid asc nulls last,
            named.mig_instance_id asc nulls last
    ) as holder_number,
    request.cluster_id,
    request.namespace,
    request.pod,
    request.pod_uid,
    request.container,
    request.node,
    request.resource,
    request.mig_profile,
    named.gpu_uuid,
    named.mig_instance_id,
    request.devices_per_unit * named.units as devices,
    named.units,
    named.attribution,
    named.held_from,
    named.held_to
from int_gpu_request as request
inner join named
    on
        request.cluster_id = named.cluster_id
        and request.pod_uid = named.pod_uid
        and request.resource = named.resource
        and request.valid_from = named.valid_from
