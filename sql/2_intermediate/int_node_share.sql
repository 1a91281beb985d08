-- grain: node; how its cost splits into GPU, CPU and memory, by the list prices of its components
with component as (
    select
        price.item,
        max_by(price.usd_per_hour, price.priced_at) as usd_per_hour
    from price_now as price
    where
        price.kind = 'component'
        and price.state = 'known'
    group by price.item
),

priced as (
    select
        node.cluster_id,
        node.node,
        node.gpu_model,
        case when node.gpu_count is null then 0 else node.gpu_count end as gpu_count,
        node.vcpu,
        node.memory_gib,
        cast(gpu.usd_per_hour as double) as gpu_usd_per_hour,
        cast(vcpu.usd_per_hour as double) as vcpu_usd_per_hour,
        cast(memory.usd_per_hour as double) as memory_gib_usd_per_hour
    from stg_node as node
    left join component as gpu
        on gpu.item = 'gpu:' || node.gpu_model
    left join component as vcpu
        on vcpu.item = 'vcpu'
    left join component as memory
        on memory.item = 'memory_gib'
),

weighed as (
    select
        priced.*,
        case
            when priced.gpu_count = 0 then 0e0
            when priced.gpu_usd_per_hour is not null then priced.gpu_count * priced.gpu_usd_per_hour
            -- no list price for this model: AWS's published weights for split costs, one GPU as ten vCPU
            when priced.vcpu_usd_per_hour is not null then priced.gpu_count * 10e0 * priced.vcpu_usd_per_hour
        end as gpu_weight,
        priced.vcpu * priced.vcpu_usd_per_hour as vcpu_weight,
        priced.memory_gib * priced.memory_gib_usd_per_hour as memory_weight
    from priced
)

select
    weighed.cluster_id,
    weighed.node,
    weighed.gpu_count,
    weighed.vcpu,
    weighed.memory_gib,
    case
        when weighed.gpu_usd_per_hour is null and weighed.gpu_count > 0 then true
        else false
    end as is_assumed,
    weighed.gpu_weight / (weighed.gpu_weight + weighed.vcpu_weight + weighed.memory_weight) as gpu_ratio,
    weighed.vcpu_weight / (weighed.gpu_weight + weighed.vcpu_weight + weighed.memory_weight) as vcpu_ratio,
    weighed.memory_weight / (weighed.gpu_weight + weighed.vcpu_weight + weighed.memory_weight) as memory_ratio
from weighed
where
    weighed.gpu_weight + weighed.vcpu_weight + weighed.memory_weight > 0
    -- a GPU node whose devices nobody counted cannot be split
    and (weighed.gpu_model is null or weighed.gpu_count > 0)
