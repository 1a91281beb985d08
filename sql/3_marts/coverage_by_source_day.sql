-- grain: source x day; how much of what should be there is there
with gpu_day as (
    select
        sample.source_id,
        date_trunc('day', sample.bucket_start) as day_start,
        count(*) as source_rows,
        count(distinct sample.gpu_uuid) as gpus
    from raw.gpu_5m as sample
    cross join run_window
    where
        sample.bucket_start >= run_window.window_start
        and sample.bucket_start < run_window.window_end
    group by
        sample.source_id,
        date_trunc('day', sample.bucket_start)
),

bill_day as (
    select
        charge.source_id,
        date_trunc('day', charge.charge_start) as day_start,
        count(*) as source_rows
    from int_charge as charge
    group by
        charge.source_id,
        date_trunc('day', charge.charge_start)
)

select
    gpu_day.source_id,
    'metrics' as source_kind,
    gpu_day.day_start,
    gpu_day.source_rows,
    gpu_day.gpus * 24e0 as gpu_hours_expected,
    gpu_day.source_rows / 12e0 as gpu_hours_observed
from gpu_day
union all
select
    bill_day.source_id,
    'billing' as source_kind,
    bill_day.day_start,
    bill_day.source_rows,
    cast(null as double) as gpu_hours_expected,
    cast(null as double) as gpu_hours_observed
from bill_day
