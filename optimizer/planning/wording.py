"""How the plan says what it did and what it left: one sentence each, with its numbers."""

from collections.abc import Iterable, Sequence

from models.fleet import Fleet, Hold, held_devices
from optimizer.planning.keeps import Keeps
from optimizer.planning.pool import Member, Pool, PoolCut, convertible

_NAMED_HOLDERS = 3
_NAMED = 5


def counted(number: float, noun: str) -> str:
    """Return "1 node", "2 nodes", "1.5 devices"."""
    return f"{number:,.6g} {noun}" if number == 1 else f"{number:,.6g} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def still_held(fleet: Fleet, keeps: Keeps, nodes: Iterable[str]) -> str:
    """Return which of the nodes is nearest to going, how many of its devices stay held, and by whom; else why not."""
    left = sorted((held_devices(fleet.holds[key]), key) for key in nodes)
    if not left:
        return "none of its nodes can be priced"
    devices, key = left[0]
    if not fleet.holds[key] and key in keeps:
        return f"node {key} stays: {keeps[key].reason}"
    count = fleet.nodes[key].gpu_count
    of = f" of {count}" if count else ""
    return f"node {key} stays: {devices:,.6g}{of} devices stay held by {holders(fleet.holds[key])}"


def holders(holds: Sequence[Hold]) -> str:
    """Return the workloads with most devices, each with its number, and how many more there are."""
    by_workload: dict[str, float] = {}
    for hold in holds:
        by_workload[hold.workload] = by_workload.get(hold.workload, 0.0) + hold.devices  # zero: its first hold
    ranked = sorted(by_workload.items(), key=lambda pair: (-pair[1], pair[0]))
    named = ", ".join(f"{workload} ({devices:,.6g})" for workload, devices in ranked[:_NAMED_HOLDERS])
    more = len(ranked) - _NAMED_HOLDERS
    return f"{named} and {counted(more, 'more workload')}" if more > 0 else named


def cut_notes(cut: PoolCut, fleet: Fleet) -> tuple[str, ...]:
    """Return how good the packing is, and what is converted."""
    packing = cut.packing
    gpus = counted(packing.gpus, "GPU")
    proof = f"{gpus}, proved optimal" if packing.is_optimal else f"{gpus}, no packing needs fewer than {packing.bound}"
    slices, converted, gone = len(cut.slices), len(cut.layouts), len(cut.released_nodes)
    spread = (
        f"; spread over {cut.cut_gpus}, since CPU or memory of the nodes binds" if cut.cut_gpus > packing.gpus else ""
    )
    others = [fleet.nodes[layout.node].others for layout in cut.layouts]
    other_pods = sum(one.count for one in others if one is not None)
    also = f"; {counted(other_pods, 'pod')} that ask for no GPU are drained from them too" if other_pods else ""
    return (
        f"{counted(slices, 'slice')} on {proof}; first-fit-decreasing needs {cut.first_fit_gpus}{spread}",
        (
            f"{counted(converted, 'node')} converted, {counted(gone, 'node')} released; "
            f"each pod on them restarts once{also}"
        ),
    )


def why_not_cut(pool: Pool, fleet: Fleet, member: Member, cut: PoolCut | None) -> str:
    """Return why a workload that would fit a slice stays as it is."""
    usable = set(convertible(pool, fleet, frozenset(pool.members)))
    blocked = sorted({hold.node for hold in member.holds} - usable)
    untouchable = [key for key in blocked if key in pool.keeps and not pool.keeps[key].may_be_cut]
    if untouchable:
        return f"node {untouchable[0]} stays whole: {pool.keeps[untouchable[0]].reason}"
    if blocked:
        foreign = {key: [hold for hold in fleet.holds[key] if hold.workload not in pool.members] for key in blocked}
        key = min(blocked, key=lambda one: (held_devices(foreign[one]), one))
        return (
            f"node {key} stays whole: {held_devices(foreign[key]):,.6g} of {fleet.nodes[key].gpu_count} devices are "
            f"held by {holders(foreign[key])}, and a change of MIG mode would disturb it"
        )
    nodes = sorted({hold.node for hold in member.holds})
    pinned = [key for key in nodes if key in pool.keeps]
    if pinned and len(pinned) == len(nodes):
        return f"node {pinned[0]} stays: {pool.keeps[pinned[0]].reason}"
    if cut is None:
        return (
            f"cut into slices, the pods on the {counted(len(usable), 'node')} of the pool that can be converted still "
            f"need all of them, {nodes[0]} too: no whole node is freed"
        )
    return f"converting {listed(nodes)} too would free no further node"
