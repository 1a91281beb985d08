-- grain: currency; what the loads counted before the warehouse saw it, where the window holds all that was loaded
with inside as (
    select count(*) as charge_rows
    from int_charge as charge
    cross join run_window
    where
        charge.charge_start >= run_window.window_start
        and charge.charge_end <= run_window.window_end
),

stored as (
    select count(cost.source_id) as charge_rows
    from raw.cost as cost
)

select
    load.BillingCurrency as billing_currency,
    sum(load.charge_rows) as charge_rows,
    sum(load.BilledCost) as billed_usd,
    sum(load.EffectiveCost) as effective_usd
from raw.cost_load as load
cross join inside
cross join stored
where inside.charge_rows = stored.charge_rows
group by load.BillingCurrency
