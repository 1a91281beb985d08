"""The public FOCUS samples go through, and their sums equal those of Python's csv and Decimal to the last digit."""

import csv
from decimal import Decimal, localcontext
from pathlib import Path

import pyarrow.compute as pc
import pytest

COSTS = ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")
COMMITMENT_FILES = [f"fdt_synthetic/{cloud}_1_3_contract_commitment.csv" for cloud in ("aws", "azure", "gcp")]

pytestmark = pytest.mark.shared_data


@pytest.fixture
def samples(shared) -> Path:
    return shared / "data" / "billing" / "focus"


def summed_by_hand(path: Path) -> tuple[int, dict[str, Decimal]]:
    """Return rows and sums straight from the text; "$1,234.00 " is how one sample writes 1234."""
    rows, sums = 0, {}
    with path.open(encoding="utf-8-sig", newline="") as file, localcontext(prec=60):
        for row in csv.DictReader(file):
            rows += 1
            for name in COSTS:
                text = (row.get(name) or "").replace("$", "").replace(",", "").strip()
                if text not in {"", "NULL", "null"}:
                    sums[name] = sums.get(name, Decimal(0)) + Decimal(text)
    return rows, sums


def test_every_sample_adds_up_to_the_last_digit(samples, read_folder):
    paths = sorted(path for path in samples.rglob("*.csv") if "contract_commitment" not in path.name)
    assert len(paths) == 48
    for path in paths:
        loaded = read_folder(path)
        assert loaded.unreadable == [], path.name
        sums = {name: pc.sum(loaded.cost.column(name)).as_py() for name in COSTS}
        assert (loaded.cost.num_rows, {name: total for name, total in sums.items() if total is not None}) == (
            summed_by_hand(path)
        ), path.name
        assert sum(loaded.cost_load.column("charge_rows").to_pylist()) == loaded.cost.num_rows, path.name


def test_all_samples_together_add_up_as_one_folder(samples, read_folder):
    loaded = read_folder(samples)
    by_hand = [summed_by_hand(path) for path in sorted(samples.rglob("*.csv"))]
    with localcontext(prec=60):
        total = sum((sums.get("BilledCost", Decimal(0)) for _, sums in by_hand), Decimal(0))
    assert pc.sum(loaded.cost.column("BilledCost")).as_py() == total
    assert pc.sum(loaded.cost_load.column("BilledCost")).as_py() == total
    assert loaded.unreadable == []


@pytest.mark.parametrize("name", COMMITMENT_FILES)
def test_commitment_files_are_recognised(samples, read_folder, name):
    loaded = read_folder(samples / name)
    assert (loaded.cost.num_rows, loaded.codes) == (0, ["other_dataset"])


def test_the_rounded_effective_costs_of_the_focus_10_sample_are_recognised(samples, read_folder):
    loaded = read_folder(samples / "focus10_sample.csv")
    assert "it is rounded to whole numbers" in loaded.message("effective_cost_implausible")
    assert "g5.4xlarge" in loaded.column("x_instance_type")
    machines = zip(loaded.column("ServiceName"), loaded.column("x_instance_type"), strict=True)
    services = {service for service, machine in machines if machine is not None}
    # no "GPU" by chance in a SkuId of another service
    assert services == {"Amazon Elastic Compute Cloud", "Amazon Relational Database Service"}


def test_the_one_example_that_breaks_list_cost_is_recognised(samples, read_folder):
    breaking = [
        path.name
        for path in sorted((samples / "spec12_examples").glob("*.csv"))
        if "list_cost_implausible" in read_folder(path).codes
    ]
    assert breaking == [
        "one_hundred_percent_utilization_with_commitment_discount_flexibility_with_1_resource.csv",
    ]


def test_the_hour_thirty_of_two_examples_is_told_of(samples, read_folder):
    loaded = read_folder(samples / "spec12_examples" / "commitment_discount_purchase_scenario_2.csv")
    assert "line 4, column ChargePeriodEnd: found '2023-02-01T30:00:00Z'" in loaded.message("unreadable_instant")


def test_the_two_currencies_of_the_consolidated_sample_stay_apart(samples, read_folder):
    loaded = read_folder(samples / "fdt_synthetic" / "consolidated_multi_provider_1_3.csv")
    totals = {row["BillingCurrency"]: row["BilledCost"] for row in loaded.cost_load.to_pylist()}
    assert totals == {"EUR": Decimal(100), "USD": Decimal(208)}  # 100 + 8 + 100


def test_synthetic_bills_raise_no_doubt(samples, read_folder):
    for path in sorted((samples / "fdt_synthetic").glob("*_rows*.csv")):
        assert read_folder(path).codes == [], path.name


def test_a_file_that_is_no_focus_bill_is_refused_by_name(shared, read_folder):
    loaded = read_folder(shared / "data" / "billing" / "oci" / "reports_cost_head250.csv")
    assert "no FOCUS bill" in loaded.reason
