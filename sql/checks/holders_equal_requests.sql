-- promise: each span of a container's GPU request is held exactly once, in as many devices as it asked for
with asked as (
    select
        request.cluster_id,
        request.pod_uid,
        request.container,
        request.resource,
        request.valid_from,
        max(request.node) as node,
        max(request.pod) as pod,
        sum(request.quantity * request.devices_per_unit) as devices
    from int_gpu_request as request
    group by
        request.cluster_id,
        request.pod_uid,
        request.container,
        request.resource,
        request.valid_from
),

held as (
    select
        holder.cluster_id,
        holder.pod_uid,
        holder.container,
        holder.resource,
        holder.held_from,
        max(holder.node) as node,
        max(holder.pod) as pod,
        sum(holder.devices) as devices
    from gpu_holder as holder
    group by
        holder.cluster_id,
        holder.pod_uid,
        holder.container,
        holder.resource,
        holder.held_from
)

select
    'node ' || asked.cluster_id || '/' || asked.node || ', ' || cast(cast(asked.valid_from as date) as varchar(10))
    || ': pod ' || asked.pod || ' asked for ' || cast(asked.devices as varchar(32)) || ' GPUs, holders say '
    || case when held.devices is null then 'none' else cast(held.devices as varchar(32)) end as message
from asked
left join held
    on
        asked.cluster_id = held.cluster_id
        and asked.pod_uid = held.pod_uid
        and asked.container = held.container
        and asked.resource = held.resource
        and asked.valid_from = held.held_from
where
    asked.devices is not null
    and (held.devices is null or abs(asked.devices - held.devices) > 1e-9)
union all
select
    'node ' || held.cluster_id || '/' || held.node || ', ' || cast(cast(held.held_from as date) as varchar(10))
    || ': pod ' || held.pod || ' holds ' || cast(held.devices as varchar(32)) || ' GPUs nobody asked for' as message
from held
left join asked
    on
        held.cluster_id = asked.cluster_id
        and held.pod_uid = asked.pod_uid
        and held.container = asked.container
        and held.resource = asked.resource
        and held.held_from = asked.valid_from
where
    asked.pod_uid is null
    and held.devices is not null
