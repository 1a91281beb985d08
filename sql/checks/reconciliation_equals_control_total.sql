-- promise: the scopes of the window add up to what the loads counted, per currency, billed and effective
with scoped as (
    select
        bill.billing_currency,
        sum(bill.billed_usd) as billed_usd,
        sum(bill.effective_usd) as effective_usd
    from bill_reconciliation_by_day as bill
    group by bill.billing_currency
)

select
    'bill in '
    || case when control.billing_currency is null then 'an unknown currency' else control.billing_currency end
    || ': loaded '
    || case when control.billed_usd is null then 'unknown' else cast(control.billed_usd as varchar(64)) end
    || ' billed, scopes hold '
    || case when scoped.billed_usd is null then 'nothing' else cast(scoped.billed_usd as varchar(64)) end as message
from control_total as control
left join scoped
    on control.billing_currency is not distinct from scoped.billing_currency
where
    (control.charge_rows > 0 and scoped.effective_usd is null and control.effective_usd is not null)
    or abs(control.billed_usd - scoped.billed_usd) > cast('0.000001' as decimal(38, 15))
    or abs(control.effective_usd - scoped.effective_usd) > cast('0.000001' as decimal(38, 15))
