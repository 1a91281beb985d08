-- grain: charge row that touches the window; scope says which one pot it falls into
with cluster_name as (
    select distinct node.cluster_id
    from stg_node as node
),

billed_node as (
    -- two clusters that claim one machine would double its dollars: the first by name has it, a check names both
    select
        machine.resource_key,
        min(machine.cluster_id || '/' || machine.node) as node_path
    from stg_node_machine as machine
    group by machine.resource_key
),

timed as (
    select
        cost.*,
        -- a charge at an instant belongs to the second it begins
        case
            when cost.ChargePeriodEnd > cost.ChargePeriodStart then cost.ChargePeriodEnd
            else cost.ChargePeriodStart + interval '1 second'
        end as charge_end
    from raw.cost as cost
    where
        cost.ChargePeriodStart is not null
        and cost.ChargePeriodEnd is not null
),

touching as (
    select
        timed.*,
        greatest(timed.ChargePeriodStart, run_window.window_start) as inside_start,
        least(timed.charge_end, run_window.window_end) as inside_end,
        case
            when
                timed.CommitmentDiscountStatus is null
                and timed.CommitmentDiscountId is not null
                and timed.ChargeCategory = 'Usage'
                then 'Used'
            else timed.CommitmentDiscountStatus
        end as commitment_status
    from timed
    cross join run_window
    where
        timed.ChargePeriodStart < run_window.window_end
        and timed.charge_end > run_window.window_start
),

placed as (
    select
        touching.*,
        node.cluster_id as node_cluster_id,
        node.node as node_name,
        cluster_name.cluster_id as tagged_cluster,
        case
            when touching.PricingCategory = 'Dynamic' then 'spot'
            when touching.CommitmentDiscountId is not null then 'committed'
            when touching.PricingCategory = 'Standard' then 'on_demand'
            when touching.PricingCategory is null then 'on_demand'
            else 'other'
        end as market
    from touching
    left join billed_node
        on touching.x_resource_key = billed_node.resource_key
    left join stg_node as node
        on billed_node.node_path = node.cluster_id || '/' || node.node
    left join cluster_name
        on
            node.node is null
            and position('cluster-name":"' || cluster_name.cluster_id || '"' in touching.Tags) > 0
)

select
    placed.source_id,
    placed.source_object,
    -- payer/account: commitments are shared below one payer
    placed.BillingAccountId
    || case when placed.SubAccountId is null then '' else '/' || placed.SubAccountId end as account,
    placed.ServiceProviderName as provider,
    placed.BillingCurrency as billing_currency,
    placed.ChargePeriodStart as charge_start,
    placed.charge_end,
    placed.inside_start,
    placed.inside_end,
    unix_timestamp(placed.charge_end) - unix_timestamp(placed.ChargePeriodStart) as charge_seconds,
    unix_timestamp(placed.inside_end) - unix_timestamp(placed.inside_start) as inside_seconds,
    placed.node_cluster_id as cluster_id,
    placed.node_name as node,
    case
        when placed.ChargeCategory in ('Tax', 'Credit', 'Adjustment') then 'tax_credit_support'
        when lower(placed.ServiceName) like '%support%' then 'tax_credit_support'
        when placed.commitment_status = 'Unused' then 'commitment_unused'
        when placed.CapacityReservationStatus = 'Unused' then 'commitment_unused'
        when placed.ChargeCategory = 'Purchase' and placed.CommitmentDiscountId is not null
            then 'commitment_purchase'
        when placed.node_name is not null and placed.BillingCurrency = 'USD' then 'node'
        when placed.tagged_cluster is not null then 'cluster_shared'
        else 'outside'
    end as scope,
    placed.market,
    placed.ChargeCategory as charge_category,
    placed.x_instance_type is not null as is_compute,
    placed.ServiceName as service_name,
    placed.CommitmentDiscountId as commitment_id,
    placed.CommitmentDiscountType as commitment_type,
    placed.CommitmentDiscountCategory as commitment_category,
    placed.commitment_status,
    case
        when placed.x_instance_type is null then placed.SkuId
        else placed.x_instance_type
    end || '|' || case when placed.RegionId is null then '' else placed.RegionId end as sku_key,
    placed.BilledCost as billed_usd,
    -- a file without amortised cost gives what was billed; its connector reports that
    case when placed.EffectiveCost is null then placed.BilledCost else placed.EffectiveCost end as effective_usd,
    case
        when placed.ContractedCost is not null then placed.ContractedCost
        -- what was paid on demand is what it costs on demand; covered usage would have cost the list price
        when placed.market = 'committed' and placed.ListCost is not null then placed.ListCost
        when placed.EffectiveCost is not null then placed.EffectiveCost
        else placed.BilledCost
    end as contracted_usd,
    case
        when placed.ListCost is not null then placed.ListCost
        when placed.ContractedCost is not null then placed.ContractedCost
        when placed.EffectiveCost is not null then placed.EffectiveCost
        else placed.BilledCost
    end as list_usd
from placed
