-- promise: the hours of each holder add up to its span
with spans as (
    select
        holder.holder_number,
        holder.cluster_id,
        holder.node,
        holder.pod,
        holder.held_from,
        holder.devices * (unix_timestamp(holder.held_to) - unix_timestamp(holder.held_from)) / 3600e0 as gpu_hours
    from gpu_holder as holder
    where
        holder.held_to > holder.held_from
        and holder.devices is not null
),

hours as (
    select
        hour.holder_number,
        sum(hour.claimed_gpu_hours) as gpu_hours
    from int_holder_hour as hour
    group by hour.holder_number
)

select
    'node ' || spans.cluster_id || '/' || spans.node || ', ' || cast(cast(spans.held_from as date) as varchar(10))
    || ': pod ' || spans.pod || ' holds ' || cast(spans.gpu_hours as varchar(32)) || ' GPU-hours, by the hour '
    || case when hours.gpu_hours is null then 'none' else cast(hours.gpu_hours as varchar(32)) end as message
from spans
left join hours
    on spans.holder_number = hours.holder_number
where
    hours.gpu_hours is null
    or abs(spans.gpu_hours - hours.gpu_hours) > 1e-6
