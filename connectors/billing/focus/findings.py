"""What a page made us assume or not believe, as rows of raw.finding."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from connectors.billing.focus.amounts import rounded_amount
from connectors.raw_tables import INSTANT, MONEY, RAW_TABLES
from models.domain.window import EVERYTHING, naive_utc

USD = "USD"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell about a file."""

    code: str
    message: str
    occurrences: int
    amount: Decimal | None = None  # in the page's currency


@dataclass(slots=True)
class Findings:
    """Collects what is to tell about one page."""

    subject: str
    found: list[Finding] = field(default_factory=list)

    def add(self, code: str, message: str, occurrences: int, amount: Decimal | None = None) -> None:
        """Note a finding that occurred at least once."""
        if occurrences:
            self.found.append(Finding(code, f"{self.subject}: {message}", occurrences, amount))

    def table(self, charge_starts: pa.Array, currencies: pa.Array) -> pa.Table:
        """Return rows of raw.finding; `usd` is null unless the page is in US dollars alone."""
        is_usd = pc.unique(currencies).to_pylist() == [USD]
        first, last = _span(charge_starts)
        rows = sorted(self.found, key=lambda finding: finding.code)
        amounts = [finding.amount if is_usd else None for finding in rows]
        return pa.table(
            [
                pa.array([finding.code for finding in rows], pa.string()),
                pa.array([self.subject] * len(rows), pa.string()),
                pa.array([finding.message for finding in rows], pa.string()),
                pa.array([finding.occurrences for finding in rows], pa.int64()),
                pa.array([None if amount is None else rounded_amount(amount) for amount in amounts], MONEY),
                pa.array([first] * len(rows), INSTANT),
                pa.array([last] * len(rows), INSTANT),
            ],
            schema=RAW_TABLES["finding"].columns,
        )


def _span(instants: pa.Array) -> tuple[datetime, datetime]:
    """Return the first and last instant; all time where there is none, so that the next load replaces the rows."""
    span = pc.min_max(instants)
    if not span["min"].is_valid:
        return naive_utc(EVERYTHING.start), naive_utc(EVERYTHING.end)
    return span["min"].as_py(), span["max"].as_py()
