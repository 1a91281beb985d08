-- grain: GPU or MIG instance seen by telemetry in the window
select
    gpu.cluster_id,
    gpu.gpu_uuid,
    gpu.mig_instance_id,
    max(gpu.node) as node,
    max(gpu.mig_profile) as mig_profile,
    max(gpu.gpu_model) as gpu_model
from int_gpu_hour as gpu
cross join run_window
where
    gpu.hour_start >= date_trunc('hour', run_window.window_start)
    and gpu.hour_start < run_window.window_end
group by
    gpu.cluster_id,
    gpu.gpu_uuid,
    gpu.mig_instance_id
