"""
The raw tables: their columns, units and the span of time a row belongs to. Written only by `connectors/load`.

Instants are UTC without a zone (`timestamp[us]`), which DuckDB and Spark read alike. Every table also gets
`source_id` (the configured source) and `source_object` (the file or answer the row came from).
"""

from dataclasses import dataclass

import pyarrow as pa

MONEY = pa.decimal128(38, 15)  # 1e-13 USD still counts; DECIMAL(38,12) would round it away
INSTANT = pa.timestamp("us")
TEXT = pa.string()
NUMBER = pa.float64()

GPU_QUANTITIES = (
    "gpu_util_ratio",  # share of time a kernel ran, 0..1; absent under MIG
    "gr_engine_active_ratio",
    "sm_active_ratio",
    "sm_occupancy_ratio",
    "tensor_active_ratio",
    "dram_active_ratio",
    "memory_used_gib",
    "memory_total_gib",
    "power_watts",
)


@dataclass(frozen=True, slots=True)
class RawTable:
    """Columns of one raw table, and which of them say when a row holds."""

    columns: pa.Schema
    starts: str  # instant from which the row holds
    ends: str  # instant at which it ends; the same column for a point in time
    merge_keys: tuple[str, ...] = ()  # several pages may bring parts of one row; these columns identify it

    @property
    def schema(self) -> pa.Schema:
        """Return the columns as stored, with where each row came from."""
        return pa.schema([pa.field("source_id", TEXT), pa.field("source_object", TEXT), *self.columns])


def _schema(**types: pa.DataType) -> pa.Schema:
    return pa.schema(list(types.items()))


_COST = _schema(  # FOCUS 1.4 names and meaning; ours start with x_
    BillingAccountId=TEXT,
    BillingAccountName=TEXT,
    SubAccountId=TEXT,
    SubAccountName=TEXT,
    BillingPeriodStart=INSTANT,
    BillingPeriodEnd=INSTANT,
    ChargePeriodStart=INSTANT,
    ChargePeriodEnd=INSTANT,
    ChargeCategory=TEXT,
    ChargeClass=TEXT,
    ChargeDescription=TEXT,
    ChargeFrequency=TEXT,
    ServiceProviderName=TEXT,
    InvoiceIssuerName=TEXT,
    InvoiceId=TEXT,
    ServiceName=TEXT,
    ServiceCategory=TEXT,
    RegionId=TEXT,
    AvailabilityZone=TEXT,
    ResourceId=TEXT,
    ResourceName=TEXT,
    ResourceType=TEXT,
    SkuId=TEXT,
    SkuMeter=TEXT,
    SkuPriceId=TEXT,
    SkuPriceDetails=TEXT,  # JSON object
    PricingCategory=TEXT,
    PricingQuantity=MONEY,
    PricingUnit=TEXT,
    ConsumedQuantity=MONEY,
    ConsumedUnit=TEXT,
    BilledCost=MONEY,
    EffectiveCost=MONEY,
    ListCost=MONEY,  # null: the provider did not say
    ContractedCost=MONEY,
    BillingCurrency=TEXT,
    CommitmentDiscountId=TEXT,
    CommitmentDiscountName=TEXT,
    CommitmentDiscountCategory=TEXT,
    CommitmentDiscountType=TEXT,
    CommitmentDiscountStatus=TEXT,
    CapacityReservationId=TEXT,
    CapacityReservationStatus=TEXT,
    Tags=TEXT,  # JSON object
    x_resource_key=TEXT,  # ResourceId as nodes name it: models.domain.resource_key
    x_instance_type=TEXT,
)

_GPU_5M = pa.schema(
    [
        ("cluster_id", TEXT),
        ("node", TEXT),  # Kubernetes node, null where the series does not say
        ("gpu_uuid", TEXT),
        ("mig_instance_id", TEXT),  # GPU_I_ID; empty text for a whole GPU
        ("mig_profile", TEXT),
        ("gpu_model", TEXT),  # exact nvidia-smi name
        ("bucket_start", INSTANT),
        *(
            field
            for quantity in GPU_QUANTITIES
            for field in (
                (f"{quantity}_mean", NUMBER),
                (f"{quantity}_max", NUMBER),
                (f"{quantity}_samples", pa.int32()),
            )
        ),
    ]
)

RAW_TABLES: dict[str, RawTable] = {
    "cost": RawTable(_COST, "BillingPeriodStart", "BillingPeriodEnd"),
    "cost_load": RawTable(  # control totals of what a load brought, counted before the engine sees it
        _schema(
            BillingPeriodStart=INSTANT,
            BillingPeriodEnd=INSTANT,
            BillingCurrency=TEXT,
            charge_rows=pa.int64(),
            BilledCost=MONEY,
            EffectiveCost=MONEY,
        ),
        "BillingPeriodStart",
        "BillingPeriodEnd",
    ),
    "price": RawTable(
        _schema(
            provider=TEXT,
            region=TEXT,
            item=TEXT,  # instance type, or component such as "gpu:NVIDIA L4", "vcpu", "memory_gib"
            kind=TEXT,  # node | component
            purchase_option=TEXT,  # on_demand | spot | reserved_1y ...
            usd_per_hour=MONEY,
            state=TEXT,  # known | unknown | not_offered
            priced_at=INSTANT,
            price_source=TEXT,
        ),
        "priced_at",
        "priced_at",
    ),
    "gpu_5m": RawTable(
        _GPU_5M,
        "bucket_start",
        "bucket_start",
        merge_keys=("cluster_id", "gpu_uuid", "mig_instance_id", "bucket_start"),
    ),
    "gpu_pod_hint": RawTable(  # what exporter labels say: a hint which UUID, never an allocation
        _schema(
            cluster_id=TEXT,
            gpu_uuid=TEXT,
            mig_instance_id=TEXT,
            namespace=TEXT,
            pod=TEXT,
            container=TEXT,
            valid_from=INSTANT,
            valid_to=INSTANT,
        ),
        "valid_from",
        "valid_to",
    ),
    "container_request": RawTable(  # who asked for what, while Running
        _schema(
            cluster_id=TEXT,
            namespace=TEXT,
            pod=TEXT,
            pod_uid=TEXT,
            container=TEXT,
            node=TEXT,
            resource=TEXT,  # "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "cpu" (cores), "memory" (GiB)
            quantity=NUMBER,
            valid_from=INSTANT,
            valid_to=INSTANT,
        ),
        "valid_from",
        "valid_to",
    ),
    "pod": RawTable(
        _schema(
            cluster_id=TEXT,
            namespace=TEXT,
            pod=TEXT,
            pod_uid=TEXT,
            node=TEXT,
            workload_kind=TEXT,  # top of the owner chain as far as it is known: Deployment, Notebook, PyTorchJob, Pod
            workload_name=TEXT,
            is_daemon=pa.bool_(),  # owned by a DaemonSet or static: shared, not a workload
            valid_from=INSTANT,
            valid_to=INSTANT,
        ),
        "valid_from",
        "valid_to",
    ),
    "node": RawTable(
        _schema(
            cluster_id=TEXT,
            node=TEXT,
            provider_id=TEXT,
            resource_key=TEXT,  # provider_id as bills name it: models.domain.resource_key
            instance_type=TEXT,
            region=TEXT,
            zone=TEXT,
            capacity_type=TEXT,  # on_demand | spot | reserved; null when no label says
            pool=TEXT,
            gpu_model=TEXT,  # exact nvidia-smi name; null on a node without GPUs
            gpu_count=pa.int32(),  # physical devices
            gpu_replicas=pa.int32(),  # time-slicing or MPS replicas of one device, 1 without sharing
            sharing=TEXT,  # none | time-slicing | mps
            mig_strategy=TEXT,  # null | single | mixed
            mig_profile=TEXT,  # what one nvidia.com/gpu is under strategy single; null otherwise
            vcpu=NUMBER,
            memory_gib=NUMBER,
            labels=TEXT,  # JSON object
            valid_from=INSTANT,
            valid_to=INSTANT,
        ),
        "valid_from",
        "valid_to",
    ),
    "workload": RawTable(
        _schema(
            cluster_id=TEXT,
            namespace=TEXT,
            workload_kind=TEXT,
            workload_name=TEXT,
            api_version=TEXT,
            workload_class=TEXT,  # training | inference | notebook | batch | dev; null when nothing says
            class_evidence=TEXT,
            team=TEXT,
            replicas=pa.int32(),
            has_disruption_budget=pa.bool_(),
            manifest_origin=TEXT,  # argocd | helm | kustomize | flux; null when nothing says
            labels=TEXT,
            annotations=TEXT,
            valid_from=INSTANT,
            valid_to=INSTANT,
        ),
        "valid_from",
        "valid_to",
    ),
    "finding": RawTable(  # what a load did not believe, or had to assume
        _schema(
            code=TEXT,  # stable word: dropped_blank, unit_unclear, unknown_metric, unreadable_file ...
            subject=TEXT,  # file, line, series or metric it is about
            message=TEXT,
            occurrences=pa.int64(),
            usd=MONEY,  # dollars concerned, null when none are
            observed_from=INSTANT,
            observed_to=INSTANT,
        ),
        "observed_from",
        "observed_to",
    ),
}
