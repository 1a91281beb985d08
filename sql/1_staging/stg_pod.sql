-- grain: pod; the source that followed the owner chain furthest wins, then the newest
with ranked as (
    select
        pod.cluster_id,
        pod.namespace,
        pod.pod,
        pod.pod_uid,
        pod.workload_kind,
        pod.workload_name,
        pod.is_daemon,
        row_number() over (
            partition by pod.cluster_id, pod.pod_uid
            order by
                case
                    when pod.workload_kind is null then 0
                    when pod.workload_kind in ('Pod', 'ReplicaSet') then 1
                    when pod.workload_kind in ('Job', 'StatefulSet') then 2
                    else 3
                end desc nulls last,
                pod.valid_to desc nulls last,
                pod.source_id asc nulls last,
                pod.source_object asc nulls last
        ) as place
    from raw.pod as pod
    cross join run_window
    where
        pod.valid_from < run_window.window_end
        and pod.valid_to > run_window.window_start
)

select
    ranked.cluster_id,
    ranked.namespace,
    ranked.pod,
    ranked.pod_uid,
    ranked.is_daemon or ranked.namespace = 'kube-system' as is_shared,
    case when ranked.workload_kind is null then 'Pod' else ranked.workload_kind end as workload_kind,
    case when ranked.workload_name is null then ranked.pod else ranked.workload_name end as workload_name
from ranked
where ranked.place = 1
