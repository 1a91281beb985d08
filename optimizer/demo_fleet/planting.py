"""Decide what is planted, in which order, and fill up the fleet with honest work."""

from collections import Counter
from collections.abc import Sequence
from itertools import count

from optimizer.demo_fleet import plant_batch, plant_fleet, plant_hours, plant_idle, plant_mig, plant_sizes
from optimizer.demo_fleet.builder import FleetBuilder
from optimizer.demo_fleet.nouns import Change, Commitment, Fleet, Market, Node, PlantedWaste
from optimizer.demo_fleet.shapes import (
    AWS_CLUSTER,
    COMPUTE_PLAN_PER_MILLE,
    G6_XLARGE,
    GCP_CLUSTER,
    INSTANCE_PLAN_PER_MILLE,
    P4DE,
)
from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.ticks import ticks
from optimizer.demo_fleet.tokens import uuid
from optimizer.demo_fleet.variant import Occasion, Variant

BIG_FLEET_GPUS = 64  # from here a planting may take whole eight-GPU nodes
FEW_GPUS = 4
_OTHERS = (plant_batch, plant_hours, plant_sizes, plant_fleet)
WASTES: dict[str, tuple[Variant, ...]] = {
    plant_idle.KIND: plant_idle.WASTE,
    plant_mig.KIND: plant_mig.WASTE,
    **{kind: variants for module in _OTHERS for kind, variants in module.WASTE.items()},
}
DECOYS: dict[str, tuple[Variant, ...]] = {
    plant_idle.KIND: plant_idle.DECOYS,
    plant_mig.KIND: plant_mig.DECOYS,
    **{kind: variants for module in _OTHERS for kind, variants in module.DECOYS.items()},
}
ONCE_PER_FLEET = (plant_fleet.DRA,)


def build_fleet(spec: FleetSpec) -> Fleet:
    """Return the fleet: planted waste first, then decoys, then busy machines up to the number of GPUs."""
    builder = FleetBuilder(spec)
    missing: Counter[str] = Counter()
    plant_fleet.plant_system(Occasion(builder, "system", 0))
    for number, variant in enumerate(plant_fleet.CORE):
        _plant(Occasion(builder, "core", number), (variant,), number)
    for kind, variants in _wanted(spec, WASTES).items():
        wanted = min(spec.waste_per_kind, 1) if kind in ONCE_PER_FLEET else spec.waste_per_kind
        for index in range(wanted):
            missing[kind] += not _plant(Occasion(builder, kind, index), variants, index)
    for index in range((spec.waste_per_kind + 1) // 2 if plant_idle.KIND in _wanted(spec, WASTES) else 0):
        _plant(Occasion(builder, plant_idle.KIND, spec.waste_per_kind + index), (plant_idle.WITHOUT_CASH,), 0)
    for kind, variants in _wanted(spec, DECOYS).items():
        missing[f"decoys of {kind}"] += _plant_decoys(builder, kind, variants)
    _fill(builder)
    commitments = _commitments(builder)
    if plant_fleet.COMMITMENTS in _wanted(spec, DECOYS):
        _plant_commitments(builder, commitments)
    return Fleet(
        spec=spec,
        clusters=(AWS_CLUSTER, GCP_CLUSTER),
        nodes=tuple(builder.nodes),
        devices=tuple(builder.devices),
        workloads=tuple(builder.workloads),
        pods=tuple(builder.pods),
        faults=tuple(builder.faults),
        commitments=commitments,
        wastes=tuple(builder.wastes),
        decoys=tuple(builder.decoys),
        not_planted={kind: number for kind, number in sorted(missing.items()) if number},
    )


def _wanted(spec: FleetSpec, by_kind: dict[str, tuple[Variant, ...]]) -> dict[str, tuple[Variant, ...]]:
    unknown = sorted(set(spec.kinds) - set(WASTES) - set(DECOYS))
    if unknown:
        message = f"kinds {', '.join(unknown)} are unknown; known: {', '.join(sorted({*WASTES, *DECOYS}))}"
        raise ValueError(message)
    return {kind: variants for kind, variants in by_kind.items() if not spec.kinds or kind in spec.kinds}


def _plant(occasion: Occasion, variants: Sequence[Variant], first: int) -> bool:
    """Plant the variant whose turn it is, or the next that fits; return whether one did."""
    for step in range(len(variants)):
        variant = variants[(first + step) % len(variants)]
        # A small fleet is not spent on one planting.
        if variant.gpus <= occasion.builder.gpus_left and (
            variant.gpus <= FEW_GPUS or occasion.builder.spec.gpus >= BIG_FLEET_GPUS
        ):
            variant.plant(occasion)
            return True
    return False


def _plant_decoys(builder: FleetBuilder, kind: str, variants: Sequence[Variant]) -> int:
    """Plant decoys until there are as many as asked for; return how many did not fit."""
    wanted = builder.spec.decoys_per_kind
    for index in count():
        planted = sum(decoy.kind == kind for decoy in builder.decoys)
        # An offset by seed, so that fleets with few decoys do not all show the same ones.
        if planted >= wanted or not _plant(Occasion(builder, kind, index), variants, index + builder.spec.seed):
            return max(0, wanted - planted)
    return 0


def _fill(builder: FleetBuilder) -> None:
    for index in count():
        if builder.gpus_left == 0:
            return
        variants = (*plant_fleet.FILLER[index % len(plant_fleet.FILLER) :], *plant_fleet.FILLER)
        fitting = next(variant for variant in variants if variant.gpus <= builder.gpus_left)
        fitting.plant(Occasion(builder, "filler", index))


def _commitments(builder: FleetBuilder) -> tuple[Commitment, ...]:
    """Return the Savings Plans the company holds: most of its A100 nodes, some of its L4, and one it forgot."""
    seed = builder.spec.seed
    big, small = (_steady(builder.nodes, shape.instance_type) for shape in (P4DE, G6_XLARGE))
    big_rate = P4DE.list_ticks_per_hour * INSTANCE_PLAN_PER_MILLE[P4DE.family] // 1000
    small_rate = G6_XLARGE.list_ticks_per_hour * COMPUTE_PLAN_PER_MILLE[G6_XLARGE.family] // 1000
    held = [
        # One and a half node short of today's use, so that freeing the first node saves cash and a third does not.
        Commitment(f"sp-{uuid(seed, 'p4de')}", "EC2 Instance", "p4de", max(0, 2 * big - 3) * big_rate // 2),
        Commitment(f"sp-{uuid(seed, 'compute')}", "Compute", None, small * small_rate * 3 // 10),
        Commitment(f"sp-{uuid(seed, 'g5')}", "EC2 Instance", "g5", ticks("0.633")),
    ]
    return tuple(commitment for commitment in held if commitment.ticks_per_hour)


def _steady(nodes: Sequence[Node], instance_type: str) -> int:
    return sum(
        node.shape.instance_type == instance_type
        and node.market is Market.ON_DEMAND
        and node.start_hour <= 0
        and node.end_hour is None
        for node in nodes
    )


def _plant_commitments(builder: FleetBuilder, commitments: tuple[Commitment, ...]) -> None:
    """Note the two findings about commitments: usage worth covering, and a plan that covers nothing."""
    account = f"{AWS_CLUSTER.cloud}/{AWS_CLUSTER.account}"
    steady = _steady(builder.nodes, G6_XLARGE.instance_type)
    more = steady * G6_XLARGE.list_ticks_per_hour * COMPUTE_PLAN_PER_MILLE[G6_XLARGE.family] // 1000 * 3 // 10
    findings = [
        PlantedWaste(
            plant_fleet.COMMITMENTS,
            account,
            (account,),
            "steady L4 use is paid on demand; another Compute Savings Plan would cover it",
            Change(bought=(Commitment(f"sp-{uuid(builder.spec.seed, 'more')}", "Compute", None, more),)),
        ),
        PlantedWaste(
            plant_fleet.COMMITMENTS,
            commitments[-1].commitment_id,
            (commitments[-1].commitment_id,),
            "a Savings Plan for a family nobody uses any more: let it expire",
            Change(expired=(commitments[-1],)),
        ),
    ]
    builder.wastes.extend(findings[: builder.spec.waste_per_kind])
