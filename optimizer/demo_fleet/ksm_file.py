"""Write what kube-state-metrics said over time: one file a day and cluster."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from models.domain.units import HOURS_PER_DAY, MILLISECONDS_PER_SECOND, SECONDS_PER_HOUR
from optimizer.demo_fleet.cluster_labels import (
    device_capacity,
    host_address,
    memory_bytes,
    node_labels,
    owner_of,
    pod_address,
    pod_labels,
    provider_id,
)
from optimizer.demo_fleet.nouns import Cluster, Fleet, Node, Pod, Workload
from optimizer.demo_fleet.series_file import series_file
from optimizer.demo_fleet.spec import FleetSpec

COMPLETED_STAY_HOURS = 1  # a finished pod is still listed, with its requests
JOB_KINDS = ("Job", "PyTorchJob")


@dataclass(frozen=True, slots=True)
class Series:
    """One series that has one value from an hour to another."""

    metric: bytes
    value: float
    start_hour: int
    end_hour: int | None


def write_ksm(fleet: Fleet, cluster: Cluster, folder: Path) -> None:
    """Write `ksm-YYYY-MM-DD` files for a cluster into the folder."""
    spec = fleet.spec
    series = [one for one in _all_series(fleet, cluster) if one.end_hour is None or one.end_hour > 0]
    step = spec.ksm_step_seconds
    for day in range(spec.days):
        first, last = day * HOURS_PER_DAY, (day + 1) * HOURS_PER_DAY
        start = int(spec.instant(first).timestamp())
        grid = np.arange(start, start + HOURS_PER_DAY * SECONDS_PER_HOUR, step, dtype=np.int64)
        stem = folder / f"ksm-{spec.instant(first):%Y-%m-%d}"
        per_hour = SECONDS_PER_HOUR // step
        with series_file(stem, is_parquet=spec.parquet_metrics) as file:
            for one in series:
                begin = max(one.start_hour, first) - first
                end = min(last if one.end_hour is None else one.end_hour, last) - first
                times = grid[begin * per_hour : max(0, end) * per_hour]
                file.add(one.metric, np.full(len(times), one.value), times * MILLISECONDS_PER_SECOND)


def _all_series(fleet: Fleet, cluster: Cluster) -> Iterator[Series]:
    for node in fleet.nodes:
        if node.cluster is cluster:
            yield from _node_series(node)
    for workload in fleet.workloads:
        if workload.cluster is cluster:
            yield from _owner_series(fleet.spec, workload)
    for pod in fleet.pods:
        if pod.workload.cluster is cluster:
            yield from _pod_series(fleet.spec, pod)


def _series(name: str, labels: dict[str, str], value: float, start_hour: int, end_hour: int | None) -> Series:
    metric = orjson.dumps({"__name__": name, "job": "kube-state-metrics", **labels})
    return Series(metric, value, start_hour, end_hour)


def _node_series(node: Node) -> Iterator[Series]:
    life = (node.start_hour, node.end_hour)
    info = {
        "node": node.name,
        "kubelet_version": node.cluster.kubelet_version,
        "provider_id": provider_id(node),
        "internal_ip": host_address(node),
    }
    yield _series("kube_node_info", info, 1, *life)
    labels = {f"label_{_sanitised(key)}": value for key, value in node_labels(node).items()}
    yield _series("kube_node_labels", {"node": node.name, **labels}, 1, *life)
    quantities: list[tuple[str, str, float]] = [
        ("cpu", "core", node.shape.vcpu),
        ("memory", "byte", memory_bytes(node.shape.memory_gib)),
    ]
    quantities += [(_sanitised(name), "integer", count) for name, count in device_capacity(node).items()]
    for name in ("kube_node_status_capacity", "kube_node_status_allocatable"):
        for resource, unit, quantity in quantities:
            yield _series(name, {"node": node.name, "resource": resource, "unit": unit}, quantity, *life)


def _owner_series(spec: FleetSpec, workload: Workload) -> Iterator[Series]:
    life = (workload.created_hour, None)
    namespace = {"namespace": workload.namespace}
    if workload.kind == "Deployment":
        labels = {"owner_kind": "Deployment", "owner_name": workload.name, "owner_is_controller": "true"}
        name = owner_of(spec.seed, workload).name
        yield _series("kube_replicaset_owner", {**namespace, "replicaset": name, **labels}, 1, *life)
    if workload.kind == "Job":
        labels = {"owner_kind": "", "owner_name": "", "owner_is_controller": ""}
        yield _series("kube_job_owner", {**namespace, "job_name": workload.name, **labels}, 1, *life)


def _pod_series(spec: FleetSpec, pod: Pod) -> Iterator[Series]:
    named = {"namespace": pod.workload.namespace, "pod": pod.name, "uid": pod.uid}
    is_job = pod.workload.kind in JOB_KINDS
    gone = None if pod.end_hour is None else pod.end_hour + (COMPLETED_STAY_HOURS if is_job else 0)
    owner = owner_of(spec.seed, pod.workload)
    ownership = {"owner_kind": owner.kind, "owner_name": owner.name, "owner_is_controller": "true"}
    yield _series("kube_pod_owner", {**named, **ownership}, 1, pod.created_hour, gone)
    labels = {f"label_{_sanitised(key)}": value for key, value in pod_labels(spec.seed, pod).items()}
    yield _series("kube_pod_labels", {**named, **labels}, 1, pod.created_hour, gone)
    made = {"created_by_kind": owner.kind, "created_by_name": owner.name, "host_network": "false"}
    if pod.created_hour < pod.start_hour:
        yield _series("kube_pod_status_phase", {**named, "phase": "Pending"}, 1, pod.created_hour, pod.start_hour)
        yield _series("kube_pod_info", {**named, **made, "node": ""}, 1, pod.created_hour, pod.start_hour)
        yield from _requests(pod, {**named, "node": ""}, pod.created_hour, pod.start_hour)
    if pod.node is None:
        return
    placed = {"node": pod.node.name, "host_ip": host_address(pod.node), "pod_ip": pod_address(pod)}
    yield _series("kube_pod_info", {**named, **made, **placed}, 1, pod.start_hour, gone)
    started = spec.instant(pod.start_hour).timestamp()
    yield _series("kube_pod_start_time", named, started, pod.start_hour, gone)
    yield _series("kube_pod_status_phase", {**named, "phase": "Running"}, 1, pod.start_hour, pod.end_hour)
    yield from _requests(pod, {**named, "node": pod.node.name}, pod.start_hour, gone)
    if pod.waiting_reason:
        waiting = {**named, "container": "main", "reason": pod.waiting_reason}
        yield _series("kube_pod_container_status_waiting_reason", waiting, 1, pod.start_hour, gone)
    if is_job and pod.end_hour is not None:
        yield _series("kube_pod_status_phase", {**named, "phase": "Succeeded"}, 1, pod.end_hour, gone)
        ended = spec.instant(pod.end_hour).timestamp()
        yield _series("kube_pod_completion_time", named, ended, pod.end_hour, gone)


def _requests(pod: Pod, named: dict[str, str], start_hour: int, end_hour: int | None) -> Iterator[Series]:
    asked = pod.requests
    quantities: list[tuple[str, str, float]] = [
        ("cpu", "core", asked.vcpu),
        ("memory", "byte", memory_bytes(asked.memory_gib)),
    ]
    if asked.gpus:
        quantities.append((_sanitised(asked.gpu_resource), "integer", asked.gpus))
    for resource, unit, quantity in quantities:
        labels = {**named, "container": "main", "resource": resource, "unit": unit}
        yield _series("kube_pod_container_resource_requests", labels, quantity, start_hour, end_hour)


def _sanitised(name: str) -> str:
    """Return a label or resource name as kube-state-metrics writes it."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"[^a-zA-Z0-9_]", "_", name)).lower()
