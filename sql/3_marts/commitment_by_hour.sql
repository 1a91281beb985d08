-- grain: commitment x hour; covered + stranded = what the commitment costs in that hour, amortised
select
    charge.account,
    charge.commitment_id,
    max(charge.commitment_type) as commitment_type,
    max(charge.commitment_category) as commitment_category,
    charge.hour_start,
    sum(case when charge.commitment_status = 'Used' then charge.effective_usd else cast(0 as decimal(38, 15)) end)
        as covered_usd,
    sum(case when charge.commitment_status = 'Unused' then charge.effective_usd else cast(0 as decimal(38, 15)) end)
        as stranded_usd
from int_charge_hour as charge
where
    charge.commitment_id is not null
    and charge.commitment_status in ('Used', 'Unused')
group by
    charge.account,
    charge.commitment_id,
    charge.hour_start
