"""
What a round of the plan saves: step by step on the state the former steps leave, down to whole nodes.

A node's cash is split over the drafts that gave back its devices, by devices. Cash is what is paid on demand before
less after, with commitments applied again, plus what Spot nodes were billed; list and effective are the run rates of
the nodes that go.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.cash import CostBook, price_release
from models.domain.money import SavingsRange
from models.domain.recommendation import Decision, Step
from models.domain.units import HOURS_PER_DAY, HOURS_PER_MONTH
from optimizer.planning.draft import STEPS, Draft, Freed, Staged
from optimizer.planning.wording import counted, listed

_NOTED_RATIO = 1.01  # a week that saves so much more than its last day is told
_DUST_USD = 0.005


@dataclass(frozen=True, slots=True)
class Part:
    """One draft's part in nodes that go together, dollars of the pricing week."""

    step: Step
    scope: str
    nodes: tuple[str, ...]
    devices: float  # of the draft
    devices_in_all: float
    before_usd: float  # paid on demand by the whole scope when the step begins
    on_demand_usd: float  # saved
    direct_usd: float  # saved
    week_usd: float  # saved on demand and directly by the whole week, where its last day saves less
    list_usd: float
    effective_usd: float


@dataclass(frozen=True, slots=True)
class Joint:
    """What goes together: all nodes in whose release a draft has a part, and everybody who has."""

    usd_per_month: float  # cash
    decisions: int
    disrupted_pods: int


@dataclass(frozen=True, slots=True)
class PricedDraft:
    """A draft and what it is worth, alone and with those who release the same nodes."""

    draft: Draft
    decision: Decision
    joint: Joint
    why_no_price: str  # empty: it has one


def price(staged: Staged, costs: CostBook, comeback_ratio: float) -> tuple[PricedDraft, ...]:
    """Return every draft with its decision, in the order of the plan."""
    parts: dict[str, list[Part]] = {draft.id: [] for draft in staged.drafts}
    cash: dict[tuple[str, ...], float] = {group.nodes: 0.0 for group in staged.freed}
    gone: list[str] = []
    for step in STEPS:
        groups = [group for group in staged.freed if group.step == step]
        for draft_id, group, part in _parts(step, groups, costs, gone):
            parts[draft_id].append(part)
            cash[group.nodes] += costs.per_month(part.scope, part.on_demand_usd + part.direct_usd)
        gone.extend(node for group in groups for node in group.nodes)
    return tuple(
        PricedDraft(
            draft,
            _decision(draft, parts[draft.id], staged.freed, costs, comeback_ratio),
            _joint(draft, staged, cash),
            "" if parts[draft.id] else _why_no_price(draft, staged.freed, costs),
        )
        for draft in staged.drafts
    )


def _joint(draft: Draft, staged: Staged, cash: Mapping[tuple[str, ...], float]) -> Joint:
    groups = [group for group in staged.freed if draft.id in group.devices_by_draft]
    partners = {draft_id for group in groups for draft_id in group.devices_by_draft}
    return Joint(
        usd_per_month=math.fsum(cash[group.nodes] for group in groups),
        decisions=len(partners),
        disrupted_pods=sum(
            chosen.alternative.disrupted_pods for one in staged.drafts if one.id in partners for chosen in one.chosen
        ),
    )


def _why_no_price(draft: Draft, freed: Sequence[Freed], costs: CostBook) -> str:
    nodes = _unpriced([group for group in freed if draft.id in group.devices_by_draft], costs)
    refused = [node for node in nodes if node in costs.refused]
    if refused:
        return f"{listed(refused)} is on a bill, but {costs.refused[refused[0]]}"
    return f"no bill names {listed(nodes)} in the last week with node cost, so no saving can be shown"


def _unpriced(groups: Sequence[Freed], costs: CostBook) -> tuple[str, ...]:
    return tuple(sorted(node for group in groups for node in group.nodes if node not in costs.nodes))


def _parts(
    step: Step, groups: Sequence[Freed], costs: CostBook, gone: Sequence[str]
) -> Iterable[tuple[str, Freed, Part]]:
    """Yield what each draft saves through each group of one step."""
    priced = price_release(costs, gone, [node for group in groups for node in group.nodes])
    for group in groups:
        whole = math.fsum(group.devices_by_draft.values())
        for scope in sorted({costs.nodes[node].scope for node in group.nodes if node in costs.nodes}):
            nodes = tuple(node for node in group.nodes if node in costs.nodes and costs.nodes[node].scope == scope)
            for draft_id, devices in sorted(group.devices_by_draft.items()):
                share = devices / whole if whole > 0.0 else 0.0
                yield (
                    draft_id,
                    group,
                    Part(
                        step=step,
                        scope=scope,
                        nodes=nodes,
                        devices=devices,
                        devices_in_all=whole,
                        before_usd=priced.on_demand_before_usd[scope],
                        on_demand_usd=share * math.fsum(priced.on_demand_saved_usd[node] for node in nodes),
                        direct_usd=share * math.fsum(priced.direct_saved_usd[node] for node in nodes),
                        week_usd=share * math.fsum(priced.week_saved_usd[node] for node in nodes),
                        list_usd=share * math.fsum(costs.nodes[node].list_usd for node in nodes),
                        effective_usd=share * math.fsum(costs.nodes[node].effective_usd for node in nodes),
                    ),
                )


def _decision(
    draft: Draft, parts: Sequence[Part], freed: Sequence[Freed], costs: CostBook, comeback_ratio: float
) -> Decision:
    expected = math.fsum(costs.per_month(part.scope, part.on_demand_usd + part.direct_usd) for part in parts)
    effective = math.fsum(costs.per_month(part.scope, part.effective_usd) for part in parts)
    list_usd = math.fsum(costs.per_month(part.scope, part.list_usd) for part in parts)
    groups = [group for group in freed if draft.id in group.devices_by_draft]
    nodes = tuple(sorted(node for group in groups for node in group.nodes))
    low = min(expected, _alone_usd_per_month(groups, costs)) * (1.0 - comeback_ratio)
    return Decision(
        recommender=draft.recommender,
        step=draft.step,
        subject=draft.subject,
        chosen=draft.chosen,
        savings=SavingsRange(low, expected, max(expected, effective)),
        list_usd_per_month=list_usd,
        effective_usd_per_month=effective,
        released_devices=draft.released_devices,
        released_nodes=nodes,
        layouts=draft.layouts,
        formula=formula(parts, costs, expected),
        notes=(*draft.notes, *_notes(draft, groups, _unpriced(groups, costs))),
    )


def _alone_usd_per_month(groups: Sequence[Freed], costs: CostBook) -> float:
    """Return what is saved when this draft alone is done: only nodes go for which it needs nobody else."""
    nodes = [node for group in groups if len(group.devices_by_draft) == 1 for node in group.nodes]
    alone = price_release(costs, (), nodes)
    return math.fsum(
        costs.per_month(costs.nodes[node].scope, alone.on_demand_saved_usd[node] + alone.direct_saved_usd[node])
        for node in sorted(alone.on_demand_saved_usd)
    )


def _notes(draft: Draft, groups: Sequence[Freed], unpriced: Sequence[str]) -> Iterable[str]:
    for group in groups:
        others = sorted(set(group.devices_by_draft) - {draft.id})
        if others:
            yield f"{listed(group.nodes)} can go only together with {listed(others)}; the saving is shared by devices"
    if unpriced:
        yield f"no bill names {listed(unpriced)} in the pricing week; no saving is counted for it"


def formula(parts: Sequence[Part], costs: CostBook, expected_usd_per_month: float) -> str:
    """Return how the expected saving comes about: dollars of the pricing week before and after, then the month."""
    weeks = [_week(scope_parts, costs.hours(scope_parts[0].scope)) for scope_parts in _by_scope(parts)]
    return f"{'; '.join(weeks)} -> {expected_usd_per_month:,.2f} USD a month" if weeks else ""


def _by_scope(parts: Sequence[Part]) -> list[list[Part]]:
    """Return the parts that are priced against the same dollars, in the plan's order."""
    gathered: Mapping[tuple[int, str], list[Part]] = {
        key: [part for part in parts if (STEPS.index(part.step), part.scope) == key]
        for key in sorted({(STEPS.index(part.step), part.scope) for part in parts})
    }
    return list(gathered.values())


def _week(parts: Sequence[Part], hours: int) -> str:
    before = parts[0].before_usd
    after = max(before - math.fsum(part.on_demand_usd for part in parts), 0.0)
    direct = math.fsum(part.direct_usd for part in parts)
    nodes = counted(sum(len(part.nodes) for part in parts), "node")
    shared = [part for part in parts if part.devices < part.devices_in_all]
    share = "".join(
        f", share {part.devices:,.6g} of {part.devices_in_all:,.6g} devices on {listed(part.nodes)}" for part in shared
    )
    spot = f", {direct:,.2f} USD of Spot" if direct > 0.0 else ""
    week = math.fsum(part.week_usd for part in parts)
    is_less = week > (before - after + direct) * _NOTED_RATIO + _DUST_USD
    by_day = f", saved by the last {HOURS_PER_DAY} h, scaled (by all {hours} h {week:,.2f} USD)" if is_less else ""
    return (
        f"{nodes} x {hours} h: {before:,.2f} USD on demand before, {after:,.2f} after{spot}{by_day}{share}, "
        f"{HOURS_PER_MONTH:g}/{hours}"
    )
