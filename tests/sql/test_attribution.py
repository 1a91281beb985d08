"""Node cost split by who held what. A node costs 1 USD an hour: 0.6 for its GPU, 0.2 for CPU, 0.2 for memory."""

from datetime import timedelta
from decimal import Decimal

import polars as pl
import pytest

from tests.sql.raw_rows import DAY, at, charge, node, observed, request

HOURLY_BILL = [charge(hour, "1.0") for hour in range(24)]


def parts(warehouse):
    """Sums of the parts over the day, in dollars."""
    columns = ("effective_usd", "workload_usd", "shared_usd", "idle_usd", "unattributed_usd", "rounding_usd")
    row = warehouse.mart("cost_by_node_hour").select(pl.col(columns).sum()).row(0, named=True)
    return {name.removesuffix("_usd"): float(value) for name, value in row.items()}


def test_a_gpu_held_half_the_day_costs_its_holder_half_the_gpu_part(warehouse):
    warehouse.load(
        node=[node()], container_request=[request("a", 0, 12)], gpu_5m=observed(0, 24, 0.5), cost=HOURLY_BILL
    ).build()
    # workload 12 h x 0.6; idle the other 12 h x 0.6, and CPU and memory nobody asked for: 24 h x 0.4
    assert parts(warehouse) == pytest.approx(
        {"effective": 24.0, "workload": 7.2, "shared": 0.0, "idle": 16.8, "unattributed": 0.0, "rounding": 0.0}
    )
    assert warehouse.broken() == []


def test_free_time_without_telemetry_is_unattributed_not_idle(warehouse):
    warehouse.load(
        node=[node()], container_request=[request("a", 0, 12)], gpu_5m=observed(0, 18, 0.5), cost=HOURLY_BILL
    ).build()
    # unheld from 12 to 24; telemetry saw 12 to 18
    found = parts(warehouse)
    assert found["unattributed"] == pytest.approx(6 * 0.6)
    assert found["idle"] == pytest.approx(6 * 0.6 + 24 * 0.4)


def test_held_time_without_telemetry_costs_its_holder_and_is_neither_used_nor_idle(warehouse):
    warehouse.load(
        node=[node()], container_request=[request("a", 0, 24)], gpu_5m=observed(0, 12, 0.5), cost=HOURLY_BILL
    ).build()
    hours = warehouse.mart("workload_gpu_by_hour").select(pl.col("^.*_gpu_hours$").sum()).row(0, named=True)
    assert hours == pytest.approx(
        {"allocated_gpu_hours": 24.0, "used_gpu_hours": 12.0, "idle_gpu_hours": 0.0, "unknown_gpu_hours": 12.0}
    )


def test_cpu_and_memory_follow_requests_and_system_pods_are_shared(warehouse):
    warehouse.load(
        node=[node()],
        container_request=[
            request("a", 0, 24),
            request("a", 0, 24, resource="cpu", quantity=2.0),
            request("a", 0, 24, resource="memory", quantity=4.0),
            request("proxy", 0, 24, resource="cpu", quantity=1.0, namespace="kube-system"),
        ],
        gpu_5m=observed(0, 24, 0.5),
        cost=HOURLY_BILL,
    ).build()
    # per hour: workload 0.6 + 2/4 x 0.2 + 4/16 x 0.2 = 0.75; shared 1/4 x 0.2 = 0.05; the rest 0.2 idle
    found = parts(warehouse)
    assert (found["workload"], found["shared"], found["idle"]) == pytest.approx((18.0, 1.2, 4.8))


def test_a_node_no_inventory_saw_is_unattributed(warehouse):
    warehouse.load(node=[node(hours=12)], cost=HOURLY_BILL, gpu_5m=observed(0, 12, 0.0)).build()
    assert parts(warehouse)["unattributed"] == pytest.approx(12.0)


def test_a_mig_slice_takes_its_share_of_compute_slices(warehouse):
    a100 = node(gpu_model="NVIDIA A100-SXM4-80GB", instance_type="p4de.24xlarge")
    held = request("a", 0, 24, resource="nvidia.com/mig-2g.20gb")
    warehouse.load(
        node=[a100],
        container_request=[held],
        gpu_5m=observed(0, 24, 0.5, mig_instance_id="3", mig_profile="2g.20gb", gpu_model="NVIDIA A100-SXM4-80GB"),
        cost=HOURLY_BILL,
    ).build()
    found = warehouse.mart("holder_gpu_by_hour")
    assert found.get_column("held_gpu_hours").sum() == pytest.approx(24 * 2 / 7)
    assert warehouse.broken() == []


def test_time_sliced_pods_share_one_device(warehouse):
    shared = node(gpu_replicas=4, sharing="time-slicing")
    pods = [request(name, 0, 24) for name in ("a", "b", "c")]
    warehouse.load(node=[shared], container_request=pods, gpu_5m=observed(0, 24, 0.5), cost=HOURLY_BILL).build()
    # three of four replicas held: 0.75 of the GPU part
    found = parts(warehouse)
    assert found["workload"] == pytest.approx(24 * 0.6 * 0.75)
    assert warehouse.broken() == []


def test_a_bill_by_the_day_falls_on_the_hours_the_node_lived(warehouse):
    daily = charge(0, "12.0", ChargePeriodEnd=at(24))
    warehouse.load(node=[node(hours=12)], gpu_5m=observed(0, 12, 0.0), cost=[daily]).build()
    hourly = warehouse.mart("cost_by_node_hour")
    assert hourly.filter(pl.col("effective_usd") > 0).height == 12
    assert hourly.get_column("effective_usd").sum() == Decimal("12.0")
    assert warehouse.broken() == []


def test_credits_and_other_machines_are_not_the_node(warehouse):
    rows = [
        *HOURLY_BILL,
        charge(0, "-3.0", ChargeCategory="Credit", x_resource_key=None),
        charge(0, "5.0", x_resource_key="i-elsewhere"),
        charge(0, "0.1", x_resource_key=None, Tags='{"eks:cluster-name":"prod"}'),
        charge(0, "2.0", x_resource_key=None, CommitmentDiscountId="sp-1", CommitmentDiscountStatus="Unused"),
        charge(0, "7.0", x_resource_key=None, CommitmentDiscountId="sp-1", ChargeCategory="Purchase"),
    ]
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.0), cost=rows).build()
    scopes = warehouse.mart("bill_reconciliation_by_day").group_by("scope").agg(pl.col("effective_usd").sum())
    assert dict(scopes.iter_rows()) == {
        "node": Decimal(24),
        "tax_credit_support": Decimal(-3),
        "outside": Decimal(5),
        "cluster_shared": Decimal("0.1"),
        "commitment_unused": Decimal(2),
        "commitment_purchase": Decimal(7),
    }


def test_another_currency_is_kept_apart(warehouse):
    euros = charge(0, "9.0", BillingCurrency="EUR")
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.0), cost=[*HOURLY_BILL, euros]).build()
    assert parts(warehouse)["effective"] == 24.0
    reconciled = warehouse.mart("bill_reconciliation_by_day").filter(pl.col("billing_currency") == "EUR")
    assert reconciled.get_column("billed_usd").to_list() == [Decimal(9)]


def test_a_commitment_is_covered_and_stranded_by_the_hour(warehouse):
    covered = charge(
        0, "0.6", BilledCost=Decimal(0), ContractedCost=Decimal(1), ListCost=Decimal(1), PricingCategory="Committed",
        CommitmentDiscountId="sp-1", CommitmentDiscountStatus="Used", CommitmentDiscountCategory="Spend",
    )  # fmt: skip
    unused = charge(
        0, "0.4", x_resource_key=None, CommitmentDiscountId="sp-1", CommitmentDiscountStatus="Unused",
        CommitmentDiscountCategory="Spend",
    )  # fmt: skip
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.0), cost=[covered, unused]).build()
    hour = warehouse.mart("commitment_by_hour").row(0, named=True)
    assert (hour["covered_usd"], hour["stranded_usd"]) == (Decimal("0.6"), Decimal("0.4"))
    assert warehouse.mart("commitment_rate").get_column("covered_ratio").to_list() == [0.6]


def test_a_frozen_exporter_is_unknown(warehouse):
    frozen = observed(0, 24, 0.0, power_watts_mean=61.25, power_watts_max=61.25)
    warehouse.load(node=[node()], container_request=[request("a", 0, 24)], gpu_5m=frozen, cost=HOURLY_BILL).build()
    hours = warehouse.mart("holder_gpu_by_hour")
    assert hours.get_column("unknown_gpu_hours").sum() == pytest.approx(24.0)
    assert hours.get_column("is_stuck").all()


def test_building_again_after_a_new_day_keeps_the_old_one(warehouse):
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.0), cost=HOURLY_BILL).build()
    before = warehouse.mart("gpu_by_hour")
    later = observed(0, 48, 0.0)
    warehouse.load(gpu_5m=later).build()
    assert warehouse.mart("gpu_by_hour").equals(before)
    assert DAY.end - DAY.start == timedelta(days=1)


def test_under_mig_strategy_single_a_gpu_of_the_request_is_a_slice(warehouse):
    cut = node(gpu_model="NVIDIA A100-SXM4-80GB", mig_strategy="single", mig_profile="1g.10gb")
    pods = [request(name, 0, 24) for name in ("a", "b", "c")]
    warehouse.load(node=[cut], container_request=pods, cost=HOURLY_BILL).build()
    # three of seven compute slices
    assert warehouse.mart("holder_gpu_by_hour").get_column("held_gpu_hours").sum() == pytest.approx(24 * 3 / 7)
    assert warehouse.broken() == []


def test_what_the_models_had_to_assume_is_a_finding(warehouse):
    warehouse.load(
        node=[node(gpu_model="NVIDIA Nobody Knows"), node("gpu-2", resource_key="i-elsewhere")],
        cost=[*HOURLY_BILL, charge(0, "2.5", ChargePeriodStart=None)],
    ).build()
    found = warehouse.mart("finding").filter(pl.col("source_id") != "prices")
    assert found.select("code", "subject", "occurrences").rows() == [
        ("cost_split_assumed", "NVIDIA Nobody Knows", 1),
        ("node_not_billed", "prod", 1),
        ("charge_without_period", "file", 1),
    ]
    assert found.get_column("usd").to_list() == [None, None, Decimal("2.5")]


def test_a_charge_across_the_edge_counts_by_its_part_inside_the_window(warehouse):
    # 48 USD over two days, of which the window holds one
    across = charge(-24, "48.0", ChargePeriodEnd=at(24))
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.0), cost=[across]).build()
    assert parts(warehouse)["effective"] == pytest.approx(24.0)
    assert warehouse.mart("bill_reconciliation_by_day").get_column("effective_usd").to_list() == [Decimal(24)]
    assert warehouse.broken() == []


def test_a_charge_at_an_instant_belongs_to_its_hour(warehouse):
    fee = charge(3, "5.0", ChargePeriodEnd=at(3))
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.0), cost=[*HOURLY_BILL, fee]).build()
    assert parts(warehouse)["effective"] == pytest.approx(29.0)
    assert warehouse.broken() == []


def test_a_slice_of_unknown_geometry_leaves_the_gpu_unattributed_not_idle(warehouse):
    held = request("a", 0, 24, resource="nvidia.com/mig-9g.999gb")
    warehouse.load(node=[node()], container_request=[held], gpu_5m=observed(0, 24, 0.9), cost=HOURLY_BILL).build()
    assert parts(warehouse)["unattributed"] == pytest.approx(24 * 0.6)


def test_a_node_that_lost_a_gpu_is_counted_by_what_it_had_then(warehouse):
    warehouse.load(
        node=[node(hours=12, gpu_count=2), node(gpu_count=1, valid_from=at(12))],
        container_request=[request("a", 0, 12, quantity=2.0), request("b", 12, 24)],
        gpu_5m=observed(0, 24, 0.5),
        cost=HOURLY_BILL,
    ).build()
    # every GPU that existed was held: workloads take all of the GPU part, whatever the count
    assert parts(warehouse)["unattributed"] == pytest.approx(0.0)
    assert warehouse.broken() == []


def test_a_name_that_passes_to_another_machine_keeps_both_bills(warehouse):
    second = [charge(hour, "1.0", x_resource_key="i-second") for hour in range(12, 24)]
    warehouse.load(
        node=[node(hours=12), node(resource_key="i-second", valid_from=at(12))],
        gpu_5m=observed(0, 24, 0.0),
        cost=[*HOURLY_BILL[:12], *second],
    ).build()
    assert parts(warehouse)["effective"] == pytest.approx(24.0)
    assert warehouse.mart("node_now").get_column("alive_since").to_list() == [at(12)]
    assert warehouse.broken() == []


def test_a_covered_charge_that_does_not_say_so_is_covered(warehouse):
    covered = charge(0, "0.4", CommitmentDiscountId="ri-1", BilledCost=Decimal(0), ContractedCost=Decimal(1))
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.0), cost=[covered]).build()
    assert warehouse.mart("commitment_by_hour").get_column("covered_usd").to_list() == [Decimal("0.4")]
