-- grain: commitment x SKU it covered; what one covered on-demand dollar costs
select
    charge.commitment_id,
    charge.sku_key,
    cast(sum(charge.effective_usd) as double) / cast(sum(charge.contracted_usd) as double) as covered_ratio
from int_charge_hour as charge
where charge.commitment_status = 'Used'
group by
    charge.commitment_id,
    charge.sku_key
having sum(charge.contracted_usd) > 0
