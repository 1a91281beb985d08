"""Plant training, queues and policy findings, and what only looks like them."""

from dataclasses import replace

from models.domain.units import HOURS_PER_DAY, SECONDS_PER_HOUR
from optimizer.demo_fleet.builder import Kind, Place, Stay
from optimizer.demo_fleet.curve import Curve
from optimizer.demo_fleet.kinds_of_work import ONE_GPU, sandbox, training, triton
from optimizer.demo_fleet.nouns import Change, Market, Node, Requests, Sharing
from optimizer.demo_fleet.shapes import AWS_CLUSTER, G6_XLARGE, P5
from optimizer.demo_fleet.tokens import between
from optimizer.demo_fleet.variant import Occasion, Variant

SPOT = "spot_moves"
QUEUES = "queue_quotas"
POLICY = "governance"
TRAINING = Curve(0.82, memory_gib=68.0)
SMALL_TRAINING = Curve(0.75, memory_gib=16.0)
DEADLINE_SECONDS = 90 * HOURS_PER_DAY * SECONDS_PER_HOUR


def train_on_big_node(occasion: Occasion, *, has_checkpoints: bool) -> tuple[Node, str]:
    """Add a node of eight H100 on which one gang after the other trains, most after hours in the queue."""
    builder = occasion.builder
    stem = "pretrain" if has_checkpoints else "distill"
    node = builder.node(P5, Place(f"{occasion.team}-training"))
    start, run = -60, 0
    while True:
        wait = int(between(3, 30, *occasion.dice, stem, run))
        end: int | None = start + int(between(60, 150, *occasion.dice, stem, run, "length"))
        is_last = end is None or end >= builder.spec.hours
        created = start - wait
        named = training("PyTorchJob", has_checkpoints=has_checkpoints, created_hour=created)
        full_name = f"{stem}-{occasion.index}-run{run}"
        workload = builder.workload(node.cluster, (occasion.team, full_name), occasion.team, named)
        stay = Stay(Requests(4, 40.0, 400.0), start, None if is_last else end, created)
        for _ in range(2):
            builder.pod(workload, node, stay, TRAINING)
        if is_last or end is None:
            return node, workload.key
        start, run = end + 2, run + 1


def _gang_with_checkpoints(occasion: Occasion) -> None:
    node, key = train_on_big_node(occasion, has_checkpoints=True)
    story = "checkpointed training of eight GPUs pays on demand"
    occasion.builder.waste(SPOT, (key,), story, Change(to_spot=(node,)))


def _job(occasion: Occasion, place: Place, named: Kind, stem: str) -> tuple[Node, str]:
    builder = occasion.builder
    node = builder.node(G6_XLARGE, place)
    full_name = f"{stem}-{occasion.kind.split('_', maxsplit=1)[0]}-{occasion.index}"
    workload = builder.workload(node.cluster, (occasion.team, full_name), occasion.team, named)
    builder.pod(workload, node, Stay(ONE_GPU, named.created_hour), SMALL_TRAINING)
    return node, workload.key


def _job_with_checkpoints(occasion: Occasion) -> None:
    node, key = _job(occasion, Place(f"{occasion.team}-batch"), training("Job", has_checkpoints=True), "finetune")
    story = "checkpointed fine-tuning pays on demand"
    occasion.builder.waste(SPOT, (key,), story, Change(to_spot=(node,)))


def _gang_without_checkpoints(occasion: Occasion) -> None:
    _, key = train_on_big_node(occasion, has_checkpoints=False)
    occasion.builder.decoy(SPOT, key, "training without checkpoints would lose days at each interruption")


def _job_without_checkpoints(occasion: Occasion) -> None:
    _, key = _job(occasion, Place(f"{occasion.team}-batch"), training("Job", has_checkpoints=False), "oneshot")
    occasion.builder.decoy(SPOT, key, "writes no checkpoints")


def _already_spot(occasion: Occasion) -> None:
    place = Place(f"{occasion.team}-spot", Market.SPOT)
    _, key = _job(occasion, place, training("Job", has_checkpoints=True), "thrifty")
    occasion.builder.decoy(SPOT, key, "runs on Spot already")


def _waiting(occasion: Occasion, hours: int, named: Kind, reason: str) -> str:
    builder = occasion.builder
    full_name = f"{occasion.kind.split('_', maxsplit=1)[0]}-wait-{occasion.index}-{len(builder.workloads)}"
    workload = builder.workload(AWS_CLUSTER, (occasion.team, full_name), occasion.team, named)
    stay = Stay(Requests(4, 40.0, 400.0), occasion.end, None, occasion.end - hours, reason)
    for _ in range(2):
        builder.pod(workload, None, stay)
    return workload.key


def _queued(occasion: Occasion) -> None:
    hours = int(between(9, 40, *occasion.dice))
    named = training("PyTorchJob", has_checkpoints=True, created_hour=occasion.end - hours)
    key = _waiting(occasion, hours, named, "Unschedulable")
    story = "a gang waits for hours for GPUs of its team's pool while other teams' GPUs are idle; no cash of its own"
    occasion.builder.waste(QUEUES, (key,), story, Change())


def _just_created(occasion: Occasion) -> None:
    named = training("PyTorchJob", has_checkpoints=True, created_hour=occasion.end - 1)
    key = _waiting(occasion, 1, named, "Unschedulable")
    occasion.builder.decoy(QUEUES, key, "waits since an hour while a node comes up")


def _suspended(occasion: Occasion) -> None:
    builder = occasion.builder
    named = replace(training("PyTorchJob", has_checkpoints=True), is_suspended=True)
    full_name = f"paused-{occasion.index}"
    workload = builder.workload(AWS_CLUSTER, (occasion.team, full_name), occasion.team, named)
    builder.decoy(QUEUES, workload.key, "suspended by its owner: it does not wait for a GPU")


def _sliced_production(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G6_XLARGE, Place(f"{occasion.team}-shared", sharing=Sharing(replicas=4)))
    named = triton(labels=("acme.example/production",))
    workload = builder.workload(node.cluster, (occasion.team, f"checkout-{occasion.index}"), occasion.team, named)
    for _ in range(2):
        builder.pod(workload, node, Stay(Requests(1, 1.0, 3.0)), Curve(0.3, 0.2, memory_gib=9.0))
    builder.waste(POLICY, (workload.key,), "time-slicing under a production service", Change())


def _spot_without_checkpoints(occasion: Occasion) -> None:
    place = Place(f"{occasion.team}-spot", Market.SPOT)
    _, key = _job(occasion, place, training("Job", has_checkpoints=False), "gambler")
    occasion.builder.waste(POLICY, (key,), "training on Spot without checkpoints", Change())


def _sliced_development(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G6_XLARGE, Place(f"{occasion.team}-shared", sharing=Sharing(replicas=4)))
    workload = builder.workload(node.cluster, (occasion.team, f"dev-{occasion.index}"), occasion.team, sandbox())
    builder.pod(workload, node, Stay(Requests(1, 1.0, 3.0)), Curve(0.2, 0.2, memory_gib=6.0))
    builder.decoy(POLICY, workload.key, "time-slicing is right for development")


def _spot_with_checkpoints(occasion: Occasion) -> None:
    place = Place(f"{occasion.team}-spot", Market.SPOT)
    _, key = _job(occasion, place, training("Job", has_checkpoints=True), "careful")
    occasion.builder.decoy(POLICY, key, "on Spot with checkpoints, as it should be")


def _long_with_deadline(occasion: Occasion) -> None:
    named = training("Job", has_checkpoints=True, deadline_seconds=DEADLINE_SECONDS)
    _, key = _job(occasion, Place(f"{occasion.team}-batch"), named, "long")
    occasion.builder.decoy(POLICY, key, "runs for weeks within the longest duration it declares")


WASTE = {
    SPOT: (Variant(8, _gang_with_checkpoints), Variant(1, _job_with_checkpoints)),
    QUEUES: (Variant(0, _queued),),
    POLICY: (Variant(1, _sliced_production), Variant(1, _spot_without_checkpoints)),
}
DECOYS = {
    SPOT: (
        Variant(1, _job_without_checkpoints),
        Variant(1, _already_spot),
        Variant(1, _job_without_checkpoints),
        Variant(8, _gang_without_checkpoints),
        Variant(1, _already_spot),
        *(Variant(1, _job_without_checkpoints), Variant(1, _already_spot)) * 2,
    ),
    QUEUES: (Variant(0, _just_created), Variant(0, _suspended)),
    POLICY: (Variant(1, _sliced_development), Variant(1, _spot_with_checkpoints), Variant(1, _long_with_deadline)),
}
