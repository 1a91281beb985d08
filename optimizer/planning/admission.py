"""Which proposals the plan may take at all, and which of several for one subject it tries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from models.cash import CostBook, price_release
from models.domain.recommendation import Proposal, Rejection, Risk, Subject, SubjectKind
from models.fleet import Fleet, Hold, Release, release
from optimizer.planning.draft import STEPS, Option
from optimizer.planning.keeps import Keeps
from optimizer.planning.shrink import releases_for

_RISKS = tuple(Risk)  # harmless first


@dataclass(frozen=True, slots=True)
class Admitted:
    """Options in the plan's order, and the proposals that are none."""

    options: tuple[Option, ...]
    rejections: tuple[Rejection, ...]


def admit(proposals: Iterable[Proposal], fleet: Fleet, max_risk: Risk) -> Admitted:
    """Return the proposals with the alternatives under the risk ceiling, and why the others are let go."""
    holds = fleet.holds_by_workload()
    options: dict[tuple[int, Subject, str], Option] = {}
    rejections = []
    for proposal in sorted(proposals, key=_order):
        outcome = _admitted(proposal, fleet, holds, max_risk)
        if isinstance(outcome, Rejection):
            rejections.append(outcome)
        elif outcome.rank in options:
            rejections.append(_rejection(proposal, "superseded", "the same recommender proposed it twice"))
        else:
            options[outcome.rank] = outcome
    return Admitted(tuple(options.values()), tuple(rejections))


def one_for_each_subject(options: Sequence[Option], fleet: Fleet, keeps: Keeps, costs: CostBook) -> tuple[Option, ...]:
    """
    Return the option to try for each subject: the earliest step, so that waste is stopped and not fitted.

    Within a step it is the one that saves most cash when done alone, then the one that gives back most devices.
    """
    rivals: dict[Subject, list[Option]] = {}
    for option in options:
        rivals.setdefault(option.proposal.subject, []).append(option)
    holds = fleet.holds_by_workload() if any(len(some) > 1 for some in rivals.values()) else {}
    chosen = [some[0] if len(some) == 1 else _better(some, holds, fleet, keeps, costs) for some in rivals.values()]
    return tuple(sorted(chosen, key=lambda option: option.rank))


def _better(
    options: Sequence[Option], holds: dict[str, tuple[Hold, ...]], fleet: Fleet, keeps: Keeps, costs: CostBook
) -> Option:
    first = min(STEPS.index(option.proposal.step) for option in options)
    ranked = []
    for option in (one for one in options if STEPS.index(one.proposal.step) == first):
        given = releases_for(holds.get(option.proposal.subject.key, ()), option.best.demand, fleet)
        cash = _cash_alone_usd_per_month(given, fleet, keeps, costs)
        ranked.append(((-cash, -sum(one.devices for one in given), option.rank), option))
    return min(ranked, key=lambda pair: pair[0])[1]


def _cash_alone_usd_per_month(given: Sequence[Release], fleet: Fleet, keeps: Keeps, costs: CostBook) -> float:
    after = release(fleet, given)
    emptied = sorted({one.hold.node for one in given if not after.holds[one.hold.node]} - keeps.keys())
    alone = price_release(costs, (), emptied)
    return sum(
        costs.per_month(costs.nodes[node].scope, usd + alone.direct_saved_usd[node])
        for node, usd in sorted(alone.on_demand_saved_usd.items())
    )


def _order(proposal: Proposal) -> tuple[int, Subject, str, str]:
    # The text of the alternatives breaks the tie between two proposals of one recommender for one subject.
    return (STEPS.index(proposal.step), proposal.subject, proposal.recommender, repr(proposal.alternatives))


def _admitted(
    proposal: Proposal, fleet: Fleet, holds: dict[str, tuple[Hold, ...]], max_risk: Risk
) -> Option | Rejection:
    subject = proposal.subject
    if subject.kind not in {SubjectKind.WORKLOAD, SubjectKind.NODE}:
        reason = f"the plan prices workloads and nodes; it cannot price a change of a {subject.kind} yet"
        return _rejection(proposal, "cannot_price", reason)
    unsized = sorted(node for node, workloads in fleet.unsized.items() if subject.key in workloads)
    if unsized:
        reason = f"nobody knows which share of {unsized[0]} it holds, so nobody can say what is left of the node"
        return _rejection(proposal, "slice_share_unknown", reason)
    is_there = subject.key in (fleet.nodes if subject.kind == SubjectKind.NODE else holds)
    if not is_there:
        return _rejection(proposal, "not_running", "it holds no GPU at the end of the window")
    ceiling = _RISKS.index(max_risk)
    allowed = tuple(one for one in proposal.alternatives if _RISKS.index(one.risk) <= ceiling)
    notes = tuple(
        f"{one.name} left out: its risk is {one.risk}, the ceiling is {max_risk}"
        for one in proposal.alternatives
        if one not in allowed
    )
    if not allowed:
        return _rejection(proposal, "above_risk_ceiling", "; ".join(notes) or "it has no alternative")
    return Option(proposal, allowed, notes)


def _rejection(proposal: Proposal, code: str, reason: str) -> Rejection:
    return Rejection(proposal.recommender, proposal.subject, code, reason)
