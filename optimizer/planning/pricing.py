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
from models.domain.units import HOURS_PER_MONTH
from optimizer.planning.draft import STEPS, Draft, Freed, Staged
from optimizer.planning.wording import counted, listed


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
    list_usd: float
    effective_usd: float


@dataclass(frozen=True, slots=True)
class PricedDraft:
    """A draft and what it is worth."""

    draft: Draft
    decision: Decision
    unpriced_nodes: tuple[str, ...]  # on no bill in the pricing week
    is_priced: bool


def price(staged: Staged, costs: CostBook, comeback_ratio: float) -> tuple[PricedDraft, ...]:
    """Return every draft with its decision, in the order of the plan."""
    parts: dict[str, list[Part]] = {draft.id: [] for draft in staged.drafts}
    gone: list[str] = []
    for step in STEPS:
        groups = [group for group in staged.freed if group.step == step]
        for draft_id, part in _parts(step, groups, costs, gone):
            parts[draft_id].append(part)
        gone.extend(node for group in groups for node in group.nodes)
    return tuple(_priced(draft, parts[draft.id], staged.freed, costs, comeback_ratio) for draft in staged.drafts)


def _parts(step: Step, groups: Sequence[Freed], costs: CostBook, gone: Sequence[str]) -> Iterable[tuple[str, Part]]:
    """Yield what each draft saves through each group of one step, by draft id."""
    priced = price_release(costs, gone, [node for group in groups for node in group.nodes])
    for group in groups:
        whole = math.fsum(group.devices_by_draft.values())
        for scope in sorted({costs.nodes[node].scope for node in group.nodes if node in costs.nodes}):
            nodes = tuple(node for node in group.nodes if node in costs.nodes and costs.nodes[node].scope == scope)
            for draft_id, devices in sorted(group.devices_by_draft.items()):
                share = devices / whole if whole > 0.0 else 0.0
                yield (
                    draft_id,
                    Part(
                        step=step,
                        scope=scope,
                        nodes=nodes,
                        devices=devices,
                        devices_in_all=whole,
                        before_usd=priced.on_demand_before_usd[scope],
                        on_demand_usd=share * math.fsum(priced.on_demand_saved_usd[node] for node in nodes),
                        direct_usd=share * math.fsum(priced.direct_saved_usd[node] for node in nodes),
                        list_usd=share * math.fsum(costs.nodes[node].list_usd for node in nodes),
                        effective_usd=share * math.fsum(costs.nodes[node].effective_usd for node in nodes),
                    ),
                )


def _priced(
    draft: Draft, parts: Sequence[Part], freed: Sequence[Freed], costs: CostBook, comeback_ratio: float
) -> PricedDraft:
    expected = math.fsum(costs.per_month(part.scope, part.on_demand_usd + part.direct_usd) for part in parts)
    effective = math.fsum(costs.per_month(part.scope, part.effective_usd) for part in parts)
    list_usd = math.fsum(costs.per_month(part.scope, part.list_usd) for part in parts)
    groups = [group for group in freed if draft.id in group.devices_by_draft]
    nodes = tuple(sorted(node for group in groups for node in group.nodes))
    low = min(expected, _alone_usd_per_month(groups, costs)) * (1.0 - comeback_ratio)
    unpriced = tuple(node for node in nodes if node not in costs.nodes)
    decision = Decision(
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
        notes=(*draft.notes, *_notes(draft, groups, unpriced)),
    )
    return PricedDraft(draft, decision, unpriced, is_priced=bool(parts))


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
    weeks = [_week(scope_parts, len(costs.books[scope_parts[0].scope].hours)) for scope_parts in _by_scope(parts)]
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
    return (
        f"{nodes} x {hours} h: {before:,.2f} USD on demand before, {after:,.2f} after{spot}{share}, "
        f"{HOURS_PER_MONTH:g}/{hours}"
    )
