"""Bills in FOCUS files: CSV, gzip or Parquet; a file, a folder or a glob."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from connectors.billing.focus.charges import ReadingRules, read_charges
from connectors.billing.focus.control_totals import control_totals
from connectors.billing.focus.deviations import tell_of_deviations, without_false_zeros
from connectors.billing.focus.findings import Findings
from connectors.billing.focus.layout import COST_AND_USAGE, WANTED, Layout
from connectors.billing.focus.pages import FocusPage, read_pages
from connectors.connector import Connector, Extent, Unreadable
from connectors.raw_tables import RAW_TABLES
from connectors.storage import find_files
from models.domain.errors import InputError
from models.domain.units import BYTES_PER_MIB
from models.domain.window import Window

_SUFFIXES = (".csv", ".csv.gz", ".parquet")
_SHOWN_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class Settings:
    """
    Where the bills are, and how their text is to be understood.

    Raises:
        ValueError: a setting is out of range.
    """

    location: str  # a file, a folder with all below it, or a glob; local paths for now
    billing_currency: str | None = None  # currency of rows that name none; rows in another one are reported
    decimal_comma: bool = False  # amounts are written 1.234,56
    null_tokens: tuple[str, ...] = ("", "NULL", "null")  # cells that say nothing
    page_mib: int = 32  # MiB of a file held in memory at a time; about a dozen times as much is used

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if self.page_mib < 1:
            message = f"page_mib must be at least 1, got {self.page_mib}"
            raise ValueError(message)
        if self.billing_currency is not None and self.billing_currency != self.billing_currency.strip().upper():
            message = f'billing_currency must be a code such as "USD", got {self.billing_currency!r}'
            raise ValueError(message)


def fetch(settings: Settings, window: Window) -> Iterator[FocusPage | Unreadable]:
    """
    Yield every file page by page; `window` does not matter, since files are read whole.

    Raises:
        InputError: the location does not exist or holds no bill.
    """
    del window
    paths = find_files(settings.location, _SUFFIXES)
    if not paths:
        message = (
            f"location {settings.location!r}: no file ending in {', '.join(_SUFFIXES)} there; nothing was read, and "
            "what earlier runs loaded stays"
        )
        raise InputError(message)
    for path in paths:
        try:
            yield from read_pages(path, settings.page_mib * BYTES_PER_MIB)
        except InputError as error:
            yield Unreadable(path, str(error))


def normalise(settings: Settings, page: FocusPage) -> Mapping[str, pa.Table]:
    """
    Return the page's rows of raw.cost, raw.cost_load and raw.finding.

    Raises:
        InputError: a record, cost or period cannot be read; names file, line and column.
    """
    layout = page.layout
    findings = Findings(page.origin)
    if layout.dataset != COST_AND_USAGE:
        return _other_dataset(layout, findings)
    rules = ReadingRules(settings.null_tokens, settings.decimal_comma, settings.billing_currency)
    charges = read_charges(page, rules, findings)
    cost = without_false_zeros(charges.cost, findings)
    tell_of_deviations(cost, charges.cells, charges.list_unit_prices, findings)
    if page.is_first and cost.num_rows:
        _tell_of_columns(layout, findings)
    try:
        totals = control_totals(cost)
    except OverflowError as error:
        message = f"{page.origin}: {error}; correct the export"
        raise InputError(message) from error
    told = findings.table(cost.column("ChargePeriodStart"), cost.column("BillingCurrency"))
    return {"cost": cost, "cost_load": totals, "finding": told}


def _other_dataset(layout: Layout, findings: Findings) -> Mapping[str, pa.Table]:
    findings.add(
        "other_dataset",
        f"this is the FOCUS data set {layout.dataset!r}, which holds no charges; it is left alone, move it elsewhere "
        "to silence this",
        1,
    )
    cost = RAW_TABLES["cost"].columns.empty_table()
    told = findings.table(cost.column("ChargePeriodStart"), cost.column("BillingCurrency"))
    return {"cost": cost, "cost_load": RAW_TABLES["cost_load"].columns.empty_table(), "finding": told}


def _tell_of_columns(layout: Layout, findings: Findings) -> None:
    absent = [f"{name} ({WANTED[name]})" for name in layout.absent]
    findings.add("absent_columns", f"columns the file does not have: {', '.join(absent)}", len(absent))
    shown = ", ".join(layout.ignored[:_SHOWN_COLUMNS]) + (", ..." if len(layout.ignored) > _SHOWN_COLUMNS else "")
    findings.add("ignored_columns", f"columns nothing is taken from: {shown}", len(layout.ignored))


CONNECTOR = Connector(
    name="focus_files",
    tables=("cost", "cost_load"),
    extent=Extent.EVERYTHING,
    settings=Settings,
    fetch=fetch,
    normalise=normalise,
)
