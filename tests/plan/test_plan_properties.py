import math
import random

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.commitment_book import ReapplySettings
from models.commitments import residual_on_demand

WORKLOADS = "abcdefgh"
PRICES = st.sampled_from([5.0, 10.0, 20.0])
NODES = st.lists(st.tuples(PRICES, st.sampled_from(["on_demand", "spot"])), min_size=2, max_size=4)
PLACES = st.dictionaries(
    st.tuples(st.sampled_from(WORKLOADS), st.integers(0, 3)), st.integers(1, 4), min_size=1, max_size=8
)
ADVICE = st.dictionaries(
    st.sampled_from(WORKLOADS), st.sampled_from(["stop", "shrink", "slice", "slice 3g", "both", "none"]), min_size=3
)
COMMITTED_USD = st.sampled_from([0.0, 4.0, 15.0])
FLEETS = st.tuples(NODES, PLACES, COMMITTED_USD)
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def build(new_marts, nodes, places, committed_usd):
    """A fleet of single-GPU pods; nodes that would be too full take what still fits."""
    marts = new_marts()
    for number, (usd, market) in enumerate(nodes):
        marts.node(f"n{number}", usd, market=market)
    full = [0] * len(nodes)
    for (workload, place), pods in sorted(places.items()):
        number = place % len(nodes)
        fitting = min(pods, 8 - full[number])
        full[number] += fitting
        if fitting:
            marts.hold(workload, f"n{number}", pods=fitting)
    if committed_usd:
        marts.also_used(0.0, "big|r").committed(committed_usd, {"big|r": 0.6})
    return marts


@pytest.fixture(scope="session")
def advise(stop, shrink, slices):
    def proposals(advice):
        made = []
        for workload, kind in sorted(advice.items()):
            if kind in {"stop", "both"}:
                made.append(stop(workload))
            if kind == "shrink":
                made.append(shrink(workload, 1.0))
            if kind in {"slice", "both"}:
                made.append(slices(workload))
            if kind == "slice 3g":
                made.append(slices(workload, "3g.40gb"))
        return made

    return proposals


@QUICK
@given(fleet=FLEETS, advice=ADVICE, seed=st.integers(0, 99))
def test_the_order_of_proposals_does_not_matter(new_marts, advise, fleet, advice, seed):
    marts = build(new_marts, *fleet)
    proposals = advise(advice)
    shuffled = random.Random(seed).sample(proposals, len(proposals))  # noqa: S311, a seeded order
    assert marts.plan(*proposals) == marts.plan(*shuffled)


@QUICK
@given(fleet=FLEETS, advice=ADVICE)
def test_saves_what_the_bill_falls_by_and_counts_no_device_twice(new_marts, advise, fleet, advice):
    marts = build(new_marts, *fleet)
    plan = marts.plan(*advise(advice), min_usd_per_month=0.0, min_usd_per_month_per_disruption=0.0)

    saved = plan.totals.savings.expected_usd_per_month
    assert saved == pytest.approx(fall_of_bill(marts.tables(), plan.totals.released_nodes), abs=0.01)
    assert saved <= plan.totals.bill_usd_per_month + 0.01
    assert math.fsum(step.savings.expected_usd_per_month for step in plan.waterfall) == pytest.approx(saved)

    places_counted = [(one.node, one.pod) for one in plan.counted]
    assert len(places_counted) == len(set(places_counted))
    decided = {chosen.subject for decision in plan.decisions for chosen in decision.chosen}
    rejected = {(one.recommender, one.subject) for one in plan.rejections}
    for proposal in advise(advice):
        assert proposal.subject in decided or (proposal.recommender, proposal.subject) in rejected
    released = set(plan.totals.released_nodes)
    for decision in plan.decisions:
        assert decision.released_nodes
        assert not released & {layout.node for layout in decision.layouts}


@QUICK
@given(fleet=FLEETS, advice=ADVICE)
def test_no_pod_stays_on_a_node_that_goes(new_marts, advise, fleet, advice):
    marts = build(new_marts, *fleet)
    plan = marts.plan(*advise(advice))
    moved_or_stopped = {(one.node, one.pod) for one in plan.counted}
    for row in marts.holders:
        if f"c/{row[5]}" in plan.totals.released_nodes:
            assert (f"c/{row[5]}", f"c/ns/{row[4]}") in moved_or_stopped


def fall_of_bill(tables, released):
    """The bill's fall by two runs over whole tables: on demand with and without the nodes, and their Spot."""
    node = pl.concat_str(pl.lit("c/"), "node")
    gone = tables["node_usage_by_hour"].filter(node.is_in(released))
    spot = gone.filter(pl.col("market") == "spot").get_column("billed_usd").cast(pl.Float64).sum()
    keys = ["account", "sku_key", "hour_start"]
    taken = gone.filter(pl.col("market") != "spot").group_by(keys).agg(pl.col("contracted_usd").sum().alias("gone_usd"))
    after = (
        tables["usage_by_hour"]
        .join(taken, on=keys, how="left")
        .with_columns((pl.col("contracted_usd") - pl.col("gone_usd").fill_null(0)).alias("contracted_usd"))
        .drop("gone_usd")
    )

    def on_demand(usage):
        rest = residual_on_demand(usage, tables["commitment_by_hour"], tables["commitment_rate"], ReapplySettings())
        return rest.on_demand.get_column("on_demand_usd").sum()

    return (on_demand(tables["usage_by_hour"]) - on_demand(after) + spot) / 168 * 730
