-- grain: node x hour with charges
select
    charge.cluster_id,
    charge.node,
    charge.hour_start,
    sum(charge.effective_usd) as effective_usd,
    sum(charge.billed_usd) as billed_usd,
    sum(charge.contracted_usd) as contracted_usd,
    sum(charge.list_usd) as list_usd
from int_charge_hour as charge
where charge.scope = 'node'
group by
    charge.cluster_id,
    charge.node,
    charge.hour_start
