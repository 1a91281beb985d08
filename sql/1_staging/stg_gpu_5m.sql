-- grain: GPU or MIG instance x 5 minutes, inside the run's window
select
    sample.source_id,
    sample.cluster_id,
    sample.node,
    sample.gpu_uuid,
    sample.mig_instance_id,
    sample.mig_profile,
    sample.gpu_model,
    sample.bucket_start,
    sample.gpu_util_ratio_mean,
    sample.gpu_util_ratio_max,
    sample.gpu_util_ratio_samples,
    sample.gr_engine_active_ratio_mean,
    sample.gr_engine_active_ratio_max,
    sample.gr_engine_active_ratio_samples,
    sample.sm_active_ratio_mean,
    sample.sm_active_ratio_max,
    sample.sm_active_ratio_samples,
    sample.sm_occupancy_ratio_mean,
    sample.sm_occupancy_ratio_max,
    sample.sm_occupancy_ratio_samples,
    sample.tensor_active_ratio_mean,
    sample.tensor_active_ratio_max,
    sample.tensor_active_ratio_samples,
    sample.dram_active_ratio_mean,
    sample.dram_active_ratio_max,
    sample.dram_active_ratio_samples,
    sample.memory_used_gib_mean,
    sample.memory_used_gib_max,
    sample.memory_used_gib_samples,
    sample.memory_total_gib_mean,
    sample.memory_total_gib_max,
    sample.memory_total_gib_samples,
    sample.power_watts_mean,
    sample.power_watts_max,
    sample.power_watts_samples
from raw.gpu_5m as sample
cross join run_window
where
    sample.bucket_start >= run_window.window_start
    and sample.bucket_start < run_window.window_end
