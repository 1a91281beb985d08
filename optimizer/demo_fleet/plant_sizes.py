"""Plant work on more or larger machines than it needs, and what only looks so."""

from optimizer.demo_fleet.builder import Kind, Place, Stay
from optimizer.demo_fleet.curve import WORKDAYS, Curve
from optimizer.demo_fleet.kinds_of_work import ONE_GPU, sandbox, triton, vllm
from optimizer.demo_fleet.nouns import Change, FaultKind, Node, Requests, Shape
from optimizer.demo_fleet.shapes import G2_4, G2_24, G6_XLARGE
from optimizer.demo_fleet.tokens import between
from optimizer.demo_fleet.variant import Occasion, Variant

DOWNSIZE = "gpu_downsize"
SHARING = "gpu_sharing"
POOLS = "pool_consolidation"


def _pair(occasion: Occasion, named: Kind, stem: str, curve: Curve) -> tuple[Node, str]:
    """Add a node of two GPUs with one pod that holds both."""
    builder = occasion.builder
    node = builder.node(G2_24, Place(f"{occasion.team}-l4-pairs"))
    workload = builder.workload(node.cluster, (occasion.team, f"{stem}-{occasion.index}"), occasion.team, named)
    builder.pod(workload, node, Stay(Requests(2, 2.0, 8.0)), curve)
    return node, workload.key


def _two_where_one_does(occasion: Occasion) -> None:
    curve = Curve(between(0.08, 0.15, *occasion.dice), 0.2, memory_gib=between(4.0, 7.0, *occasion.dice, "memory"))
    node, key = _pair(occasion, triton(), "pair", curve)
    story = "two GPUs at a tenth of their power and a third of their memory: one does it"
    occasion.builder.waste(DOWNSIZE, (key,), story, Change(replaced=((node, G2_4),)))


def _full_memory(occasion: Occasion) -> None:
    curve = Curve(0.1, memory_gib=19.0)
    _, key = _pair(occasion, vllm("acme/assistant-13b", 2), "wide-model", curve)
    occasion.builder.decoy(DOWNSIZE, key, "little compute, but its weights fill both cards")


def _peaks(occasion: Occasion) -> None:
    curve = Curve(0.1, memory_gib=8.0, burst_sm_active_ratio=0.95, burst_every_hours=3)
    _, key = _pair(occasion, triton(), "peaky", curve)
    occasion.builder.decoy(DOWNSIZE, key, "needs both cards in its peaks")


def _desks(occasion: Occasion, shape: Shape, named: Kind, curves: tuple[Curve, Curve]) -> tuple[list[Node], list[str]]:
    builder = occasion.builder
    nodes, keys = [], []
    for position, curve in enumerate(curves):
        node = builder.node(shape, Place(f"{occasion.team}-desks"))
        name = f"{occasion.kind.replace('_', '-')}-desk-{occasion.index}-{position}"
        workload = builder.workload(node.cluster, (occasion.team, name), occasion.team, named)
        builder.pod(workload, node, Stay(ONE_GPU), curve)
        nodes.append(node)
        keys.append(workload.key)
    return nodes, keys


def _light_desks(occasion: Occasion) -> None:
    morning = Curve(between(0.15, 0.35, *occasion.dice), 0.1, WORKDAYS, 8, 13, memory_gib=5.0)
    afternoon = Curve(between(0.15, 0.35, *occasion.dice, 2), 0.1, WORKDAYS, 13, 19, memory_gib=6.0)
    small = sandbox()
    nodes, keys = _desks(occasion, (G6_XLARGE, G2_4)[occasion.index % 2], small, (morning, afternoon))
    story = "two development desks, each lightly used on a GPU of its own"
    occasion.builder.waste(SHARING, tuple(keys), story, Change(removed=(nodes[1],)))


def _full_desks(occasion: Occasion) -> None:
    curve = Curve(0.3, days=WORKDAYS, from_hour=9, to_hour=18, memory_gib=15.0)
    _, keys = _desks(occasion, G6_XLARGE, sandbox(), (curve, curve))
    for key in keys:
        occasion.builder.decoy(SHARING, key, "two of them do not fit one card's memory")


def _production_desks(occasion: Occasion) -> None:
    curve = Curve(0.2, memory_gib=5.0)
    named = triton(annotations=(("acme.example/slo-class", "realtime"),))
    _, keys = _desks(occasion, G6_XLARGE, named, (curve, curve))
    for key in keys:
        occasion.builder.decoy(SHARING, key, "sensitive to latency: nothing may share its GPU")


def _half_empty(occasion: Occasion, named: Kind, teams: tuple[str, ...]) -> tuple[list[Node], list[str]]:
    """Add a node of two GPUs for each team, half of it used."""
    builder = occasion.builder
    nodes, keys = [], []
    curve = Curve(between(0.5, 0.7, *occasion.dice), 0.2, memory_gib=18.0)
    for team in teams:
        node = builder.node(G2_24, Place(f"{team}-pool"))
        workload = builder.workload(
            node.cluster, (team, f"{named.kind.lower()}-half-{len(builder.workloads)}"), team, named
        )
        builder.pod(workload, node, Stay(Requests(1, 8.0, 32.0)), curve)
        nodes.append(node)
        keys.append(workload.key)
    return nodes, keys


def _two_half_pools(occasion: Occasion) -> None:
    nodes, keys = _half_empty(occasion, vllm("Qwen/Qwen3-8B"), ("vision", "language"))
    # The exporter of a half-used node was down for some hours: the only time of a free device nobody knows about.
    occasion.builder.fault(FaultKind.GAP, nodes[1], 100 + occasion.index, 104 + occasion.index)
    story = "two teams, each with a node of its own, each half used: one node holds both"
    occasion.builder.waste(POOLS, tuple(keys), story, Change(removed=(nodes[1],)))


def _isolated(occasion: Occasion) -> None:
    named = vllm("Qwen/Qwen3-8B", annotations=(("acme.example/isolation", "tenant"),))
    _, keys = _half_empty(occasion, named, ("ranking",))
    occasion.builder.decoy(POOLS, keys[0], "half used, but its tenant may not share a node")


WASTE = {
    DOWNSIZE: (Variant(2, _two_where_one_does),),
    SHARING: (Variant(2, _light_desks),),
    POOLS: (Variant(4, _two_half_pools),),
}
DECOYS = {
    DOWNSIZE: (Variant(2, _full_memory), Variant(2, _peaks)),
    SHARING: (Variant(2, _full_desks), Variant(2, _production_desks)),
    POOLS: (Variant(2, _isolated),),
}
