-- grain: charge row overlapping the window; scope says which one pot it falls into
with cluster_name as (
    select distinct node.cluster_id
    from stg_node as node
),

billed_node as (
    -- two clusters that claim one machine would double its dollars: the first by name has it, a check names both
    select
        node.resource_key,
        min(node.cluster_id || '/' || node.node) as node_path
    from stg_node as node
    where node.resource_key is not null
    group by node.resource_key
),

numbered as (
    select
        cost.*,
        row_number() over (
            order by
                cost.source_id asc nulls last,
                cost.source_object asc nulls last,
                cost.ChargePeriodStart asc nulls last,
                cost.ResourceId asc nulls last,
                cost.SkuId asc nulls last,
                cost.ChargeCategory asc nulls last,
                cost.BilledCost asc nulls last,
                cost.EffectiveCost asc nulls last,
                cost.Tags asc nulls last
        ) as charge_number
    from raw.cost as cost
    cross join run_window
    where
        cost.ChargePeriodStart < run_window.window_end
        and cost.ChargePeriodEnd > run_window.window_start
),

tagged as (
    select
        numbered.charge_number,
        min(cluster_name.cluster_id) as tagged_cluster
    from numbered
    inner join cluster_name
        on position('cluster-name":"' || cluster_name.cluster_id || '"' in numbered.Tags) > 0
    group by numbered.charge_number
)

select
    numbered.charge_number,
    numbered.source_id,
    numbered.source_object,
    -- payer/account: commitments are shared below one payer
    numbered.BillingAccountId
    || case when numbered.SubAccountId is null then '' else '/' || numbered.SubAccountId end as account,
    numbered.ServiceProviderName as provider,
    numbered.BillingCurrency as billing_currency,
    numbered.ChargePeriodStart as charge_start,
    numbered.ChargePeriodEnd as charge_end,
    unix_timestamp(numbered.ChargePeriodEnd) - unix_timestamp(numbered.ChargePeriodStart) as charge_seconds,
    node.cluster_id,
    node.node,
    case
        when numbered.ChargeCategory in ('Tax', 'Credit', 'Adjustment') then 'tax_credit_support'
        when lower(numbered.ServiceName) like '%support%' then 'tax_credit_support'
        when numbered.CommitmentDiscountStatus = 'Unused' then 'commitment_unused'
        when numbered.CapacityReservationStatus = 'Unused' then 'commitment_unused'
        when numbered.ChargeCategory = 'Purchase' and numbered.CommitmentDiscountId is not null
            then 'commitment_purchase'
        when node.node is not null and numbered.BillingCurrency = 'USD' then 'node'
        when tagged.tagged_cluster is not null then 'cluster_shared'
        else 'outside'
    end as scope,
    case
        when numbered.PricingCategory = 'Dynamic' then 'spot'
        when numbered.CommitmentDiscountId is not null then 'committed'
        when numbered.PricingCategory = 'Standard' then 'on_demand'
        when numbered.PricingCategory is null then 'on_demand'
        else 'other'
    end as market,
    numbered.ChargeCategory as charge_category,
    numbered.x_instance_type is not null as is_compute,
    numbered.ServiceName as service_name,
    numbered.CommitmentDiscountId as commitment_id,
    numbered.CommitmentDiscountType as commitment_type,
    numbered.CommitmentDiscountCategory as commitment_category,
    numbered.CommitmentDiscountStatus as commitment_status,
    case
        when numbered.x_instance_type is null then numbered.SkuId
        else numbered.x_instance_type
    end || '|' || case when numbered.RegionId is null then '' else numbered.RegionId end as sku_key,
    numbered.BilledCost as billed_usd,
    -- a file without amortised cost gives what was billed; its connector reports that
    case when numbered.EffectiveCost is null then numbered.BilledCost else numbered.EffectiveCost end as effective_usd,
    case
        when numbered.ContractedCost is not null then numbered.ContractedCost
        when numbered.ListCost is not null then numbered.ListCost
        when numbered.EffectiveCost is not null then numbered.EffectiveCost
        else numbered.BilledCost
    end as contracted_usd,
    case
        when numbered.ListCost is not null then numbered.ListCost
        when numbered.ContractedCost is not null then numbered.ContractedCost
        when numbered.EffectiveCost is not null then numbered.EffectiveCost
        else numbered.BilledCost
    end as list_usd
from numbered
left join billed_node
    on numbered.x_resource_key = billed_node.resource_key
left join stg_node as node
    on billed_node.node_path = node.cluster_id || '/' || node.node
left join tagged
    on numbered.charge_number = tagged.charge_number
