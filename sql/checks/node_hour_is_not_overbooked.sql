-- promise: a node's GPUs are not claimed for more time than there is, but for half an hour a device and hour
-- pods that follow one another overlap by a scrape; more than that is a row too many
select
    'node ' || idle.cluster_id || '/' || idle.node || ', ' || cast(cast(idle.hour_start as date) as varchar(10))
    || ' ' || cast(idle.hour_start as varchar(32)) || ': ' || cast(idle.claimed_gpu_hours as varchar(32))
    || ' GPU-hours claimed of ' || cast(idle.device_hours as varchar(32)) as message
from int_node_idle_hour as idle
inner join int_node_hour as node
    on
        idle.cluster_id = node.cluster_id
        and idle.node = node.node
        and idle.hour_start = node.hour_start
where idle.claimed_gpu_hours > idle.device_hours + node.gpu_count / 2e0 + 1e-9
