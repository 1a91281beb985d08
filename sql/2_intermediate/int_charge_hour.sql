-- grain: charge row of a node or of usage that concerns commitments x hour of the window
with wanted as (
    select charge.*
    from int_charge as charge
    where
        charge.billing_currency = 'USD'
        and (
            charge.scope in ('node', 'commitment_unused')
            or charge.commitment_status = 'Used'
            or (charge.is_compute and charge.charge_category = 'Usage' and charge.market = 'on_demand')
        )
),

hours as (
    select
        wanted.*,
        explode(sequence(
            date_trunc('hour', wanted.inside_start),
            date_trunc('hour', wanted.inside_end - interval '1 microsecond'),
            interval '1 hour'
        )) as hour_start
    from wanted
),

weighed as (
    select
        hours.*,
        cast(
            unix_timestamp(least(hours.inside_end, hours.hour_start + interval '1 hour'))
            - unix_timestamp(greatest(hours.inside_start, hours.hour_start)) as double
        ) as span_seconds,
        node.alive_hours
    from hours
    left join int_node_hour as node
        on
            hours.cluster_id = node.cluster_id
            and hours.node = node.node
            and hours.hour_start = node.hour_start
),

spread as (
    select
        weighed.*,
        weighed.inside_seconds / cast(weighed.charge_seconds as double) as inside_ratio,
        sum(weighed.alive_hours) over (partition by weighed.charge_number) as alive_hours_of_charge
    from weighed
),

shared as (
    select
        spread.*,
        case
            when spread.charge_seconds = spread.span_seconds then 1e0
            -- a bill by the day falls on the hours in which the machine existed; only its share of the window counts
            when spread.alive_hours_of_charge > 0 and spread.alive_hours is null then 0e0
            when spread.alive_hours_of_charge > 0
                then spread.inside_ratio * spread.alive_hours / spread.alive_hours_of_charge
            else spread.span_seconds / spread.charge_seconds
        end as hour_ratio
    from spread
)

select
    shared.charge_number,
    shared.account,
    shared.cluster_id,
    shared.node,
    shared.scope,
    shared.market,
    shared.commitment_id,
    shared.commitment_type,
    shared.commitment_category,
    shared.commitment_status,
    shared.sku_key,
    shared.hour_start,
    case
        when shared.hour_ratio = 1e0 then cast(shared.billed_usd as decimal(38, 15))
        else cast(shared.billed_usd * shared.hour_ratio as decimal(38, 15))
    end as billed_usd,
    case
        when shared.hour_ratio = 1e0 then cast(shared.effective_usd as decimal(38, 15))
        else cast(shared.effective_usd * shared.hour_ratio as decimal(38, 15))
    end as effective_usd,
    case
        when shared.hour_ratio = 1e0 then cast(shared.contracted_usd as decimal(38, 15))
        else cast(shared.contracted_usd * shared.hour_ratio as decimal(38, 15))
    end as contracted_usd,
    case
        when shared.hour_ratio = 1e0 then cast(shared.list_usd as decimal(38, 15))
        else cast(shared.list_usd * shared.hour_ratio as decimal(38, 15))
    end as list_usd
from shared
