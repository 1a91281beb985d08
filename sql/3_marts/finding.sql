-- grain: source x code x subject; what a load or the models did not believe or had to assume
with loaded as (
    select
        finding.source_id,
        finding.code,
        finding.subject,
        min(finding.message) as message,
        sum(finding.occurrences) as occurrences,
        sum(finding.usd) as usd
    from raw.finding as finding
    group by
        finding.source_id,
        finding.code,
        finding.subject
),

split as (
    select
        'models' as source_id,
        'cost_split_assumed' as code,
        node.gpu_model as subject,
        'no component price is known for this GPU: a node splits its cost as if one GPU weighed as ten vCPU' as message,
        count(*) as occurrences,
        cast(null as decimal(38, 15)) as usd
    from int_node_share as share
    inner join stg_node as node
        on
            share.cluster_id = node.cluster_id
            and share.node = node.node
    where share.is_assumed
    group by node.gpu_model
),

unbilled as (
    select
        'models' as source_id,
        'node_not_billed' as code,
        node.cluster_id as subject,
        'no bill names these GPU nodes in the window: what runs there has no dollars; check the bill and providerID'
            as message,
        count(*) as occurrences,
        cast(null as decimal(38, 15)) as usd
    from node_now as node
    where not node.is_billed
    group by node.cluster_id
),

geometry as (
    select
        'models' as source_id,
        'slice_share_unknown' as code,
        request.resource as subject,
        'nobody knows which share of a GPU this slice is: its time stays unattributed' as message,
        count(*) as occurrences,
        cast(null as decimal(38, 15)) as usd
    from int_gpu_request as request
    where request.devices_per_unit is null
    group by request.resource
),

timeless as (
    select
        cost.source_id,
        'charge_without_period' as code,
        cost.source_object as subject,
        'charges that say not when they begin or end are in no window' as message,
        count(*) as occurrences,
        sum(cost.BilledCost) as usd
    from raw.cost as cost
    where cost.ChargePeriodStart is null or cost.ChargePeriodEnd is null
    group by
        cost.source_id,
        cost.source_object
),

foreign_money as (
    select
        charge.source_id,
        'node_in_other_currency' as code,
        charge.billing_currency as subject,
        'charges of nodes in a currency that nothing converts: they are kept apart, and their nodes have no dollars'
            as message,
        count(*) as occurrences,
        cast(null as decimal(38, 15)) as usd
    from int_charge as charge
    where
        charge.node is not null
        and charge.billing_currency <> 'USD'
    group by
        charge.source_id,
        charge.billing_currency
),

every as (
    select * from loaded
    union all
    select * from split
    union all
    select * from unbilled
    union all
    select * from geometry
    union all
    select * from timeless
    union all
    select * from foreign_money
)

select
    every.source_id,
    every.code,
    every.subject,
    every.message,
    every.occurrences,
    every.usd
from every
