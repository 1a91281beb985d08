-- grain: GPU or MIG instance x hour, all history
-- incremental: hour_start from raw.gpu_5m by bucket_start
with bucket as (
    select
        sample.cluster_id,
        sample.gpu_uuid,
        sample.mig_instance_id,
        sample.node,
        sample.mig_profile,
        sample.gpu_model,
        date_trunc('hour', sample.bucket_start) as hour_start,
        sample.gpu_util_ratio_mean,
        sample.gpu_util_ratio_max,
        sample.gr_engine_active_ratio_mean,
        sample.gr_engine_active_ratio_max,
        sample.sm_active_ratio_mean,
        sample.sm_active_ratio_max,
        sample.tensor_active_ratio_max,
        sample.dram_active_ratio_max,
        sample.memory_used_gib_mean,
        sample.memory_used_gib_max,
        sample.memory_total_gib_max,
        sample.power_watts_mean,
        sample.power_watts_max,
        greatest(
            sample.gpu_util_ratio_max,
            sample.gr_engine_active_ratio_max,
            sample.sm_active_ratio_max,
            sample.tensor_active_ratio_max,
            sample.dram_active_ratio_max
        ) as activity_max
    from raw.gpu_5m as sample
    cross join build_days
    where
        sample.bucket_start >= build_days.days_start
        and sample.bucket_start < build_days.days_end
),

hourly as (
    select
        bucket.cluster_id,
        bucket.gpu_uuid,
        bucket.mig_instance_id,
        bucket.hour_start,
        max(bucket.node) as node,
        max(bucket.mig_profile) as mig_profile,
        max(bucket.gpu_model) as gpu_model,
        count(bucket.activity_max) as seen_buckets,
        count(bucket.activity_max) filter (where bucket.activity_max < build_setting.idle_activity_ratio)
            as seen_idle_buckets,
        count(bucket.power_watts_mean) as power_buckets,
        min(bucket.power_watts_mean) as power_watts_min,
        max(bucket.power_watts_max) as power_watts_max,
        avg(bucket.power_watts_mean) as power_watts_mean,
        max(bucket.activity_max) as activity_max,
        avg(bucket.sm_active_ratio_mean) as sm_active_ratio_mean,
        max(bucket.sm_active_ratio_max) as sm_active_ratio_max,
        avg(bucket.gr_engine_active_ratio_mean) as gr_engine_active_ratio_mean,
        max(bucket.gr_engine_active_ratio_max) as gr_engine_active_ratio_max,
        avg(bucket.gpu_util_ratio_mean) as gpu_util_ratio_mean,
        max(bucket.gpu_util_ratio_max) as gpu_util_ratio_max,
        max(bucket.tensor_active_ratio_max) as tensor_active_ratio_max,
        max(bucket.dram_active_ratio_max) as dram_active_ratio_max,
        avg(bucket.memory_used_gib_mean) as memory_used_gib_mean,
        max(bucket.memory_used_gib_max) as memory_used_gib_max,
        max(bucket.memory_total_gib_max) as memory_total_gib,
        max(build_setting.min_stuck_buckets) as min_stuck_buckets
    from bucket
    cross join build_setting
    group by
        bucket.cluster_id,
        bucket.gpu_uuid,
        bucket.mig_instance_id,
        bucket.hour_start
),

judged as (
    select
        hourly.*,
        case
            -- a board that draws the same watts to the last digit for half an hour is not being read any more
            when hourly.power_buckets >= hourly.min_stuck_buckets
                then hourly.power_watts_min = hourly.power_watts_max
            else false
        end as is_stuck
    from hourly
)

select
    judged.cluster_id,
    judged.node,
    judged.gpu_uuid,
    judged.mig_instance_id,
    judged.mig_profile,
    judged.gpu_model,
    judged.hour_start,
    case when judged.is_stuck then 0 else judged.seen_buckets end as observed_buckets,
    case when judged.is_stuck then 0 else judged.seen_idle_buckets end as idle_buckets,
    judged.is_stuck,
    case
        when judged.sm_active_ratio_max is not null then 3
        when judged.gr_engine_active_ratio_max is not null then 2
        when judged.gpu_util_ratio_max is not null then 1
        else 0
    end as telemetry_level,
    judged.activity_max,
    judged.sm_active_ratio_mean,
    judged.sm_active_ratio_max,
    judged.gr_engine_active_ratio_mean,
    judged.gr_engine_active_ratio_max,
    judged.gpu_util_ratio_mean,
    judged.gpu_util_ratio_max,
    judged.tensor_active_ratio_max,
    judged.dram_active_ratio_max,
    judged.memory_used_gib_mean,
    judged.memory_used_gib_max,
    judged.memory_total_gib,
    judged.power_watts_mean
from judged
