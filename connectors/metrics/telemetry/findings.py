"""What normalising a page did not believe, or had to assume, as rows of raw.finding."""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from connectors.raw_tables import RAW_TABLES
from models.domain.units import MICROSECONDS_PER_SECOND, MILLISECONDS_PER_SECOND

MICROSECONDS_PER_MILLISECOND = MICROSECONDS_PER_SECOND // MILLISECONDS_PER_SECOND


@dataclass(frozen=True, slots=True)
class Span:
    """First and last instant concerned, both included, milliseconds since 1970; None where a page has no samples."""

    first_ms: int | None
    last_ms: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of raw.finding."""

    code: str  # stable word
    subject: str
    message: str
    occurrences: int
    span: Span


def finding_table(findings: Iterable[Finding]) -> pa.Table:
    """Return the findings as rows of raw.finding, sorted by code and subject."""
    rows = sorted(findings, key=lambda finding: (finding.code, finding.subject, finding.message))
    schema = RAW_TABLES["finding"].columns
    columns = {
        "code": [row.code for row in rows],
        "subject": [row.subject for row in rows],
        "message": [row.message for row in rows],
        "occurrences": [row.occurrences for row in rows],
        "usd": [None] * len(rows),
        "observed_from": [_microseconds(row.span.first_ms) for row in rows],
        "observed_to": [_microseconds(row.span.last_ms) for row in rows],
    }
    return pa.table({field.name: pa.array(columns[field.name], field.type) for field in schema}, schema)


def _microseconds(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else milliseconds * MICROSECONDS_PER_MILLISECOND
