-- grain: node x span in which some inventory saw it; spans of one node never touch
with clipped as (
    select
        node.cluster_id,
        node.node,
        greatest(node.valid_from, run_window.window_start) as valid_from,
        least(node.valid_to, run_window.window_end) as valid_to
    from raw.node as node
    cross join run_window
    where
        node.valid_from < run_window.window_end
        and node.valid_to > run_window.window_start
),

marked as (
    select
        clipped.cluster_id,
        clipped.node,
        clipped.valid_from,
        clipped.valid_to,
        max(clipped.valid_to) over (
            partition by clipped.cluster_id, clipped.node
            order by clipped.valid_from asc nulls first, clipped.valid_to asc nulls first
            rows between unbounded preceding and 1 preceding
        ) as seen_until
    from clipped
),

numbered as (
    select
        marked.cluster_id,
        marked.node,
        marked.valid_from,
        marked.valid_to,
        sum(case when marked.seen_until >= marked.valid_from then 0 else 1 end) over (
            partition by marked.cluster_id, marked.node
            order by marked.valid_from asc nulls first, marked.valid_to asc nulls first
            rows between unbounded preceding and current row
        ) as island
    from marked
)

select
    numbered.cluster_id,
    numbered.node,
    min(numbered.valid_from) as valid_from,
    max(numbered.valid_to) as valid_to
from numbered
group by
    numbered.cluster_id,
    numbered.node,
    numbered.island
