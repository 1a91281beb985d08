-- grain: container x resource x span in which it was Running; spans of one container and resource never touch
with clipped as (
    select
        request.cluster_id,
        request.namespace,
        request.pod,
        request.pod_uid,
        request.container,
        request.node,
        request.resource,
        request.quantity,
        greatest(request.valid_from, run_window.window_start) as valid_from,
        least(request.valid_to, run_window.window_end) as valid_to
    from raw.container_request as request
    cross join run_window
    where
        request.valid_from < run_window.window_end
        and request.valid_to > run_window.window_start
        and request.node is not null
),

marked as (
    select
        clipped.*,
        max(clipped.valid_to) over (
            partition by clipped.cluster_id, clipped.pod_uid, clipped.container, clipped.resource, clipped.quantity
            order by clipped.valid_from asc nulls first, clipped.valid_to asc nulls first
            rows between unbounded preceding and 1 preceding
        ) as seen_until
    from clipped
),

numbered as (
    select
        marked.*,
        sum(case when marked.seen_until >= marked.valid_from then 0 else 1 end) over (
            partition by marked.cluster_id, marked.pod_uid, marked.container, marked.resource, marked.quantity
            order by marked.valid_from asc nulls first, marked.valid_to asc nulls first
            rows between unbounded preceding and current row
        ) as island
    from marked
)

select
    numbered.cluster_id,
    numbered.namespace,
    numbered.pod,
    numbered.pod_uid,
    numbered.container,
    numbered.node,
    numbered.resource,
    numbered.quantity,
    min(numbered.valid_from) as valid_from,
    max(numbered.valid_to) as valid_to
from numbered
group by
    numbered.cluster_id,
    numbered.namespace,
    numbered.pod,
    numbered.pod_uid,
    numbered.container,
    numbered.node,
    numbered.resource,
    numbered.quantity,
    numbered.island
