-- grain: container x GPU or MIG instance x span; one row without a device for what no label and no elimination tells
with hinted as (
    select
        request.cluster_id,
        request.pod_uid,
        request.container,
        request.resource,
        request.valid_from,
        request.quantity,
        hint.gpu_uuid,
        hint.mig_instance_id,
        sum(
            unix_timestamp(least(request.valid_to, hint.valid_to))
            - unix_timestamp(greatest(request.valid_from, hint.valid_from))
        ) as overlap_seconds
    from int_gpu_request as request
    inner join stg_gpu_pod_hint as hint
        on
            request.cluster_id = hint.cluster_id
            and request.namespace = hint.namespace
            and request.pod = hint.pod
            and (hint.container is null or request.container = hint.container)
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
        request.container,
        request.resource,
        request.valid_from,
        request.quantity,
        hint.gpu_uuid,
        hint.mig_instance_id
),

ranked as (
    select
        hinted.*,
        count(*) over (
            partition by
                hinted.cluster_id, hinted.pod_uid, hinted.container, hinted.resource, hinted.valid_from
        ) as named_devices,
        row_number() over (
            partition by
                hinted.cluster_id, hinted.pod_uid, hinted.container, hinted.resource, hinted.valid_from
            order by
                hinted.overlap_seconds desc nulls last,
                hinted.gpu_uuid asc nulls last,
                hinted.mig_instance_id asc nulls last
        ) as place
    from hinted
),

direct as (
    select
        ranked.cluster_id,
        ranked.pod_uid,
        ranked.container,
        ranked.resource,
        ranked.valid_from,
        ranked.gpu_uuid,
        ranked.mig_instance_id,
        -- more devices named than asked for: the pod moved, and the longest-named ones are a guess
        case when ranked.named_devices > ranked.quantity then 'estimated' else 'direct' end as attribution
    from ranked
    where ranked.place <= ranked.quantity
),

told as (
    select
        direct.cluster_id,
        direct.pod_uid,
        direct.container,
        direct.resource,
        direct.valid_from,
        count(*) as told_units
    from direct
    group by
        direct.cluster_id,
        direct.pod_uid,
        direct.container,
        direct.resource,
        direct.valid_from
),

untold as (
    select
        request.*,
        request.quantity - case when told.told_units is null then 0 else told.told_units end as untold_units
    from int_gpu_request as request
    left join told
        on
            request.cluster_id = told.cluster_id
            and request.pod_uid = told.pod_uid
            and request.container = told.container
            and request.resource = told.resource
            and request.valid_from = told.valid_from
    where told.told_units is null or told.told_units < request.quantity
),

node_device as (
    select
        device.cluster_id,
        device.node,
        device.gpu_uuid,
        device.mig_instance_id,
        device.mig_profile,
        count(*) over (partition by device.cluster_id, device.node) as seen_devices
    from int_device as device
),

free_device as (
    select
        untold.cluster_id,
        untold.pod_uid,
        untold.container,
        untold.resource,
        untold.valid_from,
        untold.untold_units,
        node_device.gpu_uuid,
        node_device.mig_instance_id,
        count(*) over (
            partition by
                untold.cluster_id, untold.pod_uid, untold.container, untold.resource, untold.valid_from
        ) as free_devices
    from untold
    inner join node_device
        on
            untold.cluster_id = node_device.cluster_id
            and untold.node = node_device.node
            and (
                (untold.mig_profile is null and node_device.mig_instance_id = '')
                or untold.mig_profile = node_device.mig_profile
            )
    where
        not exists (
            select 1
            from direct
            inner join int_gpu_request as other
                on
                    direct.cluster_id = other.cluster_id
                    and direct.pod_uid = other.pod_uid
                    and direct.container = other.container
                    and direct.resource = other.resource
                    and direct.valid_from = other.valid_from
            where
                direct.cluster_id = node_device.cluster_id
                and direct.gpu_uuid = node_device.gpu_uuid
                and direct.mig_instance_id = node_device.mig_instance_id
                and other.valid_from < untold.valid_to
                and other.valid_to > untold.valid_from
                and not untold.is_shared_device
        )
        and not exists (
            select 1
            from untold as rival
            where
                rival.cluster_id = untold.cluster_id
                and rival.node = untold.node
                and (rival.pod_uid <> untold.pod_uid or rival.container <> untold.container)
                and rival.valid_from < untold.valid_to
                and rival.valid_to > untold.valid_from
                and not untold.is_shared_device
        )
),

eliminated as (
    select
        free_device.cluster_id,
        free_device.pod_uid,
        free_device.container,
        free_device.resource,
        free_device.valid_from,
        free_device.gpu_uuid,
        free_device.mig_instance_id,
        'estimated' as attribution
    from free_device
    where free_device.free_devices = free_device.untold_units
),

named as (
    select * from direct
    union all
    select * from eliminated
),

named_count as (
    select
        named.cluster_id,
        named.pod_uid,
        named.container,
        named.resource,
        named.valid_from,
        count(*) as named_units
    from named
    group by
        named.cluster_id,
        named.pod_uid,
        named.container,
        named.resource,
        named.valid_from
),

held as (
    select
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
        request.devices_per_unit as devices,
        named.attribution,
        request.is_shared_device,
        request.valid_from,
        request.valid_to
    from int_gpu_request as request
    inner join named
        on
            request.cluster_id = named.cluster_id
            and request.pod_uid = named.pod_uid
            and request.container = named.container
            and request.resource = named.resource
            and request.valid_from = named.valid_from
    union all
    select
        request.cluster_id,
        request.namespace,
        request.pod,
        request.pod_uid,
        request.container,
        request.node,
        request.resource,
        request.mig_profile,
        cast(null as varchar(64)) as gpu_uuid,
        cast(null as varchar(64)) as mig_instance_id,
        request.devices_per_unit
        * (request.quantity - case when named_count.named_units is null then 0 else named_count.named_units end)
            as devices,
        'unknown' as attribution,
        request.is_shared_device,
        request.valid_from,
        request.valid_to
    from int_gpu_request as request
    left join named_count
        on
            request.cluster_id = named_count.cluster_id
            and request.pod_uid = named_count.pod_uid
            and request.container = named_count.container
            and request.resource = named_count.resource
            and request.valid_from = named_count.valid_from
    where named_count.named_units is null or named_count.named_units < request.quantity
),

followed as (
    select
        held.*,
        lead(held.valid_from) over (
            partition by held.cluster_id, held.gpu_uuid, held.mig_instance_id, held.is_shared_device
            order by held.valid_from asc nulls first, held.valid_to asc nulls first, held.pod_uid asc nulls first
        ) as next_from
    from held
)

select
    row_number() over (
        order by
            followed.cluster_id asc nulls last,
            followed.pod_uid asc nulls last,
            followed.container asc nulls last,
            followed.resource asc nulls last,
            followed.valid_from asc nulls last,
            followed.gpu_uuid asc nulls last,
            followed.mig_instance_id asc nulls last
    ) as holder_number,
    followed.cluster_id,
    followed.namespace,
    followed.pod,
    followed.pod_uid,
    followed.container,
    followed.node,
    followed.resource,
    followed.mig_profile,
    followed.gpu_uuid,
    followed.mig_instance_id,
    followed.devices,
    followed.attribution,
    followed.valid_from as held_from,
    case
        -- an end known only to the next scrape must not reach into the next pod's time on the same device
        when
            followed.gpu_uuid is not null
            and not followed.is_shared_device
            and followed.next_from > followed.valid_from
            then least(followed.valid_to, followed.next_from)
        else followed.valid_to
    end as held_to
from followed
