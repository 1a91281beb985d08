-- promise: what commitments cover and strand is what their charges say, and each has a rate for what it covers
with charged as (
    select
        charge.commitment_id,
        sum(
            case
                when charge.inside_seconds = charge.charge_seconds then cast(charge.effective_usd as decimal(38, 15))
                else cast(
                    charge.effective_usd * (charge.inside_seconds / cast(charge.charge_seconds as double))
                    as decimal(38, 15)
                )
            end
        ) as effective_usd,
        max(case when charge.commitment_status = 'Used' and charge.contracted_usd > 0 then 1 else 0 end) as covers
    from int_charge as charge
    where
        charge.commitment_status in ('Used', 'Unused')
        and charge.commitment_id is not null
        and charge.billing_currency = 'USD'
    group by charge.commitment_id
),

hourly as (
    select
        commitment.commitment_id,
        sum(commitment.covered_usd + commitment.stranded_usd) as effective_usd
    from commitment_by_hour as commitment
    group by commitment.commitment_id
),

rated as (
    select
        rate.commitment_id,
        count(*) as rates
    from commitment_rate as rate
    group by rate.commitment_id
)

select
    'commitment ' || charged.commitment_id || ': its charges sum to ' || cast(charged.effective_usd as varchar(64))
    || ' USD, by the hour '
    || case when hourly.effective_usd is null then 'nothing' else cast(hourly.effective_usd as varchar(64)) end
    || case when charged.covers = 1 and rated.rates is null then ', and no rate is known' else '' end as message
from charged
left join hourly
    on charged.commitment_id = hourly.commitment_id
left join rated
    on charged.commitment_id = rated.commitment_id
where
    hourly.effective_usd is null
    or abs(charged.effective_usd - hourly.effective_usd) > cast('0.000030' as decimal(38, 15))
    or (charged.covers = 1 and rated.rates is null)
