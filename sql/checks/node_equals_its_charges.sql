-- promise: what a node costs is what the bill's own rows say of its machines, by their part inside the window
with machine as (
    select
        one.resource_key,
        min(one.cluster_id || '/' || one.node) as node_path
    from stg_node_machine as one
    group by one.resource_key
),

inside as (
    select
        machine.node_path,
        case when cost.EffectiveCost is null then cost.BilledCost else cost.EffectiveCost end as effective_usd,
        case
            when cost.ChargePeriodEnd > cost.ChargePeriodStart
                then cast(
                    unix_timestamp(least(cost.ChargePeriodEnd, run_window.window_end))
                    - unix_timestamp(greatest(cost.ChargePeriodStart, run_window.window_start)) as double
                ) / (unix_timestamp(cost.ChargePeriodEnd) - unix_timestamp(cost.ChargePeriodStart))
            else 1e0
        end as inside_ratio
    from raw.cost as cost
    inner join machine
        on cost.x_resource_key = machine.resource_key
    cross join run_window
    where
        cost.ChargePeriodStart < run_window.window_end
        and (
            cost.ChargePeriodEnd > run_window.window_start
            or (cost.ChargePeriodEnd <= cost.ChargePeriodStart and cost.ChargePeriodStart >= run_window.window_start)
        )
        and cost.BillingCurrency = 'USD'
        and cost.ChargeCategory not in ('Tax', 'Credit', 'Adjustment')
        and (cost.ServiceName is null or lower(cost.ServiceName) not like '%support%')
        and (cost.CommitmentDiscountStatus is null or cost.CommitmentDiscountStatus <> 'Unused')
        and (cost.CapacityReservationStatus is null or cost.CapacityReservationStatus <> 'Unused')
        and (cost.ChargeCategory <> 'Purchase' or cost.CommitmentDiscountId is null)
),

charged as (
    select
        inside.node_path,
        count(*) as charges,
        sum(
            case
                when inside.inside_ratio = 1e0 then cast(inside.effective_usd as decimal(38, 15))
                else cast(inside.effective_usd * inside.inside_ratio as decimal(38, 15))
            end
        ) as effective_usd
    from inside
    group by inside.node_path
),

attributed as (
    select
        cost.cluster_id || '/' || cost.node as node_path,
        sum(cost.effective_usd) as effective_usd
    from cost_by_node_hour as cost
    group by cost.cluster_id || '/' || cost.node
)

select
    'node ' || charged.node_path || ': charges of the window sum to '
    || cast(charged.effective_usd as varchar(64)) || ' USD, attributed '
    || case when attributed.effective_usd is null then 'nothing' else cast(attributed.effective_usd as varchar(64)) end
    || ' USD' as message
from charged
left join attributed
    on charged.node_path = attributed.node_path
where
    attributed.effective_usd is null
    or abs(charged.effective_usd - attributed.effective_usd) > cast('0.000030' as decimal(38, 15))
union all
select
    'node ' || attributed.node_path || ' is charged ' || cast(attributed.effective_usd as varchar(64))
    || ' USD that no charge of its machines explains' as message
from attributed
left join charged
    on attributed.node_path = charged.node_path
where charged.node_path is null
