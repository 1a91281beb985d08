-- promise: no two sources bill the same account on the same day
with sources as (
    select
        charge.account,
        cast(charge.charge_start as date) as charge_day,
        count(distinct charge.source_id) as source_count,
        min(charge.source_id) as first_source,
        max(charge.source_id) as last_source
    from int_charge as charge
    where charge.account is not null
    group by
        charge.account,
        cast(charge.charge_start as date)
)

select
    'account ' || sources.account || ', ' || cast(sources.charge_day as varchar(10)) || ': billed by both '
    || sources.first_source || ' and ' || sources.last_source || '; remove one of the two sources' as message
from sources
where sources.source_count > 1
