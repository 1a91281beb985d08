"""What a page brings in rows and money, counted before any engine sees it."""

from collections import Counter, defaultdict
from decimal import Context, Decimal, Inexact
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from connectors.billing.focus.layout import COSTS
from connectors.raw_tables import MONEY, RAW_TABLES

_KEYS = ("BillingPeriodStart", "BillingPeriodEnd", "BillingCurrency")
_LIMIT = Decimal(10) ** (MONEY.precision - MONEY.scale)
_EXACT = Context(prec=2 * MONEY.precision, traps=[Inexact])  # Python's own context, and abs(), round to 28 digits


def control_totals(cost: pa.Table) -> pa.Table:
    """
    Return rows of raw.cost_load: charge rows and exact sums of each billing period and currency.

    Raises:
        OverflowError: a sum does not fit DECIMAL(38,15).
    """
    keys = cost.select(list(_KEYS))
    if all(_fits(cost.column(name)) for name in COSTS):
        grouped = cost.select([*_KEYS, *COSTS]).group_by(list(_KEYS), use_threads=False)
        options = pc.ScalarAggregateOptions(min_count=1)  # a sum of nothing known is unknown
        sums = grouped.aggregate([([], "count_all"), *((name, "sum", options) for name in COSTS)])
        totals = sums.select([*_KEYS, "count_all", *(f"{name}_sum" for name in COSTS)])
        totals = totals.rename_columns(RAW_TABLES["cost_load"].columns.names)
    else:
        totals = _count_one_by_one(keys, cost)
    return totals.cast(RAW_TABLES["cost_load"].columns).sort_by([(name, "ascending") for name in _KEYS])


def exact_sum(amounts: pa.ChunkedArray | pa.Array) -> Decimal | None:
    """Return the sum of amounts, however large; None where none is known."""
    if _fits(amounts):
        total: Decimal | None = pc.sum(amounts, min_count=1).as_py()
        return total
    known: list[Decimal] = pc.drop_null(amounts).to_pylist()
    return reduce(_EXACT.add, known)


def _fits(amounts: pa.ChunkedArray | pa.Array) -> bool:
    """Return whether no sum over these can overflow; Arrow would wrap around in silence."""
    span = pc.min_max(amounts)
    largest = max((abs(bound.as_py()) for bound in span.values() if bound.is_valid), default=Decimal(0))
    return bool(largest * len(amounts) < _LIMIT)


def _count_one_by_one(keys: pa.Table, cost: pa.Table) -> pa.Table:
    rows: Counter[tuple[object, ...]] = Counter()
    sums: dict[tuple[object, ...], list[Decimal | None]] = defaultdict(lambda: [None] * len(COSTS))
    amounts = zip(*(cost.column(name).to_pylist() for name in COSTS), strict=True)
    for key, costs in zip(zip(*(column.to_pylist() for column in keys.columns), strict=True), amounts, strict=True):
        rows[key] += 1
        for index, amount in enumerate(costs):
            if amount is not None:
                sums[key][index] = _EXACT.add(sums[key][index] or Decimal(0), amount)
    for key, totals in sums.items():
        if any(total is not None and total.copy_abs() >= _LIMIT for total in totals):
            message = f"the charges of {key} add up to 1e{_LIMIT.adjusted()} or more"
            raise OverflowError(message)
    columns = [*zip(*rows, strict=True), rows.values(), *zip(*(sums[key] for key in rows), strict=True)]
    schema = RAW_TABLES["cost_load"].columns
    arrays = [pa.array(list(column), item.type) for column, item in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)
