"""
Who holds which GPUs on which nodes, and what the fleet is after a change.

A `Fleet` never changes; every function returns a new one. Keys are texts: node "cluster/node", pool "cluster/pool",
workload "cluster/namespace/kind/name", pod "cluster/namespace/pod".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

_DUST_DEVICES = 1e-9  # sums of slice shares miss zero by the last bits


@dataclass(frozen=True, slots=True)
class OtherPods:
    """Pods of a node that ask for no GPU, daemons left out, and what they request together."""

    count: int
    vcpu: float
    memory_gib: float


@dataclass(frozen=True, slots=True)
class Unheld:
    """What the devices of a node did in the last days while no pod held them."""

    gpu_hours: float
    observed_ratio: float | None  # None: there was no such time
    activity_max: float | None  # None: never seen
    memory_gib: float | None  # most that was loaded; None: never seen


@dataclass(frozen=True, slots=True)
class Node:
    """One GPU node."""

    key: str
    pool: str
    gpu_model: str
    gpu_count: int  # 0: pods hold GPUs there, but no inventory names the node
    vcpu: float | None  # None: nobody told us
    memory_gib: float | None
    labels: str | None = None  # a JSON object
    others: OtherPods | None = None  # None: nobody told us
    unheld: Unheld | None = None  # None: nobody told us


@dataclass(frozen=True, slots=True, order=True)
class Hold:
    """What one pod holds on one node; requests of None reserve nothing, as the Kubernetes scheduler has it."""

    node: str
    pod: str
    workload: str
    devices: float  # whole GPUs, or summed shares of slices
    mig_profile: str | None
    vcpu: float
    memory_gib: float


@dataclass(frozen=True, slots=True)
class Release:
    """Devices that one hold gives back; all of them end the hold."""

    hold: Hold
    devices: float

    @property
    def ends_hold(self) -> bool:
        """Say whether nothing of the hold is left."""
        return self.devices >= self.hold.devices - _DUST_DEVICES


@dataclass(frozen=True, slots=True)
class Fleet:
    """
    Nodes by key, and the holds on each; a node that nobody holds has an empty tuple.

    `unsized` are workloads by node that hold devices there, nobody knows how many; they are in no hold.
    """

    nodes: Mapping[str, Node]
    holds: Mapping[str, tuple[Hold, ...]]
    unsized: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def holds_by_workload(self) -> dict[str, tuple[Hold, ...]]:
        """Return every workload's holds, by node and pod."""
        gathered: dict[str, list[Hold]] = {}
        for node in sorted(self.holds):
            for hold in self.holds[node]:
                gathered.setdefault(hold.workload, []).append(hold)
        return {workload: tuple(sorted(held)) for workload, held in gathered.items()}


def fleet_of(node_now: pl.DataFrame, holder_now: pl.DataFrame) -> Fleet:
    """Return the fleet as the marts `node_now` and `holder_now` have it at the end of the window."""
    nodes = {node.key: node for node in _nodes(node_now)}
    holds: dict[str, list[Hold]] = {key: [] for key in nodes}
    pods = _pods(holder_now)
    for key in pods.get_column("node_key").unique().sort():
        if key not in nodes:
            # The pods are real, so their workloads must not look smaller than they are; the node can never be priced.
            nodes[key] = Node(key, f"{key.rsplit('/', 1)[0]}/unpooled", "unknown", 0, None, None)
            holds[key] = []
    for hold in _holds(pods.filter(pl.col("devices").is_not_null())):
        holds[hold.node].append(hold)
    unsized: dict[str, list[str]] = {}
    unknown = pods.filter(pl.col("devices").is_null()).select("node_key", "workload").unique().sort(pl.all())
    for key, workload in unknown.iter_rows():
        unsized.setdefault(key, []).append(workload)
    return Fleet(
        nodes,
        {key: tuple(sorted(held)) for key, held in holds.items()},
        {key: tuple(workloads) for key, workloads in unsized.items()},
    )


def release(fleet: Fleet, releases: Iterable[Release]) -> Fleet:
    """
    Return the fleet after pods gave devices back; nodes stay, even empty.

    Raises:
        ValueError: a hold gives back what it does not have, or twice.
    """
    holds = dict(fleet.holds)
    for given in sorted(releases, key=lambda one: one.hold):
        held = holds[given.hold.node]
        if given.hold not in held or given.devices > given.hold.devices + _DUST_DEVICES:
            message = f"{given.hold.pod} cannot give back {given.devices:g} devices on {given.hold.node}: {held}"
            raise ValueError(message)
        rest = [hold for hold in held if hold != given.hold]
        if not given.ends_hold:
            rest.append(replace(given.hold, devices=given.hold.devices - given.devices))
        holds[given.hold.node] = tuple(sorted(rest))
    return replace(fleet, holds=holds)


def restore(fleet: Fleet, releases: Iterable[Release]) -> Fleet:
    """Return the fleet as it was before these releases, on nodes that are still there; doing it twice is once."""
    holds = dict(fleet.holds)
    for given in releases:
        if given.hold in holds[given.hold.node]:
            continue
        left = given.hold.devices - given.devices
        shrunk = replace(given.hold, devices=left)
        rest = [hold for hold in holds[given.hold.node] if given.ends_hold or hold != shrunk]
        holds[given.hold.node] = tuple(sorted((*rest, given.hold)))
    return replace(fleet, holds=holds)


def release_nodes(fleet: Fleet, keys: Iterable[str]) -> Fleet:
    """
    Return the fleet without these nodes.

    Raises:
        ValueError: somebody still holds devices there.
    """
    gone = set(keys)
    held = sorted(key for key in gone if fleet.holds[key])
    if held:
        message = f"nodes still held: {', '.join(held)}; only nodes without holders can go"
        raise ValueError(message)
    return replace(
        fleet,
        nodes={key: node for key, node in fleet.nodes.items() if key not in gone},
        holds={key: rest for key, rest in fleet.holds.items() if key not in gone},
    )


def move_to_slices(fleet: Fleet, moved: Sequence[Hold], slices: Sequence[Hold]) -> Fleet:
    """
    Return the fleet with the holds `moved` gone and `slices` in their place, on whichever nodes these name.

    Raises:
        ValueError: the two do not name the same pods, or a node would hold more devices than it has.
    """
    if sorted(hold.pod for hold in moved) != sorted(hold.pod for hold in slices):
        message = f"{len(moved)} pods leave and {len(slices)} slices come; expected one slice for each pod"
        raise ValueError(message)
    emptied = release(fleet, [Release(hold, hold.devices) for hold in moved])
    holds = dict(emptied.holds)
    for hold in sorted(slices):
        holds[hold.node] = tuple(sorted((*holds[hold.node], hold)))
    for key in sorted({hold.node for hold in slices}):
        if held_devices(holds[key]) > fleet.nodes[key].gpu_count + _DUST_DEVICES:
            message = f"{key} would hold {held_devices(holds[key]):g} of {fleet.nodes[key].gpu_count} devices"
            raise ValueError(message)
    return replace(fleet, holds=holds)


def held_devices(holds: Iterable[Hold]) -> float:
    """Return how many devices these holds take together."""
    return sum(hold.devices for hold in holds)


def _nodes(node_now: pl.DataFrame) -> list[Node]:
    return [
        Node(
            key=f"{row['cluster_id']}/{row['node']}",
            pool=f"{row['cluster_id']}/{row['pool'] or 'unpooled'}",
            gpu_model=row["gpu_model"] or "unknown",
            gpu_count=int(row["gpu_count"]),
            vcpu=row["vcpu"],
            memory_gib=row["memory_gib"],
            labels=row["labels"],
            others=OtherPods(row["other_pods"], row["other_vcpu"], row["other_memory_gib"]),
            unheld=None
            if row["unheld_gpu_hours"] is None
            else Unheld(
                row["unheld_gpu_hours"],
                row["unheld_observed_ratio"],
                row["unheld_activity_max"],
                row["unheld_memory_gib"],
            ),
        )
        for row in node_now.sort("cluster_id", "node").iter_rows(named=True)
    ]


def _pods(holder_now: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each pod and node; a pod that names two GPU resources holds both, null where one is."""
    return (
        holder_now.sort("cluster_id", "namespace", "pod", "resource")
        .group_by("cluster_id", "namespace", "workload_kind", "workload_name", "pod", "node", maintain_order=True)
        .agg(
            pl.when(pl.col("devices").is_not_null().all()).then(pl.col("devices").sum()).alias("devices"),
            pl.col("mig_profile").drop_nulls().first(),
            # The requests are the pod's, repeated on each of its rows; sum() of none is the nothing it reserves.
            pl.col("vcpu").drop_nulls().sort().tail(1).sum(),
            pl.col("memory_gib").drop_nulls().sort().tail(1).sum(),
        )
        .with_columns(
            node_key=pl.concat_str("cluster_id", "node", separator="/"),
            pod_key=pl.concat_str("cluster_id", "namespace", "pod", separator="/"),
            workload=pl.concat_str("cluster_id", "namespace", "workload_kind", "workload_name", separator="/"),
        )
    )


def _holds(pods: pl.DataFrame) -> list[Hold]:
    columns = ("node_key", "pod_key", "workload", "devices", "mig_profile", "vcpu", "memory_gib")
    return [Hold(*row) for row in pods.select(columns).iter_rows()]
