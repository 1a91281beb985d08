-- grain: machine that was a node in the window; a node's name may pass from one machine to the next
select
    node.cluster_id,
    node.node,
    node.resource_key,
    min(node.valid_from) as alive_since
from raw.node as node
cross join run_window
where
    node.resource_key is not null
    and node.valid_from < run_window.window_end
    and node.valid_to > run_window.window_start
group by
    node.cluster_id,
    node.node,
    node.resource_key
