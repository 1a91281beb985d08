"""
The truth about a fleet: what its waste costs, from the simulator's own events.

Savings are the bill of the last 168 hours as it is, less the bill of the same hours for the fleet without the waste,
with the Savings Plans applied anew, scaled to a month.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from models.domain.units import HOURS_PER_WEEK, usd_per_month
from optimizer.demo_fleet.cost_parts import ComponentPrices, CostParts
from optimizer.demo_fleet.ledger import Ledger, ledger
from optimizer.demo_fleet.nouns import Change, Decoy, Fleet, PlantedWaste
from optimizer.demo_fleet.ticks import usd

WASTE_STEP = "idle_gpus"
FIT_STEP = "mig_consolidation"


@dataclass(frozen=True, slots=True)
class TrueSavings:
    """US dollars per month of 730 h in the three prices."""

    cash_usd_per_month: float
    list_usd_per_month: float
    effective_usd_per_month: float  # what the machines concerned are charged, less what they still would be


@dataclass(frozen=True, slots=True)
class TrueWaste:
    """One planted waste and what it costs when it alone is taken out."""

    kind: str
    subject_key: str
    subject_keys: tuple[str, ...]
    story: str
    freed_nodes: tuple[str, ...]
    least_gpus: int | None
    savings: TrueSavings


@dataclass(frozen=True, slots=True)
class TrueKind:
    """All waste of one kind taken out together."""

    kind: str
    savings: TrueSavings


@dataclass(frozen=True, slots=True)
class TrueBill:
    """Totals of one provider's files, exact: ticks of 1e-10 USD."""

    billed_ticks: int
    effective_ticks: int
    list_ticks: int
    charge_rows: int


@dataclass(frozen=True, slots=True)
class Truth:
    """
    What tests hold the product against.

    `cost_by_node_day` has one row per cluster_id, node and day with effective_usd, its parts workload_usd, shared_usd,
    idle_usd and unattributed_usd (which add up to it), and held_idle_usd, the part of workload_usd during which the
    held devices did nothing.
    """

    seed: int
    gpus: int
    bills: tuple[tuple[str, TrueBill], ...]  # by cloud
    cash_usd_per_month: float  # what machines and plans cost, by the last week
    wastes: tuple[TrueWaste, ...]
    by_kind: tuple[TrueKind, ...]
    idle_then_mig: tuple[TrueSavings, TrueSavings]  # idle GPUs, then slicing on what is left
    decoys: tuple[Decoy, ...]
    not_planted: tuple[tuple[str, int], ...]
    components: ComponentPrices
    cost: CostParts  # the whole window
    cost_by_node_day: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Savings:
    """Prices changes of one fleet."""

    fleet: Fleet
    from_hour: int
    before: Ledger

    def between(self, base: Change, changed: Change) -> TrueSavings:
        """Return what goes when `base` becomes `changed`."""
        old = ledger(self.fleet, self.from_hour, base)
        new = ledger(self.fleet, self.from_hour, changed)
        nodes = _concerned(changed)
        return TrueSavings(
            cash_usd_per_month=self._monthly(old.cash - new.cash),
            list_usd_per_month=self._monthly(int(old.list_cost.sum()) - int(new.list_cost.sum())),
            effective_usd_per_month=self._monthly(_effective(old, nodes) - _effective(new, nodes)),
        )

    def _monthly(self, ticks_of_hours: int) -> float:
        return usd_per_month(usd(ticks_of_hours) / (self.fleet.spec.hours - self.from_hour))


def savings_of(fleet: Fleet) -> Savings:
    """Return a pricer over the last week of the window, or all of it where it is shorter."""
    from_hour = max(0, fleet.spec.hours - HOURS_PER_WEEK)
    return Savings(fleet, from_hour, ledger(fleet, from_hour))


def true_wastes(pricer: Savings) -> tuple[TrueWaste, ...]:
    """Return each planted waste with what it costs."""
    return tuple(
        TrueWaste(
            kind=waste.kind,
            subject_key=waste.subject_key,
            subject_keys=waste.subject_keys,
            story=waste.story,
            freed_nodes=tuple(node.key for node in waste.change.removed),
            least_gpus=waste.least_gpus,
            savings=pricer.between(Change(), waste.change),
        )
        for waste in pricer.fleet.wastes
    )


def true_kinds(pricer: Savings) -> tuple[TrueKind, ...]:
    """Return each kind of waste with what all of it costs together."""
    kinds = dict.fromkeys(waste.kind for waste in pricer.fleet.wastes)
    return tuple(TrueKind(kind, pricer.between(Change(), all_of(pricer.fleet.wastes, kind))) for kind in kinds)


def idle_then_mig(pricer: Savings) -> tuple[TrueSavings, TrueSavings]:
    """Return what idle GPUs cost, and what slicing saves on the fleet that is left."""
    wastes = pricer.fleet.wastes
    first = all_of(wastes, WASTE_STEP)
    return pricer.between(Change(), first), pricer.between(first, all_of(wastes, WASTE_STEP, FIT_STEP))


def all_of(wastes: Sequence[PlantedWaste], *kinds: str) -> Change:
    """Return the change that takes out all waste of these kinds."""
    changes = [waste.change for waste in wastes if waste.kind in kinds]
    return Change(
        removed=tuple(node for change in changes for node in change.removed),
        replaced=tuple(pair for change in changes for pair in change.replaced),
        to_spot=tuple(node for change in changes for node in change.to_spot),
        off_outside=tuple(pair for change in changes for pair in change.off_outside),
        bought=tuple(one for change in changes for one in change.bought),
        expired=tuple(one for change in changes for one in change.expired),
    )


def _concerned(change: Change) -> frozenset[int]:
    nodes = [*change.removed, *change.to_spot]
    nodes += [node for node, _ in change.replaced] + [node for node, _ in change.off_outside]
    return frozenset(node.number for node in nodes)


def _effective(book: Ledger, nodes: frozenset[int]) -> int:
    rows = [row for row, machine in enumerate(book.machines) if machine.node.number in nodes]
    return int(book.effective[rows].sum()) if rows else 0
