-- promise: no machine of the bill is a node of two clusters
select
    'machine ' || node.resource_key || ' is node ' || min(node.cluster_id || '/' || node.node) || ' and node '
    || max(node.cluster_id || '/' || node.node) || '; its bill can belong to one only' as message
from stg_node as node
where node.resource_key is not null
group by node.resource_key
having count(*) > 1
