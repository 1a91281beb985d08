-- grain: source x day; how much of what should be there is there
with instance_day as (
    select
        sample.source_id,
        date_trunc('day', sample.bucket_start) as day_start,
        sample.gpu_uuid,
        sample.mig_instance_id,
        count(*) as buckets
    from stg_gpu_5m as sample
    group by
        sample.source_id,
        date_trunc('day', sample.bucket_start),
        sample.gpu_uuid,
        sample.mig_instance_id
),

gpu as (
    -- a GPU cut into instances is one GPU, seen as long as its best-seen instance
    select
        instance_day.source_id,
        instance_day.day_start,
        instance_day.gpu_uuid,
        max(instance_day.buckets) as buckets,
        sum(instance_day.buckets) as source_rows
    from instance_day
    group by
        instance_day.source_id,
        instance_day.day_start,
        instance_day.gpu_uuid
),

gpu_day as (
    select
        gpu.source_id,
        gpu.day_start,
        count(*) as gpus,
        sum(gpu.buckets) as buckets,
        sum(gpu.source_rows) as source_rows
    from gpu
    group by
        gpu.source_id,
        gpu.day_start
),

node_days as (
    select
        node.source_id,
        node.node,
        explode(sequence(
            date_trunc('day', greatest(node.valid_from, run_window.window_start)),
            date_trunc('day', least(node.valid_to, run_window.window_end) - interval '1 microsecond'),
            interval '1 day'
        )) as day_start
    from raw.node as node
    cross join run_window
    where
        node.valid_from < run_window.window_end
        and node.valid_to > run_window.window_start
),

node_day as (
    select
        node_days.source_id,
        node_days.day_start,
        count(distinct node_days.node) as source_rows
    from node_days
    group by
        node_days.source_id,
        node_days.day_start
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
    gpu_day.buckets / 12e0 as gpu_hours_observed
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
union all
select
    node_day.source_id,
    'cluster' as source_kind,
    node_day.day_start,
    node_day.source_rows,
    cast(null as double) as gpu_hours_expected,
    cast(null as double) as gpu_hours_observed
from node_day
