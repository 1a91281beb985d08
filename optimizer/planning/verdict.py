"""What a round shows to be not worth doing, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from models.domain.recommendation import Rejection, Subject
from optimizer.planning.draft import Option, Staged
from optimizer.planning.pricing import PricedDraft
from optimizer.planning.settings import PlanSettings
from optimizer.planning.wording import counted

_NOTED_RATIO = 1.01


@dataclass(frozen=True, slots=True)
class Refused:
    """An option that is let go for good."""

    option: Option
    rejection: Rejection


def refusals(staged: Staged, priced: Sequence[PricedDraft], settings: PlanSettings) -> tuple[Refused, ...]:
    """
    Return what came to nothing in this round.

    What releases no node is let go first: it may only have been in the way of prices. Decisions that save too little
    are let go when all that is left releases nodes.
    """
    if staged.misses:
        return tuple(Refused(miss.option, miss.rejection) for miss in staged.misses)
    refused: list[Refused] = []
    for one in priced:
        verdict = _verdict(one, settings)
        if verdict is not None:
            code, reason = verdict
            refused.extend(
                Refused(option, Rejection(option.proposal.recommender, option.proposal.subject, code, reason))
                for option in one.draft.options
            )
    return tuple(refused)


def superseded(options: Sequence[Option], chosen: Sequence[Option]) -> tuple[Rejection, ...]:
    """Return a rejection for each option that another one for the same subject made needless."""
    winners: dict[Subject, Option] = {option.proposal.subject: option for option in chosen}
    return tuple(
        Rejection(
            option.proposal.recommender,
            option.proposal.subject,
            "superseded",
            f"{winners[option.proposal.subject].proposal.recommender} "
            f"({winners[option.proposal.subject].best.name}) is done to it instead",
        )
        for option in options
        if winners[option.proposal.subject].rank != option.rank
    )


def _verdict(priced: PricedDraft, settings: PlanSettings) -> tuple[str, str] | None:
    if priced.why_no_price:
        return "no_price", priced.why_no_price
    decision, joint = priced.decision, priced.joint
    cash = decision.savings.expected_usd_per_month
    why = _too_little(priced, settings)
    if not why:
        return None
    together = ""
    if joint.decisions > 1:
        together = (
            f" ({joint.usd_per_month:,.2f} with {counted(joint.decisions - 1, 'other decision')} about its nodes)"
        )
    rest = ""
    if decision.effective_usd_per_month > cash * _NOTED_RATIO:
        rest = (
            f"; its nodes cost {decision.effective_usd_per_month:,.2f} at the effective price: what is not cash is "
            "paid by commitments in any case"
        )
    return "below_minimum", f"saves {cash:,.2f} USD cash a month{together}, {why}{rest}"


def _too_little(priced: PricedDraft, settings: PlanSettings) -> str:
    """Return which minimum is missed by what the nodes save together, or nothing."""
    cash, joint = priced.decision.savings.expected_usd_per_month, priced.joint
    if joint.usd_per_month < settings.min_usd_per_month:
        return f"below the minimum of {settings.min_usd_per_month:,.2f}"
    disrupted = sum(chosen.alternative.disrupted_pods for chosen in priced.decision.chosen)
    least = settings.min_usd_per_month_per_disruption
    if disrupted and cash < least * disrupted and joint.usd_per_month < least * joint.disrupted_pods:
        return f"{cash / disrupted:,.2f} for each of {counted(disrupted, 'disrupted pod')}, below {least:,.2f}"
    return ""
