-- grain: node x account x SKU x market x hour
select
    charge.cluster_id,
    charge.node,
    charge.account,
    charge.sku_key,
    charge.market,
    charge.hour_start,
    sum(charge.list_usd) as list_usd,
    sum(charge.contracted_usd) as contracted_usd,
    sum(charge.effective_usd) as effective_usd,
    sum(charge.billed_usd) as billed_usd
from int_charge_hour as charge
where charge.scope = 'node'
group by
    charge.cluster_id,
    charge.node,
    charge.account,
    charge.sku_key,
    charge.market,
    charge.hour_start
