"""
Sliced GPUs onto as few nodes as their pods' CPU and memory allow.

A node has only so many GPUs, and the pods of its slices must fit beside each other. The first nodes of the list are
kept, so the caller decides which ones that are; one more is added until every pod has its place.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from models.domain.recommendation import NodeLayout

_FINE_STEP_NODES = 20  # up to so many nodes every count is tried, beyond it steps grow with the count: 5 %
_DUST = 1e-6  # vCPU or GiB that sums of requests may miss by


@dataclass(frozen=True, slots=True)
class Host:
    """One node that may be cut, with what its pods may request together."""

    key: str
    gpu_count: int
    vcpu: float
    memory_gib: float


@dataclass(frozen=True, slots=True)
class SlicePod:
    """One pod that needs one slice, and the node it is on today."""

    pod: str
    profile: str
    home: str
    vcpu: float
    memory_gib: float


@dataclass(frozen=True, slots=True)
class CutNodes:
    """Nodes that stay, each with its layout, and the node of every pod; every node has a pod."""

    layouts: tuple[NodeLayout, ...]
    node_by_pod: Mapping[str, str]


def spread(gpu_profiles: Sequence[tuple[str, ...]], hosts: Sequence[Host], pods: Sequence[SlicePod]) -> CutNodes | None:
    """
    Return the sliced GPUs laid on the fewest of the first hosts on which every pod fits, or None when none fit.

    Args:
        gpu_profiles: Profiles of each GPU to cut; together at least the slices that `pods` need.
        hosts: Nodes that may be kept, the ones to keep first in front.
        pods: Pods that need a slice; a pod stays on its node where it can.
    """
    count = _fewest(gpu_profiles, hosts, pods)
    while count <= len(hosts):
        kept = hosts[:count]
        for gpus in _ever_looser(gpu_profiles, sum(host.gpu_count for host in kept)):
            dealt = _deal(gpus, kept, pods)
            for stays in (True, False):
                placed = _seat(dealt, kept, pods, stays=stays)
                if placed is not None:
                    used = set(placed.values())
                    layouts = tuple(_layout(host, dealt[host.key]) for host in kept if host.key in used)
                    return CutNodes(layouts, placed)
        count += max(1, count // _FINE_STEP_NODES)
    return None


def _fewest(gpu_profiles: Sequence[tuple[str, ...]], hosts: Sequence[Host], pods: Sequence[SlicePod]) -> int:
    """Return how many of the first hosts have enough GPUs, CPU and memory in sum; fewer cannot do."""
    gpus = len(gpu_profiles)
    vcpu, memory_gib = math.fsum(pod.vcpu for pod in pods), math.fsum(pod.memory_gib for pod in pods)
    count = 0
    while count < len(hosts) and (gpus > 0 or vcpu > _DUST or memory_gib > _DUST):
        gpus -= hosts[count].gpu_count
        vcpu -= hosts[count].vcpu
        memory_gib -= hosts[count].memory_gib
        count += 1
    return max(count, 1)


def _ever_looser(gpu_profiles: Sequence[tuple[str, ...]], gpus: int) -> Iterator[list[tuple[str, ...]]]:
    """
    Yield the slices as they are packed, then on twice as many GPUs, then on all that the nodes have.

    Where CPU or memory binds, a node cannot take the pods of its full GPUs, while other nodes have GPUs to spare.
    """
    if len(gpu_profiles) > gpus:
        return
    packed = list(gpu_profiles)
    yield packed
    for at_most in sorted({min(2 * len(packed), gpus), gpus} - {len(packed)}):
        loose = [(-len(profiles), profiles) for profiles in packed]
        heapq.heapify(loose)
        while len(loose) < at_most and loose and loose[0][0] < -1:
            _, fullest = heapq.heappop(loose)
            for half in (fullest[::2], fullest[1::2]):
                heapq.heappush(loose, (-len(half), half))
        yield [profiles for _, profiles in loose]


@dataclass(slots=True)
class _Seats:
    """What is still free on one node while pods are seated."""

    host: Host
    slots: Counter[str]
    vcpu: float = field(default=0.0)  # requested so far
    memory_gib: float = field(default=0.0)

    def takes(self, pod: SlicePod) -> bool:
        return (
            self.slots[pod.profile] > 0
            and self.vcpu + pod.vcpu <= self.host.vcpu
            and self.memory_gib + pod.memory_gib <= self.host.memory_gib
        )

    def seat(self, pod: SlicePod) -> None:
        self.slots[pod.profile] -= 1
        self.vcpu += pod.vcpu
        self.memory_gib += pod.memory_gib

    def fullness(self) -> float:
        return max(_share(self.vcpu, self.host.vcpu), _share(self.memory_gib, self.host.memory_gib))


def _share(used: float, capacity: float) -> float:
    if capacity > 0.0:
        return used / capacity
    return math.inf if used > 0.0 else 0.0


def _deal(
    gpu_profiles: Sequence[tuple[str, ...]], kept: Sequence[Host], pods: Sequence[SlicePod]
) -> dict[str, list[tuple[str, ...]]]:
    """Return the GPUs of each node, so that nodes have slices in proportion to the pods they can take."""
    dealt: dict[str, list[tuple[str, ...]]] = {host.key: [] for host in kept}
    vcpu, memory_gib = math.fsum(pod.vcpu for pod in pods), math.fsum(pod.memory_gib for pod in pods)
    slices_taken = 1  # counting the next, so that a node which can take none is not asked first
    waiting = [
        (slices_taken * _burden(host, vcpu, memory_gib), order, slices_taken)
        for order, host in enumerate(kept)
        if host.gpu_count > 0
    ]
    heapq.heapify(waiting)
    for profiles in sorted(gpu_profiles, key=lambda one: (-len(one), one)):
        _, order, slices = heapq.heappop(waiting)
        host = kept[order]
        dealt[host.key].append(profiles)
        if len(dealt[host.key]) < host.gpu_count:
            slices += len(profiles)
            heapq.heappush(waiting, (slices * _burden(host, vcpu, memory_gib), order, slices))
    return dealt


def _burden(host: Host, vcpu: float, memory_gib: float) -> float:
    """Return how full the host would be with all the pods, by the resource it has least of."""
    return max(1.0 / host.gpu_count, _share(vcpu, host.vcpu), _share(memory_gib, host.memory_gib))


def _seat(
    dealt: Mapping[str, Sequence[tuple[str, ...]]], kept: Sequence[Host], pods: Sequence[SlicePod], *, stays: bool
) -> dict[str, str] | None:
    """Return the node of every pod, the largest pods first, or None when one has no place."""
    seats = {host.key: _Seats(host, Counter(name for gpu in dealt[host.key] for name in gpu)) for host in kept}
    placed: dict[str, str] = {}
    movers = []
    for pod in sorted(pods, key=lambda one: (-one.vcpu, -one.memory_gib, one.pod)):
        if stays and pod.home in seats and seats[pod.home].takes(pod):
            seats[pod.home].seat(pod)
            placed[pod.pod] = pod.home
        else:
            movers.append(pod)
    order = {host.key: rank for rank, host in enumerate(kept)}
    for profile in sorted({pod.profile for pod in movers}):
        queue = [
            (seat.fullness(), seat.slots[profile], order[key], key)
            for key, seat in seats.items()
            if seat.slots[profile] > 0
        ]
        heapq.heapify(queue)
        for pod in (mover for mover in movers if mover.profile == profile):
            node = _emptiest(queue, seats, pod)
            if node is None:
                return None
            placed[pod.pod] = node
    return placed


def _emptiest(queue: list[tuple[float, int, int, str]], seats: Mapping[str, _Seats], pod: SlicePod) -> str | None:
    """Seat the pod on the emptiest node that takes it, of equals the one with fewest slices left, and return it."""
    passed = []
    found = None
    while queue and found is None:
        entry = heapq.heappop(queue)
        if seats[entry[-1]].takes(pod):
            found = entry
        elif seats[entry[-1]].slots[pod.profile] > 0:
            passed.append(entry)
    for entry in passed:
        heapq.heappush(queue, entry)
    if found is None:
        return None
    _, _, rank, key = found
    seats[key].seat(pod)
    slots = seats[key].slots[pod.profile]
    if slots > 0:
        heapq.heappush(queue, (seats[key].fullness(), slots, rank, key))
    return key


def _layout(host: Host, gpus: Sequence[tuple[str, ...]]) -> NodeLayout:
    spare = [()] * (host.gpu_count - len(gpus))
    return NodeLayout(host.key, (*gpus, *spare))
