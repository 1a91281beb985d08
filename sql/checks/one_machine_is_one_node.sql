-- promise: no machine that the bill names is a node of two clusters
with billed as (
    select distinct cost.x_resource_key as resource_key
    from raw.cost as cost
    where cost.x_resource_key is not null
)

select
    'machine ' || machine.resource_key || ' is node ' || min(machine.cluster_id || '/' || machine.node) || ' and node '
    || max(machine.cluster_id || '/' || machine.node) || '; its bill can belong to one only' as message
from stg_node_machine as machine
inner join billed
    on machine.resource_key = billed.resource_key
group by machine.resource_key
having count(*) > 1
