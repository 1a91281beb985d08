"""
Whole GPUs of one pool cut into slices: which nodes are converted, which of them go.

A change of MIG mode disturbs every pod of a node, so only nodes are converted whose every holder takes a slice. All
replicas of a workload change together, so nodes that share a workload are converted together or not at all.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from models.catalog.mig import MigBoard, MigProfile
from models.domain.recommendation import Alternative, NodeLayout
from models.fleet import Fleet, Hold, held_devices
from optimizer.packing.mig import Packing, first_fit_decreasing, pack
from optimizer.packing.nodes import CutNodes, Host, SlicePod, spread
from optimizer.planning.draft import Option
from optimizer.planning.keeps import Keeps


@dataclass(frozen=True, slots=True)
class Member:
    """One workload that may take a slice for each of its pods."""

    option: Option
    alternative: Alternative
    profile: MigProfile
    holds: tuple[Hold, ...]  # all of them, wherever they are

    @property
    def workload(self) -> str:
        """Return the workload's key."""
        return self.option.proposal.subject.key


@dataclass(frozen=True, slots=True)
class Pool:
    """GPU nodes of one model in one pool, and the workloads there that may take slices, by key."""

    nodes: tuple[str, ...]
    board: MigBoard
    members: Mapping[str, Member]
    keeps: Keeps  # nodes of it that stay, some of which may not be cut either
    headroom_ratio: float


@dataclass(frozen=True, slots=True)
class PoolCut:
    """What becomes of a pool."""

    members: tuple[Member, ...]
    slices: tuple[Hold, ...]  # one for each pod of `members`
    layouts: tuple[NodeLayout, ...]  # nodes that stay, converted
    released_nodes: tuple[str, ...]
    packing: Packing
    first_fit_gpus: int

    @property
    def moved(self) -> tuple[Hold, ...]:
        """Return what the members hold today."""
        return tuple(sorted(hold for member in self.members for hold in member.holds))

    @property
    def cut_gpus(self) -> int:
        """Return how many GPUs get slices: more than `packing` needs where CPU or memory of the nodes binds."""
        return sum(1 for layout in self.layouts for profiles in layout.gpu_profiles if profiles)

    @property
    def released_devices(self) -> float:
        """Return the whole GPUs that nobody needs any more."""
        return max(held_devices(self.moved) - self.cut_gpus, 0.0)

    @property
    def touched_nodes(self) -> tuple[str, ...]:
        """Return every node that is converted or released."""
        return tuple(sorted((*self.released_nodes, *(layout.node for layout in self.layouts))))


@dataclass(frozen=True, slots=True)
class _Block:
    """Nodes that share workloads, and these."""

    nodes: tuple[str, ...]
    workloads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Trial:
    members: tuple[Member, ...]
    packing: Packing
    cut: CutNodes
    released_nodes: tuple[str, ...]

    @property
    def freed(self) -> int:
        return len(self.released_nodes)


def cut_pool(pool: Pool, fleet: Fleet) -> PoolCut | None:
    """Return the conversion that releases most nodes and, among these, touches fewest, or None if none goes."""
    best: _Trial | None = None
    for workloads in _choices(pool, fleet):
        trial = _smallest(pool, fleet, _blocks(pool, fleet, workloads))
        if trial is not None and (best is None or _merit(trial) > _merit(best)):
            best = trial
    return None if best is None else _pool_cut(pool, best)


def convertible(pool: Pool, fleet: Fleet, workloads: frozenset[str]) -> tuple[str, ...]:
    """Return the nodes in use on which every holder is one of `workloads` and nothing else speaks against a cut."""
    return tuple(
        key
        for key in pool.nodes
        if fleet.holds[key]
        and all(hold.workload in workloads for hold in fleet.holds[key])
        and (key not in pool.keeps or pool.keeps[key].may_be_cut)
    )


def _merit(trial: _Trial) -> tuple[int, int]:
    return (trial.freed, -sum(len(member.holds) for member in trial.members))


def _choices(pool: Pool, fleet: Fleet) -> tuple[frozenset[str], ...]:
    """
    Return the sets of workloads to try: those wholly on convertible nodes, and all.

    A workload that also sits on a node that must stay whole brings more pods than it empties nodes; whether it pays
    to take it in is seen by trying.
    """
    everybody = frozenset(pool.members)
    settled = everybody
    while True:
        nodes = set(convertible(pool, fleet, settled))
        inside = frozenset(
            workload for workload in settled if all(hold.node in nodes for hold in pool.members[workload].holds)
        )
        if inside == settled:
            return (settled,) if settled == everybody else (settled, everybody)
        settled = inside


def _blocks(pool: Pool, fleet: Fleet, workloads: frozenset[str]) -> list[_Block]:
    """Return the groups of nodes that can be converted apart from each other, those that free most first."""
    group = {key: key for key in convertible(pool, fleet, workloads)}
    nodes_of: dict[str, list[str]] = {}
    for workload in sorted(workloads):
        nodes = sorted({hold.node for hold in pool.members[workload].holds if hold.node in group})
        nodes_of[workload] = nodes
        for node in nodes[1:]:
            one, other = _root(group, nodes[0]), _root(group, node)
            group[max(one, other)] = min(one, other)
    members: dict[str, list[str]] = {}
    for key in group:
        members.setdefault(_root(group, key), []).append(key)
    guests: dict[str, list[str]] = {}
    for workload, nodes in nodes_of.items():
        if nodes:
            guests.setdefault(_root(group, nodes[0]), []).append(workload)
    blocks = [_Block(tuple(sorted(members[root])), tuple(guests[root])) for root in sorted(members)]
    return sorted(blocks, key=lambda block: (_gpus_by_volume(pool, block) / len(block.nodes), block.nodes))


def _root(group: Mapping[str, str], key: str) -> str:
    while group[key] != key:
        key = group[key]
    return key


def _gpus_by_volume(pool: Pool, block: _Block) -> float:
    members = [pool.members[workload] for workload in block.workloads]
    return sum(len(member.holds) * member.profile.memory_units for member in members) / pool.board.memory_units


def _smallest(pool: Pool, fleet: Fleet, blocks: Sequence[_Block]) -> _Trial | None:
    """Return the trial on the fewest blocks that frees as many nodes as all of them."""
    known: dict[int, _Trial | None] = {}

    def trial(count: int) -> _Trial | None:
        if count not in known:
            known[count] = _trial(pool, fleet, blocks[:count])
        return known[count]

    whole = trial(len(blocks)) if blocks else None
    if whole is None or whole.freed < 1:
        return None
    # More blocks never free fewer nodes, since a block can be cut on its own nodes; so halving finds the fewest.
    low, high = 1, len(blocks)
    while low < high:
        middle = (low + high) // 2
        tried = trial(middle)
        low, high = (low, middle) if tried is not None and tried.freed >= whole.freed else (middle + 1, high)
    return trial(high) or whole


def _trial(pool: Pool, fleet: Fleet, blocks: Sequence[_Block]) -> _Trial | None:
    nodes = tuple(sorted(node for block in blocks for node in block.nodes))
    members = tuple(pool.members[workload] for workload in sorted(w for block in blocks for w in block.workloads))
    pods = [
        SlicePod(_seat(hold), member.profile.name, hold.node, hold.vcpu, hold.memory_gib)
        for member in members
        for hold in member.holds
    ]
    packing = _packed(pool.board, tuple(sorted(Counter(pod.profile for pod in pods).items())))
    gpus = [layout.profiles for layout in packing.layouts for _ in range(layout.gpu_count)]
    at_home = Counter(pod.home for pod in pods)
    keep_first = sorted(nodes, key=lambda key: (key not in pool.keeps, -at_home[key], key))
    cut = spread(gpus, [_host(fleet, key, pool.headroom_ratio) for key in keep_first], pods)
    if cut is None:
        return None
    stay = {layout.node for layout in cut.layouts} | pool.keeps.keys()
    return _Trial(members, packing, cut, tuple(key for key in nodes if key not in stay))


def _seat(hold: Hold) -> str:
    """Return a name for the hold; a pod that was just replaced may be seen on two nodes."""
    return f"{hold.pod}@{hold.node}"


@lru_cache(maxsize=1000)
def _packed(board: MigBoard, demand: tuple[tuple[str, int], ...]) -> Packing:
    return pack(board, dict(demand))


def _host(fleet: Fleet, key: str, headroom_ratio: float) -> Host:
    """Return what a node can take: its size less headroom and other pods; what is there today fits in any case."""
    node = fleet.nodes[key]
    vcpu = math.fsum(hold.vcpu for hold in fleet.holds[key])
    memory_gib = math.fsum(hold.memory_gib for hold in fleet.holds[key])
    if node.vcpu is not None:
        vcpu = max(vcpu, node.vcpu * (1.0 - headroom_ratio) - (node.others.vcpu if node.others else 0.0))
    if node.memory_gib is not None:
        others_gib = node.others.memory_gib if node.others else 0.0
        memory_gib = max(memory_gib, node.memory_gib * (1.0 - headroom_ratio) - others_gib)
    return Host(key, node.gpu_count, vcpu, memory_gib)


def _pool_cut(pool: Pool, trial: _Trial) -> PoolCut:
    demand = Counter(member.profile.name for member in trial.members for _ in member.holds)
    slices = [
        Hold(
            node=trial.cut.node_by_pod[_seat(hold)],
            pod=hold.pod,
            workload=hold.workload,
            devices=member.profile.compute_slices / pool.board.max_compute_slices,
            mig_profile=member.profile.name,
            vcpu=hold.vcpu,
            memory_gib=hold.memory_gib,
        )
        for member in trial.members
        for hold in member.holds
    ]
    return PoolCut(
        members=trial.members,
        slices=tuple(sorted(slices)),
        layouts=tuple(sorted(trial.cut.layouts, key=lambda layout: layout.node)),
        released_nodes=trial.released_nodes,
        packing=trial.packing,
        first_fit_gpus=first_fit_decreasing(pool.board, demand).gpus,
    )
