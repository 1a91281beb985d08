import hashlib
import json
import tomllib
from datetime import UTC, datetime
from decimal import Decimal

import polars as pl
import pyarrow.parquet as pq
import pytest

from optimizer.demo_fleet import FleetSpec, write_fleet

SMALL = FleetSpec(
    seed=3,
    as_of=datetime(2026, 11, 30, tzinfo=UTC),
    gpus=24,
    days=1,
    telemetry_step_seconds=1800,
    ksm_step_seconds=3600,
)


def digests(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def total(bill, column):
    return sum((Decimal(value) for value in bill[column]), Decimal(0))


def test_the_same_spec_writes_the_same_bytes(tmp_path):
    write_fleet(SMALL, tmp_path / "one")
    write_fleet(SMALL, tmp_path / "other")
    assert digests(tmp_path / "one") == digests(tmp_path / "other")
    assert len(digests(tmp_path / "one")) == 11


@pytest.mark.parametrize(("cloud", "read"), [("aws", "aws_bill"), ("gcp", "gcp_bill")])
def test_the_rows_of_a_bill_add_up_to_its_total_to_the_last_digit(written, cloud, read):
    bill = getattr(written, read)()
    truth = dict(written.truth.bills)[cloud]
    assert bill.height == truth.charge_rows
    for column, ticks in (
        ("BilledCost", truth.billed_ticks),
        ("EffectiveCost", truth.effective_ticks),
        ("ListCost", truth.list_ticks),
    ):
        assert total(bill, column) == Decimal(ticks) / 10**10


def test_a_savings_plan_costs_its_fee_and_pays_for_use_of_the_same_worth(written):
    bill = written.aws_bill().filter(pl.col("CommitmentDiscountId").is_not_null())
    for (plan,), rows in bill.group_by("CommitmentDiscountId"):
        fees = rows.filter(pl.col("ChargeCategory") == "Purchase")
        use = rows.filter(pl.col("ChargeCategory") == "Usage")
        assert fees.height == 72, plan  # an hourly fee over three days
        assert total(fees, "BilledCost") == total(use, "EffectiveCost")
        assert total(use, "BilledCost") == 0
        assert total(fees, "EffectiveCost") == 0


def test_the_bill_of_a_machine_covers_each_hour_once(written):
    bill = written.aws_bill().filter(pl.col("ResourceId").str.contains(":instance/"))
    hours = bill.with_columns(pl.col("PricingQuantity").cast(pl.Float64)).group_by("ResourceId", "ChargePeriodStart")
    for quantity in hours.agg(pl.col("PricingQuantity").sum())["PricingQuantity"]:
        assert quantity == pytest.approx(1.0, abs=1e-6)


def test_spot_rows_name_their_type_in_the_description_only(written):
    spot = written.aws_bill().filter(pl.col("PricingCategory") == "Dynamic")
    assert spot.height
    assert spot["SkuPriceDetails"].null_count() == spot.height
    assert spot["ChargeDescription"].str.starts_with("g6.xlarge Linux/UNIX Spot").all()


def test_a_google_machine_is_billed_as_cores_memory_and_gpus(written):
    bill = written.gcp_bill().filter(
        pl.col("ResourceName").str.contains("ranking-serving|vision-serving|language-serving")
    )
    (first,) = bill.head(1)["ResourceId"].to_list()
    hour = bill.filter(pl.col("ResourceId") == first).filter(
        pl.col("ChargePeriodStart") == pl.col("ChargePeriodStart").min()
    )
    assert sorted(hour["ChargeDescription"]) == [
        "A2 Instance Core running in Americas",
        "A2 Instance Ram running in Americas",
        "Nvidia Tesla A100 80GB GPU running in Americas",
    ]
    assert sum(hour["ListCost"]) == Decimal("5.068798")  # list price of a2-ultragpu-1g


def test_objects_name_machines_as_the_bills_do(written):
    nodes = [item for item in written.objects("prod-aws") if item["kind"] == "Node"]
    billed = set(written.aws_bill()["ResourceId"].drop_nulls().str.split("/").list.last())
    assert nodes
    assert {node["spec"]["providerID"].rsplit("/", 1)[1] for node in nodes} <= billed


def test_every_owner_of_a_pod_is_in_the_dump(written):
    items = written.objects("prod-aws") + written.objects("prod-gcp")
    uids = {item["metadata"]["uid"] for item in items}
    pods = [item for item in items if item["kind"] == "Pod"]
    assert {"Notebook", "PyTorchJob", "Deployment", "DaemonSet", "Job"} <= {item["kind"] for item in items}
    assert all(pod["metadata"]["ownerReferences"][0]["uid"] in uids for pod in pods)


def test_one_running_phase_per_running_pod_and_step(written):
    running = [
        line
        for line in written.series("clusters/prod-gcp/ksm-2026-12-01*")
        if line["metric"]["__name__"] == "kube_pod_status_phase" and line["metric"]["phase"] == "Running"
    ]
    assert len({line["metric"]["uid"] for line in running}) == len(running)
    assert max(len(line["values"]) for line in running) == 24  # one an hour in this fleet


def test_a_free_gpu_carries_the_exporters_own_pod(written):
    lines = written.series("metrics/prod-aws/dcgm-2026-12-01*")
    free = [line["metric"] for line in lines if "exported_pod" not in line["metric"]]
    assert free
    assert {metric["container"] for metric in free} == {"nvidia-dcgm-exporter"}


def test_slices_have_no_gpu_util_and_repeat_the_power_of_their_gpu(written):
    lines = [line for line in written.series("metrics/prod-aws/dcgm-2026-12-01*") if "GPU_I_ID" in line["metric"]]
    names = {line["metric"]["__name__"] for line in lines}
    assert "DCGM_FI_DEV_GPU_UTIL" not in names
    first_watts = [line["values"][0] for line in lines if line["metric"]["__name__"] == "DCGM_FI_DEV_POWER_USAGE"]
    assert len(first_watts) == 7
    assert max(first_watts) - min(first_watts) < 5.0  # watts; the moments of reading differ a little


def test_one_cluster_changes_to_the_new_names_and_units_in_mid_window(tmp_path):
    spec = FleetSpec(
        seed=3,
        as_of=datetime(2026, 11, 30, tzinfo=UTC),
        gpus=24,
        days=13,
        telemetry_step_seconds=3600,
        parquet_metrics=True,
    )
    write_fleet(spec, tmp_path)
    # 13 days end at as_of; the change comes twelve days before the end, at 11 o'clock: on the second day.
    day = pl.from_arrow(pq.read_table(tmp_path / "metrics/prod-gcp/dcgm-2026-11-18.parquet"))
    names = day["metric"].str.json_path_match("$.__name__")
    old = day.filter(names == "DCGM_FI_DEV_FB_FREE")
    new = day.filter(names == "DCGM_FI_DEV_FB_FREE_BYTES")
    assert old["values"].list.len().to_list() == [11] * old.height
    assert new["values"].list.len().to_list() == [13] * new.height
    assert new["values"].list.get(0).min() > 10**8 > old["values"].list.get(0).max()  # bytes, MiB


def test_the_configuration_names_every_folder(written):
    config = tomllib.loads((written.folder / "earnkeep.toml").read_text())
    by_cluster = [f"prod_{cloud}_{what}" for cloud in ("aws", "gcp") for what in ("metrics", "objects")]
    assert sorted(config["sources"]) == sorted(["aws_bill", "gcp_bill", "prices", *by_cluster])
    for source in config["sources"].values():
        assert "location" not in source or (written.folder / source["location"]).is_dir()


def test_no_source_reads_the_truth(written):
    config = (written.folder / "earnkeep.toml").read_text()
    document = json.loads((written.folder / "truth/truth.json").read_text())
    assert "truth" not in config
    assert document["gpus"] == 96
