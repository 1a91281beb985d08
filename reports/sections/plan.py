"""What to do: the waterfall by step, each recommendation, and what was let go."""

from collections.abc import Iterable, Mapping, Sequence

from models.domain.money import SavingsRange
from models.domain.recommendation import Chosen, Decision, Demand, Rejection, Risk, Step
from reports.advice import (
    Choice,
    EvidenceLine,
    Recommendation,
    RejectedSubject,
    RejectionGroup,
    WaterfallStep,
)
from reports.report_inputs import Advice
from reports.sections.activity import Activity
from reports.wording import heading, percent, plural, released

CHARTS = 10
SPARKLINES = 200
SEVERITY = (Risk.NONE, Risk.SLOWER, Risk.OUTAGE)


def by_saving(advice: Iterable[Advice]) -> tuple[Advice, ...]:
    """Return advice with the largest expected saving first, ties by id."""
    return tuple(sorted(advice, key=lambda one: (-one.decision.savings.expected_usd_per_month, one.decision.id)))


def total_savings(savings: Iterable[SavingsRange]) -> SavingsRange:
    """Return the sum bound by bound; the order of the parts leaves no trace."""
    parts = list(savings)
    return SavingsRange(
        round(sum(sorted(part.low_usd_per_month for part in parts)), 2),
        round(sum(sorted(part.expected_usd_per_month for part in parts)), 2),
        round(sum(sorted(part.high_usd_per_month for part in parts)), 2),
    )


def waterfall(
    decisions: Sequence[Decision], billed_usd_per_month: float | None, savings_by_step: Mapping[Step, SavingsRange]
) -> tuple[WaterfallStep, ...]:
    """Return the steps that have recommendations, in the order the plan prices them; its own word on a step counts."""
    steps: list[WaterfallStep] = []
    left = billed_usd_per_month
    for step in Step:
        chosen = [decision for decision in decisions if decision.step is step]
        if not chosen:
            continue
        savings = savings_by_step.get(step) or total_savings(decision.savings for decision in chosen)
        left = None if left is None else round(left - savings.expected_usd_per_month, 2)
        steps.append(WaterfallStep(step, len(chosen), savings, left))
    return tuple(steps)


def recommendations(advice: Sequence[Advice], drawn: Activity) -> tuple[Recommendation, ...]:
    """Return advice as it is shown, in the order given."""
    return tuple(_recommendation(one, rank, drawn) for rank, one in enumerate(advice))


def _recommendation(advice: Advice, rank: int, drawn: Activity) -> Recommendation:
    decision = advice.decision
    alternatives = [chosen.alternative for chosen in decision.chosen]
    return Recommendation(
        id=decision.id,
        kind=decision.recommender,
        step=decision.step,
        subject=decision.subject,
        action=advice.action or _action(decision),
        savings=decision.savings,
        list_usd_per_month=decision.list_usd_per_month,
        effective_usd_per_month=decision.effective_usd_per_month,
        released_devices=decision.released_devices,
        released_nodes=tuple(sorted(decision.released_nodes)),
        risk=max((alternative.risk for alternative in alternatives), key=SEVERITY.index, default=Risk.NONE),
        disrupted_pods=sum(alternative.disrupted_pods for alternative in alternatives),
        choices=tuple(_choice(chosen) for chosen in decision.chosen),
        layouts=decision.layouts,
        evidence=_evidence(decision),
        formula=decision.formula,
        manifests=advice.manifests,
        runbook_steps=advice.runbook_steps,
        undo_steps=advice.undo_steps,
        notes=decision.notes,
        chart=drawn.chart(decision) if rank < CHARTS else None,
        sparkline=drawn.sparkline(decision) if rank < SPARKLINES else (),
    )


def _evidence(decision: Decision) -> tuple[EvidenceLine, ...]:
    lines = [
        EvidenceLine(
            subject=chosen.subject,
            claim=fact.claim,
            value=fact.value,
            threshold=fact.threshold,
            unit=fact.unit,
            mart=fact.mart,
            query=fact.query,
        )
        for chosen in decision.chosen
        for fact in chosen.alternative.evidence
    ]
    return tuple(dict.fromkeys(lines))


def _action(decision: Decision) -> str:
    subject = f"{decision.subject.kind} {decision.subject.key}"
    freed = released(decision.released_devices, len(decision.released_nodes))
    if [chosen.subject for chosen in decision.chosen] == [decision.subject]:
        return f"{heading(decision.chosen[0].alternative.name)} {subject}; frees {freed}"
    workloads = plural(len(decision.chosen), "workload")
    return f"{heading(decision.recommender)} of {subject}, {workloads}; frees {freed}"


def _choice(chosen: Chosen) -> Choice:
    alternative = chosen.alternative
    return Choice(
        subject=chosen.subject,
        alternative=alternative.name,
        holds=_becomes(alternative.before) if alternative.before else None,
        becomes=_becomes(alternative.demand),
        pool=alternative.pool,
    )


def _becomes(demand: Demand) -> str:
    if demand.slice_profile is not None:
        held = f"{demand.replicas} \u00d7 {demand.slice_profile}"
    elif demand.devices == 0:
        return "no GPU"
    else:
        held = plural(demand.devices, "GPU")
    is_always_up = demand.active_hours_ratio >= 1
    return held if is_always_up else f"{held}, up {percent(demand.active_hours_ratio)} of the time"


def rejection_groups(rejections: Iterable[Rejection]) -> tuple[RejectionGroup, ...]:
    """Return rejections by recommender and reason code, the most frequent first; subjects in order."""
    groups: dict[tuple[str, str], set[RejectedSubject]] = {}
    for rejection in rejections:
        group = groups.setdefault((rejection.recommender, rejection.code), set())
        group.add(RejectedSubject(rejection.subject, rejection.reason))
    return tuple(
        RejectionGroup(recommender, code, tuple(sorted(group, key=lambda one: (one.subject, one.reason))))
        for (recommender, code), group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    )
