-- grain: account x SKU x hour; usage that commitments may cover, at the on-demand price
select
    charge.account,
    charge.sku_key,
    charge.hour_start,
    sum(charge.contracted_usd) as contracted_usd
from int_charge_hour as charge
where
    charge.market in ('on_demand', 'committed')
    and charge.scope <> 'commitment_unused'
group by
    charge.account,
    charge.sku_key,
    charge.hour_start
