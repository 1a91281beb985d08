"""Each check objects when, and only when, its promise is broken."""

from decimal import Decimal

import pytest

from optimizer.sql_models import Kept, sql_models
from tests.sql.raw_rows import at, charge, node, observed, raw, request


@pytest.fixture
def sound(warehouse):
    """Two pods after one another on one GPU, and a bill with its control totals."""
    bill = [charge(hour, "1.0") for hour in range(24)]
    totals = {
        "BillingPeriodStart": at(0),
        "BillingPeriodEnd": at(24 * 30),
        "BillingCurrency": "USD",
        "charge_rows": 24,
        "BilledCost": 24,
        "EffectiveCost": 24,
    }
    hint = {"cluster_id": "prod", "gpu_uuid": "GPU-a", "mig_instance_id": "", "namespace": "search"}
    return warehouse.load(
        node=[node()],
        container_request=[request("a", 0, 10), request("b", 12, 20)],
        gpu_pod_hint=[
            hint | {"pod": "a", "container": "main", "valid_from": at(0), "valid_to": at(10)},
            hint | {"pod": "b", "container": "main", "valid_from": at(12), "valid_to": at(20)},
        ],
        gpu_5m=observed(0, 24, 0.5),
        cost=bill,
        cost_load=[totals],
    ).build()


def rebuild_after(warehouse, *statements):
    """Break a table, then build what reads it."""
    words = statements[0].split()
    broken = words[1] if words[0] == "update" else words[2]
    for statement in statements:
        warehouse.engine.run(statement)
    stale = {broken}
    for model in sql_models():
        if model.name != broken and model.references & stale and model.kept is Kept.TABLE:
            warehouse.engine.run(f"create or replace table {model.name} as {model.sql}")
            stale.add(model.name)
        elif model.references & stale:
            stale.add(model.name)


def test_a_sound_warehouse_breaks_no_promise(sound):
    assert sound.broken() == []


def test_a_dropped_holder_row_is_noticed(sound):
    rebuild_after(sound, "delete from gpu_holder where pod = 'b'")
    assert sound.broken() == ["holders_equal_requests"]


def test_a_doubled_holder_row_is_noticed(sound):
    rebuild_after(sound, "insert into gpu_holder select * from gpu_holder where pod = 'b'")
    assert {"holders_equal_requests", "node_hour_is_not_overbooked"} <= set(sound.broken())


def test_an_overlapping_holder_row_is_noticed(sound):
    rebuild_after(
        sound,
        "insert into gpu_holder select * replace (timestamp '2026-11-01 08:00:00' as held_from) "
        "from gpu_holder where pod = 'b'",
    )
    assert {"devices_are_held_once", "node_day_parts_equal_bill"} <= set(sound.broken())


def test_a_holder_that_begins_early_is_noticed(sound):
    sound.engine.run("update gpu_holder set held_from = timestamp '2026-11-01 08:00:00' where pod = 'b'")
    assert {"devices_are_held_once", "holders_equal_requests"} <= set(sound.broken())


def test_a_cost_row_lost_from_the_warehouse_is_noticed(sound):
    sound.engine.run("delete from raw.cost where ChargePeriodStart = timestamp '2026-11-01 05:00:00'")
    assert "bill_rows_are_all_there" in sound.broken()


def test_a_cost_row_lost_on_the_way_is_noticed_with_its_node_and_difference(sound):
    rebuild_after(sound, "delete from int_charge_hour where hour_start = timestamp '2026-11-01 05:00:00'")
    messages = [violation.message for violation in sound.engine.check()]
    assert messages == [
        "node prod/gpu-1: charges of the window sum to 24.000000000000000 USD, attributed 23.000000000000000 USD"
    ]


def test_two_sources_that_bill_one_account_and_day_are_refused(sound):
    sound.load("second", cost=[charge(3, "1.0", x_resource_key="i-other")]).build()
    assert "one_bill_for_one_account_and_day" in sound.broken()


def test_one_machine_in_two_clusters_is_refused(sound):
    sound.load("other", node=[node(cluster_id="stage")]).build()
    assert "one_machine_is_one_node" in sound.broken()


def test_rows_of_unknown_columns_are_a_mistake_of_the_test():
    with pytest.raises(AssertionError, match="no columns"):
        raw("cost", {"Nonsense": 1})


@pytest.mark.parametrize(
    "mutation",
    [
        "delete from bill_reconciliation_by_day where scope = 'node'",
        "delete from node_usage_by_hour where hour_start = timestamp '2026-11-01 05:00:00'",
        "insert into node_usage_by_hour select * from node_usage_by_hour",
        "delete from usage_by_hour",
        "delete from commitment_by_hour",
        "insert into commitment_by_hour select * from commitment_by_hour",
        "delete from commitment_rate",
        "update int_charge set scope = 'outside' where scope = 'node'",
        "update gpu_holder set held_to = held_from + interval '1 hour'",
        "update int_holder_hour set claimed_gpu_hours = claimed_gpu_hours / 2",
        "delete from int_holder_hour where hour_start = timestamp '2026-11-01 05:00:00'",
        "delete from int_pod_hour",
        "delete from int_node_hour where hour_start = timestamp '2026-11-01 05:00:00'",
        "delete from int_gpu_request where pod = 'b'",
        "delete from cost_by_team_day",
        "update cost_by_workload_day set effective_usd = effective_usd / 2",
    ],
)
def test_a_broken_table_is_noticed(sound, mutation):
    covered = charge(
        5, "0.6", x_resource_key="i-other", PricingCategory="Committed", ContractedCost=1, BilledCost=0,
        CommitmentDiscountId="sp-1", CommitmentDiscountStatus="Used", CommitmentDiscountCategory="Spend",
        BillingAccountId="222",
    )  # fmt: skip
    total = {"BillingPeriodStart": at(0), "BillingPeriodEnd": at(24 * 30), "BillingCurrency": "USD", "charge_rows": 1}
    sound.load("plan", cost=[covered], cost_load=[total | {"BilledCost": 0, "EffectiveCost": Decimal("0.6")}])
    sound.load("cpu", container_request=[request("a", 0, 10, resource="cpu", quantity=1.0)]).build()
    assert sound.broken() == []
    rebuild_after(sound, mutation)
    assert sound.broken() != []
