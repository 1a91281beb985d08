-- promise: what nodes cost in a day is what their charges say, counted from the bill itself
with charged as (
    select
        charge.cluster_id,
        charge.node,
        sum(charge.effective_usd) as effective_usd
    from int_charge as charge
    cross join run_window
    where
        charge.scope = 'node'
        and charge.charge_start >= run_window.window_start
        and charge.charge_end <= run_window.window_end
    group by
        charge.cluster_id,
        charge.node
),

crossing as (
    select distinct
        charge.cluster_id,
        charge.node
    from int_charge as charge
    cross join run_window
    where
        charge.scope = 'node'
        and (charge.charge_start < run_window.window_start or charge.charge_end > run_window.window_end)
),

attributed as (
    select
        cost.cluster_id,
        cost.node,
        min(cost.hour_start) as first_hour,
        sum(cost.effective_usd) as effective_usd
    from cost_by_node_hour as cost
    group by
        cost.cluster_id,
        cost.node
)

select
    'node ' || charged.cluster_id || '/' || charged.node || ': charges of the window sum to '
    || cast(charged.effective_usd as varchar(64)) || ' USD, attributed '
    || case when attributed.effective_usd is null then 'nothing' else cast(attributed.effective_usd as varchar(64)) end
    || ' USD' as message
from charged
left join attributed
    on
        charged.cluster_id = attributed.cluster_id
        and charged.node = attributed.node
left join crossing
    on
        charged.cluster_id = crossing.cluster_id
        and charged.node = crossing.node
where
    crossing.node is null
    and (
        attributed.effective_usd is null
        or abs(charged.effective_usd - attributed.effective_usd) > cast('0.000030' as decimal(38, 15))
    )
