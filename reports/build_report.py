"""Build a report from marts and from what the plan decided; pure."""

from collections.abc import Iterable

import polars as pl

from models.domain.recommendation import Rejection, SubjectKind
from reports.advice import Recommendation, WaterfallStep
from reports.report import Basis, DataHealth, GpuDay, Headline, Report
from reports.report_inputs import PlanTotals, ReportInputs
from reports.sections.activity import activity
from reports.sections.bill import billed_usd_per_month, cost_currency, reconcile, unattributed_ratio
from reports.sections.frames import ratio
from reports.sections.gpu_time import gpu_days, total_hours, unknown_ratio
from reports.sections.health import findings, source_coverage, telemetry_reach
from reports.sections.plan import (
    SPARKLINES,
    by_saving,
    recommendations,
    rejection_groups,
    total_savings,
    waterfall,
)
from reports.sections.spending import team_costs, workload_costs


def build_report(inputs: ReportInputs) -> Report:
    """
    Return what every format shows.

    The same inputs give the same report: everything is sorted, and nothing reads a clock.

    Raises:
        InputError: a mart of `report_inputs.MARTS` is missing.
    """
    advice = by_saving(inputs.advice)
    drawn = activity(
        [one.decision for one in advice[:SPARKLINES]],
        inputs.mart("workload_gpu_by_hour"),
        inputs.mart("gpu_by_hour"),
        inputs.window,
    )
    shown = recommendations(advice, drawn)
    days = gpu_days(inputs.mart("gpu_state_by_day"))
    bill = inputs.mart("bill_reconciliation_by_day")
    reconciliations = reconcile(bill, inputs.mart("cost_by_node_hour"), inputs.control_totals)
    billed = billed_usd_per_month(bill)
    return Report(
        title=inputs.title,
        window=inputs.window,
        as_of=inputs.window.end,
        version=inputs.version,
        config_fingerprint=inputs.config_fingerprint,
        cost_currency=cost_currency(reconciliations),
        headline=_headline(inputs, shown, days, billed),
        reconciliations=reconciliations,
        health=_health(inputs, days, unattributed_ratio(reconciliations)),
        waterfall=_waterfall(inputs, billed),
        recommendations=shown,
        rejections=rejection_groups(inputs.rejections),
        teams=team_costs(inputs.mart("cost_by_team_day")),
        workloads=workload_costs(
            inputs.mart("cost_by_workload_day"), _advice_ids(shown), _rejection_codes(inputs.rejections)
        ),
        gpu_days=days,
        basis=(*inputs.basis, *_price_basis(inputs.mart("price_now"))),
    )


def _headline(
    inputs: ReportInputs, shown: tuple[Recommendation, ...], days: tuple[GpuDay, ...], billed: float | None
) -> Headline:
    plan = inputs.plan_totals or PlanTotals(total_savings(one.savings for one in shown))
    nodes = inputs.mart("node_now")
    return Headline(
        savings=plan.savings,
        list_usd_per_month=_planned(plan.list_usd_per_month, [one.list_usd_per_month for one in shown]),
        effective_usd_per_month=_planned(plan.effective_usd_per_month, [one.effective_usd_per_month for one in shown]),
        billed_usd_per_month=billed,
        share_of_bill_ratio=ratio(plan.savings.expected_usd_per_month, billed),
        best_possible_usd_per_month=plan.best_possible_usd_per_month,
        gpus=None if nodes.is_empty() else int(nodes.get_column("gpu_count").sum()),
        gpu_hours=total_hours(days),
        released_nodes=len({node for one in shown for node in one.released_nodes}),
        released_devices=_planned(plan.released_devices, [one.released_devices for one in shown]),
        recommendations=len(shown),
        rejections=len(set(inputs.rejections)),
    )


def _planned(total: float | None, parts: Iterable[float]) -> float:
    return round(sum(sorted(parts)) if total is None else total, 2)


def _health(inputs: ReportInputs, days: tuple[GpuDay, ...], unattributed: float | None) -> DataHealth:
    return DataHealth(
        sources=source_coverage(inputs.mart("coverage_by_source_day"), inputs.window),
        telemetry=telemetry_reach(inputs.mart("telemetry_by_node_day"), inputs.mart("node_now")),
        failures=tuple(sorted(inputs.failures, key=lambda failure: (failure.source_id, failure.message))),
        findings=findings(inputs.mart("finding")),
        unattributed_ratio=unattributed,
        unknown_ratio=unknown_ratio(total_hours(days)),
    )


def _waterfall(inputs: ReportInputs, billed: float | None) -> tuple[WaterfallStep, ...]:
    known = inputs.plan_totals.savings_by_step if inputs.plan_totals else None
    return waterfall([one.decision for one in inputs.advice], billed, known or {})


def _advice_ids(shown: tuple[Recommendation, ...]) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = {}
    for one in shown:
        subjects = {choice.subject for choice in one.choices} | {one.subject}
        for subject in sorted(subjects):
            if subject.kind is SubjectKind.WORKLOAD:
                ids.setdefault(subject.key, []).append(one.id)
    return ids


def _rejection_codes(rejections: Iterable[Rejection]) -> dict[str, list[str]]:
    codes: dict[str, set[str]] = {}
    for rejection in rejections:
        if rejection.subject.kind is SubjectKind.WORKLOAD:
            codes.setdefault(rejection.subject.key, set()).add(rejection.code)
    return {key: sorted(found) for key, found in codes.items()}


def _price_basis(prices: pl.DataFrame) -> tuple[Basis, ...]:
    known = prices.filter(pl.col("state") == "known")
    if known.is_empty():
        return (Basis("prices", "no known price"),)
    oldest, newest = known.select(
        pl.col("priced_at").min().alias("oldest"), pl.col("priced_at").max().alias("newest")
    ).row(0)
    sources = sorted(set(known.get_column("price_source").drop_nulls()))
    return (
        Basis("prices known", f"{known.height:,} of {prices.height:,}, dated {oldest:%Y-%m-%d} to {newest:%Y-%m-%d}"),
        Basis("price sources", ", ".join(sources) or "not stated"),
    )
