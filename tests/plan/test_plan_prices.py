"""What a release saves on the invoice, and over which hours that is told."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FREE = {"min_usd_per_month": 0.0, "min_usd_per_month_per_disruption": 0.0}


def only(plan):
    assert len(plan.decisions) == 1
    return plan.decisions[0]


def reason(plan, workload):
    return next(one.reason for one in plan.rejections if one.subject.key.endswith(f"/{workload}"))


def expected(plan):
    return plan.totals.savings.expected_usd_per_month


def without(marts, keeps_hour):
    """Take hours out of the bill of every node."""
    marts.node_usage = [row for row in marts.node_usage if keeps_hour(row[5])]
    marts.usage = {key: usd for key, usd in marts.usage.items() if keeps_hour(key[2])}
    return marts


def test_saves_what_is_billed_and_not_the_contracted_price(marts, stop):
    plan = marts.node("n1", billed_usd=6.0).hold("idle", "n1", 8).plan(stop("idle"))
    assert expected(plan) == pytest.approx(4_380.0)  # 6 x 730; contracted are 10
    assert plan.totals.bill_usd_per_month == pytest.approx(4_380.0)


def test_never_gives_a_cheap_node_the_price_of_its_dear_neighbour(marts, stop):
    marts.node("cheap", billed_usd=2.0).node("dear").hold("idle", "cheap", 8)
    assert expected(marts.plan(stop("idle"))) == pytest.approx(1_460.0)  # 2 x 730, though the SKU pays 6 on average


def test_saves_at_the_price_paid_on_demand_when_a_commitment_takes_over_other_work(marts, stop):
    # 6 USD/h at 0.6 cover 10 of 20 USD/h. The other 10 are billed at 8, and fall away when the covered node goes.
    marts.node("n1", market="committed", effective_usd=6.0).node("n2", billed_usd=8.0)
    marts.hold("idle", "n1", 8).committed(6.0, {"big|r": 0.6})
    assert expected(marts.plan(stop("idle"))) == pytest.approx(5_840.0)  # 8 x 730


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    bills=st.lists(st.sampled_from([0.0, 1.0, 6.0, 10.0]), min_size=1, max_size=4),
    spot=st.sampled_from([None, 3.0]),
)
def test_saves_at_most_what_the_released_nodes_are_billed(new_marts, stop, bills, spot):
    marts = new_marts()
    for number, billed in enumerate(bills):
        marts.node(f"n{number}", billed_usd=billed).hold(f"w{number}", f"n{number}", 8)
    if spot is not None:
        marts.node("spot", spot, market="spot").hold("batch", "spot", 8)
    workloads = [f"w{number}" for number in range(0, len(bills), 2)] + ["batch"] * (spot is not None)
    plan = marts.plan(*(stop(workload) for workload in workloads), **FREE)
    billed_usd_per_hour = sum(bills[::2]) + (spot if spot is not None else 0.0)
    assert expected(plan) <= billed_usd_per_hour * 730 + 0.01


def test_counts_the_hours_a_node_was_off_as_hours_that_cost_nothing(marts, stop):
    marts.node("n1").node("first", priced_hours=1, lag_hours=168).hold("idle", "n1", 8)
    without(marts, lambda hour: hour.hour < 8)
    assert expected(marts.plan(stop("idle"))) == pytest.approx(2_433.33, rel=0.05)  # 10 x 730 x 8 / 24


def test_takes_no_hour_before_the_bill_begins_for_one_that_costs_nothing(marts, stop):
    decision = only(marts.node("n1", priced_hours=48).hold("idle", "n1", 8).plan(stop("idle")))
    assert decision.savings.expected_usd_per_month == pytest.approx(7_300.0)
    assert decision.formula.startswith("1 node x 48 h: 480.00 USD on demand before")


def test_tells_no_month_from_less_than_a_day_of_cost(marts, stop):
    plan = marts.node("n1", priced_hours=23).hold("idle", "n1", 8).plan(stop("idle"))
    assert [one.code for one in plan.rejections] == ["no_price"]
    assert reason(plan, "idle") == (
        "c/n1 is on a bill, but its accounts have 23 hours of node cost; a month is told from 24 or more"
    )


def test_a_commitment_bought_since_the_week_began_counts_for_all_that_is_saved(marts, stop):
    marts.node("n1").hold("idle", "n1", 8).committed(4.0, {"big|r": 0.4})
    bought = marts.hours()[-48]
    marts.commitments = [row for row in marts.commitments if row[4] >= bought]
    decision = only(marts.plan(stop("idle"), **FREE))
    assert decision.savings.expected_usd_per_month == 0.0
    assert "saved by the last 24 h, scaled (by all 168 h 1,200.00 USD)" in decision.formula  # 120 h x 10


def test_a_price_that_fell_since_the_week_began_counts_for_all_that_is_saved(marts, stop):
    marts.node("n1", market="spot").hold("idle", "n1", 8)
    fell = marts.hours()[-24]
    marts.node_usage = [(*row[:9], 4.0) if row[5] >= fell else row for row in marts.node_usage]
    assert expected(marts.plan(stop("idle"))) == pytest.approx(2_920.0)  # 4 x 730


def test_prices_by_the_whole_week_what_cost_more_on_its_last_day(marts, stop):
    marts.node("n1", market="spot").hold("idle", "n1", 8)
    rose = marts.hours()[-24]
    marts.node_usage = [(*row[:9], 17.0) if row[5] >= rose else row for row in marts.node_usage]
    decision = only(marts.plan(stop("idle")))
    assert decision.savings.expected_usd_per_month == pytest.approx(8_030.0)  # (144 x 10 + 24 x 17) / 168 = 11, x 730
    assert "last 24 h" not in decision.formula


def test_holds_the_minimum_against_what_is_released_together(marts, stop):
    marts.node("n1", usd_per_hour=0.11).hold("a", "n1", 4).hold("b", "n1", 4)
    plan = marts.plan(stop("a"), stop("b"))
    # 0.11 x 730 = 80.30: half each is below 50, the node is not
    assert [one.savings.expected_usd_per_month for one in plan.decisions] == pytest.approx([40.15, 40.15])


def test_says_what_others_save_with_it_where_even_that_is_too_little(marts, stop):
    marts.node("n1", usd_per_hour=0.05).hold("a", "n1", 4).hold("b", "n1", 4)
    plan = marts.plan(stop("a"), stop("b"))  # 0.05 x 730 = 36.50
    assert plan.decisions == ()
    assert reason(plan, "a") == (
        "saves 18.25 USD cash a month (36.50 with 1 other decision about its nodes), below the minimum of 50.00"
    )


def test_lets_a_small_node_go_its_own_way_beside_a_large_saving(marts, stop):
    # `a` empties n1 alone and n2 together with `b`; what n2 saves is too little to disturb `b` for.
    marts.node("n1").node("n2", usd_per_hour=0.05)
    marts.hold("a", "n1", 8).hold("a", "n2", 4).hold("b", "n2", 4)
    plan = marts.plan(stop("a"), stop("b"))
    assert only(plan).subject.key.endswith("/a")
    assert plan.totals.released_nodes == ("c/n1",)


def test_a_gap_of_a_day_does_not_reach_back_further_than_a_week(marts, stop):
    marts.node("n1").node("old", usd_per_hour=30.0, lag_hours=168).hold("idle", "n1", 8)
    gap = marts.hours()[48]
    without(marts, lambda hour: not gap <= hour < gap + timedelta(hours=24))
    assert expected(marts.plan(stop("idle"))) == pytest.approx(7_300.0 * 6 / 7)
