"""Small bills, and what the connector makes of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from connectors.billing.focus_files import Settings, fetch, normalise
from connectors.connector import Unreadable
from connectors.raw_tables import RAW_TABLES
from models.domain.errors import InputError
from models.domain.window import EVERYTHING

CHARGE = {
    "BilledCost": "1.50",
    "EffectiveCost": "1.50",
    "ListCost": "2.00",
    "ContractedCost": "1.80",
    "BillingCurrency": "USD",
    "BillingAccountId": "123",
    "BillingPeriodStart": "2026-11-01T00:00:00Z",
    "BillingPeriodEnd": "2026-12-01T00:00:00Z",
    "ChargePeriodStart": "2026-11-05T07:00:00Z",
    "ChargePeriodEnd": "2026-11-05T08:00:00Z",
    "ChargeCategory": "Usage",
    "ServiceProviderName": "AWS",
    "ServiceName": "Amazon EC2",
}


@dataclass
class Loaded:
    """All that a location gave."""

    cost: pa.Table
    cost_load: pa.Table
    findings: list[dict[str, object]]
    unreadable: list[Unreadable] = field(default_factory=list)
    pages: int = 0

    @property
    def codes(self) -> list[str]:
        return sorted({str(finding["code"]) for finding in self.findings} - {"absent_columns", "ignored_columns"})

    def message(self, code: str) -> str:
        return next(str(finding["message"]) for finding in self.findings if finding["code"] == code)

    def column(self, name: str) -> list[object]:
        return self.cost.column(name).to_pylist()

    @property
    def reason(self) -> str:
        (only,) = self.unreadable
        return only.reason


def read_location(settings: Settings) -> Loaded:
    """Do what `connectors.load` does, without a store."""
    tables = {name: [RAW_TABLES[name].columns.empty_table()] for name in ("cost", "cost_load", "finding")}
    unreadable, pages = [], 0
    for page in fetch(settings, EVERYTHING):
        if isinstance(page, Unreadable):
            unreadable.append(page)
            continue
        pages += 1
        try:
            rows_by_table = normalise(settings, page)
        except InputError as error:
            unreadable.append(Unreadable(page.origin, str(error)))
            continue
        for name, rows in rows_by_table.items():
            assert rows.schema.equals(RAW_TABLES[name].columns)
            tables[name].append(rows)
    whole = {name: pa.concat_tables(parts) for name, parts in tables.items()}
    return Loaded(whole["cost"], whole["cost_load"], whole["finding"].to_pylist(), unreadable, pages)


def csv_text(charges: list[Mapping[str, str]], columns: list[str] | None = None, line_end: str = "\n") -> str:
    """Return charges as CSV; what a charge leaves out is as in CHARGE."""
    names = columns or list(dict.fromkeys([*CHARGE, *(name for charge in charges for name in charge)]))
    lines = [",".join(names)]
    for charge in charges:
        values = [{**CHARGE, **charge}.get(name, "") for name in names]
        lines.append(
            ",".join('"' + value.replace('"', '""') + '"' if set(value) & set(',"\n') else value for value in values)
        )
    return line_end.join(lines) + line_end


@pytest.fixture
def charge_csv():
    """Give the writer of charges as CSV text."""
    return csv_text


@pytest.fixture
def read_text(tmp_path):
    """Give a function that reads the text of a bill; further arguments are settings."""

    def read(text: str | bytes, name: str = "bill.csv", **settings: object) -> Loaded:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_location(Settings(str(path), **settings))

    return read


@pytest.fixture
def read_charges(read_text):
    """Give a function that reads charges, each given by what differs from an everyday one."""

    def read(*charges: Mapping[str, str], **settings: object) -> Loaded:
        return read_text(csv_text(list(charges)), **settings)

    return read


@pytest.fixture
def read_folder():
    """Give a function that reads a location."""

    def read(location: Path | str, **settings: object) -> Loaded:
        return read_location(Settings(str(location), **settings))

    return read


@pytest.fixture
def dollars():
    """Give the exact amount a text names."""
    return Decimal
