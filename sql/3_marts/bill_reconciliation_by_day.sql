-- grain: account x currency x day x scope; every charge of the window is in exactly one scope
with days as (
    select
        charge.charge_number,
        charge.account,
        charge.billing_currency,
        charge.scope,
        charge.charge_start,
        charge.charge_end,
        charge.charge_seconds,
        charge.billed_usd,
        charge.effective_usd,
        charge.list_usd,
        explode(sequence(
            date_trunc('day', charge.charge_start),
            date_trunc('day', charge.charge_end - interval '1 microsecond'),
            interval '1 day'
        )) as day_start
    from int_charge as charge
    where charge.charge_end > charge.charge_start
),

spread as (
    select
        days.*,
        case
            when days.charge_start >= days.day_start and days.charge_end <= days.day_start + interval '1 day' then 1e0
            else cast(
                unix_timestamp(least(days.charge_end, days.day_start + interval '1 day'))
                - unix_timestamp(greatest(days.charge_start, days.day_start)) as double
            ) / days.charge_seconds
        end as day_ratio
    from days
)

select
    spread.account,
    spread.billing_currency,
    spread.day_start,
    spread.scope,
    count(distinct spread.charge_number) as charge_rows,
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
cross join run_window
where
    spread.day_start >= date_trunc('day', run_window.window_start)
    and spread.day_start < run_window.window_end
group by
    spread.account,
    spread.billing_currency,
    spread.day_start,
    spread.scope
