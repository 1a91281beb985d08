"""Write the Google Cloud bill: FOCUS 1.0 as its BigQuery view gives it, several SKUs a machine, one Parquet a month."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from optimizer.demo_fleet.bill_period import BillMonth, bill_months
from optimizer.demo_fleet.charge import Charge, charges_of_day, charges_of_month
from optimizer.demo_fleet.ledger import Ledger, Machine
from optimizer.demo_fleet.nouns import Cloud, Fleet, Market
from optimizer.demo_fleet.shapes import COMPONENT_RATES, GCP_CLUSTER, L4
from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.ticks import TICK_DIGITS
from optimizer.demo_fleet.tokens import token
from optimizer.demo_fleet.usage_rows import MONEY, usage_rows

BILLING_ACCOUNT = "01A2B3-C4D5E6-F70819"
TIMESTAMP = pa.timestamp("us", tz="UTC")
AMOUNT = pa.decimal128(38, TICK_DIGITS)
LABELS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))
TEXTS = (
    "AvailabilityZone", "BillingAccountId", "BillingAccountName", "BillingCurrency", "ChargeCategory", "ChargeClass",
    "ChargeDescription", "ChargeFrequency", "CommitmentDiscountCategory", "CommitmentDiscountId",
    "CommitmentDiscountName", "CommitmentDiscountStatus", "CommitmentDiscountType", "ConsumedUnit", "InvoiceIssuerName",
    "PricingCategory", "PricingUnit", "ProviderName", "PublisherName", "RegionId", "RegionName", "ResourceId",
    "ResourceName", "ResourceType", "ServiceCategory", "ServiceName", "SkuId", "SkuPriceId", "SubAccountId",
    "SubAccountName",
)  # fmt: skip
INSTANTS = ("BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd")
AMOUNTS = (*MONEY, "ListUnitPrice", "ContractedUnitPrice", "PricingQuantity", "ConsumedQuantity")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in TEXTS),
        *((name, TIMESTAMP) for name in INSTANTS),
        *((name, AMOUNT) for name in AMOUNTS),
        ("Tags", LABELS),
    ]
)
_GPU_NAMES = {L4: "Nvidia L4 GPU"}
_OTHER_GPU = "Nvidia Tesla A100 80GB GPU"


@dataclass(frozen=True, slots=True)
class Part:
    """One SKU of a machine."""

    sku: str
    unit: str
    amount: int  # cores, GiB or GPUs
    list_ticks_per_hour: int


def write_gcp_bill(fleet: Fleet, book: Ledger, folder: Path) -> Iterator[pl.DataFrame]:
    """Write the files; yield money of each piece written, in ticks, for the totals."""
    folder.mkdir(parents=True, exist_ok=True)
    machines = [(row, one) for row, one in enumerate(book.machines) if one.node.cluster is GCP_CLUSTER]
    tables = _part_tables(machines)
    for month in bill_months(fleet.spec):
        with pq.ParquetWriter(folder / f"focus-{month.name}.parquet", SCHEMA) as file:
            machine_ticks = 0
            for hours in month.days:
                day = _usage(fleet.spec, book, tables, hours)
                others = _charges(charges_of_day(fleet, Cloud.GCP, hours))
                written = pl.concat([day, others], how="diagonal")
                machine_ticks += int(written["BilledCost"].sum())
                file.write_table(_arrow(written, month))
                yield written.select(MONEY)
            last = _charges(charges_of_month(month, Cloud.GCP, machine_ticks))
            file.write_table(_arrow(last, month))
            yield last.select(MONEY)


def parts_of(machine: Machine) -> list[Part]:
    """Return the SKUs of a machine; their list prices add up to the machine's."""
    shape = machine.shape
    series = shape.instance_type.split("-", maxsplit=1)[0]
    rates = COMPONENT_RATES[series]
    prefix = "Spot Preemptible " if machine.market is Market.SPOT else ""
    core, memory = rates.core_ticks * shape.vcpu, rates.memory_gib_ticks * shape.memory_gib
    parts = [
        Part(f"{prefix}{series.upper()} Instance Core running in Americas", "hour", shape.vcpu, core),
        Part(f"{prefix}{series.upper()} Instance Ram running in Americas", "gibibyte hour", shape.memory_gib, memory),
    ]
    if shape.gpu_model:
        gpu = f"{_GPU_NAMES.get(shape.gpu_model, _OTHER_GPU)} running in Americas"
        parts.append(Part(gpu, "hour", shape.gpu_count, shape.list_ticks_per_hour - core - memory))
    return parts


def _usage(spec: FleetSpec, book: Ledger, tables: Sequence[pl.DataFrame], hours: range) -> pl.DataFrame:
    rows = usage_rows(book, Cloud.GCP, hours)
    frames = [_part_rows(spec, rows, table) for table in tables]
    if not frames:
        return pl.DataFrame(schema=dict.fromkeys(MONEY, pl.Int64))
    return pl.concat(frames).sort("ChargePeriodStart", "ResourceId", "SkuId")


def _part_tables(machines: Sequence[tuple[int, Machine]]) -> list[pl.DataFrame]:
    """Return one table for the first SKU of each machine, one for the second, and so on."""
    named = [(row, machine, parts_of(machine)) for row, machine in machines]
    most = max((len(parts) for _, _, parts in named), default=0)
    return [
        pl.DataFrame(
            [
                {
                    "machine": row,
                    "part_ticks": parts[position].list_ticks_per_hour,
                    "whole_ticks": machine.shape.list_ticks_per_hour,
                    "amount": parts[position].amount,
                    "PricingUnit": parts[position].unit,
                    "ChargeDescription": parts[position].sku,
                    "SkuId": token(12, "sku", parts[position].sku).upper(),
                    "is_last": position == len(parts) - 1,
                    "other_ticks": [part.list_ticks_per_hour for part in parts[:-1]],
                    **_names(machine),
                }
                for row, machine, parts in named
                if position < len(parts)
            ]
        )
        for position in range(most)
    ]


def _part_rows(spec: FleetSpec, rows: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    joined = rows.join(table, on="machine", maintain_order="left")
    money = [_share(name).alias(name) for name in MONEY]
    amount = pl.col("quantity") * pl.col("amount")
    unit_price = pl.col("part_ticks") // pl.col("amount")
    return joined.with_columns(money).with_columns(
        PricingQuantity=amount,
        ConsumedQuantity=amount,
        ConsumedUnit=pl.col("PricingUnit"),
        ListUnitPrice=unit_price,
        ContractedUnitPrice=unit_price,
        ChargePeriodStart=_instants(spec, joined["hour"], 0),
        ChargePeriodEnd=_instants(spec, joined["hour"], 1),
        SkuPriceId=pl.col("SkuId") + "-HOUR",
    )


def _share(name: str) -> pl.Expr:
    """Return the part's share of the machine's money; the last part takes what rounding leaves."""
    part = _scaled(name, pl.col("part_ticks"))
    first, second = (_scaled(name, pl.col("other_ticks").list.get(index, null_on_oob=True)) for index in (0, 1))
    return pl.when(pl.col("is_last")).then(pl.col(name) - first.fill_null(0) - second.fill_null(0)).otherwise(part)


def _scaled(name: str, part: pl.Expr) -> pl.Expr:
    """Return money x part / whole, rounded down, within 64 bits."""
    whole, money = pl.col("whole_ticks"), pl.col(name)
    return money // whole * part + ((money % whole) * (part / whole)).floor().cast(pl.Int64)


def _names(machine: Machine) -> dict[str, str | None]:
    node = machine.node
    path = f"//compute.googleapis.com/projects/{GCP_CLUSTER.account}/zones/{node.zone}/instances/{node.resource_name}"
    return {
        "ResourceId": path,
        "ResourceName": node.resource_name,
        "ResourceType": "Instance",
        "AvailabilityZone": node.zone,
        "PricingCategory": "Dynamic" if machine.market is Market.SPOT else "Standard",
        "ServiceName": "Compute Engine",
        "ServiceCategory": "Compute",
        "ChargeCategory": "Usage",
        "ChargeFrequency": "Usage-Based",
        "cluster_id": node.cluster.cluster_id,
        "pool": node.pool,
        "instance_type": machine.shape.instance_type,
    }


def _charges(charges: Sequence[Charge]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            **{name: [charge.billed_ticks for charge in charges] for name in MONEY},
            "ChargePeriodStart": [charge.start for charge in charges],
            "ChargePeriodEnd": [charge.end for charge in charges],
            "ChargeCategory": [charge.category for charge in charges],
            "ChargeFrequency": [charge.frequency for charge in charges],
            "ChargeDescription": [charge.description for charge in charges],
            "PricingCategory": ["Standard" if charge.category == "Usage" else None for charge in charges],
            "ServiceName": [charge.service for charge in charges],
            "ServiceCategory": [charge.service_category for charge in charges],
            "ResourceId": [charge.resource for charge in charges],
            "cluster_id": [charge.cluster_id for charge in charges],
        },
        schema_overrides={
            "ResourceId": pl.String,
            "cluster_id": pl.String,
            "PricingCategory": pl.String,
            "ChargePeriodStart": pl.Datetime("us", "UTC"),
            "ChargePeriodEnd": pl.Datetime("us", "UTC"),
        },
    )


def _instants(spec: FleetSpec, hours: pl.Series, later: int) -> pl.Series:
    start = np.datetime64(spec.window_start.replace(tzinfo=None), "us")
    instants = start + (hours.to_numpy() + later) * np.timedelta64(1, "h")
    return pl.Series(instants).cast(pl.Datetime("us")).dt.replace_time_zone("UTC")


def _arrow(rows: pl.DataFrame, month: BillMonth) -> pa.Table:
    everywhere = {
        "BillingAccountId": BILLING_ACCOUNT,
        "BillingAccountName": "Acme AI",
        "BillingCurrency": "USD",
        "InvoiceIssuerName": "Google Cloud",
        "ProviderName": "Google Cloud",
        "PublisherName": "Google",
        "RegionId": GCP_CLUSTER.region,
        "RegionName": "Iowa",
        "SubAccountId": GCP_CLUSTER.account,
        "SubAccountName": "ML production",
    }
    height = rows.height
    columns = []
    for field in SCHEMA:
        if field.name in everywhere:
            columns.append(pa.array([everywhere[field.name]] * height, pa.string()))
        elif field.name in {"BillingPeriodStart", "BillingPeriodEnd"}:
            instant = month.start if field.name.endswith("Start") else month.end
            columns.append(pa.array([instant] * height, TIMESTAMP))
        elif field.name == "Tags":
            columns.append(_labels(rows))
        elif field.name not in rows.columns:
            columns.append(pa.nulls(height, field.type))
        elif field.name in AMOUNTS:
            columns.append(_amounts(rows[field.name]))
        else:
            columns.append(rows[field.name].to_arrow().cast(field.type))
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _amounts(column: pl.Series) -> pa.Array:
    """Return ticks as decimal dollars without a float in between."""
    low = column.fill_null(0).to_numpy()
    words = np.empty((len(low), 2), dtype=np.int64)  # 128-bit little-endian two's complement
    words[:, 0], words[:, 1] = low, low >> 63
    validity = pa.array(column.is_not_null().to_numpy()).buffers()[1]
    return pa.Array.from_buffers(AMOUNT, len(low), [validity, pa.py_buffer(words.tobytes())])


def _labels(rows: pl.DataFrame) -> pa.Array:
    wanted = ("cluster_id", "pool", "instance_type")
    names = ("goog-k8s-cluster-name", "goog-k8s-node-pool-name", "compute.googleapis.com/machine_spec")
    absent = [pl.lit(None, pl.String).alias(name) for name in wanted if name not in rows.columns]
    texts = rows.with_columns(absent).select(wanted)
    distinct = texts.unique(maintain_order=True).with_row_index("position")
    labels = [
        [{"key": name, "value": value} for name, value in zip(names, row[1:], strict=True) if value is not None]
        for row in distinct.iter_rows()
    ]
    at = texts.join(distinct, on=wanted, nulls_equal=True, maintain_order="left")["position"]
    return pa.array(labels, LABELS).take(at.to_arrow())
