-- promise: a node's GPUs are not held for more time than there is
select
    'node ' || idle.cluster_id || '/' || idle.node || ', ' || cast(cast(idle.hour_start as date) as varchar(10))
    || ' ' || cast(idle.hour_start as varchar(32)) || ': ' || cast(idle.held_gpu_hours as varchar(32))
    || ' GPU-hours held of ' || cast(idle.device_hours as varchar(32)) as message
from int_node_idle_hour as idle
where idle.held_gpu_hours > idle.device_hours + 1e-9
