-- grain: team x day
select
    cost.team,
    cost.day_start,
    sum(cost.effective_usd) as effective_usd,
    sum(cost.idle_usd) as idle_usd,
    sum(cost.unknown_usd) as unknown_usd,
    sum(cost.gpu_hours) as gpu_hours,
    sum(cost.idle_gpu_hours) as idle_gpu_hours,
    sum(cost.unpriced_gpu_hours) as unpriced_gpu_hours
from cost_by_workload_day as cost
group by
    cost.team,
    cost.day_start
