-- grain: pod x GPU resource x node held at the newest instant that any inventory of the cluster saw
with inventory as (
    select
        request.cluster_id,
        max(request.valid_to) as inventory_until
    from stg_container_request as request
    group by request.cluster_id
),

newest as (
    select
        holder.*,
        inventory.inventory_until,
        max(holder.held_to) over (
            partition by holder.cluster_id, holder.pod_uid, holder.resource
        ) as pod_held_to
    from gpu_holder as holder
    inner join inventory
        on holder.cluster_id = inventory.cluster_id
),

open_holder as (
    select
        newest.cluster_id,
        newest.namespace,
        newest.pod,
        newest.pod_uid,
        newest.node,
        newest.resource,
        newest.mig_profile,
        newest.inventory_until,
        -- null when one of its shares is unknown
        case when count(newest.devices) = count(*) then sum(newest.devices) end as devices,
        sum(newest.units) as requested_gpus,
        case
            when count(distinct newest.container) = 1 and count(newest.container) = count(*)
                then min(newest.container)
        end as container,
        max(case newest.attribution when 'direct' then 0 when 'estimated' then 1 else 2 end) as doubt
    from newest
    where
        newest.held_to = newest.pod_held_to
        and newest.held_to >= newest.inventory_until - interval '5 minutes'
    group by
        newest.cluster_id,
        newest.namespace,
        newest.pod,
        newest.pod_uid,
        newest.node,
        newest.resource,
        newest.mig_profile,
        newest.inventory_until
),

since as (
    select
        holder.cluster_id,
        holder.pod_uid,
        min(holder.held_from) as held_since
    from gpu_holder as holder
    group by
        holder.cluster_id,
        holder.pod_uid
),

asked as (
    select
        request.cluster_id,
        request.pod_uid,
        sum(case when request.resource = 'cpu' then request.quantity else 0e0 end) as vcpu,
        sum(case when request.resource = 'memory' then request.quantity else 0e0 end) as memory_gib
    from stg_container_request as request
    inner join inventory
        on request.cluster_id = inventory.cluster_id
    where request.valid_to >= inventory.inventory_until - interval '5 minutes'
    group by
        request.cluster_id,
        request.pod_uid
)

select
    open_holder.cluster_id,
    open_holder.namespace,
    pod.workload_kind,
    pod.workload_name,
    open_holder.pod,
    open_holder.pod_uid,
    open_holder.node,
    node.pool,
    open_holder.resource,
    open_holder.container,
    open_holder.devices,
    open_holder.mig_profile,
    open_holder.requested_gpus,
    asked.vcpu,
    asked.memory_gib,
    since.held_since,
    open_holder.inventory_until,
    case open_holder.doubt when 0 then 'direct' when 1 then 'estimated' else 'unknown' end as attribution
from open_holder
inner join int_pod as pod
    on
        open_holder.cluster_id = pod.cluster_id
        and open_holder.pod_uid = pod.pod_uid
inner join since
    on
        open_holder.cluster_id = since.cluster_id
        and open_holder.pod_uid = since.pod_uid
left join stg_node as node
    on
        open_holder.cluster_id = node.cluster_id
        and open_holder.node = node.node
left join asked
    on
        open_holder.cluster_id = asked.cluster_id
        and open_holder.pod_uid = asked.pod_uid
