-- grain: holder (row of gpu_holder); whose it is
select
    holder.holder_number,
    pod.workload_number,
    pod.is_shared,
    holder.cluster_id,
    holder.namespace,
    pod.workload_kind,
    pod.workload_name,
    pod.workload_class,
    pod.team,
    holder.pod,
    holder.pod_uid,
    holder.node,
    holder.resource,
    holder.mig_profile,
    holder.gpu_uuid,
    holder.mig_instance_id,
    holder.attribution
from gpu_holder as holder
inner join int_pod as pod
    on
        holder.cluster_id = pod.cluster_id
        and holder.pod_uid = pod.pod_uid
