"""Builders of raw rows, and a warehouse that takes them as a source would."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import polars as pl
import pyarrow as pa

from connectors.raw_tables import RAW_TABLES
from models.domain.window import EVERYTHING, Window
from optimizer.engine import BuildSettings
from optimizer.engines.duckdb import DuckdbEngine

MIDNIGHT = datetime(2026, 11, 1)  # noqa: DTZ001 - raw instants are UTC without a zone
DAY = Window(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 2, tzinfo=UTC))
Row = Mapping[str, object]


def at(hours: float) -> datetime:
    return MIDNIGHT + timedelta(hours=hours)


def raw(table: str, *rows: Row) -> pa.Table:
    """Rows of a raw table; columns not given are null."""
    schema = RAW_TABLES[table].columns
    unknown = {name for row in rows for name in row} - set(schema.names)
    assert not unknown, f"raw.{table} has no columns {unknown}"
    return pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema=schema)


def node(name: str = "gpu-1", hours: float = 24, **columns: object) -> Row:
    """A node with one L4, 4 vCPU and 16 GiB, alive from midnight."""
    return {
        "cluster_id": "prod",
        "node": name,
        "resource_key": f"i-{name}",
        "instance_type": "g6.xlarge",
        "region": "us-east-1",
        "pool": "inference",
        "gpu_model": "NVIDIA L4",
        "gpu_count": 1,
        "gpu_replicas": 1,
        "vcpu": 4.0,
        "memory_gib": 16.0,
        "valid_from": at(0),
        "valid_to": at(hours),
    } | columns


def request(pod: str, start: float, end: float, **columns: object) -> Row:
    """One GPU for one container."""
    return {
        "cluster_id": "prod",
        "namespace": "search",
        "pod": pod,
        "pod_uid": f"uid-{pod}",
        "container": "main",
        "node": "gpu-1",
        "resource": "nvidia.com/gpu",
        "quantity": 1.0,
        "valid_from": at(start),
        "valid_to": at(end),
    } | columns


def sample(minutes: float, busy_ratio: float | None, **columns: object) -> Row:
    """Five minutes of one GPU; the power wobbles, as a live reading does."""
    power = 30.0 + minutes % 7
    return {
        "cluster_id": "prod",
        "node": "gpu-1",
        "gpu_uuid": "GPU-a",
        "mig_instance_id": "",
        "gpu_model": "NVIDIA L4",
        "bucket_start": MIDNIGHT + timedelta(minutes=minutes),
        "sm_active_ratio_mean": busy_ratio,
        "sm_active_ratio_max": busy_ratio,
        "sm_active_ratio_samples": 1,
        "power_watts_mean": power,
        "power_watts_max": power,
        "power_watts_samples": 1,
    } | columns


def observed(start: float, end: float, busy_ratio: float, **columns: object) -> list[Row]:
    """A sample for each five minutes of some hours."""
    return [sample(minutes, busy_ratio, **columns) for minutes in range(int(start * 60), int(end * 60), 5)]


def charge(hour: float, usd: str, **columns: object) -> Row:
    """One hour of node gpu-1 on demand."""
    amount = Decimal(usd)
    return {
        "BillingAccountId": "111",
        "BillingPeriodStart": at(0),
        "BillingPeriodEnd": at(24 * 30),
        "ChargePeriodStart": at(hour),
        "ChargePeriodEnd": at(hour + 1),
        "ChargeCategory": "Usage",
        "ServiceName": "Amazon Elastic Compute Cloud",
        "PricingCategory": "Standard",
        "BillingCurrency": "USD",
        "RegionId": "us-east-1",
        "BilledCost": amount,
        "EffectiveCost": amount,
        "ListCost": amount,
        "ContractedCost": amount,
        "x_resource_key": "i-gpu-1",
        "x_instance_type": "g6.xlarge",
    } | columns


def component(item: str, usd_per_hour: str) -> Row:
    return {
        "item": item,
        "kind": "component",
        "purchase_option": "on_demand",
        "usd_per_hour": Decimal(usd_per_hour),
        "state": "known",
        "priced_at": at(-24),
    }


# A node of 1 L4, 4 vCPU and 16 GiB then costs 0.6 + 4 x 0.05 + 16 x 0.0125 = 1.0: 60 % GPU, 20 % CPU, 20 % memory.
COMPONENTS = (component("gpu:NVIDIA L4", "0.6"), component("vcpu", "0.05"), component("memory_gib", "0.0125"))


class Warehouse:
    """Loads rows as a source would, builds, and reads marts as Polars."""

    def __init__(self, engine: DuckdbEngine) -> None:
        self.engine = engine

    def load(self, source_id: str = "test", **rows_by_table: list[Row]) -> "Warehouse":
        with self.engine.replace_window(source_id, tuple(rows_by_table), EVERYTHING) as writer:
            for table, rows in rows_by_table.items():
                stamped = raw(table, *rows)
                for name, value in (("source_object", "file"), ("source_id", source_id)):
                    stamped = stamped.add_column(0, name, pa.array([value] * stamped.num_rows, pa.string()))
                writer.append(table, stamped)
        return self

    def build(self, window: Window = DAY) -> "Warehouse":
        self.engine.build(window, BuildSettings())
        return self

    def mart(self, name: str) -> pl.DataFrame:
        frame = pl.from_arrow(self.engine.read(name))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def broken(self) -> list[str]:
        """Names of the checks that object."""
        return sorted({violation.check for violation in self.engine.check()})
