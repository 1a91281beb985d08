-- grain: GPU or MIG instance x pod x span in which exporter labels name the pod; gaps up to 15 minutes are bridged
with clipped as (
    select
        hint.cluster_id,
        hint.gpu_uuid,
        hint.mig_instance_id,
        hint.namespace,
        hint.pod,
        hint.container,
        greatest(hint.valid_from, run_window.window_start) as valid_from,
        least(hint.valid_to, run_window.window_end) as valid_to
    from raw.gpu_pod_hint as hint
    cross join run_window
    where
        hint.valid_from < run_window.window_end
        and hint.valid_to > run_window.window_start
),

marked as (
    select
        clipped.*,
        max(clipped.valid_to) over (
            partition by
                clipped.cluster_id, clipped.gpu_uuid, clipped.mig_instance_id,
                clipped.namespace, clipped.pod, clipped.container
            order by clipped.valid_from asc nulls first, clipped.valid_to asc nulls first
            rows between unbounded preceding and 1 preceding
        ) as seen_until
    from clipped
),

numbered as (
    select
        marked.*,
        sum(case when marked.seen_until + interval '15 minutes' >= marked.valid_from then 0 else 1 end) over (
            partition by
                marked.cluster_id, marked.gpu_uuid, marked.mig_instance_id,
                marked.namespace, marked.pod, marked.container
            order by marked.valid_from asc nulls first, marked.valid_to asc nulls first
            rows between unbounded preceding and current row
        ) as island
    from marked
)

select
    numbered.cluster_id,
    numbered.gpu_uuid,
    numbered.mig_instance_id,
    numbered.namespace,
    numbered.pod,
    numbered.container,
    min(numbered.valid_from) as valid_from,
    max(numbered.valid_to) as valid_to
from numbered
group by
    numbered.cluster_id,
    numbered.gpu_uuid,
    numbered.mig_instance_id,
    numbered.namespace,
    numbered.pod,
    numbered.container,
    numbered.island
