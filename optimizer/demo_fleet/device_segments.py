"""Who sat on each device when: the stretches of time that telemetry labels tell apart."""

from collections.abc import Iterator
from dataclasses import dataclass

from optimizer.demo_fleet.curve import IDLE, Curve
from optimizer.demo_fleet.nouns import Cluster, Device, Fleet, Node, Pod


@dataclass(frozen=True, slots=True)
class Segment:
    """One device in one hand, clipped to the window; without a pod it is free."""

    device: Device
    pod: Pod | None
    curve: Curve
    start_hour: int
    end_hour: int


def device_segments(fleet: Fleet, cluster: Cluster) -> list[Segment]:
    """Return the segments of a cluster's devices, by device and time; together they cover each node's life."""
    pods_by_device: dict[int, list[tuple[Pod, Curve]]] = {}
    for pod in fleet.pods:
        for position, device in enumerate(pod.devices):
            pods_by_device.setdefault(device.number, []).append((pod, pod.curves[position % len(pod.curves)]))
    segments: list[Segment] = []
    for device in fleet.devices:
        if device.node.cluster is cluster:
            segments += _of_device(fleet.spec.hours, device, pods_by_device.get(device.number, []))
    return segments


def _of_device(hours: int, device: Device, held: list[tuple[Pod, Curve]]) -> Iterator[Segment]:
    at, life_end = _clip(device.node, hours)
    if device.node.sharing.replicas > 1:
        held = held[-1:]  # time slices: the exporter names one pod, the last listed
    for pod, curve in sorted(held, key=lambda pair: pair[0].start_hour):
        start = max(at, pod.start_hour)
        end = life_end if pod.end_hour is None else min(life_end, pod.end_hour)
        if end <= start:
            continue
        if start > at:
            yield Segment(device, None, IDLE, at, start)
        yield Segment(device, pod, curve, start, end)
        at = end
    if at < life_end:
        yield Segment(device, None, IDLE, at, life_end)


def _clip(node: Node, hours: int) -> tuple[int, int]:
    return max(0, node.start_hour), hours if node.end_hour is None else min(node.end_hour, hours)
