"""Who caused the cost of each machine, node by node and day by day, from the simulator's events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import numpy.typing as npt
import polars as pl

from models.catalog.prices import PriceState, prices
from models.domain.units import HOURS_PER_DAY
from optimizer.demo_fleet.ledger import Ledger
from optimizer.demo_fleet.nouns import Device, FaultKind, Fleet, Node, Pod
from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.ticks import TICKS_PER_USD

Floats = npt.NDArray[np.float64]
Span = tuple[int, int | None]
PARTS = ("effective_usd", "workload_usd", "shared_usd", "idle_usd", "unattributed_usd", "held_idle_usd")


@dataclass(frozen=True, slots=True)
class ComponentPrices:
    """List prices by which a node's cost is split, US dollars per hour; shares are price x quantity, made 1."""

    gpu_usd_per_hour: tuple[tuple[str, float], ...]  # by nvidia-smi name
    vcpu_usd_per_hour: float
    memory_gib_usd_per_hour: float


@dataclass(frozen=True, slots=True)
class CostParts:
    """US dollars; the first is the sum of the next four, and the last a part of the second."""

    effective_usd: float
    workload_usd: float
    shared_usd: float
    idle_usd: float
    unattributed_usd: float
    held_idle_usd: float


def component_prices() -> ComponentPrices:
    """Return the reference price of each component; data of the catalogue, one row per item."""
    known = {
        price.item: float(price.usd_per_hour)
        for price in sorted(prices(), key=lambda price: str(price.priced_on))
        if price.kind == "component" and price.state is PriceState.KNOWN and price.usd_per_hour is not None
    }
    gpus = sorted((item.removeprefix("gpu:"), usd) for item, usd in known.items() if item.startswith("gpu:"))
    return ComponentPrices(tuple(gpus), known["vcpu"], known["memory_gib"])


def cost_by_node_day(fleet: Fleet, book: Ledger, components: ComponentPrices) -> pl.DataFrame:
    """Return one row per node and day on which it was billed; see `truth.Truth`."""
    pods_by_node: dict[int, list[Pod]] = {}
    for pod in fleet.pods:
        if pod.node is not None:
            pods_by_node.setdefault(pod.node.number, []).append(pod)
    devices_by_node: dict[int, list[Device]] = {}
    for device in fleet.devices:
        devices_by_node.setdefault(device.node.number, []).append(device)
    gaps = _gaps(fleet)
    effective = book.effective / TICKS_PER_USD
    tables = []
    for row, machine in enumerate(book.machines):
        number = machine.node.number
        gpu, vcpu, memory = _ratios(machine.node, components)
        claims = pods_by_node.get(number, ())
        parts = gpu * _device_parts(fleet.spec, devices_by_node.get(number, ()), claims, gaps.get(number, ()))
        parts += vcpu * _request_parts(fleet.spec, claims, machine.node.shape.vcpu, is_memory=False)
        parts += memory * _request_parts(fleet.spec, claims, machine.node.shape.memory_gib, is_memory=True)
        tables.append(_rows(fleet.spec, machine.node, effective[row], parts))
    return pl.concat(tables).sort("cluster_id", "node", "day_start")


def total(by_node_day: pl.DataFrame) -> CostParts:
    """Return the parts of the whole window."""
    return CostParts(*(float(by_node_day[name].sum()) for name in PARTS))


def _ratios(node: Node, components: ComponentPrices) -> tuple[float, float, float]:
    shape = node.shape
    gpu_price = dict(components.gpu_usd_per_hour)[shape.gpu_model] if shape.gpu_model else 0.0
    weights = (
        gpu_price * shape.gpu_count,
        components.vcpu_usd_per_hour * shape.vcpu,
        components.memory_gib_usd_per_hour * shape.memory_gib,
    )
    return weights[0] / sum(weights), weights[1] / sum(weights), weights[2] / sum(weights)


def _device_parts(spec: FleetSpec, devices: Sequence[Device], pods: Sequence[Pod], gaps: Sequence[Span]) -> Floats:
    """Return shares of the GPU part by hour: workload, shared, idle, unattributed, held and idle."""
    parts = np.zeros((5, spec.hours))
    if not devices:
        return parts
    gpus = devices[0].node.shape.gpu_count
    replicas = devices[0].node.sharing.replicas
    is_seen = np.ones(spec.hours, dtype=np.bool_)
    for start, end in gaps:
        is_seen[_clip(spec, start, end)] = False
    held = np.zeros(spec.hours)
    for pod in pods:
        span = _clip(spec, pod.start_hour, pod.end_hour)
        for position, device in enumerate(pod.devices):
            curve = pod.curves[position % len(pod.curves)]
            share = device.share / gpus / replicas
            held[span] += share
            hours = np.arange(spec.hours)[span]
            is_idle = ~curve.is_at_work(hours, spec.window_start) & is_seen[span]
            parts[4, span] += share * is_idle
    free = 1.0 - held
    parts[0] = held
    parts[2] = np.where(is_seen, free, 0.0)
    parts[3] = np.where(is_seen, 0.0, free)
    return parts


def _request_parts(spec: FleetSpec, pods: Sequence[Pod], capacity: float, *, is_memory: bool) -> Floats:
    """Return shares of the CPU or memory part by hour, in the same order; what nobody asked for is idle."""
    parts = np.zeros((5, spec.hours))
    for pod in pods:
        asked = pod.requests.memory_gib if is_memory else pod.requests.vcpu
        row = 1 if _is_shared(pod) else 0
        parts[row, _clip(spec, pod.start_hour, pod.end_hour)] += asked / capacity
    parts[2] = 1.0 - parts[0] - parts[1]
    return parts


def _is_shared(pod: Pod) -> bool:
    """Return whether a pod serves the whole cluster."""
    return pod.workload.kind == "DaemonSet" or pod.workload.namespace == "kube-system"


def _rows(spec: FleetSpec, node: Node, effective_usd: Floats, parts: Floats) -> pl.DataFrame:
    by_day = np.vstack([effective_usd, parts * effective_usd]).reshape(len(PARTS), spec.days, HOURS_PER_DAY).sum(axis=2)
    days = [spec.window_start + timedelta(days=day) for day in range(spec.days)]
    table = pl.DataFrame(
        {
            "cluster_id": [node.cluster.cluster_id] * spec.days,
            "node": [node.name] * spec.days,
            "day_start": [day.date() for day in days],
            **dict(zip(PARTS, by_day, strict=True)),
        }
    )
    return table.filter(pl.col("effective_usd") > 0)


def _gaps(fleet: Fleet) -> Mapping[int, list[Span]]:
    gaps: dict[int, list[Span]] = {}
    for fault in fleet.faults:
        if fault.kind is FaultKind.GAP:
            gaps.setdefault(fault.node.number, []).append((fault.start_hour, fault.end_hour))
    return gaps


def _clip(spec: FleetSpec, start_hour: int, end_hour: int | None) -> slice:
    end = spec.hours if end_hour is None else min(end_hour, spec.hours)
    return slice(max(0, start_hour), max(0, end))
