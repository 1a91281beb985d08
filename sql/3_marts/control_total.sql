-- grain: currency; what the loads counted before the warehouse saw it, less what lies outside the window
with loaded as (
    select
        load.BillingCurrency as billing_currency,
        sum(load.charge_rows) as charge_rows,
        sum(load.BilledCost) as billed_usd,
        sum(load.EffectiveCost) as effective_usd
    from raw.cost_load as load
    group by load.BillingCurrency
),

filled as (
    -- charges without amortised cost count as billed, here as in the scopes
    select
        cost.BillingCurrency as billing_currency,
        sum(cost.BilledCost) as effective_usd
    from raw.cost as cost
    where cost.EffectiveCost is null
    group by cost.BillingCurrency
),

ended as (
    select
        cost.BillingCurrency,
        cost.BilledCost,
        cost.EffectiveCost,
        cost.ChargePeriodStart as charge_start,
        -- a charge at an instant belongs to the second it begins
        case
            when cost.ChargePeriodEnd > cost.ChargePeriodStart then cost.ChargePeriodEnd
            when cost.ChargePeriodEnd is not null then cost.ChargePeriodStart + interval '1 second'
        end as charge_end
    from raw.cost as cost
),

measured as (
    select
        ended.BillingCurrency as billing_currency,
        ended.BilledCost as billed_usd,
        case when ended.EffectiveCost is null then ended.BilledCost else ended.EffectiveCost end as effective_usd,
        unix_timestamp(ended.charge_end) - unix_timestamp(ended.charge_start) as charge_seconds,
        unix_timestamp(least(ended.charge_end, run_window.window_end))
        - unix_timestamp(greatest(ended.charge_start, run_window.window_start)) as inside_seconds
    from ended
    cross join run_window
),

overlap as (
    select
        measured.billing_currency,
        measured.billed_usd,
        measured.effective_usd,
        case
            when measured.inside_seconds = measured.charge_seconds then 1e0
            when measured.charge_seconds > 0 and measured.inside_seconds > 0
                then measured.inside_seconds / cast(measured.charge_seconds as double)
            -- before, after, or without a period: in no window
            else 0e0
        end as inside_ratio
    from measured
),

outside as (
    select
        overlap.billing_currency,
        count(case when overlap.inside_ratio = 0e0 then 1 end) as charge_rows,
        sum(
            case
                when overlap.inside_ratio = 0e0 then cast(overlap.billed_usd as decimal(38, 15))
                else cast(overlap.billed_usd * (1e0 - overlap.inside_ratio) as decimal(38, 15))
            end
        ) as billed_usd,
        sum(
            case
                when overlap.inside_ratio = 0e0 then cast(overlap.effective_usd as decimal(38, 15))
                else cast(overlap.effective_usd * (1e0 - overlap.inside_ratio) as decimal(38, 15))
            end
        ) as effective_usd
    from overlap
    where overlap.inside_ratio < 1e0
    group by overlap.billing_currency
)

select
    loaded.billing_currency,
    loaded.charge_rows - case when outside.charge_rows is null then 0 else outside.charge_rows end as charge_rows,
    loaded.billed_usd
    - case when outside.billed_usd is null then cast(0 as decimal(38, 15)) else outside.billed_usd end as billed_usd,
    loaded.effective_usd
    + case when filled.effective_usd is null then cast(0 as decimal(38, 15)) else filled.effective_usd end
    - case when outside.effective_usd is null then cast(0 as decimal(38, 15)) else outside.effective_usd end
        as effective_usd
from loaded
left join outside
    on loaded.billing_currency is not distinct from outside.billing_currency
left join filled
    on loaded.billing_currency is not distinct from filled.billing_currency
