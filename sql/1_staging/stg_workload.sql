-- grain: workload; each attribute is the newest that any inventory knew
with ranked as (
    select
        workload.*,
        row_number() over (
            partition by
                workload.cluster_id, workload.namespace, workload.workload_kind, workload.workload_name
            order by
                workload.valid_to desc nulls last,
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
    min_by(ranked.api_version, ranked.place) filter (where ranked.api_version is not null) as api_version,
    min_by(ranked.workload_class, ranked.place) filter (where ranked.workload_class is not null) as workload_class,
    min_by(ranked.class_evidence, ranked.place) filter (where ranked.class_evidence is not null) as class_evidence,
    min_by(ranked.team, ranked.place) filter (where ranked.team is not null) as team,
    min_by(ranked.replicas, ranked.place) filter (where ranked.replicas is not null) as replicas,
    min_by(ranked.has_disruption_budget, ranked.place) filter (where ranked.has_disruption_budget is not null)
        as has_disruption_budget,
    min_by(ranked.manifest_origin, ranked.place) filter (where ranked.manifest_origin is not null) as manifest_origin,
    min_by(ranked.annotations, ranked.place) filter (where ranked.annotations is not null) as annotations,
    min(ranked.valid_from) as valid_from,
    max(ranked.valid_to) as valid_to
from ranked
group by
    ranked.cluster_id,
    ranked.namespace,
    ranked.workload_kind,
    ranked.workload_name
