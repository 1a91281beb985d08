import polars as pl
import pytest

from models.domain.errors import InputError
from models.domain.recommendation import Risk
from optimizer.plan import PlanSettings, plan_from_marts

MONTH_OF_10_USD_AN_HOUR = 7_300.0  # 10 USD/h x 730 h


def only(plan):
    assert len(plan.decisions) == 1
    return plan.decisions[0]


def codes(plan):
    return {rejection.subject.key.rsplit("/", 1)[-1]: rejection.code for rejection in plan.rejections}


def test_saves_the_node_whose_only_holder_stops(marts, stop):
    decision = only(marts.node("n1").node("n2").hold("idle", "n1", 8).plan(stop("idle")))
    assert decision.released_nodes == ("c/n1",)
    assert decision.released_devices == 8.0
    assert decision.savings.expected_usd_per_month == pytest.approx(MONTH_OF_10_USD_AN_HOUR)
    assert decision.list_usd_per_month == pytest.approx(2 * MONTH_OF_10_USD_AN_HOUR)  # list is twice the price here
    # 2 nodes x 10 USD x 168 h = 3,360 before, 1,680 after; 1,680 x 730 / 168 = 7,300
    assert decision.formula == (
        "1 node x 168 h: 3,360.00 USD on demand before, 1,680.00 after, 730/168 -> 7,300.00 USD a month"
    )


def test_saves_nothing_while_somebody_else_holds_the_node_and_says_who(marts, stop):
    plan = marts.node("n1").hold("idle", "n1", 3).hold("busy", "n1", 4).hold("small", "n1", 1).plan(stop("idle"))
    assert plan.decisions == ()
    assert codes(plan) == {"idle": "no_whole_node"}
    assert plan.rejections[0].reason == (
        "node c/n1 stays: 5 of 8 devices stay held by c/ns/Deployment/busy (4), c/ns/Deployment/small (1)"
    )


def test_splits_a_node_over_those_who_leave_it_by_their_devices(marts, stop):
    plan = marts.node("n1").hold("a", "n1", 6).hold("b", "n1", 2).plan(stop("a"), stop("b"))
    assert [d.savings.expected_usd_per_month for d in plan.decisions] == pytest.approx([5_475.0, 1_825.0])  # 3/4, 1/4
    assert [d.savings.low_usd_per_month for d in plan.decisions] == [0.0, 0.0]  # neither frees the node alone
    assert plan.totals.released_nodes == ("c/n1",)
    assert plan.totals.savings.expected_usd_per_month == pytest.approx(MONTH_OF_10_USD_AN_HOUR)
    assert "share 6 of 8 devices on c/n1" in plan.decisions[0].formula
    assert f"only together with {plan.decisions[1].id}" in plan.decisions[0].notes[0]


def test_keeps_back_the_share_that_comes_back(marts, stop):
    decision = only(marts.node("n1").hold("idle", "n1", 8).plan(stop("idle"), comeback_ratio=0.25))
    assert decision.savings.low_usd_per_month == pytest.approx(5_475.0)  # 7,300 x 0.75
    assert decision.savings.expected_usd_per_month == pytest.approx(7_300.0)


def test_frees_a_node_by_the_replicas_that_are_too_many(marts, shrink):
    marts.node("n1").node("n2").hold("web", "n1", 8).hold("web", "n2", 8)
    decision = only(marts.plan(shrink("web", 8.0, replicas=1)))
    assert decision.released_nodes == ("c/n1",)
    assert decision.released_devices == 8.0


def test_stops_the_replica_that_nobody_shares_a_node_with(marts, shrink):
    marts.node("n1").node("n2").hold("web", "n1", 4).hold("web", "n2", 4).hold("other", "n1", 4)
    assert only(marts.plan(shrink("web", 4.0))).released_nodes == ("c/n2",)


def test_frees_no_node_when_a_pod_only_asks_for_fewer_devices(marts, shrink):
    plan = marts.node("n1").hold("train", "n1", 8).plan(shrink("train", 2.0))
    assert codes(plan) == {"train": "no_whole_node"}
    assert "2 of 8 devices stay held by c/ns/Deployment/train (2)" in plan.rejections[0].reason


def test_releases_a_node_nobody_uses(marts, idle_node):
    plan = marts.node("n1").node("n2").hold("busy", "n2", 1).plan(idle_node("n1"), idle_node("n2"))
    assert only(plan).released_nodes == ("c/n1",)
    assert only(plan).released_devices == 8.0
    assert codes(plan) == {"n2": "no_whole_node"}


def test_counts_a_node_once_when_its_holder_stops_and_it_is_called_idle(marts, stop, idle_node):
    plan = marts.node("n1").hold("idle", "n1", 8).plan(idle_node("n1"), stop("idle"))
    assert only(plan).subject.key == "c/ns/Deployment/idle"
    assert codes(plan) == {"n1": "superseded"}
    assert plan.totals.savings.expected_usd_per_month == pytest.approx(MONTH_OF_10_USD_AN_HOUR)


def test_saves_what_was_billed_on_spot(marts, stop):
    marts.node("n1", market="spot", usd_per_hour=4.0).node("n2").hold("idle", "n1", 8)
    decision = only(marts.plan(stop("idle")))
    assert decision.savings.expected_usd_per_month == pytest.approx(4.0 * 730)
    assert "672.00 USD of Spot" in decision.formula  # 4 x 168


def test_saves_no_cash_on_a_node_that_a_commitment_pays_for(marts, stop):
    marts.node("n1", market="committed", effective_usd=6.0).hold("idle", "n1", 8).committed(6.0, {"big|r": 0.6})
    plan = marts.plan(stop("idle"))
    assert codes(plan) == {"idle": "below_minimum"}
    assert plan.rejections[0].reason.startswith(
        "saves 0.00 USD cash a month, below the minimum of 50.00; its nodes cost 4,380.00 at the effective price"
    )


def test_shows_effective_dollars_as_the_high_end_where_a_commitment_pays(marts, stop):
    marts.node("n1", market="committed", effective_usd=6.0).hold("idle", "n1", 8).committed(6.0, {"big|r": 0.6})
    decision = only(marts.plan(stop("idle"), min_usd_per_month=0.0, min_usd_per_month_per_disruption=0.0))
    assert decision.savings.expected_usd_per_month == 0.0
    assert decision.savings.high_usd_per_month == pytest.approx(4_380.0)  # 6 x 730


def test_saves_cash_on_a_covered_node_when_its_commitment_has_other_work(marts, stop):
    # 6 USD/h committed at 0.6 cover 10 of the 20 USD/h. One node less: all that is left is covered, 10 USD/h saved.
    marts.node("n1", market="committed").node("n2").hold("idle", "n1", 8).committed(6.0, {"big|r": 0.6})
    decision = only(marts.plan(stop("idle")))
    assert decision.savings.expected_usd_per_month == pytest.approx(MONTH_OF_10_USD_AN_HOUR)


def test_counts_cover_once_when_two_nodes_go(marts, stop):
    marts.node("n1").node("n2").node("n3").hold("a", "n1", 8).hold("b", "n2", 8).hold("c", "n3", 8)
    marts.committed(12.0, {"big|r": 0.6})  # covers 20 of 30 USD/h: 10 stay on demand
    plan = marts.plan(stop("a"), stop("b"))
    # Together they save the 10 USD/h that were on demand, not 20: half each.
    assert [d.savings.expected_usd_per_month for d in plan.decisions] == pytest.approx([3_650.0, 3_650.0])
    assert [d.savings.low_usd_per_month for d in plan.decisions] == pytest.approx([3_650.0, 3_650.0])


def test_leaves_what_saves_too_little_for_each_pod_it_disrupts(marts, stop):
    plan = marts.node("n1").hold("idle", "n1", 8).plan(stop("idle", pods=100), min_usd_per_month_per_disruption=80.0)
    assert codes(plan) == {"idle": "below_minimum"}
    assert "73.00 for each of 100 disrupted pods, below 80.00" in plan.rejections[0].reason


def test_leaves_what_is_riskier_than_the_user_wants(marts, stop):
    plan = marts.node("n1").hold("idle", "n1", 8).plan(stop("idle", risk=Risk.OUTAGE), max_risk=Risk.SLOWER)
    assert codes(plan) == {"idle": "above_risk_ceiling"}
    assert plan.rejections[0].reason == "stop left out: its risk is outage, the ceiling is slower"


def test_takes_the_better_of_two_proposals_for_one_workload(marts, stop, shrink):
    marts.node("n1").node("n2").hold("nb", "n1", 8).hold("nb", "n2", 8)
    plan = marts.plan(shrink("nb", 8.0, recommender="idle_gpus"), stop("nb", "notebook_culling"))
    assert only(plan).recommender == "notebook_culling"
    assert only(plan).released_nodes == ("c/n1", "c/n2")
    assert [(one.recommender, one.code) for one in plan.rejections] == [("idle_gpus", "superseded")]


def test_rejects_without_a_price_instead_of_saving_zero(marts, stop):
    plan = marts.node("n1", priced_hours=0).node("n2").hold("idle", "n1", 8).plan(stop("idle"))
    assert codes(plan) == {"idle": "no_price"}


def test_rejects_what_is_not_there_any_more(marts, stop):
    plan = marts.node("n1").plan(stop("gone"))
    assert codes(plan) == {"gone": "not_running"}


def test_reads_a_late_bill_as_late_and_not_as_nodes_that_cost_nothing(marts, stop):
    marts.node("n1", lag_hours=48).node("n2", account="other/x").hold("idle", "n1", 8)
    assert only(marts.plan(stop("idle"))).savings.expected_usd_per_month == pytest.approx(MONTH_OF_10_USD_AN_HOUR)


def test_prices_only_the_last_week_of_a_longer_bill(marts, stop):
    # The node was 30 USD/h in the week before; today's price is what is saved.
    marts.node("n1").hold("idle", "n1", 8)
    marts.node("old", usd_per_hour=30.0, lag_hours=168)
    assert only(marts.plan(stop("idle"))).savings.expected_usd_per_month == pytest.approx(MONTH_OF_10_USD_AN_HOUR)


def test_prices_a_node_that_is_young_by_the_hours_it_was_there(marts, stop):
    marts.node("n1", priced_hours=84).node("n2").hold("idle", "n1", 8)
    # 84 h x 10 USD in a week of 168 h: half a month
    assert only(marts.plan(stop("idle"))).savings.expected_usd_per_month == pytest.approx(3_650.0)


def test_adds_up_to_the_waterfall_and_stays_under_the_bill(marts, stop):
    marts.node("n1").node("n2").hold("a", "n1", 8).hold("b", "n2", 8).also_used(5.0)
    plan = marts.plan(stop("a"), stop("b"))
    assert plan.totals.bill_usd_per_month == pytest.approx(25.0 * 730)
    assert plan.totals.share_of_bill_ratio == pytest.approx(0.8)
    assert [step.step for step in plan.waterfall] == ["waste"]
    assert plan.waterfall[0].bill_after_usd_per_month == pytest.approx(5.0 * 730)


def test_says_which_devices_each_decision_counts(marts, stop):
    plan = marts.node("n1").hold("a", "n1", 6).hold("b", "n1", 2).plan(stop("a"), stop("b"))
    assert [(one.node, one.pod, one.devices) for one in sorted(plan.counted, key=lambda one: one.pod)] == [
        ("c/n1", "c/ns/a-0", 6.0),
        ("c/n1", "c/ns/b-0", 2.0),
    ]


def test_plans_nothing_for_a_fleet_without_nodes_or_bill(marts, stop):
    plan = marts.plan(stop("gone"))
    assert plan.decisions == ()
    assert plan.totals.share_of_bill_ratio is None


def test_refuses_a_bill_that_lacks_a_price(marts, stop):
    marts.node("n1").hold("idle", "n1", 8)
    tables = marts.tables()
    usage = tables["node_usage_by_hour"]
    holed = usage.with_columns(contracted_usd=pl.lit(None, dtype=usage.schema["contracted_usd"]))
    with pytest.raises(InputError, match="node_usage_by_hour: 168 rows lack a dollar value, first c/n1 at 2026-11-01"):
        plan_from_marts([stop("idle")], tables | {"node_usage_by_hour": holed}, PlanSettings())


def test_refuses_node_usage_that_its_account_does_not_have(marts, stop):
    marts.node("n1").hold("idle", "n1", 8)
    tables = marts.tables()
    with pytest.raises(InputError, match=r"c/n1: usage of bill/a big\|r is in node_usage_by_hour and not in"):
        plan_from_marts([stop("idle")], tables | {"usage_by_hour": tables["usage_by_hour"].clear()}, PlanSettings())


@pytest.mark.parametrize(
    ("name", "value"), [("comeback_ratio", 1.5), ("node_headroom_ratio", -0.1), ("min_usd_per_month", -1.0)]
)
def test_refuses_settings_out_of_range(name, value):
    with pytest.raises(ValueError, match=name):
        PlanSettings(**{name: value})
