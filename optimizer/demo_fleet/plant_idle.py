"""Plant idle GPUs, and what only looks idle."""

from optimizer.demo_fleet.builder import Kind, Place, Stay
from optimizer.demo_fleet.curve import EVERY_DAY, IDLE, WORKDAYS, Curve, with_memory
from optimizer.demo_fleet.kinds_of_work import (
    KEEP,
    ONE_GPU,
    SMALL,
    notebook,
    sandbox,
    service,
    triton,
    vllm,
)
from optimizer.demo_fleet.nouns import Change, FaultKind, Node, Requests, Shape, Sharing, Workload
from optimizer.demo_fleet.shapes import G2_4, G2_24, G6_12XLARGE, G6_XLARGE, P4DE
from optimizer.demo_fleet.tokens import between
from optimizer.demo_fleet.variant import Occasion, Variant

KIND = "idle_gpus"
PEOPLE = ("ada", "bao", "chi", "dai", "eva", "finn", "gia", "hoa", "ines", "jun", "kai", "linh")
BUSY = Curve(sm_active_ratio=0.55, swing_ratio=0.2, memory_gib=17.0)


def _name(occasion: Occasion, stem: str) -> str:
    return f"{stem}-{PEOPLE[occasion.index % len(PEOPLE)]}-{occasion.index}"


def _alone(occasion: Occasion, shape: Shape, named: Kind, stem: str, *curves: Curve) -> tuple[Node, Workload]:
    """Add a node of its own with one pod that holds all its devices since long ago."""
    builder = occasion.builder
    node = builder.node(shape, Place(f"{occasion.team}-l4"))
    workload = builder.workload(node.cluster, (occasion.team, _name(occasion, stem)), occasion.team, named)
    builder.pod(workload, node, Stay(Requests(shape.gpu_count, 2.0, 8.0), named.created_hour), *curves)
    return node, workload


def _loaded_notebook(occasion: Occasion) -> None:
    memory_gib = between(4.0, 16.0, *occasion.dice)
    node, workload = _alone(occasion, G6_XLARGE, notebook(), "notebook", with_memory(IDLE, memory_gib))
    story = f"notebook alone on its node, its kernel holds {memory_gib:.0f} GiB, nobody has run a cell for weeks"
    occasion.builder.waste(KIND, (workload.key,), story, Change(removed=(node,)))


def _idle_big_node(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(P4DE, Place(f"{occasion.team}-sandbox"))
    workload = builder.workload(node.cluster, (occasion.team, _name(occasion, "sandbox")), occasion.team, sandbox())
    for _ in range(P4DE.gpu_count):
        builder.pod(workload, node, Stay(Requests(1, 4.0, 32.0)))
    story = "eight sandboxes hold all GPUs of an eight-GPU node and use none"
    builder.waste(KIND, (workload.key,), story, Change(removed=(node,)))


def _unused_node(occasion: Occasion) -> None:
    node = occasion.builder.node(G2_4, Place(f"{occasion.team}-reserve"))
    occasion.builder.waste(KIND, (node.key,), "a node of which nobody uses anything", Change(removed=(node,)))


def _empty_notebook(occasion: Occasion) -> None:
    node, workload = _alone(occasion, G2_4, notebook(), "notebook")
    story = "notebook alone on its node, nothing loaded, untouched for weeks"
    occasion.builder.waste(KIND, (workload.key,), story, Change(removed=(node,)))


def _crashing(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G6_XLARGE, Place(f"{occasion.team}-l4"))
    workload = builder.workload(node.cluster, (occasion.team, _name(occasion, "etl")), occasion.team, sandbox())
    builder.pod(workload, node, Stay(ONE_GPU, waiting_reason="CrashLoopBackOff"))
    story = "a pod that crashes over and over holds the only GPU of its node"
    builder.waste(KIND, (workload.key,), story, Change(removed=(node,)))


def _idle_pair(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G6_12XLARGE, Place(f"{occasion.team}-l4-large"))
    keys = []
    for stem in ("team-a", "team-b"):
        workload = builder.workload(node.cluster, (occasion.team, _name(occasion, stem)), occasion.team, sandbox())
        for _ in range(2):
            builder.pod(workload, node, Stay(Requests(1, 4.0, 16.0)))
        keys.append(workload.key)
    story = "two idle workloads share a node: it can go only when both do"
    builder.waste(KIND, tuple(keys), story, Change(removed=(node,)))


def _idle_on_shared_node(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G2_24, Place(f"{occasion.team}-l4-pairs"))
    busy = builder.workload(node.cluster, (occasion.team, _name(occasion, "rerank")), occasion.team, triton())
    builder.pod(busy, node, Stay(Requests(1, 8.0, 32.0)), BUSY)
    idle = builder.workload(node.cluster, (occasion.team, _name(occasion, "spare")), occasion.team, sandbox())
    builder.pod(idle, node, Stay(ONE_GPU))
    builder.waste(KIND, (idle.key,), "an idle pod beside a busy one: a free GPU, but no node goes", Change())


def _decoy(occasion: Occasion, named: Kind, stem: str, reason: str, *curves: Curve) -> Node:
    node, workload = _alone(occasion, G6_XLARGE, named, stem, *curves)
    occasion.builder.decoy(KIND, workload.key, reason)
    return node


def _once_a_week(occasion: Occasion) -> None:
    day = (occasion.builder.spec.as_of.weekday() - 3) % 7
    weekly = Curve(sm_active_ratio=0.7, days=1 << day, from_hour=2, to_hour=5, memory_gib=12.0)
    _decoy(occasion, notebook(), "weekly", "works three hours once a week", weekly)


def _exporter_gap(occasion: Occasion) -> None:
    node = _decoy(
        occasion, notebook(), "unseen", "telemetry is missing since day 2: unknown, not idle", with_memory(IDLE, 6)
    )
    occasion.builder.fault(FaultKind.GAP, node, 48)


def _frozen_exporter(occasion: Occasion) -> None:
    reason = "the exporter repeats the same numbers since day 3: unknown, not idle"
    node = _decoy(occasion, notebook(), "frozen", reason, BUSY)
    occasion.builder.fault(FaultKind.FROZEN, node, 72)


def _counters_zero(occasion: Occasion) -> None:
    node = _decoy(occasion, notebook(), "xid31", "profiling counters stand at 0 while GPU_UTIL is 100", BUSY)
    occasion.builder.fault(FaultKind.COUNTERS_ZERO, node, 24)


def _young(occasion: Occasion) -> None:
    start = occasion.end - 24 * 6
    builder = occasion.builder
    node = builder.node(G6_XLARGE, Place(f"{occasion.team}-l4", start_hour=start - 1))
    named = (occasion.team, _name(occasion, "new"))
    workload = builder.workload(node.cluster, named, occasion.team, notebook(start))
    builder.pod(workload, node, Stay(ONE_GPU, start))
    builder.decoy(KIND, workload.key, "six days old: too young to judge")


def _silent_server(occasion: Occasion) -> None:
    reason = "an inference server with its model loaded; without traffic data its use is unknown"
    curve = with_memory(IDLE, 18.5)
    _decoy(occasion, vllm("meta-llama/Llama-3.1-8B-Instruct"), "assistant", reason, curve)


def _kept(occasion: Occasion) -> None:
    _decoy(occasion, sandbox(annotations=KEEP), "standby", "a hot standby its owner annotated to be kept")


def _nightly(occasion: Occasion) -> None:
    nightly = Curve(sm_active_ratio=0.8, days=EVERY_DAY, from_hour=1, to_hour=2, memory_gib=10.0)
    _decoy(occasion, sandbox(), "nightly", "works one hour every night", nightly)


def _new_names(occasion: Occasion) -> None:
    node, workload = _alone(occasion, G2_4, triton(), "ratio", BUSY)
    reason = f"busy on {node.cluster.cluster_id}, whose exporter gives 0..1 where others give percent"
    occasion.builder.decoy(KIND, workload.key, reason)


def _blanks(occasion: Occasion) -> None:
    node = _decoy(occasion, notebook(), "blank", "DCGM answers with its blank number since day 1: unknown", BUSY)
    occasion.builder.fault(FaultKind.BLANK, node, 24)


def _trickle(occasion: Occasion) -> None:
    trickle = Curve(sm_active_ratio=0.04, memory_gib=5.0)
    _decoy(occasion, triton(), "trickle", "serves a trickle of requests without pause", trickle)


def _time_sliced(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G6_XLARGE, Place(f"{occasion.team}-shared", sharing=Sharing(replicas=4)))
    keys = []
    for stem in ("pair-a", "pair-b"):
        named = (occasion.team, _name(occasion, stem))
        workload = builder.workload(node.cluster, named, occasion.team, notebook())
        builder.pod(workload, node, Stay(Requests(1, 1.0, 4.0)), Curve(0.3, days=WORKDAYS, from_hour=8, to_hour=19))
        keys.append(workload.key)
    for key in keys:
        builder.decoy(KIND, key, "shares its GPU in time slices; the exporter names one pod only")


def _warm_node(occasion: Occasion) -> None:
    start = occasion.end - 20
    node = occasion.builder.node(G6_XLARGE, Place(f"{occasion.team}-burst", start_hour=start))
    occasion.builder.decoy(KIND, node.key, "the autoscaler brought it up hours ago")


def _squatted(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G6_XLARGE, Place(f"{occasion.team}-l4"))
    workload = builder.workload(node.cluster, (occasion.team, _name(occasion, "api")), occasion.team, service())
    builder.pod(workload, node, Stay(SMALL))
    builder.decoy(KIND, node.key, "nobody uses its GPU, but a service without a GPU runs on it")


def _reserved_node(occasion: Occasion) -> None:
    node = occasion.builder.node(G6_XLARGE, Place(f"{occasion.team}-dr", annotations=KEEP))
    occasion.builder.decoy(KIND, node.key, "kept empty on purpose for failover, annotated so")


WASTE = (
    Variant(1, _loaded_notebook),
    Variant(8, _idle_big_node),
    Variant(1, _unused_node),
    Variant(1, _empty_notebook),
    Variant(1, _crashing),
    Variant(4, _idle_pair),
)
WITHOUT_CASH = Variant(2, _idle_on_shared_node)
DECOYS = tuple(
    Variant(1, plant)
    for plant in (
        _once_a_week,
        _silent_server,
        _exporter_gap,
        _young,
        _frozen_exporter,
        _kept,
        _counters_zero,
        _new_names,
        _nightly,
        _squatted,
        _blanks,
        _trickle,
        _warm_node,
        _time_sliced,
        _reserved_node,
    )
)
