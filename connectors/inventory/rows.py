"""The rows an inventory gives, field for field the columns of the raw tables, and their Arrow form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime

import orjson
import pyarrow as pa

from connectors.raw_tables import RAW_TABLES


@dataclass(frozen=True, slots=True)
class Span:
    """From when until when something held; naive UTC, as the warehouse stores it."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One row of raw.node, less cluster_id."""

    node: str
    provider_id: str | None
    resource_key: str | None
    instance_type: str | None
    region: str | None
    zone: str | None
    capacity_type: str | None
    pool: str | None
    gpu_model: str | None
    gpu_count: int | None
    gpu_replicas: int | None
    sharing: str | None
    mig_strategy: str | None
    mig_profile: str | None
    vcpu: float | None
    memory_gib: float | None
    labels: str
    valid_from: datetime
    valid_to: datetime


@dataclass(frozen=True, slots=True)
class PodRow:
    """One row of raw.pod, less cluster_id."""

    namespace: str
    pod: str
    pod_uid: str
    node: str | None
    workload_kind: str | None
    workload_name: str | None
    is_daemon: bool
    valid_from: datetime
    valid_to: datetime


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One row of raw.container_request, less cluster_id."""

    namespace: str
    pod: str
    pod_uid: str
    container: str
    node: str
    resource: str
    quantity: float
    valid_from: datetime
    valid_to: datetime


@dataclass(frozen=True, slots=True)
class WorkloadRow:
    """One row of raw.workload, less cluster_id."""

    namespace: str
    workload_kind: str
    workload_name: str
    api_version: str | None
    workload_class: str | None
    class_evidence: str | None
    team: str
    replicas: int | None
    has_disruption_budget: bool | None
    manifest_origin: str | None
    labels: str
    annotations: str
    valid_from: datetime
    valid_to: datetime


Row = NodeRow | PodRow | RequestRow | WorkloadRow
_TABLE_BY_ROW: Mapping[type[Row], str] = {
    NodeRow: "node",
    PodRow: "pod",
    RequestRow: "container_request",
    WorkloadRow: "workload",
}


def tables(cluster_id: str, rows: Iterable[Row]) -> dict[str, pa.Table]:
    """Return the rows by raw table, each sorted as the rows came; a table without rows is left out."""
    rows_by_type: dict[type[Row], list[Row]] = {}
    for row in rows:
        rows_by_type.setdefault(type(row), []).append(row)
    return {_TABLE_BY_ROW[kind]: _table(cluster_id, kind, same_kind) for kind, same_kind in rows_by_type.items()}


def _table(cluster_id: str, kind: type[Row], rows: list[Row]) -> pa.Table:
    columns: dict[str, list[object]] = {"cluster_id": [cluster_id] * len(rows)}
    columns |= {field.name: [getattr(row, field.name) for row in rows] for field in fields(kind)}
    return pa.table(columns, schema=RAW_TABLES[_TABLE_BY_ROW[kind]].columns)


def json_text(values: Mapping[str, str]) -> str:
    """Return text by text as a JSON object with sorted keys."""
    return orjson.dumps(dict(values), option=orjson.OPT_SORT_KEYS).decode()
