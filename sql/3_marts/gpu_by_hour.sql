-- grain: GPU or MIG instance x hour of the window
-- materialized: view
select
    gpu.cluster_id,
    gpu.node,
    gpu.gpu_uuid,
    gpu.mig_instance_id,
    gpu.mig_profile,
    gpu.gpu_model,
    gpu.hour_start,
    gpu.observed_buckets,
    gpu.idle_buckets,
    gpu.is_stuck,
    gpu.telemetry_level,
    gpu.activity_max,
    gpu.sm_active_ratio_mean,
    gpu.sm_active_ratio_max,
    gpu.gr_engine_active_ratio_mean,
    gpu.gr_engine_active_ratio_max,
    gpu.gpu_util_ratio_mean,
    gpu.gpu_util_ratio_max,
    gpu.tensor_active_ratio_max,
    gpu.dram_active_ratio_max,
    gpu.memory_used_gib_mean,
    gpu.memory_used_gib_max,
    gpu.memory_total_gib,
    gpu.power_watts_mean
from int_gpu_hour as gpu
cross join run_window
where
    gpu.hour_start >= date_trunc('hour', run_window.window_start)
    and gpu.hour_start < run_window.window_end
