-- promise: usage open to commitments holds at least what nodes use of it
with by_node as (
    select
        usage.account,
        usage.sku_key,
        usage.hour_start,
        sum(usage.contracted_usd) as contracted_usd
    from node_usage_by_hour as usage
    where usage.market in ('on_demand', 'committed')
    group by
        usage.account,
        usage.sku_key,
        usage.hour_start
)

select
    'account ' || by_node.account || ', ' || by_node.sku_key || ', ' || cast(by_node.hour_start as varchar(32))
    || ': nodes use ' || cast(by_node.contracted_usd as varchar(64)) || ' USD, all usage is '
    || case when usage.contracted_usd is null then 'nothing' else cast(usage.contracted_usd as varchar(64)) end
        as message
from by_node
left join usage_by_hour as usage
    on
        by_node.account is not distinct from usage.account
        and by_node.sku_key is not distinct from usage.sku_key
        and by_node.hour_start = usage.hour_start
where
    usage.contracted_usd is null
    or usage.contracted_usd < by_node.contracted_usd - cast('0.000001' as decimal(38, 15))
