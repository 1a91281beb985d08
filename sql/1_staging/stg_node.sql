-- grain: node; each attribute is the newest that any inventory knew
with ranked as (
    select
        node.*,
        row_number() over (
            partition by node.cluster_id, node.node
            order by
                node.valid_to desc nulls last,
                node.source_id asc nulls last,
                node.source_object asc nulls last
        ) as place
    from raw.node as node
    cross join run_window
    where
        node.valid_from < run_window.window_end
        and node.valid_to > run_window.window_start
)

select
    ranked.cluster_id,
    ranked.node,
    min_by(ranked.resource_key, ranked.place) filter (where ranked.resource_key is not null) as resource_key,
    min_by(ranked.instance_type, ranked.place) filter (where ranked.instance_type is not null) as instance_type,
    min_by(ranked.region, ranked.place) filter (where ranked.region is not null) as region,
    min_by(ranked.zone, ranked.place) filter (where ranked.zone is not null) as zone,
    min_by(ranked.capacity_type, ranked.place) filter (where ranked.capacity_type is not null) as capacity_type,
    min_by(ranked.pool, ranked.place) filter (where ranked.pool is not null) as pool,
    min_by(ranked.gpu_model, ranked.place) filter (where ranked.gpu_model is not null) as gpu_model,
    min_by(ranked.gpu_count, ranked.place) filter (where ranked.gpu_count is not null) as gpu_count,
    min_by(ranked.gpu_replicas, ranked.place) filter (where ranked.gpu_replicas is not null) as gpu_replicas,
    min_by(ranked.sharing, ranked.place) filter (where ranked.sharing is not null) as sharing,
    min_by(ranked.mig_strategy, ranked.place) filter (where ranked.mig_strategy is not null) as mig_strategy,
    min_by(ranked.mig_profile, ranked.place) filter (where ranked.mig_profile is not null) as mig_profile,
    min_by(ranked.vcpu, ranked.place) filter (where ranked.vcpu is not null) as vcpu,
    min_by(ranked.memory_gib, ranked.place) filter (where ranked.memory_gib is not null) as memory_gib,
    min_by(ranked.labels, ranked.place) filter (where ranked.labels is not null) as labels,
    min(ranked.valid_from) as first_seen,
    max(ranked.valid_to) as alive_until
from ranked
group by
    ranked.cluster_id,
    ranked.node
