"""Plant work that needs its GPU for a few hours only, or not at all, and what only looks so."""

from optimizer.demo_fleet.builder import Kind, Place, Stay
from optimizer.demo_fleet.curve import WORKDAYS, Curve
from optimizer.demo_fleet.kinds_of_work import KEEP, ONE_GPU, notebook, triton, vllm
from optimizer.demo_fleet.nouns import Change, Node, Shape, Workload
from optimizer.demo_fleet.shapes import G2_4, G6_XLARGE
from optimizer.demo_fleet.tokens import between
from optimizer.demo_fleet.variant import Occasion, Variant

CULLING = "notebook_culling"
TO_ZERO = "scale_to_zero"
MANAGED = "managed_api"


def _alone(occasion: Occasion, shape: Shape, named: Kind, stem: str, curve: Curve) -> tuple[Node, Workload]:
    builder = occasion.builder
    node = builder.node(shape, Place(f"{occasion.team}-autoscaled"))
    full_name = f"{stem}-{occasion.kind.split('_', maxsplit=1)[0]}-{occasion.index}"
    workload = builder.workload(node.cluster, (occasion.team, full_name), occasion.team, named)
    builder.pod(workload, node, Stay(ONE_GPU, named.created_hour), curve)
    return node, workload


def _decoy(occasion: Occasion, named: Kind, stem: str, reason: str, curve: Curve) -> None:
    shape = (G6_XLARGE, G2_4)[occasion.index % 2]
    _, workload = _alone(occasion, shape, named, stem, curve)
    occasion.builder.decoy(occasion.kind, workload.key, reason)


def _mornings_only(occasion: Occasion) -> None:
    shape = (G6_XLARGE, G2_4)[occasion.index % 2]
    from_hour = 8 + occasion.index % 3
    curve = Curve(between(0.2, 0.5, *occasion.dice), 0.1, WORKDAYS, from_hour, from_hour + 3, memory_gib=7.0)
    node, workload = _alone(occasion, shape, notebook(), "mornings", curve)
    story = "a notebook used three hours on workdays keeps its GPU around the clock"
    occasion.builder.waste(CULLING, (workload.key,), story, Change(off_outside=((node, curve),)))


def _overnight_sweep(occasion: Occasion) -> None:
    curve = Curve(0.7, days=WORKDAYS, from_hour=10, to_hour=24, memory_gib=15.0)
    _decoy(occasion, notebook(), "sweep", "its owner goes home, its parameter sweep runs until midnight", curve)


def _low_but_steady(occasion: Occasion) -> None:
    curve = Curve(0.05, memory_gib=9.0)
    _decoy(occasion, notebook(), "labelling", "a labelling loop runs at 5 % without pause", curve)


def _demo_kept(occasion: Occasion) -> None:
    curve = Curve(0.3, days=WORKDAYS, from_hour=13, to_hour=14, memory_gib=8.0)
    _decoy(occasion, notebook(annotations=KEEP), "demo", "kept on purpose for customer demonstrations", curve)


def _office_hours(occasion: Occasion) -> None:
    shape = (G6_XLARGE, G2_4)[occasion.index % 2]
    curve = Curve(between(0.3, 0.6, *occasion.dice), 0.1, WORKDAYS, 8, 18, memory_gib=11.0)
    node, workload = _alone(occasion, shape, triton(), "office", curve)
    story = "an endpoint called in office hours only"
    occasion.builder.waste(TO_ZERO, (workload.key,), story, Change(off_outside=((node, curve),)))


def _hourly_calls(occasion: Occasion) -> None:
    curve = Curve(0.03, burst_sm_active_ratio=0.6, burst_every_hours=1, memory_gib=9.0)
    _decoy(occasion, triton(), "hourly", "called every hour: it would start cold each time", curve)


def _realtime(occasion: Occasion) -> None:
    named = triton(annotations=(("acme.example/slo-class", "realtime"),))
    curve = Curve(0.4, days=WORKDAYS, from_hour=6, to_hour=22, memory_gib=10.0)
    _decoy(occasion, named, "realtime", "promises an answer in 200 ms: no cold start is allowed", curve)


def _failover(occasion: Occasion) -> None:
    curve = Curve(0.35, days=WORKDAYS, from_hour=7, to_hour=20, memory_gib=10.0)
    _decoy(occasion, triton(annotations=KEEP), "failover", "the other region fails over to it; annotated so", curve)


def _little_chat(occasion: Occasion) -> None:
    shape = (G6_XLARGE, G2_4)[occasion.index % 2]
    curve = Curve(between(0.02, 0.04, *occasion.dice), memory_gib=18.0)
    node, workload = _alone(occasion, shape, vllm("meta-llama/Llama-3.1-8B-Instruct"), "chat", curve)
    story = "an open model served to a handful of users; the saving is before the price of the API"
    occasion.builder.waste(MANAGED, (workload.key,), story, Change(removed=(node,)))


def _resident(occasion: Occasion) -> None:
    named = vllm("meta-llama/Llama-3.1-8B-Instruct", annotations=(("acme.example/data-residency", "on-premises"),))
    _decoy(occasion, named, "resident", "its data may not leave the account", Curve(0.03, memory_gib=18.0))


def _own_model(occasion: Occasion) -> None:
    curve = Curve(0.03, memory_gib=18.0)
    _decoy(occasion, vllm("acme/contract-reader-8b"), "own", "a model of its own that no API offers", curve)


def _high_volume(occasion: Occasion) -> None:
    curve = Curve(0.6, swing_ratio=0.2, memory_gib=19.0)
    _decoy(occasion, vllm("Qwen/Qwen3-8B"), "volume", "so busy that the API would cost more", curve)


WASTE = {
    CULLING: (Variant(1, _mornings_only),),
    TO_ZERO: (Variant(1, _office_hours),),
    MANAGED: (Variant(1, _little_chat),),
}
DECOYS = {
    CULLING: (Variant(1, _overnight_sweep), Variant(1, _low_but_steady), Variant(1, _demo_kept)),
    TO_ZERO: (Variant(1, _hourly_calls), Variant(1, _realtime), Variant(1, _failover)),
    MANAGED: (Variant(1, _resident), Variant(1, _own_model), Variant(1, _high_volume)),
}
