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

within_an_hour as (
    -- most bills are by the hour: such a charge needs no spreading
    select
        wanted.*,
        date_trunc('hour', wanted.charge_start) as hour_start
    from wanted
    where
        wanted.inside_seconds = wanted.charge_seconds
        and date_trunc('hour', wanted.charge_start) = date_trunc('hour', wanted.charge_end - interval '1 microsecond')
),

longer as (
    select
        wanted.*,
        row_number() over (
            order by
                wanted.account asc nulls last,
                wanted.charge_start asc nulls last,
                wanted.cluster_id asc nulls last,
                wanted.node asc nulls last,
                wanted.sku_key asc nulls last
        ) as charge_number
    from wanted
    where
        wanted.inside_seconds <> wanted.charge_seconds
        or date_trunc('hour', wanted.charge_start) <> date_trunc('hour', wanted.charge_end - interval '1 microsecond')
),

hours as (
    select
        longer.*,
        explode(sequence(
            date_trunc('hour', longer.inside_start),
            date_trunc('hour', longer.inside_end - interval '1 microsecond'),
            interval '1 hour'
        )) as hour_start
    from longer
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
            -- a bill by the day falls on the hours in which the machine existed; only its share of the window counts
            when spread.alive_hours_of_charge > 0 and spread.alive_hours is null then 0e0
            when spread.alive_hours_of_charge > 0
                then spread.inside_ratio * spread.alive_hours / spread.alive_hours_of_charge
            else spread.span_seconds / spread.charge_seconds
        end as hour_ratio
    from spread
)

select
    short.account,
    short.cluster_id,
    short.node,
    short.scope,
    short.market,
    short.commitment_id,
    short.commitment_type,
    short.commitment_category,
    short.commitment_status,
    short.sku_key,
    short.hour_start,
    cast(short.billed_usd as decimal(38, 15)) as billed_usd,
    cast(short.effective_usd as decimal(38, 15)) as effective_usd,
    cast(short.contracted_usd as decimal(38, 15)) as contracted_usd,
    cast(short.list_usd as decimal(38, 15)) as list_usd
from within_an_hour as short
union all
select
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
    cast(shared.billed_usd * shared.hour_ratio as decimal(38, 15)) as billed_usd,
    cast(shared.effective_usd * shared.hour_ratio as decimal(38, 15)) as effective_usd,
    cast(shared.contracted_usd * shared.hour_ratio as decimal(38, 15)) as contracted_usd,
    cast(shared.list_usd * shared.hour_ratio as decimal(38, 15)) as list_usd
from shared
