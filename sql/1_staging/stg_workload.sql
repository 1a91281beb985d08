-- grain: workload; the newest description of it
with ranked as (
    select
        workload.*,
        row_number() over (
            partition by
                workload.cluster_id, workload.namespace, workload.workload_kind, workload.workload_name
            order by
                workload.valid_to desc nulls last,
                case when workload.workload_class is null then 1 else 0 end asc nulls last,
                workload.source_id asc nulls last,
                workload.source_object asc nulls last
        ) as place
    from raw.workload as workload
    cross join run_window
    where
        workload.valid_from < run_window.window_end
        and workload.valid_to > run_window.window_start
)

select
    ranked.cluster_id,
    ranked.namespace,
    ranked.workload_kind,
    ranked.workload_name,
    ranked.workload_class,
    ranked.class_evidence,
    ranked.team,
    ranked.replicas,
    ranked.has_disruption_budget,
    ranked.manifest_origin,
    ranked.annotations,
    ranked.valid_from,
    ranked.valid_to
from ranked
where ranked.place = 1
