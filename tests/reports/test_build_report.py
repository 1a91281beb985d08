"""The report's numbers, by hand."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest

from models.domain.errors import InputError
from models.domain.money import SavingsRange
from models.domain.recommendation import Rejection, Risk, Step, Subject, SubjectKind
from reports.build_report import build_report
from reports.report import ControlTotal, GpuHours
from reports.report_inputs import MARTS, PlanTotals
from reports.sections.bill import billed_usd_per_month, reconcile, unattributed_ratio
from reports.sections.frames import known_sums, sums
from reports.sections.gpu_time import gpu_days, total_hours
from reports.sections.health import findings, source_coverage, telemetry_reach
from reports.sections.plan import rejection_groups, waterfall
from reports.sections.spending import workload_costs

DAY = datetime(2026, 10, 1)  # noqa: DTZ001 - marts hold UTC without a zone


def test_the_scopes_of_the_bill_add_up_to_its_total(report):
    usd = report.reconciliations[0]
    # one day: 9480.113000000000007 + 212.4 + 0 + 1021.5 - 148.02 + 1904.335 = 12470.328000000000007
    assert usd.total.billed_amount == Decimal("12470.328000000000007") * 30
    assert sum(line.billed_amount for line in usd.scopes) == usd.total.billed_amount


def test_scopes_come_in_one_order_and_unknown_ones_last(report):
    assert [line.scope for line in report.reconciliations[0].scopes] == [
        "node",
        "cluster_shared",
        "commitment_unused",
        "commitment_purchase",
        "tax_credit_support",
        "outside",
    ]


def test_currencies_are_kept_apart(report):
    assert [one.currency for one in report.reconciliations] == ["USD", "EUR"]
    assert report.reconciliations[1].total.billed_amount == Decimal("812.4")
    assert report.reconciliations[1].node_split == ()


def test_the_node_split_leaves_no_difference(report):
    usd = report.reconciliations[0]
    assert usd.node_difference_amount == 0
    assert usd.adds_up


def test_a_missing_cent_is_seen(inputs):
    short = inputs.marts["cost_by_node_hour"].with_columns(pl.col("idle_usd") - Decimal("0.01"))
    one = reconcile(inputs.marts["bill_reconciliation_by_day"], short, ())[0]
    assert one.node_difference_amount == Decimal("0.30")  # a cent on each of 30 days
    assert not one.adds_up


def test_a_lost_charge_is_seen_against_the_control_total(inputs):
    bill = inputs.marts["bill_reconciliation_by_day"]
    lost = bill.filter(~((pl.col("scope") == "outside") & (pl.col("day_start") == DAY)))
    one = reconcile(lost, inputs.marts["cost_by_node_hour"], inputs.control_totals)[0]
    assert one.billed_difference_amount == Decimal("1904.335")
    assert not one.adds_up


def test_a_bill_that_was_read_but_is_in_no_scope_is_seen(inputs):
    control = ControlTotal("GBP", 2, Decimal(5), Decimal(5))
    one = reconcile(inputs.marts["bill_reconciliation_by_day"], inputs.marts["cost_by_node_hour"], (control,))[-1]
    assert (one.currency, one.billed_difference_amount, one.adds_up) == ("GBP", Decimal(5), False)


def test_a_bill_without_a_currency_comes_last_and_says_so(inputs):
    bill = inputs.marts["bill_reconciliation_by_day"]
    nameless = bill.with_columns(
        billing_currency=pl.when(pl.col("billing_currency") == "EUR").then(None).otherwise("billing_currency")
    )
    controls = (ControlTotal(None, 7, Decimal("812.4"), Decimal("812.4")), inputs.control_totals[0])
    found = reconcile(nameless, inputs.marts["cost_by_node_hour"], controls)
    assert [(one.currency, one.adds_up) for one in found] == [("USD", True), ("unknown currency", True)]


def test_a_list_price_missing_once_makes_the_sum_unknown(report):
    usd = report.reconciliations[0]
    assert [line.list_amount for line in usd.scopes if line.scope == "commitment_purchase"] == [None]
    assert usd.total.list_amount is None


def test_the_bill_of_a_month_leaves_out_days_without_charges(inputs):
    two_days = inputs.marts["bill_reconciliation_by_day"].filter(
        (pl.col("day_start") <= datetime(2026, 10, 2)) & (pl.col("billing_currency") == "USD")  # noqa: DTZ001
    )
    # amortised: 8210.4023112 + 212.4 + 318.77 - 148.02 + 1880.335 = 10473.8873112 a day, x 730 h / 24 h
    assert billed_usd_per_month(two_days) == pytest.approx(10473.8873112 * 730 / 24, abs=0.01)


def test_without_dollars_the_share_of_the_bill_is_unknown(inputs):
    euro = inputs.marts["bill_reconciliation_by_day"].filter(pl.col("billing_currency") == "EUR")
    head = build_report(replace(inputs, marts={**inputs.marts, "bill_reconciliation_by_day": euro})).headline
    assert (head.billed_usd_per_month, head.share_of_bill_ratio) == (None, None)


def test_one_foreign_currency_is_the_currency_of_all_costs(inputs):
    euro = inputs.marts["bill_reconciliation_by_day"].with_columns(billing_currency=pl.lit("EUR"))
    marts = {**inputs.marts, "bill_reconciliation_by_day": euro}
    shown = build_report(replace(inputs, marts=marts, control_totals=()))
    assert shown.cost_currency == "EUR"
    assert shown.reconciliations[0].node_split


def test_unattributed_cost_is_a_share_of_node_cost(report):
    # 108.052311 of 5010.10 + 402.20 + 2690.05 + 108.052311 + 0.0000002 = 8210.4023112
    assert unattributed_ratio(report.reconciliations) == pytest.approx(108.052311 / 8210.4023112, abs=1e-6)


def test_the_headline_is_the_plan_s_own_total(inputs, report):
    assert report.headline.savings == inputs.plan_totals.savings


def test_without_a_plan_total_the_headline_is_the_sum(inputs):
    head = build_report(replace(inputs, plan_totals=None, advice=inputs.advice[1:3])).headline
    # the node 4,120 and the first notebook 5,400; low 4,120 + 3,240, high 4,120 + 5,940
    assert head.savings == SavingsRange(7360.0, 9520.0, 10060.0)
    assert head.released_devices == 9.0


def test_totals_of_the_plan_win_over_sums(inputs):
    plan = PlanTotals(SavingsRange(1.0, 2.0, 3.0), 5.0, 4.0, released_devices=7.0)
    head = build_report(replace(inputs, plan_totals=plan)).headline
    assert (head.list_usd_per_month, head.effective_usd_per_month, head.released_devices) == (5.0, 4.0, 7.0)


def test_recommendations_come_largest_first(report):
    expected = [one.savings.expected_usd_per_month for one in report.recommendations]
    assert expected == sorted(expected, reverse=True)


def test_only_the_first_ten_have_a_chart(report):
    assert [one.chart is not None for one in report.recommendations] == [True] * 10 + [False] * 15
    assert all(one.sparkline for one in report.recommendations)


def test_a_chart_has_a_gap_where_nothing_was_observed(report):
    first_notebook = next(one for one in report.recommendations if one.subject.key.endswith("ada-0"))
    held, used = first_notebook.chart.lines
    dark = [i for i, instant in enumerate(first_notebook.chart.instants) if instant.date() == date(2026, 10, 12)]
    assert {held.values[i] for i in dark} == {1.0}
    assert {used.values[i] for i in dark} == {None}


def test_a_fit_is_drawn_with_its_sm_activity(report):
    held, busy = report.recommendations[0].chart.lines
    assert (held.name, busy.name) == ("GPUs held", "SM activity as GPUs")
    assert max(held.values) == 33.0  # 24 to 37: 1, 2, 3, 4 by turns, 1 + 2 at the end: 3 x 10 + 3
    assert max(value for value in busy.values if value is not None) < 33.0 * 0.3


def test_a_day_without_a_row_counts_as_a_day_without_data(inputs):
    gap = inputs.marts["coverage_by_source_day"].filter(pl.col("day_start") != DAY)
    bill = source_coverage(gap, inputs.window)[0]
    assert (bill.days_with_rows, len(bill.days), bill.days[0].rows) == (29, 30, 0)


def test_days_outside_the_window_do_not_count(inputs):
    late = replace(inputs.window, start=inputs.window.start + timedelta(days=1))
    assert len(source_coverage(inputs.marts["coverage_by_source_day"], late)[0].days) == 29


def test_a_node_without_holders_is_drawn_from_its_devices(report):
    node = next(one for one in report.recommendations if one.subject.kind is SubjectKind.NODE)
    assert [(line.name, set(line.values)) for line in node.chart.lines] == [
        ("GPUs on the node", {8.0}),
        ("GPUs used", {0.0}),
    ]


def test_the_worst_risk_and_all_disrupted_pods_are_shown(report):
    mig = report.recommendations[0]
    assert mig.risk is Risk.SLOWER
    assert mig.disrupted_pods == 21  # seven workloads with 1 pod, seven with 2


def test_a_choice_says_what_a_workload_holds_and_gets(report):
    first, second = report.recommendations[0].choices[:2]
    assert (first.holds, first.becomes) == ("1 GPU", "1 \u00d7 3g.40gb")
    assert (second.holds, second.becomes) == ("2 GPUs", "2 \u00d7 1g.10gb")


def test_an_action_is_made_up_where_none_is_given(report):
    node = next(one for one in report.recommendations if one.subject.kind is SubjectKind.NODE)
    assert node.action == "Release node prod-aws/gpu-idle; frees 8 GPUs, 1 node"


def test_the_waterfall_leaves_less_of_the_bill_at_each_step(inputs):
    decisions = [one.decision for one in inputs.advice[:2]]  # MIG 9,874.20 (fit), node 4,120 (waste)
    steps = waterfall(decisions, 100_000.0, {})
    assert [(step.step, step.billed_after_usd_per_month) for step in steps] == [
        (Step.WASTE, 95_880.0),
        (Step.FIT, 86_005.8),
    ]


def test_rejections_are_grouped_by_reason_most_frequent_first():
    def rejected(name, code):
        return Rejection("idle_gpus", Subject(SubjectKind.WORKLOAD, name), code, "because")

    groups = rejection_groups([rejected("c", "busy"), rejected("b", "young"), rejected("a", "busy")])
    assert [(group.code, [one.subject.key for one in group.rejected]) for group in groups] == [
        ("busy", ["a", "c"]),
        ("young", ["b"]),
    ]


def test_every_workload_points_to_its_advice_or_its_rejection(inputs):
    rejection = Rejection("idle_gpus", Subject(SubjectKind.WORKLOAD, "prod-aws/platform/Notebook/ada-39"), "busy", "so")
    rows = build_report(replace(inputs, rejections=(rejection,))).workloads
    by_key = {row.workload_key: row for row in rows}
    assert len(by_key["prod-aws/research/Notebook/ada-0"].advice_ids) == 1
    assert by_key["prod-aws/platform/Notebook/ada-39"].rejection_codes == ("busy",)


def test_days_without_a_price_leave_the_known_cost_and_say_so(inputs):
    first_day = pl.col("day_start") == DAY
    late = inputs.marts["cost_by_workload_day"].with_columns(
        effective_usd=pl.when(first_day).then(None).otherwise(pl.col("effective_usd")),
        unpriced_gpu_hours=pl.when(first_day).then(24.0).otherwise(0.0),
    )
    row = next(row for row in workload_costs(late, {}, {}) if row.workload_key == "prod-aws/research/Notebook/ada-0")
    assert row.effective_usd == Decimal("30.371") * 29
    assert row.unpriced_gpu_hours == 24.0


def test_gpu_hours_of_clusters_add_up_by_day():
    states = pl.DataFrame(
        {
            "cluster_id": ["a", "b"],
            "day_start": [DAY, DAY],
            "used_gpu_hours": [10.0, 1.0],
            "idle_gpu_hours": [20.0, 2.0],
            "unallocated_gpu_hours": [30.0, 3.0],
            "unknown_gpu_hours": [40.0, None],
        }
    )
    days = gpu_days(states)
    assert [(day.day, day.gpu_hours) for day in days] == [(date(2026, 10, 1), GpuHours(11.0, 22.0, 33.0, None))]
    assert total_hours(days).total is None


def test_the_newest_day_says_the_telemetry_level(inputs):
    reach = telemetry_reach(inputs.marts["telemetry_by_node_day"], inputs.marts["node_now"])
    assert [(one.gpu_model, one.gpus, one.telemetry_level) for one in reach] == [
        ("NVIDIA A100-SXM4-80GB", 32, 2),
        ("NVIDIA H100 80GB HBM3", 16, 3),
        ("NVIDIA L4", 8, 0),
        ("NVIDIA L4", 8, 1),
    ]
    assert reach[0].observed_ratio == 0.99  # (768 + 752.64) of 1536
    assert reach[2].observed_ratio is None


def test_unreadable_files_come_first_among_findings(inputs):
    assert [one.code for one in findings(inputs.marts["finding"])] == [
        "unreadable_file",
        "unknown_charge",
        "dropped_blank",
        "unit_unclear",
    ]


def test_an_unknown_part_makes_a_strict_sum_unknown_and_a_known_sum_smaller():
    frame = pl.DataFrame({"key": ["a", "a", "b"], "hours": [1.0, None, 3.0]})
    assert sums(frame, ("key",), ("hours",)).rows() == [("a", None), ("b", 3.0)]
    assert known_sums(frame, ("key",), ("hours",)).rows() == [("a", 1.0), ("b", 3.0)]


@pytest.mark.parametrize("mart", MARTS)
def test_a_missing_mart_is_named(inputs, mart):
    marts = {name: frame for name, frame in inputs.marts.items() if name != mart}
    with pytest.raises(InputError, match=mart):
        build_report(replace(inputs, marts=marts))


def test_the_order_of_rows_leaves_no_trace(inputs, report):
    shuffled = {name: frame.sample(fraction=1.0, shuffle=True, seed=7) for name, frame in inputs.marts.items()}
    turned = replace(inputs, marts=shuffled, advice=inputs.advice[::-1], rejections=inputs.rejections[::-1])
    assert build_report(turned) == report


def test_nothing_gives_a_report_that_knows_nothing(empty_report):
    head = empty_report.headline
    assert (head.gpus, head.gpu_hours, head.share_of_bill_ratio) == (None, GpuHours(None, None, None, None), None)
    assert empty_report.reconciliations == ()


def test_the_plan_s_own_word_on_a_step_counts(inputs):
    decisions = [one.decision for one in inputs.advice[:2]]
    own = SavingsRange(3_000.0, 4_120.0, 4_500.0)
    waste, _ = waterfall(decisions, 100_000.0, {Step.WASTE: own})
    assert waste.savings == own
