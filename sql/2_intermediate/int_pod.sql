-- grain: pod that asked for anything; which workload and team it belongs to
with asked as (
    select distinct
        request.cluster_id,
        request.namespace,
        request.pod,
        request.pod_uid
    from stg_container_request as request
),

owned as (
    select
        asked.cluster_id,
        asked.namespace,
        asked.pod,
        asked.pod_uid,
        case when pod.is_shared is null then asked.namespace = 'kube-system' else pod.is_shared end as is_shared,
        case when pod.workload_kind is null then 'Pod' else pod.workload_kind end as workload_kind,
        case when pod.workload_name is null then asked.pod else pod.workload_name end as workload_name
    from asked
    left join stg_pod as pod
        on
            asked.cluster_id = pod.cluster_id
            and asked.pod_uid = pod.pod_uid
)

select
    -- one number a workload: hours are grouped by it, which is quicker than by five texts
    dense_rank() over (
        order by
            owned.cluster_id asc nulls last,
            owned.namespace asc nulls last,
            owned.workload_kind asc nulls last,
            owned.workload_name asc nulls last
    ) as workload_number,
    owned.cluster_id,
    owned.namespace,
    owned.pod,
    owned.pod_uid,
    owned.is_shared,
    owned.workload_kind,
    owned.workload_name,
    workload.workload_class,
    case when workload.team is null then owned.namespace else workload.team end as team
from owned
left join stg_workload as workload
    on
        owned.cluster_id = workload.cluster_id
        and owned.namespace = workload.namespace
        and owned.workload_kind = workload.workload_kind
        and owned.workload_name = workload.workload_name
