"""
What GPU nodes cost in their pricing week, and what is saved on the invoice when some of them go.

The pricing week of accounts that share commitments is their last 168 hours with node cost, so that a bill that lags
is not read as nodes that cost nothing. Dollars here are dollars of that week; `per_month` scales them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from models.commitment_book import (
    Cell,
    CommitmentBook,
    Dollars,
    ReapplySettings,
    account_or_unknown,
    open_book,
    sharing_scopes,
    sku_key_or_unknown,
)
from models.commitments import reapply
from models.domain.errors import InputError
from models.domain.units import HOURS_PER_WEEK, usd_per_month

_COVERABLE = ("on_demand", "committed")


@dataclass(frozen=True, slots=True)
class NodeWeek:
    """What one node costs in the pricing week."""

    scope: str  # whose commitments may pay for it
    priced_hours: int  # hours of the week in which it was on the bill
    cells: tuple[int, ...]  # rows of the scope's book
    coverable_usd: Dollars  # at on-demand prices, shape (cells of the node, hours)
    direct_usd: float  # billed outside every commitment: Spot and the like
    list_usd: float
    effective_usd: float


@dataclass(frozen=True, slots=True)
class CostBook:
    """Commitment books by scope of sharing, and node weeks by node key "cluster/node"."""

    books: Mapping[str, CommitmentBook]
    nodes: Mapping[str, NodeWeek]

    def per_month(self, scope: str, week_usd: float) -> float:
        """Scale dollars of the scope's pricing week to a month of 730 h."""
        return usd_per_month(week_usd / len(self.books[scope].hours))

    def bill_usd_per_month(self) -> float:
        """Return what accounts with GPU nodes pay: on demand, for commitments, and for Spot and the like on nodes."""
        paid = {scope: on_demand_usd(self, scope, ()) for scope in sorted(self.books)}
        for node in sorted(self.nodes):
            paid[self.nodes[node].scope] += self.nodes[node].direct_usd
        return sum(
            self.per_month(scope, usd + float(self.books[scope].committed_usd.sum())) for scope, usd in paid.items()
        )


@dataclass(frozen=True, slots=True)
class ReleasePrice:
    """What the release of some nodes saves in the pricing week; a node's part is never more than it costs."""

    on_demand_before_usd: Mapping[str, float]  # by scope, with the nodes still there
    on_demand_saved_usd: Mapping[str, float]  # by node
    direct_saved_usd: Mapping[str, float]  # by node


def cost_book(marts: Mapping[str, pl.DataFrame], settings: ReapplySettings) -> CostBook:
    """
    Return what nodes cost, from node_usage_by_hour, usage_by_hour, commitment_by_hour and commitment_rate.

    Raises:
        InputError: a dollar value is missing, or a node's usage is no part of its account's.
    """
    usage, commitments = marts["usage_by_hour"], marts["commitment_by_hour"]
    accounts = pl.concat([usage.select("account"), marts["node_usage_by_hour"].select("account")])
    scopes = sharing_scopes(accounts, commitments, settings)
    scope = account_or_unknown().replace_strict(scopes, return_dtype=pl.String)
    lines = marts["node_usage_by_hour"].with_columns(
        account_or_unknown(),
        sku_key_or_unknown(),
        scope=scope,
        node_key=pl.concat_str("cluster_id", pl.lit("/"), "node"),
        **{
            name: pl.col(name).cast(pl.Float64)
            for name in ("list_usd", "contracted_usd", "effective_usd", "billed_usd")
        },
    )
    _refuse_missing(lines)
    books: dict[str, CommitmentBook] = {}
    nodes: dict[str, NodeWeek] = {}
    for (name,), of_scope in lines.sort("scope", "node_key").group_by("scope", maintain_order=True):
        hours = of_scope.get_column("hour_start").unique().sort().tail(HOURS_PER_WEEK)
        books[str(name)] = open_book(
            usage.filter(scope == name), commitments.filter(scope == name), marts["commitment_rate"], hours, settings
        )
        for week in _node_weeks(str(name), of_scope, books[str(name)]):
            # A name billed in two scopes has one week, the first: never more than it costs.
            nodes.setdefault(*week)
    return CostBook(books, nodes)


def on_demand_usd(costs: CostBook, scope: str, gone: Collection[str]) -> float:
    """Return what the scope pays on demand in the pricing week without the nodes in `gone`."""
    book = costs.books[scope]
    return float(reapply(book, _usage_without(costs, scope, gone)).left_usd.sum())


def price_release(costs: CostBook, gone: Collection[str], releasing: Collection[str]) -> ReleasePrice:
    """
    Return what is saved when the nodes `releasing` go, after those in `gone` went.

    What the nodes save together is split by what each would save if it went alone: a node that commitments pay for
    gets nothing, and equal nodes get equal parts.
    """
    known = sorted(node for node in releasing if node in costs.nodes)
    before: dict[str, float] = {}
    saved: dict[str, float] = {}
    for scope in sorted({costs.nodes[node].scope for node in known}):
        members = [node for node in known if costs.nodes[node].scope == scope]
        before[scope] = on_demand_usd(costs, scope, gone)
        together = max(before[scope] - on_demand_usd(costs, scope, [*gone, *members]), 0.0)
        alone = _saved_alone(costs, members, gone, before[scope])
        total = sum(alone.values())
        part = min(1.0, together / total) if total > 0.0 else 0.0
        saved.update({node: usd * part for node, usd in alone.items()})
    return ReleasePrice(before, saved, {node: max(costs.nodes[node].direct_usd, 0.0) for node in known})


def _saved_alone(costs: CostBook, nodes: Sequence[str], gone: Collection[str], before_usd: float) -> dict[str, float]:
    known: dict[tuple[tuple[int, ...], bytes], float] = {}
    alone: dict[str, float] = {}
    for node in nodes:
        week = costs.nodes[node]
        kind = (week.cells, week.coverable_usd.tobytes())
        if kind not in known:  # a fleet has many nodes and few kinds of them
            usd = before_usd - on_demand_usd(costs, week.scope, [*gone, node])
            known[kind] = min(max(usd, 0.0), float(week.coverable_usd.sum()))
        alone[node] = max(known[kind], 0.0)
    return alone


def _usage_without(costs: CostBook, scope: str, gone: Collection[str]) -> Dollars:
    usage = costs.books[scope].usage_usd.copy()
    for node in sorted(set(gone)):
        week = costs.nodes.get(node)
        if week is not None and week.scope == scope:
            for row, cell in enumerate(week.cells):
                usage[cell] -= week.coverable_usd[row]
    # Sums of floats may end a hair under zero when everything goes.
    return np.maximum(usage, np.minimum(costs.books[scope].usage_usd, 0.0))


def _node_weeks(scope: str, lines: pl.DataFrame, book: CommitmentBook) -> list[tuple[str, NodeWeek]]:
    """Return node keys with their weeks, by name."""
    columns = {hour: column for column, hour in enumerate(book.hours)}
    cells = {cell: row for row, cell in enumerate(book.cells)}
    in_week = lines.filter(pl.col("hour_start").is_in(list(book.hours))).sort(
        "node_key", "account", "sku_key", "market", "hour_start"
    )
    weeks = []
    for (node,), of_node in in_week.group_by("node_key", maintain_order=True):
        coverable = of_node.filter(pl.col("market").is_in(_COVERABLE))
        named = sorted({Cell(*pair) for pair in coverable.select("account", "sku_key").iter_rows()})
        _refuse_strangers(str(node), named, cells)
        dollars = np.zeros((len(named), len(book.hours)))
        for account, sku_key, hour, usd in coverable.select(
            "account", "sku_key", "hour_start", "contracted_usd"
        ).iter_rows():
            dollars[named.index(Cell(account, sku_key)), columns[hour]] += usd
        direct = of_node.filter(~pl.col("market").is_in(_COVERABLE))
        week = NodeWeek(
            scope=scope,
            priced_hours=of_node.get_column("hour_start").n_unique(),
            cells=tuple(cells[cell] for cell in named),
            coverable_usd=dollars,
            direct_usd=float(direct.get_column("billed_usd").sum()),
            list_usd=float(of_node.get_column("list_usd").sum()),
            effective_usd=float(of_node.get_column("effective_usd").sum()),
        )
        weeks.append((str(node), week))
    return weeks


def _refuse_missing(lines: pl.DataFrame) -> None:
    missing = lines.filter(
        pl.any_horizontal(pl.col("list_usd", "contracted_usd", "effective_usd", "billed_usd").is_null())
    )
    if missing.height:
        node, hour = missing.sort("node_key", "hour_start").select("node_key", "hour_start").row(0)
        message = (
            f"node_usage_by_hour: {missing.height} rows lack a dollar value, first {node} at {hour}; "
            "expected list, contracted, effective and billed in each"
        )
        raise InputError(message)


def _refuse_strangers(node: str, named: Sequence[Cell], cells: Mapping[Cell, int]) -> None:
    strangers = [cell for cell in named if cell not in cells]
    if strangers:
        message = (
            f"{node}: usage of {strangers[0].account} {strangers[0].sku_key} is in node_usage_by_hour and not in "
            "usage_by_hour; expected node usage to be a part of it"
        )
        raise InputError(message)
