import pytest

from optimizer.demo_fleet import truth as truths
from optimizer.demo_fleet.cost_parts import component_prices, cost_by_node_day
from optimizer.demo_fleet.ledger import ledger
from optimizer.demo_fleet.nouns import Change

HOURS_PER_MONTH = 730


@pytest.fixture(scope="module")
def wastes(fleet):
    return truths.true_wastes(truths.savings_of(fleet))


def test_an_idle_google_node_costs_its_list_price(fleet_of):
    fleet = fleet_of(waste_per_kind=3)
    found = {waste.subject_key: waste for waste in truths.true_wastes(truths.savings_of(fleet))}
    (unused,) = [waste for waste in found.values() if waste.story.startswith("a node of which nobody")]
    # g2-standard-4: 0.706832 USD/h x 730 h = 515.98736 USD
    assert unused.savings.cash_usd_per_month == pytest.approx(515.98736)
    assert unused.freed_nodes == (unused.subject_key,)


def test_an_idle_aws_node_saves_the_private_rate_in_cash(wastes):
    (notebook,) = [waste for waste in wastes if "/Notebook/notebook-" in waste.subject_key]
    # g6.xlarge: 0.8048 x 0.94 x 730 = 552.25376; another node takes over its share of the Compute Savings Plan
    assert notebook.savings.cash_usd_per_month == pytest.approx(552.25376)
    assert notebook.savings.list_usd_per_month == pytest.approx(0.8048 * HOURS_PER_MONTH)


def test_a_node_freed_under_a_savings_plan_saves_less_than_its_price(fleet):
    first, then = truths.idle_then_mig(truths.savings_of(fleet))
    pricer = truths.savings_of(fleet)
    alone = pricer.between(Change(), truths.all_of(fleet.wastes, "mig_consolidation"))
    # Three p4de nodes, plans for 1.5. Idle GPUs free one; slicing a second, of which half an hour in each is paid on
    # demand: 27.44705 x 0.94 / 2 x 730 = 9417.08 USD less than when it comes first.
    assert alone.cash_usd_per_month - then.cash_usd_per_month == pytest.approx(9417.082855)
    assert first.cash_usd_per_month > 0


def test_an_idle_pod_on_a_shared_node_saves_nothing(wastes):
    beside = [waste for waste in wastes if waste.story.startswith("an idle pod beside a busy one")]
    assert [waste.savings.cash_usd_per_month for waste in beside] == [0.0]


def test_freed_nodes_follow_from_how_many_gpus_the_slices_need(wastes):
    pools = [waste for waste in wastes if waste.kind == "mig_consolidation"]
    assert [(waste.least_gpus, len(waste.freed_nodes)) for waste in pools] == [(4, 1), (1, 3)]


def test_waste_never_costs_more_than_the_bill(fleet, wastes):
    pricer = truths.savings_of(fleet)
    monthly = pricer.before.cash / 10**10 / 168 * HOURS_PER_MONTH
    everything = truths.all_of(fleet.wastes, "idle_gpus", "mig_consolidation")
    assert sum(waste.savings.cash_usd_per_month for waste in wastes) < monthly
    assert 0 < pricer.between(Change(), everything).cash_usd_per_month < monthly


def test_no_waste_has_negative_cash(wastes):
    assert min(waste.savings.cash_usd_per_month for waste in wastes) >= 0.0


def test_the_parts_of_each_node_and_day_add_up_to_its_cost(fleet):
    book = ledger(fleet)
    days = cost_by_node_day(fleet, book, component_prices())
    parts = days.select("workload_usd", "shared_usd", "idle_usd", "unattributed_usd")
    assert (parts.sum_horizontal() - days["effective_usd"]).abs().max() < 1e-9
    assert parts.min_horizontal().min() > -1e-9
    assert days["effective_usd"].sum() == pytest.approx(int(book.effective.sum()) / 10**10)


def test_at_most_one_percent_of_the_cost_is_unattributed(fleet):
    days = cost_by_node_day(fleet, ledger(fleet), component_prices())
    assert 0 < days["unattributed_usd"].sum() <= 0.01 * days["effective_usd"].sum()


def test_the_cost_of_a_node_nobody_uses_is_idle_but_for_its_system_pods(fleet_of):
    fleet = fleet_of(waste_per_kind=3)
    (key,) = [waste.subject_key for waste in fleet.wastes if waste.story.startswith("a node of which nobody")]
    days = cost_by_node_day(fleet, ledger(fleet), component_prices())
    day = days.filter(days["node"] == key.split("/")[1]).row(0, named=True)
    # g2-standard-4 for 24 h: 16.963968 USD. By list price: GPU 0.56004, 4 vCPU 0.126444, 16 GiB 0.067792: 0.754276.
    # Daemons ask for 0.3 of 4 vCPU and 0.5 of 16 GiB: 0.3 x 0.031611 + 0.5 x 0.004237 = 0.0116018 of 0.754276.
    assert day["effective_usd"] == pytest.approx(16.963968)
    assert day["shared_usd"] == pytest.approx(16.963968 * 0.0116018 / 0.754276)
    assert day["workload_usd"] == 0.0


def test_a_plan_pays_for_the_largest_discount_first(fleet):
    book = ledger(fleet)
    (compute,) = [position for position, plan in enumerate(book.commitments) if plan.family is None]
    covered = {
        machine.shape.instance_type
        for machine, row in zip(book.machines, book.covered[compute].sum(axis=1), strict=True)
        if row
    }
    assert covered == {"g6.xlarge"}  # 31 % off; p4de would get 28 %
