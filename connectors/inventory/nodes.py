"""Nodes: what their labels and capacity say about devices, price class and pool."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from connectors.inventory.conventions import Conventions
from connectors.inventory.findings import Findings
from connectors.inventory.quantities import gib
from connectors.inventory.resources import CPU, MEMORY, NVIDIA_GPU, NVIDIA_SHARED_GPU, is_device
from connectors.inventory.rows import NodeRow, Span, json_text
from models.catalog.gpus import GpuModel, gpu_model, gpu_model_of_label
from models.catalog.mig import board_of, profile_of
from models.domain.resource_key import resource_key

INSTANCE_TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
REGION_LABELS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
CAPACITY_TYPE_LABELS = (
    "karpenter.sh/capacity-type",
    "eks.amazonaws.com/capacityType",
    "cloud.google.com/gke-provisioning",
    "cloud.google.com/gke-spot",
    "cloud.google.com/gke-preemptible",
    "kubernetes.azure.com/scalesetpriority",
)
PRODUCT = "nvidia.com/gpu.product"
COUNT = "nvidia.com/gpu.count"
REPLICAS = "nvidia.com/gpu.replicas"
SHARING = "nvidia.com/gpu.sharing-strategy"
MIG_STRATEGY = "nvidia.com/mig.strategy"
GKE_SHARING = "cloud.google.com/gke-gpu-sharing-strategy"
GKE_ACCELERATOR = "cloud.google.com/gke-accelerator"
GKE_PARTITION = "cloud.google.com/gke-gpu-partition-size"
GKE_CLIENTS = "cloud.google.com/gke-max-shared-clients-per-gpu"
KNOWN_LABELS = (
    *INSTANCE_TYPE_LABELS,
    *REGION_LABELS,
    *ZONE_LABELS,
    *CAPACITY_TYPE_LABELS,
    *(PRODUCT, COUNT, REPLICAS, SHARING, MIG_STRATEGY, GKE_SHARING, GKE_CLIENTS, GKE_ACCELERATOR, GKE_PARTITION),
    *("nvidia.com/gpu.memory", "nvidia.com/mig.capable", "nvidia.com/mig.config", "nvidia.com/mig.config.state"),
)

_CAPACITY_TYPES = {
    "on-demand": "on_demand",
    "on_demand": "on_demand",
    "standard": "on_demand",
    "regular": "on_demand",
    "spot": "spot",
    "preemptible": "spot",
    "true": "spot",  # value of the labels gke-spot and gke-preemptible
    "reserved": "reserved",
    "capacity_block": "reserved",
}
_SHARING = {"none": "none", "time-slicing": "time-slicing", "time-sharing": "time-slicing", "mps": "mps"}
_GKE_ACCELERATORS = {  # GKE runs no feature discovery unless one installs it
    "nvidia-tesla-t4": "Tesla T4",
    "nvidia-tesla-v100": "Tesla V100-SXM2-16GB",
    "nvidia-l4": "NVIDIA L4",
    "nvidia-tesla-a100": "NVIDIA A100-SXM4-40GB",
    "nvidia-a100-80gb": "NVIDIA A100-SXM4-80GB",
    "nvidia-h100-80gb": "NVIDIA H100 80GB HBM3",
    "nvidia-h100-mega-80gb": "NVIDIA H100 80GB HBM3",
    "nvidia-h200-141gb": "NVIDIA H200",
    "nvidia-b200": "NVIDIA B200",
}
_MIG_PRODUCT = re.compile(r"-MIG-(.+?)(?:-SHARED)?$")


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a source says about one node."""

    name: str
    provider_id: str | None
    labels: Mapping[str, str]
    capacity: Mapping[str, float]  # cores, bytes, devices; empty when the source does not tell
    span: Span


def node_row(facts: NodeFacts, conventions: Conventions, findings: Findings) -> NodeRow:
    """Return the node as a row of raw.node; what its labels do not say is null."""
    labels = facts.labels
    has_devices = (
        PRODUCT in labels or GKE_ACCELERATOR in labels or any(is_device(resource) for resource in facts.capacity)
    )
    memory_bytes = facts.capacity.get(MEMORY)
    return NodeRow(
        node=facts.name,
        provider_id=facts.provider_id or None,
        resource_key=resource_key(facts.provider_id),
        instance_type=_first(labels, INSTANCE_TYPE_LABELS),
        region=_first(labels, REGION_LABELS),
        zone=_first(labels, ZONE_LABELS),
        capacity_type=_capacity_type(facts, findings),
        pool=conventions.pool(labels),
        gpu_model=_gpu_model(facts, findings),
        gpu_count=_gpu_count(facts, findings),
        gpu_replicas=_replicas(labels) or 1 if has_devices else None,
        sharing=_sharing(labels) if has_devices else None,
        mig_strategy=_mig_strategy(labels),
        mig_profile=_slice_profile(labels),
        vcpu=facts.capacity.get(CPU),
        memory_gib=None if memory_bytes is None else gib(memory_bytes),
        labels=json_text(labels),
        valid_from=facts.span.start,
        valid_to=facts.span.end,
    )


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((labels[key] for key in keys if labels.get(key)), None)


def _capacity_type(facts: NodeFacts, findings: Findings) -> str | None:
    for key in CAPACITY_TYPE_LABELS:
        value = facts.labels.get(key)
        if value and value.lower() != "false":
            known = _CAPACITY_TYPES.get(value.lower())
            if known is None:
                message = f"label {key}={value} is no capacity type we know ({', '.join(sorted(_CAPACITY_TYPES))})"
                findings.note("capacity_type_unknown", f"node {facts.name}", message)
            return known
    return None


def _gpu_model(facts: NodeFacts, findings: Findings) -> str | None:
    model = _catalogued(facts.labels)
    product = facts.labels.get(PRODUCT) or facts.labels.get(GKE_ACCELERATOR)
    if model or not product:
        return model.smi_name if model else None
    message = f"GPU {product!r} is not in the catalogue; its memory, slices and price shares are unknown"
    findings.note("gpu_model_unknown", f"node {facts.name}", message)
    return _MIG_PRODUCT.sub("", product).removesuffix("-SHARED")


def _catalogued(labels: Mapping[str, str]) -> GpuModel | None:
    if labels.get(PRODUCT):
        return gpu_model_of_label(labels[PRODUCT])
    return gpu_model(_GKE_ACCELERATORS.get(labels.get(GKE_ACCELERATOR, ""), ""))


def _slice_profile(labels: Mapping[str, str]) -> str | None:
    """Return the profile that every GPU of the node is cut into, where nvidia.com/gpu means slices."""
    match = _MIG_PRODUCT.search(labels.get(PRODUCT, ""))
    return match[1] if match else labels.get(GKE_PARTITION)


def _gpu_count(facts: NodeFacts, findings: Findings) -> int | None:
    """Return the physical devices; 0 only where the capacity is known and holds none."""
    labelled = _whole_number(facts.labels.get(COUNT))
    profile = _slice_profile(facts.labels)
    if profile:
        count = _gpus_behind_slices(facts.labels, profile, labelled or _count_of_capacity(facts))
    else:
        count = labelled or _count_of_capacity(facts)
    if count is None and (facts.labels.get(PRODUCT) or facts.capacity):
        message = (
            f"the number of physical GPUs is not known: {COUNT} is {labelled}, "
            f"{PRODUCT} is {facts.labels.get(PRODUCT)}; check that GPU feature discovery runs and its labels are valid"
        )
        findings.note("gpu_count_unknown", f"node {facts.name}", message)
    return count


def _gpus_behind_slices(labels: Mapping[str, str], profile_name: str, slice_count: int | None) -> int | None:
    """
    Return the GPUs under MIG strategy single, where all are cut alike and the label counts slices.

    Source: NVIDIA/k8s-device-plugin, internal/lm/mig-strategy.go (single overwrites count; mixed does not).
    """
    model = _catalogued(labels)
    board = board_of(model.smi_name) if model else None
    profile = profile_of(board, profile_name) if board else None
    if not profile or not slice_count:
        return None
    return -(-slice_count // profile.max_instances)


def _count_of_capacity(facts: NodeFacts) -> int | None:
    if not facts.capacity:
        return None
    devices = {name: amount for name, amount in facts.capacity.items() if is_device(name) and amount > 0}
    if not devices:
        return 0
    replicas = _replicas(facts.labels)
    if NVIDIA_SHARED_GPU in devices:
        return int(devices[NVIDIA_SHARED_GPU] / replicas) if replicas else None
    if NVIDIA_GPU in devices:
        # Beside mig-* resources this counts the uncut GPUs only, so the whole is not known.
        return int(devices[NVIDIA_GPU] / (replicas or 1)) if len(devices) == 1 else None
    return int(max(devices.values())) if len(devices) == 1 and not _has_slices(devices) else None


def _has_slices(devices: Mapping[str, float]) -> bool:
    return any(name.startswith("nvidia.com/mig-") for name in devices)


def _replicas(labels: Mapping[str, str]) -> int | None:
    """Return in how many parts a device is shared, or None where no label says; feature discovery's 0 means none."""
    replicas = _whole_number(labels.get(REPLICAS))
    if replicas is not None:
        return max(replicas, 1)
    return _whole_number(labels.get(GKE_CLIENTS))


def _sharing(labels: Mapping[str, str]) -> str | None:
    strategy = labels.get(SHARING) or labels.get(GKE_SHARING)
    if strategy:
        return _SHARING.get(strategy)
    replicas = _replicas(labels)
    if replicas is None:
        return None
    return "none" if replicas == 1 else "time-slicing"  # the only kind there was before the strategy label


def _mig_strategy(labels: Mapping[str, str]) -> str | None:
    """Return the strategy in effect: single without sliced GPUs is the same as none."""
    if labels.get(MIG_STRATEGY) == "mixed":
        return "mixed"
    return "single" if _slice_profile(labels) else None


def _whole_number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None
