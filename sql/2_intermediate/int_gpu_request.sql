-- grain: container x GPU resource x span; devices = whole GPUs that one unit of the resource takes
select
    request.cluster_id,
    request.namespace,
    request.pod,
    request.pod_uid,
    request.container,
    request.node,
    request.resource,
    request.quantity,
    profile.mig_profile,
    node.gpu_count,
    case
        when profile.mig_profile is not null
            then profile.compute_slices / cast(profile.max_compute_slices as double)
        -- a slice of unknown geometry takes an unknown share: its dollars stay unattributed
        when request.resource like 'nvidia.com/mig-%' or node.mig_profile is not null then null
        when node.gpu_replicas > 1 then 1e0 / node.gpu_replicas
        else 1e0
    end as devices_per_unit,
    case when node.gpu_replicas > 1 then true else false end as is_shared_device,
    request.valid_from,
    request.valid_to
from stg_container_request as request
left join stg_node as node
    on
        request.cluster_id = node.cluster_id
        and request.node = node.node
left join seed_mig_profile as profile
    on
        node.gpu_model = profile.gpu_model
        and (
            request.resource = profile.resource
            -- under strategy single every device of the node is a slice of this profile
            or (request.resource = 'nvidia.com/gpu' and node.mig_profile = profile.mig_profile)
        )
where
    request.resource not in ('cpu', 'memory')
    and request.quantity > 0
