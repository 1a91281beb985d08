-- promise: what a pod asks of a GPU resource, over its time, is held exactly once
with asked as (
    select
        request.cluster_id,
        request.pod_uid,
        request.resource,
        min(request.node) as node,
        min(request.pod) as pod,
        min(request.valid_from) as asked_from,
        sum(request.quantity * (unix_timestamp(request.valid_to) - unix_timestamp(request.valid_from)))
            as unit_seconds
    from stg_container_request as request
    where
        request.resource not in ('cpu', 'memory')
        and request.quantity > 0
    group by
        request.cluster_id,
        request.pod_uid,
        request.resource
),

held as (
    select
        holder.cluster_id,
        holder.pod_uid,
        holder.resource,
        min(holder.node) as node,
        min(holder.pod) as pod,
        min(holder.held_from) as held_from,
        sum(holder.units * (unix_timestamp(holder.held_to) - unix_timestamp(holder.held_from))) as unit_seconds
    from gpu_holder as holder
    group by
        holder.cluster_id,
        holder.pod_uid,
        holder.resource
)

select
    'node ' || asked.cluster_id || '/' || asked.node || ', ' || cast(cast(asked.asked_from as date) as varchar(10))
    || ': pod ' || asked.pod || ' asked for ' || cast(asked.unit_seconds / 3600e0 as varchar(32)) || ' hours of '
    || asked.resource || ', holders say '
    || case
        when held.unit_seconds is null then 'none'
        else cast(held.unit_seconds / 3600e0 as varchar(32))
    end as message
from asked
left join held
    on
        asked.cluster_id = held.cluster_id
        and asked.pod_uid = held.pod_uid
        and asked.resource = held.resource
where
    held.unit_seconds is null
    or abs(asked.unit_seconds - held.unit_seconds) > 1e-6
union all
select
    'node ' || held.cluster_id || '/' || held.node || ', ' || cast(cast(held.held_from as date) as varchar(10))
    || ': pod ' || held.pod || ' holds ' || held.resource || ' that it never asked for' as message
from held
left join asked
    on
        held.cluster_id = asked.cluster_id
        and held.pod_uid = asked.pod_uid
        and held.resource = asked.resource
where asked.pod_uid is null
