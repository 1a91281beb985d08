"""One page of a FOCUS file as rows of raw.cost."""

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from connectors.billing.focus.amounts import Amounts, parse_amounts
from connectors.billing.focus.cells import UnreadableCell
from connectors.billing.focus.columns import Cells, map_texts
from connectors.billing.focus.findings import Findings
from connectors.billing.focus.instance_type import instance_types
from connectors.billing.focus.instants import parse_instants
from connectors.billing.focus.json_text import canonical_objects
from connectors.billing.focus.layout import COSTS
from connectors.billing.focus.pages import FocusPage
from connectors.raw_tables import INSTANT, MONEY, RAW_TABLES, TEXT
from models.domain.errors import InputError
from models.domain.resource_key import resource_key

_ENDS = ("BillingPeriodEnd", "ChargePeriodEnd")
_OBJECTS = ("SkuPriceDetails", "Tags")
_CATEGORIES = ("Usage", "Purchase", "Tax", "Credit", "Adjustment")
_CATEGORY_BY_PLAIN_NAME = {category.lower(): category for category in _CATEGORIES}
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """How the text of a source is to be understood."""

    null_tokens: tuple[str, ...]  # texts that say nothing
    decimal_comma: bool  # "1.234,56"
    billing_currency: str | None  # of rows that name none


@dataclass(frozen=True, slots=True)
class Charges:
    """The charges of one page."""

    cost: pa.Table  # raw.cost
    cells: Cells
    list_unit_prices: pa.Array  # decimal128(38, 15)


def read_charges(page: FocusPage, rules: ReadingRules, findings: Findings) -> Charges:
    """
    Return the charges of a page; what had to be assumed is added to `findings`.

    Raises:
        InputError: a cost or the start of a period cannot be read: a bill with a hole does not
            reconcile. Names line and column.
    """
    layout = page.layout
    cells = Cells(page.table(layout), layout, pa.array(rules.null_tokens, TEXT))
    columns: dict[str, pa.Array] = {}
    for column in RAW_TABLES["cost"].columns:
        if column.type == MONEY:
            columns[column.name] = _amounts(page, cells, column.name, rules, findings)
        elif column.type == INSTANT:
            columns[column.name] = _instants(page, cells, column.name, findings)
        elif column.name in _OBJECTS:
            objects = canonical_objects(cells.typed(column.name))
            columns[column.name] = objects.values
            _tell(findings, f"unreadable_{column.name.lower()}", page, column.name, objects.unreadable)
        else:
            columns[column.name] = cells.text(column.name)
    columns["ChargeCategory"] = _categories(columns["ChargeCategory"], findings)
    columns["BillingCurrency"] = _currencies(columns["BillingCurrency"], rules.billing_currency, findings)
    _fill_billing_period(columns, findings)
    columns["x_resource_key"] = map_texts(columns["ResourceId"], resource_key)
    columns["x_instance_type"] = instance_types(
        (columns["SkuPriceDetails"], columns["Tags"]),
        (columns["SkuMeter"], cells.text("x_UsageType")),
        columns["ChargeDescription"],
    )
    schema = RAW_TABLES["cost"].columns
    cost = pa.table([columns[name] for name in schema.names], schema=schema)
    return Charges(cost, cells, _soft_amounts(cells, "ListUnitPrice", rules).values)


def _amounts(page: FocusPage, cells: Cells, name: str, rules: ReadingRules, findings: Findings) -> pa.Array:
    amounts = _soft_amounts(cells, name, rules)
    if name in COSTS:
        _refuse(page, name, amounts.unreadable)
        if cells.has(name):
            missing = amounts.values.null_count
            findings.add("cost_missing", f"{name} is empty; taken for unknown, not for zero", missing)
    else:
        _tell(findings, "unreadable_number", page, name, amounts.unreadable)
    findings.add(
        "amount_rounded",
        f"{name} has more than {MONEY.scale} decimals; rounded half to even, which adds {amounts.rounding:f} in all",
        amounts.rounded,
        amounts.rounding,
    )
    return amounts.values


def _soft_amounts(cells: Cells, name: str, rules: ReadingRules) -> Amounts:
    if not cells.has(name):
        return Amounts(pa.nulls(cells.table.num_rows, MONEY), None, 0, Decimal(0))
    return parse_amounts(cells.text(name), decimal_comma=rules.decimal_comma and not cells.is_typed(name))


def _instants(page: FocusPage, cells: Cells, name: str, findings: Findings) -> pa.Array:
    instants = parse_instants(cells.typed(name))
    if name in _ENDS:  # the start says which day a charge belongs to; an example of the FOCUS spec ends at T30:00:00Z
        _tell(findings, "unreadable_instant", page, name, instants.unreadable)
    else:
        _refuse(page, name, instants.unreadable)
    return instants.values


def _refuse(page: FocusPage, name: str, cell: UnreadableCell | None) -> None:
    if cell is not None:
        raise InputError(_describe(page, name, cell))


def _tell(findings: Findings, code: str, page: FocusPage, name: str, cell: UnreadableCell | None) -> None:
    if cell is not None:
        place = _describe(page, name, cell).removeprefix(f"{page.origin}, ")
        findings.add(code, f"{place}; taken for unknown", cell.occurrences)


def _describe(page: FocusPage, name: str, cell: UnreadableCell) -> str:
    found = cell.found if len(cell.found) <= _SHOWN_CHARACTERS else cell.found[:_SHOWN_CHARACTERS] + "..."
    return f"{page.origin}, {page.place_of(cell.row)}, column {name}: found {found!r}; {cell.reason}"


def _categories(said: pa.Array, findings: Findings) -> pa.Array:
    categories = map_texts(said, lambda text: _CATEGORY_BY_PLAIN_NAME.get(text.lower(), text))
    is_known = pc.is_in(categories, pa.array(_CATEGORIES))
    unknown = categories.filter(pc.invert(is_known))
    if len(unknown):
        findings.add(
            "unknown_charge_category",
            f"ChargeCategory is {_list(unknown)}, expected one of {', '.join(_CATEGORIES)}; kept as it is",
            len(unknown),
        )
    return categories


def _currencies(said: pa.Array, expected: str | None, findings: Findings) -> pa.Array:
    currencies = pc.utf8_upper(said)
    unnamed = currencies.null_count
    if unnamed and expected:
        findings.add("currency_assumed", f"no BillingCurrency; {expected} is taken, as configured", unnamed)
        currencies = pc.fill_null(currencies, expected)
    else:
        findings.add(
            "currency_missing", "no BillingCurrency; set `billing_currency` for this source if you know it", unnamed
        )
    if expected:
        others = currencies.filter(pc.not_equal(currencies, expected))
        if len(others):
            findings.add(
                "unexpected_currency", f"charges in {_list(others)}, configured is {expected}; kept apart", len(others)
            )
    if pc.count_distinct(currencies).as_py() > 1:
        findings.add(
            "several_currencies",
            f"charges in {_list(currencies)}; they are kept apart and never added",
            len(currencies) - currencies.null_count,
        )
    return currencies


def _fill_billing_period(columns: dict[str, pa.Array], findings: Findings) -> None:
    """Take the calendar month of the charge where the file names no billing period."""
    charge_start = columns["ChargePeriodStart"]
    findings.add(
        "period_missing", "no ChargePeriodStart; these charges cannot be put on a day", charge_start.null_count
    )
    start = pc.coalesce(columns["BillingPeriodStart"], pc.floor_temporal(charge_start, unit="month"))
    end = pc.coalesce(columns["BillingPeriodEnd"], pc.ceil_temporal(start, unit="month", ceil_is_strictly_greater=True))
    assumed = max(
        columns[name].null_count - filled.null_count
        for name, filled in (("BillingPeriodStart", start), ("BillingPeriodEnd", end))
    )
    findings.add("billing_period_assumed", "no billing period; the calendar month of the charge is taken", assumed)
    columns["BillingPeriodStart"], columns["BillingPeriodEnd"] = start, end


def _list(texts: pa.Array) -> str:
    return ", ".join(sorted(str(text) for text in pc.unique(texts).to_pylist() if text is not None)) or "empty"
