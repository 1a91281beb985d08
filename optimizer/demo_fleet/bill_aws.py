"""Write the AWS bill: FOCUS 1.2 as Data Exports ships it, hourly, one gzip CSV a month."""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
import polars as pl

from optimizer.demo_fleet.bill_period import BillMonth, bill_months, hour_texts, iso
from optimizer.demo_fleet.charge import Charge, charges_of_day, charges_of_month
from optimizer.demo_fleet.ledger import Ledger
from optimizer.demo_fleet.nouns import Cloud, Commitment, Fleet
from optimizer.demo_fleet.shapes import AWS_CLUSTER
from optimizer.demo_fleet.ticks import decimal_of, decimal_text
from optimizer.demo_fleet.usage_rows import MONEY, NO_COMMITMENT, machine_columns, usage_rows

PAYER = "123456789012"
EC2 = "Amazon Elastic Compute Cloud"
GZIP_LEVEL = 6
COLUMNS = (
    "AvailabilityZone", "BilledCost", "BillingAccountId", "BillingAccountName", "BillingAccountType", "BillingCurrency",
    "BillingPeriodEnd", "BillingPeriodStart", "CapacityReservationId", "CapacityReservationStatus", "ChargeCategory",
    "ChargeClass", "ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart",
    "CommitmentDiscountCategory", "CommitmentDiscountId", "CommitmentDiscountName", "CommitmentDiscountQuantity",
    "CommitmentDiscountStatus", "CommitmentDiscountType", "CommitmentDiscountUnit", "ConsumedQuantity", "ConsumedUnit",
    "ContractedCost", "ContractedUnitPrice", "EffectiveCost", "InvoiceId", "InvoiceIssuerName", "ListCost",
    "ListUnitPrice", "PricingCategory", "PricingCurrency", "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice", "PricingQuantity", "PricingUnit", "ProviderName",
    "PublisherName", "RegionId", "RegionName", "ResourceId", "ResourceName", "ResourceType", "ServiceCategory",
    "ServiceName", "ServiceSubcategory", "SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId", "SubAccountId",
    "SubAccountName", "SubAccountType", "Tags", "x_Discounts", "x_Operation", "x_ServiceCode",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Pages:
    """What every day of the bill needs, made once."""

    fleet: Fleet
    book: Ledger
    machines: pl.DataFrame  # by position in the ledger
    plans: pl.DataFrame  # first the row for "no plan"
    texts: pl.Series  # of each hour


def write_aws_bill(fleet: Fleet, book: Ledger, folder: Path) -> Iterator[pl.DataFrame]:
    """Write the files; yield money and categories of each piece written, in ticks, for the totals."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = _Pages(fleet, book, _about_machines(book), _plan_columns(book.commitments), hour_texts(fleet.spec))
    for month in bill_months(fleet.spec):
        path = folder / f"focus-{month.name}.csv.gz"
        with path.open("wb") as raw, gzip.GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0) as file:
            machine_ticks = 0
            for number, hours in enumerate(month.days):
                day = pl.concat(
                    [
                        _usage(pages, hours),
                        _plans(pages, hours),
                        _charges(charges_of_day(fleet, Cloud.AWS, hours)),
                    ],
                    how="diagonal",
                )
                machine_ticks += int(day["BilledCost"].sum())
                file.write(_csv(day, month, with_header=number == 0))
                yield day.select(MONEY)
            last = _charges(charges_of_month(month, Cloud.AWS, machine_ticks))
            file.write(_csv(last, month, with_header=False))
            yield last.select(MONEY)


def _usage(pages: _Pages, hours: range) -> pl.DataFrame:
    rows = usage_rows(pages.book, Cloud.AWS, hours)
    rows = pl.concat([rows, pages.machines[rows["machine"]]], how="horizontal")
    is_spot, is_covered = pl.col("is_spot"), pl.col("commitment") != NO_COMMITMENT
    usage_type = pl.when(is_spot).then(pl.lit("SpotUsage:")).otherwise(pl.lit("BoxUsage:")) + pl.col("instance_type")
    instance = f"arn:aws:ec2:{AWS_CLUSTER.region}:{AWS_CLUSTER.account}:instance/"
    quantity = decimal_text("quantity")
    rows = rows.with_columns(
        ChargePeriodStart=pages.texts[rows["hour"]],
        ChargePeriodEnd=pages.texts[rows["hour"] + 1],
        ChargeCategory=pl.lit("Usage"),
        ChargeFrequency=pl.lit("Usage-Based"),
        ChargeDescription=pl.when(is_spot)
        .then(pl.col("instance_type") + " Linux/UNIX Spot Instance-hour in US East (Virginia)")
        .otherwise("$ per On Demand Linux " + pl.col("instance_type") + " Instance Hour"),
        PricingCategory=pl.when(is_spot)
        .then(pl.lit("Dynamic"))
        .when(is_covered)
        .then(pl.lit("Committed"))
        .otherwise(pl.lit("Standard")),
        PricingQuantity=quantity,
        PricingUnit=pl.lit("Hours"),
        ConsumedQuantity=quantity,
        ConsumedUnit=pl.lit("Hours"),
        ResourceId=instance + pl.col("resource_name"),
        ResourceType=pl.lit("Instance"),
        ServiceName=pl.lit(EC2),
        ServiceCategory=pl.lit("Compute"),
        ServiceSubcategory=pl.lit("Virtual Machines"),
        AvailabilityZone=pl.col("zone"),
        SkuId=pl.lit("SKU-") + pl.col("instance_type"),
        SkuMeter=usage_type,
        # AWS leaves the product columns of Spot rows empty: only the description names the type.
        SkuPriceDetails=pl.when(~is_spot).then(pl.col("details")),
        Tags=pl.col("tags"),
        x_Discounts=_discount(),
        x_Operation=pl.lit("RunInstances"),
        x_ServiceCode=pl.lit("AmazonEC2"),
    )
    return pl.concat([rows, pages.plans[rows["commitment"] + 1]], how="horizontal").with_columns(
        CommitmentDiscountQuantity=pl.when(is_covered).then(decimal_text("EffectiveCost")),
    )


def _about_machines(book: Ledger) -> pl.DataFrame:
    """Return the machines' columns with the JSON texts that AWS adds."""
    named = machine_columns(book)
    details, tags = [], []
    for row in named.iter_rows(named=True):
        details.append(
            orjson.dumps(
                {
                    "InstanceType": row["instance_type"],
                    "InstanceSeries": row["series"],
                    "CoreCount": str(row["vcpu"]),
                    "MemorySize": str(row["memory_gib"]),
                    "GpuCount": str(row["gpu_count"]),
                    "OperatingSystem": "Linux",
                }
            ).decode()
        )
        tags.append(
            orjson.dumps({"eks:cluster-name": row["cluster_id"], "karpenter.sh/nodepool": row["pool"]}).decode()
        )
    return named.with_columns(details=pl.Series(details, dtype=pl.String), tags=pl.Series(tags, dtype=pl.String))


def _discount() -> pl.Expr:
    """Return the private rate as AWS shows it; on demand only."""
    is_discounted = (pl.col("commitment") == NO_COMMITMENT) & ~pl.col("is_spot")
    return pl.when(is_discounted).then(
        pl.lit('{"PrivateRateDiscount":') + decimal_of(pl.col("ContractedCost") - pl.col("ListCost")) + pl.lit("}")
    )


def _plan_columns(commitments: Sequence[Commitment]) -> pl.DataFrame:
    """Return the columns that name a plan: first the row for "none", then one row for each."""
    known = [None, *commitments]
    return pl.DataFrame(
        {
            "CommitmentDiscountId": [plan and _plan_arn(plan) for plan in known],
            "CommitmentDiscountName": [plan and f"{plan.plan_type} Savings Plan, 1 year, no upfront" for plan in known],
            "CommitmentDiscountCategory": [plan and "Spend" for plan in known],
            "CommitmentDiscountType": [plan and f"{plan.plan_type} Savings Plans" for plan in known],
            "CommitmentDiscountStatus": [plan and "Used" for plan in known],
            "CommitmentDiscountUnit": [plan and "USD" for plan in known],
        },
        schema_overrides=dict.fromkeys(_PLAN_TEXTS, pl.String),
    )


_PLAN_TEXTS = (
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountCategory",
    "CommitmentDiscountType",
    "CommitmentDiscountStatus",
    "CommitmentDiscountUnit",
)


def _plan_arn(commitment: Commitment) -> str:
    return f"arn:aws:savingsplans::{AWS_CLUSTER.account}:savingsplan/{commitment.commitment_id}"


def _plans(pages: _Pages, hours: range) -> pl.DataFrame:
    """Return the hourly fee of each plan, and what of it no usage took."""
    at = np.arange(hours.start, hours.stop)
    frames = []
    for position, plan in enumerate(pages.book.commitments):
        fee = np.full(len(at), plan.ticks_per_hour, dtype=np.int64)
        unused = pages.book.unused(position)[hours.start : hours.stop]
        nothing = np.zeros_like(fee)
        named = pages.plans[[position + 1] * len(at)]
        purchase = pl.DataFrame({"ListCost": fee, "ContractedCost": fee, "BilledCost": fee, "EffectiveCost": nothing})
        wasted = pl.DataFrame(dict.fromkeys(("ListCost", "ContractedCost", "BilledCost"), nothing))
        frames.append(
            pl.concat(
                [purchase, named.with_columns(CommitmentDiscountStatus=pl.lit(None, pl.String))], how="horizontal"
            ).with_columns(
                ChargeCategory=pl.lit("Purchase"),
                ChargeFrequency=pl.lit("Recurring"),
                ChargeDescription=pl.lit("Savings Plan, recurring hourly fee"),
                ChargePeriodStart=pages.texts[at],
                ChargePeriodEnd=pages.texts[at + 1],
                PricingCategory=pl.lit("Standard"),
                CommitmentDiscountQuantity=decimal_text("BilledCost"),
            )
        )
        frames.append(
            pl.concat([wasted.with_columns(EffectiveCost=unused), named], how="horizontal")
            .with_columns(
                ChargeCategory=pl.lit("Usage"),
                ChargeFrequency=pl.lit("Usage-Based"),
                ChargeDescription=pl.lit("Savings Plan commitment no usage took"),
                ChargePeriodStart=pages.texts[at],
                ChargePeriodEnd=pages.texts[at + 1],
                PricingCategory=pl.lit("Committed"),
                CommitmentDiscountStatus=pl.lit("Unused"),
                CommitmentDiscountQuantity=decimal_text("EffectiveCost"),
            )
            .filter(pl.col("EffectiveCost") > 0)
        )
    if not frames:
        return pl.DataFrame(schema=dict.fromkeys(MONEY, pl.Int64))
    return pl.concat(frames, how="diagonal").with_columns(
        ResourceId=pl.col("CommitmentDiscountId"),
        ResourceType=pl.lit("Savings Plan"),
        ServiceName=pl.lit("Savings Plans for AWS Compute usage"),
        ServiceCategory=pl.lit("Compute"),
        SkuMeter=pl.lit("ComputeSP:1yrNoUpfront"),
        x_ServiceCode=pl.lit("ComputeSavingsPlans"),
    )


def _charges(charges: Sequence[Charge]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            **{name: [charge.billed_ticks for charge in charges] for name in MONEY},
            "ChargePeriodStart": [iso(charge.start) for charge in charges],
            "ChargePeriodEnd": [iso(charge.end) for charge in charges],
            "ChargeCategory": [charge.category for charge in charges],
            "ChargeFrequency": [charge.frequency for charge in charges],
            "ChargeDescription": [charge.description for charge in charges],
            "PricingCategory": ["Standard" if charge.category == "Usage" else None for charge in charges],
            "ServiceName": [charge.service for charge in charges],
            "ServiceCategory": [charge.service_category for charge in charges],
            "ResourceId": [charge.resource for charge in charges],
            "Tags": [
                orjson.dumps({"eks:cluster-name": charge.cluster_id}).decode() if charge.cluster_id else None
                for charge in charges
            ],
        },
        schema_overrides={"ResourceId": pl.String, "Tags": pl.String, "PricingCategory": pl.String},
    )


def _csv(rows: pl.DataFrame, month: BillMonth, *, with_header: bool) -> bytes:
    """Return the rows in the file's columns."""
    everywhere = {
        "BillingAccountId": PAYER,
        "BillingAccountName": "Acme AI",
        "BillingAccountType": "Payer",
        "BillingCurrency": "USD",
        "BillingPeriodStart": iso(month.start),
        "BillingPeriodEnd": iso(month.end),
        "InvoiceIssuerName": "Amazon Web Services, Inc.",
        "ProviderName": "AWS",
        "PublisherName": "AWS",
        "PricingCurrency": "USD",
        "RegionId": AWS_CLUSTER.region,
        "RegionName": "US East (N. Virginia)",
        "SubAccountId": AWS_CLUSTER.account,
        "SubAccountName": "ml-platform",
        "SubAccountType": "Member",
    }
    filled = rows.with_columns(
        *(decimal_text(name) for name in MONEY), **{name: pl.lit(value) for name, value in everywhere.items()}
    )
    absent = [pl.lit(None, pl.String).alias(name) for name in COLUMNS if name not in filled.columns]
    return filled.with_columns(absent).select(COLUMNS).write_csv(include_header=with_header).encode()
