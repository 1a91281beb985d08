-- grain: workload that asked for anything in the window
with inventory as (
    select
        request.cluster_id,
        max(request.valid_to) as inventory_until
    from stg_container_request as request
    group by request.cluster_id
),

pods as (
    select
        pod.cluster_id,
        pod.namespace,
        pod.workload_kind,
        pod.workload_name,
        pod.team,
        pod.workload_class,
        min(request.valid_from) as first_seen,
        max(request.valid_to) as last_seen,
        count(distinct case
            when request.valid_to >= inventory.inventory_until - interval '5 minutes' then pod.pod_uid
        end) as pods_now
    from int_pod as pod
    inner join stg_container_request as request
        on
            pod.cluster_id = request.cluster_id
            and pod.pod_uid = request.pod_uid
    inner join inventory
        on pod.cluster_id = inventory.cluster_id
    where not pod.is_shared
    group by
        pod.cluster_id,
        pod.namespace,
        pod.workload_kind,
        pod.workload_name,
        pod.team,
        pod.workload_class
),

held as (
    select
        holder.cluster_id,
        holder.namespace,
        holder.workload_kind,
        holder.workload_name,
        count(*) as holders,
        case when count(holder.devices) = count(*) then sum(holder.devices) end as devices_now
    from holder_now as holder
    group by
        holder.cluster_id,
        holder.namespace,
        holder.workload_kind,
        holder.workload_name
),

ever as (
    select
        holder.cluster_id,
        holder.namespace,
        holder.workload_kind,
        holder.workload_name,
        max(span.held_to) as last_held
    from int_holder_pod as holder
    inner join gpu_holder as span
        on holder.holder_number = span.holder_number
    group by
        holder.cluster_id,
        holder.namespace,
        holder.workload_kind,
        holder.workload_name
)

select
    pods.cluster_id,
    pods.namespace,
    pods.workload_kind,
    pods.workload_name,
    pods.team,
    pods.workload_class,
    described.class_evidence,
    described.replicas,
    described.has_disruption_budget,
    described.manifest_origin,
    described.annotations,
    pods.first_seen,
    pods.last_seen,
    pods.pods_now,
    ever.last_held,
    -- zero: it holds none; null where it holds a share nobody can name
    case when held.holders is null then 0e0 else held.devices_now end as devices_now
from pods
left join stg_workload as described
    on
        pods.cluster_id = described.cluster_id
        and pods.namespace = described.namespace
        and pods.workload_kind = described.workload_kind
        and pods.workload_name = described.workload_name
left join held
    on
        pods.cluster_id = held.cluster_id
        and pods.namespace = held.namespace
        and pods.workload_kind = held.workload_kind
        and pods.workload_name = held.workload_name
left join ever
    on
        pods.cluster_id = ever.cluster_id
        and pods.namespace = ever.namespace
        and pods.workload_kind = ever.workload_kind
        and pods.workload_name = ever.workload_name
