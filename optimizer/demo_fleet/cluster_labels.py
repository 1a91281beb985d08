"""Names and labels of nodes, pods and their owners, as Kubernetes writes them; objects and series share them."""

from dataclasses import dataclass

from models.domain.units import BYTES_PER_GIB
from optimizer.demo_fleet.builder import replica_set_word
from optimizer.demo_fleet.nouns import Cloud, Market, Node, Pod, Workload
from optimizer.demo_fleet.shapes import L4

EXPORTER = "nvidia-dcgm-exporter"
SYSTEM_NAMESPACES = ("kube-system", "gpu-operator")
_ACCELERATORS = {L4: "nvidia-l4"}
_OTHER_ACCELERATOR = "nvidia-a100-80gb"


@dataclass(frozen=True, slots=True)
class Owner:
    """The object that controls another."""

    api_version: str
    kind: str
    name: str


API_VERSIONS = {
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
    "Job": "batch/v1",
    "Notebook": "kubeflow.org/v1",
    "PyTorchJob": "kubeflow.org/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
}


def owner_of(seed: int, workload: Workload) -> Owner:
    """Return what controls the workload's pods directly."""
    match workload.kind:
        case "Deployment":
            return Owner("apps/v1", "ReplicaSet", f"{workload.name}-{replica_set_word(seed, workload)}")
        case "Notebook":
            return Owner("apps/v1", "StatefulSet", workload.name)
        case kind:
            return Owner(API_VERSIONS[kind], kind, workload.name)


def pod_labels(seed: int, pod: Pod) -> dict[str, str]:
    """Return the labels of a pod."""
    workload = pod.workload
    labels = {"app": workload.name, "team": workload.team, **dict(workload.labels)}
    match workload.kind:
        case "Deployment":
            labels["pod-template-hash"] = replica_set_word(seed, workload)
        case "Notebook":
            labels |= {"notebook-name": workload.name, "statefulset": workload.name}
        case "Job":
            labels["batch.kubernetes.io/job-name"] = workload.name
        case "PyTorchJob":
            labels |= {
                "training.kubeflow.org/job-name": workload.name,
                "training.kubeflow.org/replica-type": "worker" if pod.ordinal else "master",
                "training.kubeflow.org/replica-index": str(max(0, pod.ordinal - 1)),
            }
    return labels


def provider_id(node: Node) -> str:
    """Return spec.providerID."""
    if node.cluster.cloud is Cloud.AWS:
        return f"aws:///{node.zone}/{node.resource_name}"
    return f"gce://{node.cluster.account}/{node.zone}/{node.resource_name}"


def node_labels(node: Node) -> dict[str, str]:
    """Return the labels of a node: the cloud's, the autoscaler's, and those of GPU feature discovery."""
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": node.shape.instance_type,
        "topology.kubernetes.io/region": node.cluster.region,
        "topology.kubernetes.io/zone": node.zone,
    }
    if node.cluster.cloud is Cloud.AWS:
        labels |= {"karpenter.sh/nodepool": node.pool, "karpenter.sh/capacity-type": node.market.value}
    else:
        labels |= {"cloud.google.com/gke-nodepool": node.pool, "cloud.google.com/machine-family": node.shape.family[:2]}
        if node.market is Market.SPOT:
            labels["cloud.google.com/gke-spot"] = "true"
    labels |= dict(node.annotations)  # owners write it as label and as annotation
    if node.shape.gpu_model:
        labels |= _gpu_labels(node, node.shape.gpu_model)
    return labels


def _gpu_labels(node: Node, model: str) -> dict[str, str]:
    replicas = node.sharing.replicas
    product = model.replace(" ", "-") + ("-SHARED" if replicas > 1 else "")
    labels = {
        "nvidia.com/gpu.count": str(node.shape.gpu_count),
        "nvidia.com/gpu.memory": str(node.shape.gpu_memory_mib),
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.replicas": str(replicas),
        "nvidia.com/gpu.sharing-strategy": "time-slicing" if replicas > 1 else "none",
        "nvidia.com/mig.capable": "false" if model == L4 else "true",
    }
    if model != L4:
        labels["nvidia.com/mig.strategy"] = "mixed"
    profiles = node.sharing.mig_profiles
    if profiles:
        labels |= {"nvidia.com/mig.config": f"all-{profiles[0]}", "nvidia.com/mig.config.state": "success"}
        labels |= {f"nvidia.com/mig-{name}.count": str(profiles.count(name)) for name in sorted(set(profiles))}
    if node.cluster.cloud is Cloud.GCP:
        labels["cloud.google.com/gke-accelerator"] = _ACCELERATORS.get(model, _OTHER_ACCELERATOR)
    return labels


def device_capacity(node: Node) -> dict[str, int]:
    """Return the device resources of a node; time-slicing multiplies them, slices replace the whole GPU."""
    if not node.shape.gpu_count:
        return {}
    profiles = node.sharing.mig_profiles
    if profiles:
        slices = {f"nvidia.com/mig-{name}": profiles.count(name) for name in sorted(set(profiles))}
        return {"nvidia.com/gpu": 0, **slices}
    return {"nvidia.com/gpu": node.shape.gpu_count * node.sharing.replicas}


def memory_bytes(memory_gib: float) -> int:
    """Return GiB in bytes."""
    return int(memory_gib * BYTES_PER_GIB)


def pod_address(pod: Pod) -> str:
    """Return an address for the pod."""
    return f"10.{64 + (pod.number >> 16 & 63)}.{pod.number >> 8 & 255}.{pod.number & 255}"


def host_address(node: Node) -> str:
    """Return the address of a node."""
    return f"10.{node.number >> 16 & 255}.{node.number >> 8 & 255}.{node.number & 255}"
