"""Which GPU, node, pod and scrape a series belongs to, as its labels say and as far as they can be believed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from models.catalog.gpus import gpu_model, gpu_model_of_label
from models.catalog.mig import board_of, profile_of

Labels = Mapping[str, str]  # with the metric's name under __name__
OwnPod = tuple[str, str, str]  # instance, namespace, pod of a scrape target

_UUID_LABELS = ("UUID", "uuid", "gpu_uuid", "GPU_UUID", "accelerator_id")
_NODE_LABELS = ("node", "kubernetes_node", "node_name")
_HOST_LABELS = ("Hostname", "hostname")
_MODEL_LABELS = ("modelName", "model_name", "model", "card_model", "card_series")
_INDEX_LABELS = ("gpu", "gpu_id", "minor_number")
_SCRAPE_LABELS = ("job", "instance", "endpoint", "service", "prometheus", "prometheus_replica", "replica")
_LOOPBACK = frozenset({"localhost", "localhost.localdomain", "127.0.0.1", "::1"})  # dcgm-exporter issue 572
_EXPORTER_POD = re.compile(r"(dcgm|device-metrics|amdgpu-metrics|nvidia-smi|nvidia-gpu)-exporter")
_EXPORTER_CONTAINERS = frozenset(
    {"nvidia-dcgm-exporter", "dcgm-exporter", "exporter", "device-metrics-exporter", "metrics-exporter-container"}
)
_BARE_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNCUT_PARTITION = "spx"  # AMD: one partition is the whole GPU


@dataclass(frozen=True, slots=True, order=True)
class Holder:
    """The container a label says uses the GPU."""

    namespace: str
    pod: str
    container: str


@dataclass(frozen=True, slots=True)
class SeriesIdentity:
    """What a series is about."""

    gpu_uuid: str | None  # None: nothing tells the GPU
    mig_instance_id: str  # empty for a whole GPU
    mig_profile: str | None
    gpu_model: str | None
    node: str | None
    target: str  # what was scraped; units are judged per target
    scrape: tuple[str, ...]  # what was scraped by whom: two of them may bring the same GPU
    holder: Holder | None
    is_held_through_parent: bool  # a MIG device's claim was put on the row of the GPU it was cut from


def first_label(labels: Labels, names: Iterable[str]) -> str | None:
    """Return the first of these labels that is there and not empty."""
    return next((value for name in names if (value := labels.get(name))), None)


def uuid_label(labels: Labels) -> str | None:
    """Return the GPU's UUID as the labels have it; without the GPU- that nvidia_gpu_exporter takes away, with it."""
    uuid = first_label(labels, _UUID_LABELS)
    if uuid and labels.get("__name__", "").startswith("nvidia_smi_") and _BARE_UUID.fullmatch(uuid):
        return f"GPU-{uuid}"
    return uuid


def own_pods(series: Iterable[Labels]) -> frozenset[OwnPod]:
    """
    Return the pods that were scraped, by instance.

    With `exported_pod`, or on a series about no GPU, `pod` is the scraped pod. That all GPUs of an instance name one
    pod proves nothing: a training pod that holds the whole node does that too.
    """
    return frozenset(
        (labels["instance"], labels.get("namespace", ""), labels["pod"])
        for labels in series
        if labels.get("instance")
        and labels.get("pod")
        and (labels.get("exported_pod") or first_label(labels, _UUID_LABELS) is None)
    )


def identify(labels: Labels, scraped_pods: frozenset[OwnPod]) -> SeriesIdentity:
    """Return what a series is about; `scraped_pods` are the exporters' own pods."""
    node = _node(labels)
    model = _model(first_label(labels, _MODEL_LABELS))
    host = first_label(labels, _HOST_LABELS) or ""
    instance_id = _instance_id(labels)
    is_held_through_parent = not instance_id and bool(labels.get("dra_mig_device_uuid"))  # dcgm-exporter pull 532
    return SeriesIdentity(
        gpu_uuid=uuid_label(labels) or _synthetic_uuid(labels, node),
        mig_instance_id=instance_id,
        mig_profile=_profile(labels.get("GPU_I_PROFILE"), model) if instance_id else None,
        gpu_model=model,
        node=node,
        target=labels.get("instance") or host,
        scrape=(host, *(labels.get(name, "") for name in _SCRAPE_LABELS)),
        holder=None if is_held_through_parent else _holder(labels, scraped_pods),
        is_held_through_parent=is_held_through_parent,
    )


def _instance_id(labels: Labels) -> str:
    partitioning = labels.get("gpu_compute_partition_type", "").lower()
    if partitioning and partitioning != _UNCUT_PARTITION:
        return labels.get("gpu_partition_id", "")
    return labels.get("GPU_I_ID", "")


def _node(labels: Labels) -> str | None:
    if node := first_label(labels, _NODE_LABELS):
        return node
    scraped_pod = labels.get("pod")
    for name in _HOST_LABELS:
        host = labels.get(name)
        # Without NODE_NAME the exporter calls its own pod the host (dcgm-exporter issue 68).
        if host and host not in _LOOPBACK and host != scraped_pod and not _EXPORTER_POD.search(host):
            return host
    return None


def _synthetic_uuid(labels: Labels, node: str | None) -> str | None:
    index = first_label(labels, _INDEX_LABELS)
    return f"{node}/gpu{index}" if node and index else None


def _holder(labels: Labels, scraped_pods: frozenset[OwnPod]) -> Holder | None:
    if labels.get("exported_pod"):
        return _holder_of(labels, "exported_namespace", "exported_pod", "exported_container")
    if "pod_name" in labels:  # dcgm-exporter 1.x and Google; `pod`, if any, is then the exporter
        namespace = "pod_namespace" if "pod_namespace" in labels else "namespace_name"
        return _holder_of(labels, namespace, "pod_name", "container_name")
    holder = _holder_of(labels, "namespace", "pod", "container")
    if holder is None or holder.container in _EXPORTER_CONTAINERS or _EXPORTER_POD.search(holder.pod):
        return None
    if (labels.get("instance", ""), holder.namespace, holder.pod) in scraped_pods:
        return None
    return holder


def _holder_of(labels: Labels, namespace: str, pod: str, container: str) -> Holder | None:
    if not labels.get(pod):
        return None
    return Holder(labels.get(namespace, ""), labels[pod], labels.get(container, ""))


@lru_cache(maxsize=1000)
def _model(label: str | None) -> str | None:
    """Return the exact nvidia-smi name; a label nobody knows is kept as it is."""
    if label is None or gpu_model(label) is not None:
        return label
    known = gpu_model_of_label(label)  # "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", or blanks replaced by an exporter flag
    return known.smi_name if known else label


@lru_cache(maxsize=1000)
def _profile(label: str | None, model: str | None) -> str | None:
    """Return the profile the board has: an H100 NVL labels its 1g.12gb as 1g.11gb (dcgm-exporter issue 544)."""
    if not label:
        return None
    board = board_of(model) if model else None
    profile = profile_of(board, label) if board else None
    return profile.name if profile else label
