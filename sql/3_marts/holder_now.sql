-- grain: pod x GPU resource x node held at the end of the window
with open_holder as (
    select
        holder.cluster_id,
        holder.namespace,
        holder.pod,
        holder.pod_uid,
        holder.node,
        holder.resource,
        holder.mig_profile,
        sum(holder.devices) as devices,
        -- null: nobody can say which of several containers to change
        case when count(distinct holder.container) = 1 then min(holder.container) end as container,
        min(holder.held_from) as held_since,
        -- the weakest tells how sure the whole is
        max(case holder.attribution when 'direct' then 0 when 'estimated' then 1 else 2 end) as doubt
    from gpu_holder as holder
    cross join run_window
    -- an inventory may be as old as its last scrape
    where holder.held_to >= run_window.window_end - interval '1 hour'
    group by
        holder.cluster_id,
        holder.namespace,
        holder.pod,
        holder.pod_uid,
        holder.node,
        holder.resource,
        holder.mig_profile
),

asked as (
    select
        request.cluster_id,
        request.pod_uid,
        sum(case when request.resource = 'cpu' then request.quantity else 0e0 end) as vcpu,
        sum(case when request.resource = 'memory' then request.quantity else 0e0 end) as memory_gib
    from stg_container_request as request
    cross join run_window
    where request.valid_to >= run_window.window_end - interval '1 hour'
    group by
        request.cluster_id,
        request.pod_uid
),

counted as (
    select
        request.cluster_id,
        request.pod_uid,
        request.resource,
        sum(request.quantity) as requested_gpus
    from int_gpu_request as request
    cross join run_window
    where request.valid_to >= run_window.window_end - interval '1 hour'
    group by
        request.cluster_id,
        request.pod_uid,
        request.resource
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
    counted.requested_gpus,
    asked.vcpu,
    asked.memory_gib,
    open_holder.held_since,
    case open_holder.doubt when 0 then 'direct' when 1 then 'estimated' else 'unknown' end as attribution
from open_holder
inner join int_pod as pod
    on
        open_holder.cluster_id = pod.cluster_id
        and open_holder.pod_uid = pod.pod_uid
left join stg_node as node
    on
        open_holder.cluster_id = node.cluster_id
        and open_holder.node = node.node
left join asked
    on
        open_holder.cluster_id = asked.cluster_id
        and open_holder.pod_uid = asked.pod_uid
left join counted
    on
        open_holder.cluster_id = counted.cluster_id
        and open_holder.pod_uid = counted.pod_uid
        and open_holder.resource = counted.resource
