-- promise: raw.cost holds each row and each dollar that the load counted, per file, billing period and currency
with counted as (
    select
        load.source_id,
        load.source_object,
        load.BillingPeriodStart as period_start,
        load.BillingCurrency as billing_currency,
        sum(load.charge_rows) as charge_rows,
        sum(load.BilledCost) as billed_usd,
        sum(load.EffectiveCost) as effective_usd
    from raw.cost_load as load
    group by
        load.source_id,
        load.source_object,
        load.BillingPeriodStart,
        load.BillingCurrency
),

stored as (
    select
        cost.source_id,
        cost.source_object,
        cost.BillingPeriodStart as period_start,
        cost.BillingCurrency as billing_currency,
        count(*) as charge_rows,
        sum(cost.BilledCost) as billed_usd,
        sum(cost.EffectiveCost) as effective_usd
    from raw.cost as cost
    group by
        cost.source_id,
        cost.source_object,
        cost.BillingPeriodStart,
        cost.BillingCurrency
)

select
    'source ' || counted.source_id || ', ' || counted.source_object || ', period '
    || case when counted.period_start is null then 'unknown' else cast(counted.period_start as varchar(32)) end
    || ': loaded ' || cast(counted.charge_rows as varchar(32)) || ' rows, billed '
    || case when counted.billed_usd is null then 'unknown' else cast(counted.billed_usd as varchar(64)) end
    || '; the warehouse holds '
    || case when stored.charge_rows is null then 'none' else cast(stored.charge_rows as varchar(32)) end
    || ' rows, billed '
    || case when stored.billed_usd is null then 'unknown' else cast(stored.billed_usd as varchar(64)) end as message
from counted
left join stored
    on
        counted.source_id = stored.source_id
        and counted.source_object = stored.source_object
        and counted.period_start is not distinct from stored.period_start
        and counted.billing_currency is not distinct from stored.billing_currency
where
    stored.charge_rows is null
    or counted.charge_rows <> stored.charge_rows
    or counted.billed_usd is distinct from stored.billed_usd
    or counted.effective_usd is distinct from stored.effective_usd
