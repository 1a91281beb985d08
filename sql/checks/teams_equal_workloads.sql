-- promise: what teams cost is what their workloads cost, day by day
with by_team as (
    select
        cost.day_start,
        sum(cost.effective_usd) as effective_usd
    from cost_by_team_day as cost
    group by cost.day_start
),

by_workload as (
    select
        cost.day_start,
        sum(cost.effective_usd) as effective_usd
    from cost_by_workload_day as cost
    group by cost.day_start
)

select
    'day ' || cast(cast(by_workload.day_start as date) as varchar(10)) || ': workloads cost '
    || cast(by_workload.effective_usd as varchar(64)) || ' USD, teams '
    || case when by_team.effective_usd is null then 'nothing' else cast(by_team.effective_usd as varchar(64)) end
        as message
from by_workload
left join by_team
    on by_workload.day_start = by_team.day_start
where
    by_workload.effective_usd is not null
    and (by_team.effective_usd is null or by_team.effective_usd <> by_workload.effective_usd)
