"""
The plan: which proposals are done, and what they save together, no dollar twice.

Proposals compete for the same devices, a device saves money only when its node goes, and a node saves cash only when
no commitment already pays for it. So all proposals are done at once, step by step, and what then saves nothing is
let go with its reason; the rest is done again without it, until every decision stands. For now that is greedy: waste
before fit, the better of two proposals for one workload; inside a pool the packing is exact.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from models.cash import CostBook, cost_book
from models.domain.money import NOTHING, SavingsRange
from models.domain.recommendation import Decision, Proposal, Rejection, Step
from models.fleet import Fleet, fleet_of
from optimizer.planning.admission import admit, one_for_each_subject
from optimizer.planning.draft import STEPS, Option
from optimizer.planning.keeps import kept_nodes
from optimizer.planning.pricing import PricedDraft, price
from optimizer.planning.settings import PlanSettings
from optimizer.planning.staging import stage
from optimizer.planning.verdict import Refused, refusals, superseded

MARTS = ("commitment_by_hour", "commitment_rate", "holder_now", "node_now", "node_usage_by_hour", "usage_by_hour")

__all__ = ["MARTS", "CountedHold", "Plan", "PlanSettings", "PlanStep", "PlanTotals", "make_plan", "plan_from_marts"]


@dataclass(frozen=True, slots=True, order=True)
class CountedHold:
    """What one decision takes from one pod, or moves; no device stands under two decisions."""

    decision_id: str
    node: str
    pod: str
    devices: float


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What the decisions of one step save when the whole plan is done."""

    step: Step
    decisions: int
    savings: SavingsRange
    list_usd_per_month: float
    effective_usd_per_month: float
    bill_after_usd_per_month: float


@dataclass(frozen=True, slots=True)
class PlanTotals:
    """What the plan saves; `bill_usd_per_month` is what it could touch: on demand, commitments, Spot of GPU nodes."""

    savings: SavingsRange
    list_usd_per_month: float
    effective_usd_per_month: float
    bill_usd_per_month: float
    released_nodes: tuple[str, ...]  # each once, also where several decisions release it together
    released_devices: float

    @property
    def share_of_bill_ratio(self) -> float | None:
        """Return expected cash savings over the bill; None without a bill."""
        bill = self.bill_usd_per_month
        return self.savings.expected_usd_per_month / bill if bill > 0.0 else None


@dataclass(frozen=True, slots=True)
class Plan:
    """Decisions by step and subject, everything that was let go and why, and what it comes to."""

    decisions: tuple[Decision, ...]
    rejections: tuple[Rejection, ...]
    waterfall: tuple[PlanStep, ...]
    totals: PlanTotals
    counted: tuple[CountedHold, ...]


def plan_from_marts(proposals: Iterable[Proposal], marts: Mapping[str, pl.DataFrame], settings: PlanSettings) -> Plan:
    """
    Return the plan for the fleet that the marts in `MARTS` describe.

    Raises:
        InputError: a dollar value is missing.
    """
    fleet = fleet_of(marts["node_now"], marts["holder_now"])
    return make_plan(proposals, fleet, cost_book(marts, settings.commitments), settings)


def make_plan(proposals: Iterable[Proposal], fleet: Fleet, costs: CostBook, settings: PlanSettings) -> Plan:
    """Return the plan; the order of proposals does not matter."""
    admitted = admit(proposals, fleet, settings.max_risk)
    keeps = kept_nodes(fleet, settings)
    options: Sequence[Option] = admitted.options
    rejections = list(admitted.rejections)
    while True:
        chosen = one_for_each_subject(options, fleet, keeps, costs)
        staged = stage(chosen, fleet, keeps, settings.node_headroom_ratio)
        priced = price(staged, costs, settings.comeback_ratio)
        refused: tuple[Refused, ...] = refusals(staged, priced, settings)
        if not refused:
            break
        rejections.extend(one.rejection for one in refused)
        gone = {one.option.rank for one in refused}
        options = [option for option in options if option.rank not in gone]
    rejections.extend(superseded(options, chosen))
    rejections.sort(key=lambda one: (one.subject, one.recommender, one.code))
    return _plan(priced, rejections, costs, settings.comeback_ratio)


def _plan(
    priced: Sequence[PricedDraft], rejections: Sequence[Rejection], costs: CostBook, comeback_ratio: float
) -> Plan:
    ordered = sorted(priced, key=lambda one: (STEPS.index(one.draft.step), one.draft.subject, one.draft.recommender))
    decisions = tuple(one.decision for one in ordered)
    bill = costs.bill_usd_per_month()
    held = sorted(
        CountedHold(one.draft.id, given.hold.node, given.hold.pod, given.devices)
        for one in ordered
        for given in one.draft.counted
    )
    totals = PlanTotals(
        savings=_sum(decisions, comeback_ratio),
        list_usd_per_month=math.fsum(one.list_usd_per_month for one in decisions),
        effective_usd_per_month=math.fsum(one.effective_usd_per_month for one in decisions),
        bill_usd_per_month=bill,
        released_nodes=tuple(sorted({node for one in decisions for node in one.released_nodes})),
        released_devices=math.fsum(one.released_devices for one in decisions),
    )
    return Plan(decisions, tuple(rejections), _waterfall(decisions, bill, comeback_ratio), totals, tuple(held))


def _waterfall(decisions: Sequence[Decision], bill_usd_per_month: float, comeback_ratio: float) -> tuple[PlanStep, ...]:
    steps = []
    left = bill_usd_per_month
    for step in STEPS:
        here = [decision for decision in decisions if decision.step == step]
        if not here:
            continue
        savings = _sum(here, comeback_ratio)
        left -= savings.expected_usd_per_month
        steps.append(
            PlanStep(
                step=step,
                decisions=len(here),
                savings=savings,
                list_usd_per_month=math.fsum(one.list_usd_per_month for one in here),
                effective_usd_per_month=math.fsum(one.effective_usd_per_month for one in here),
                bill_after_usd_per_month=left,
            )
        )
    return tuple(steps)


def _sum(decisions: Sequence[Decision], comeback_ratio: float) -> SavingsRange:
    """Return what the decisions save when all are done; a decision's own low end is for when it is done alone."""
    if not decisions:
        return NOTHING
    expected = math.fsum(one.savings.expected_usd_per_month for one in decisions)
    high = math.fsum(one.savings.high_usd_per_month for one in decisions)
    return SavingsRange(expected * (1.0 - comeback_ratio), expected, max(high, expected))
