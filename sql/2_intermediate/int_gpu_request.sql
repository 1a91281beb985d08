-- grain: pod x GPU resource x span; devices_per_unit = whole GPUs that one unit of the resource takes
with asked as (
    -- exporters often name the pod and not the container: devices are handed out once a pod
    select
        request.cluster_id,
        request.namespace,
        request.pod,
        request.pod_uid,
        case when count(*) = 1 then min(request.container) end as container,
        request.node,
        request.resource,
        sum(request.quantity) as quantity,
        request.valid_from,
        request.valid_to
    from stg_container_request as request
    where
        request.resource not in ('cpu', 'memory')
        and request.quantity > 0
    group by
        request.cluster_id,
        request.namespace,
        request.pod,
        request.pod_uid,
        request.node,
        request.resource,
        request.valid_from,
        request.valid_to
)

select
    asked.cluster_id,
    asked.namespace,
    asked.pod,
    asked.pod_uid,
    asked.container,
    asked.node,
    asked.resource,
    asked.quantity,
    profile.mig_profile,
    case
        -- under strategy single replicas share a slice; slices asked for by name are not shared by that label
        when profile.mig_profile is not null and asked.resource = 'nvidia.com/gpu' and node.gpu_replicas > 1
            then profile.compute_slices / cast(profile.max_compute_slices * node.gpu_replicas as double)
        when profile.mig_profile is not null
            then profile.compute_slices / cast(profile.max_compute_slices as double)
        -- a slice of unknown geometry takes an unknown share: its dollars stay unattributed
        when asked.resource like 'nvidia.com/mig-%' or node.mig_profile is not null then null
        when node.gpu_replicas > 1 then 1e0 / node.gpu_replicas
        else 1e0
    end as devices_per_unit,
    case when node.gpu_replicas > 1 then true else false end as is_shared_device,
    asked.valid_from,
    asked.valid_to
from asked
left join stg_node as node
    on
        asked.cluster_id = node.cluster_id
        and asked.node = node.node
left join seed_mig_profile as profile
    on
        node.gpu_model = profile.gpu_model
        and (
            asked.resource = profile.resource
            -- under strategy single every device of the node is a slice of this profile
            or (asked.resource = 'nvidia.com/gpu' and node.mig_profile = profile.mig_profile)
        )
