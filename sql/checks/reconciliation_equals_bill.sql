-- promise: the scopes of a day add up to the charges that lie inside the window
with scoped as (
    select
        sum(case when charge.effective_usd is null then cast(0 as decimal(38, 15)) else charge.effective_usd end)
            as effective_usd,
        count(*) as charge_rows
    from int_charge as charge
),

billed as (
    select
        sum(
            case
                when cost.EffectiveCost is not null then cost.EffectiveCost
                when cost.BilledCost is not null then cost.BilledCost
                else cast(0 as decimal(38, 15))
            end
        ) as effective_usd,
        count(*) as charge_rows
    from raw.cost as cost
    cross join run_window
    where
        cost.ChargePeriodStart < run_window.window_end
        and cost.ChargePeriodEnd > run_window.window_start
)

select
    'bill: ' || cast(billed.charge_rows as varchar(32)) || ' charges of '
    || cast(billed.effective_usd as varchar(64)) || ' USD; scopes hold '
    || cast(scoped.charge_rows as varchar(32)) || ' charges of '
    || cast(scoped.effective_usd as varchar(64)) || ' USD' as message
from billed
cross join scoped
where
    billed.charge_rows <> scoped.charge_rows
    or billed.effective_usd <> scoped.effective_usd
