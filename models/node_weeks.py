"""
The pricing week of accounts that share commitments: their book, what on demand is really paid at, and each node's part.

It is the last 168 calendar hours up to the last hour with node cost, so that a bill that lags is not read as nodes that
cost nothing, and an hour without cost inside it is an hour that costs nothing. Hours before the accounts' bill begins
are unknown, not free, and no part of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import polars as pl

from models.commitment_book import Cell, CommitmentBook, Dollars
from models.domain.errors import InputError
from models.domain.units import HOURS_PER_WEEK

_COVERABLE = ("on_demand", "committed")


@dataclass(frozen=True, slots=True)
class ScopeWeek:
    """What accounts that share commitments used in their pricing week, and what it is paid at on demand."""

    book: CommitmentBook
    paid_ratio: Dollars  # billed over contracted of what is bought on demand, 0..1, shape (cells, hours)


@dataclass(frozen=True, slots=True)
class NodeWeek:
    """What one node costs in the pricing week."""

    scope: str  # whose commitments may pay for it
    cells: tuple[int, ...]  # rows of the scope's book
    coverable_usd: Dollars  # at on-demand prices, shape (cells of the node, hours)
    payable_usd: Dollars  # the same as it is billed, were it all on demand, shape (hours,)
    direct_usd: Dollars  # billed outside every commitment: Spot and the like, shape (hours,)
    list_usd: float
    effective_usd: float


def week_of(lines: pl.DataFrame, others: Sequence[pl.DataFrame]) -> pl.Series:
    """Return the hours of the pricing week of node cost `lines`; the bill begins with the first row of any frame."""
    last: datetime = lines.get_column("hour_start").max()  # type: ignore[assignment]
    known = pl.concat([frame.get_column("hour_start") for frame in (lines, *others)])
    begins: datetime = known.min()  # type: ignore[assignment]
    first = max(last - timedelta(hours=HOURS_PER_WEEK - 1), begins)
    hours = [first + timedelta(hours=hour) for hour in range(int((last - first) / timedelta(hours=1)) + 1)]
    return pl.Series("hour_start", hours, dtype=lines.schema["hour_start"])


def paid_ratio(lines: pl.DataFrame, book: CommitmentBook) -> Dollars:
    """
    Return billed over contracted of what is bought on demand, 0..1, shape (cells, hours).

    Discounts that only the invoice knows (credits, private rates) make it less than one. Where a cell buys nothing on
    demand in an hour, its ratio over the week stands in; where it never does, that of all nodes; else nothing is known
    to be taken off.
    """
    bought = lines.filter(pl.col("market") == "on_demand")
    contracted, billed = _by_cell(bought, book, "contracted_usd"), _by_cell(bought, book, "billed_usd")
    ratio = np.ones_like(contracted)
    for axis in ((0, 1), (1,), None):  # the widest first, each overwritten by what is known nearer
        known = contracted if axis is None else contracted.sum(axis=axis, keepdims=True)
        paid = billed if axis is None else billed.sum(axis=axis, keepdims=True)
        nearer = np.divide(paid, known, out=np.zeros_like(known), where=known > 0.0)
        ratio = np.where(known > 0.0, np.clip(nearer, 0.0, 1.0), ratio)
    return ratio


def node_weeks(scope: str, lines: pl.DataFrame, week: ScopeWeek) -> list[tuple[str, NodeWeek]]:
    """
    Return node keys with their weeks, by name; nodes without cost in the week are absent.

    Raises:
        InputError: a node's usage is no part of its account's.
    """
    columns = {hour: column for column, hour in enumerate(week.book.hours)}
    in_week = lines.filter(pl.col("hour_start").is_in(list(columns))).sort(
        "node_key", "account", "sku_key", "market", "hour_start"
    )
    return [
        (str(node), _node_week(scope, of_node, week, columns))
        for (node,), of_node in in_week.group_by("node_key", maintain_order=True)
    ]


def _node_week(scope: str, lines: pl.DataFrame, week: ScopeWeek, columns: Mapping[datetime, int]) -> NodeWeek:
    rows = {cell: row for row, cell in enumerate(week.book.cells)}
    coverable = lines.filter(pl.col("market").is_in(_COVERABLE))
    named = sorted({Cell(*pair) for pair in coverable.select("account", "sku_key").iter_rows()})
    _refuse_strangers(str(lines.item(0, "node_key")), named, rows)
    dollars, payable = np.zeros((len(named), len(columns))), np.zeros(len(columns))
    for account, sku_key, market, hour, contracted, billed in coverable.select(
        "account", "sku_key", "market", "hour_start", "contracted_usd", "billed_usd"
    ).iter_rows():
        cell, column = Cell(account, sku_key), columns[hour]
        dollars[named.index(cell), column] += contracted
        payable[column] += billed if market == "on_demand" else contracted * week.paid_ratio[rows[cell], column]
    direct = np.zeros(len(columns))
    for hour, billed in (
        lines.filter(~pl.col("market").is_in(_COVERABLE)).select("hour_start", "billed_usd").iter_rows()
    ):
        direct[columns[hour]] += billed
    return NodeWeek(
        scope=scope,
        cells=tuple(rows[cell] for cell in named),
        coverable_usd=dollars,
        payable_usd=payable,
        direct_usd=direct,
        list_usd=float(lines.get_column("list_usd").sum()),
        effective_usd=float(lines.get_column("effective_usd").sum()),
    )


def _by_cell(lines: pl.DataFrame, book: CommitmentBook, amount: str) -> Dollars:
    rows = {cell: row for row, cell in enumerate(book.cells)}
    columns = {hour: column for column, hour in enumerate(book.hours)}
    dollars = np.zeros((len(rows), len(columns)))
    summed = lines.group_by("account", "sku_key", "hour_start").agg(pl.col(amount).sort().sum())
    for account, sku_key, hour, usd in summed.iter_rows():
        cell = Cell(account, sku_key)
        if cell in rows and hour in columns:
            dollars[rows[cell], columns[hour]] = usd
    return dollars


def _refuse_strangers(node: str, named: Sequence[Cell], rows: Mapping[Cell, int]) -> None:
    strangers = [cell for cell in named if cell not in rows]
    if strangers:
        message = (
            f"{node}: usage of {strangers[0].account} {strangers[0].sku_key} is in node_usage_by_hour and not in "
            "usage_by_hour; expected node usage to be a part of it"
        )
        raise InputError(message)
