-- grain: account x currency x day x scope; every charge of the window is in exactly one scope
with days as (
    select
        charge.account,
        charge.billing_currency,
        charge.scope,
        charge.inside_start,
        charge.inside_end,
        charge.charge_seconds,
        charge.billed_usd,
        charge.effective_usd,
        charge.list_usd,
        explode(sequence(
            date_trunc('day', charge.inside_start),
            date_trunc('day', charge.inside_end - interval '1 microsecond'),
            interval '1 day'
        )) as day_start
    from int_charge as charge
),

measured as (
    select
        days.*,
        unix_timestamp(least(days.inside_end, days.day_start + interval '1 day'))
        - unix_timestamp(greatest(days.inside_start, days.day_start)) as day_seconds
    from days
),

spread as (
    select
        measured.*,
        case
            when measured.day_seconds = measured.charge_seconds then 1e0
            else cast(measured.day_seconds as double) / measured.charge_seconds
        end as day_ratio
    from measured
)

select
    spread.account,
    spread.billing_currency,
    spread.day_start,
    spread.scope,
    count(*) as charge_rows,
    sum(
        case
            when spread.day_ratio = 1e0 then cast(spread.billed_usd as decimal(38, 15))
            else cast(spread.billed_usd * spread.day_ratio as decimal(38, 15))
        end
    ) as billed_usd,
    sum(
        case
            when spread.day_ratio = 1e0 then cast(spread.effective_usd as decimal(38, 15))
            else cast(spread.effective_usd * spread.day_ratio as decimal(38, 15))
        end
    ) as effective_usd,
    sum(
        case
            when spread.day_ratio = 1e0 then cast(spread.list_usd as decimal(38, 15))
            else cast(spread.list_usd * spread.day_ratio as decimal(38, 15))
        end
    ) as list_usd
from spread
group by
    spread.account,
    spread.billing_currency,
    spread.day_start,
    spread.scope
