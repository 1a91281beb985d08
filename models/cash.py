"""
What GPU nodes cost in their pricing week, and what is saved on the invoice when some of them go.

Dollars here are dollars of that week (`node_weeks`); `per_month` scales them. What is on demand counts at what it is
billed, not at the contracted price: the invoice falls by no more than it asks for.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from models.commitment_book import (
    Dollars,
    ReapplySettings,
    account_or_unknown,
    open_book,
    sharing_scopes,
    sku_key_or_unknown,
)
from models.commitments import reapply
from models.domain.errors import InputError
from models.domain.units import HOURS_PER_DAY, usd_per_month
from models.node_weeks import NodeWeek, ScopeWeek, node_weeks, paid_ratio, week_of

_DOLLARS = ("list_usd", "contracted_usd", "effective_usd", "billed_usd")
_LEAST_HOURS = HOURS_PER_DAY  # with less cost than a day's, a month is a guess


@dataclass(frozen=True, slots=True)
class CostBook:
    """Pricing weeks by scope of sharing, and node weeks by node key "cluster/node"."""

    weeks: Mapping[str, ScopeWeek]
    nodes: Mapping[str, NodeWeek]
    refused: Mapping[str, str]  # nodes that are on a bill and yet have no price, each with the reason

    def hours(self, scope: str) -> int:
        """Return how many hours the scope's pricing week has."""
        return len(self.weeks[scope].book.hours)

    def per_month(self, scope: str, week_usd: float) -> float:
        """Scale dollars of the scope's pricing week to a month of 730 h."""
        return usd_per_month(week_usd / self.hours(scope))

    def bill_usd_per_month(self) -> float:
        """Return what accounts with GPU nodes pay: on demand, for commitments, and for Spot and the like on nodes."""
        paid = {scope: float(on_demand_usd(self, scope, ()).sum()) for scope in sorted(self.weeks)}
        for node in sorted(self.nodes):
            paid[self.nodes[node].scope] += float(self.nodes[node].direct_usd.sum())
        return sum(
            self.per_month(scope, usd + float(self.weeks[scope].book.committed_usd.sum()))
            for scope, usd in paid.items()
        )


@dataclass(frozen=True, slots=True)
class ReleasePrice:
    """What the release of some nodes saves in the pricing week; a node's part is never more than it costs."""

    on_demand_before_usd: Mapping[str, float]  # by scope, with the nodes still there
    on_demand_saved_usd: Mapping[str, float]  # by node
    direct_saved_usd: Mapping[str, float]  # by node
    week_saved_usd: Mapping[str, float]  # by node: on demand and direct, by the whole week alone


def cost_book(marts: Mapping[str, pl.DataFrame], settings: ReapplySettings) -> CostBook:
    """
    Return what nodes cost, from node_usage_by_hour, usage_by_hour, commitment_by_hour and commitment_rate.

    Accounts with less than a day of node cost in their pricing week are refused, and so have no price.

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
        **{name: pl.col(name).cast(pl.Float64) for name in _DOLLARS},
    )
    _refuse_missing(lines)
    weeks: dict[str, ScopeWeek] = {}
    nodes: dict[str, NodeWeek] = {}
    refused: dict[str, str] = {}
    for (key,), of_scope in lines.sort("scope", "node_key").group_by("scope", maintain_order=True):
        name, used, held = str(key), usage.filter(scope == key), commitments.filter(scope == key)
        hours = week_of(of_scope, (used, held))
        costly = of_scope.filter(pl.col("hour_start").is_in(hours.implode())).get_column("hour_start").n_unique()
        if costly < _LEAST_HOURS:
            reason = f"its accounts have {costly} hours of node cost; a month is told from {_LEAST_HOURS} or more"
            refused.update(dict.fromkeys(of_scope.get_column("node_key").unique().sort(), reason))
            continue
        book = open_book(used, held, marts["commitment_rate"], hours, settings)
        weeks[name] = ScopeWeek(book, paid_ratio(of_scope, book))
        for week in node_weeks(name, of_scope, weeks[name]):
            # A name billed in two scopes has one week, the first: never more than it costs.
            nodes.setdefault(*week)
    return CostBook(weeks, nodes, {node: reason for node, reason in refused.items() if node not in nodes})


def on_demand_usd(costs: CostBook, scope: str, gone: Collection[str]) -> Dollars:
    """Return what the scope is billed on demand in each hour of its pricing week without the nodes in `gone`."""
    week = costs.weeks[scope]
    left = reapply(week.book, _usage_without(costs, scope, gone)).left_usd
    paid: Dollars = (left * week.paid_ratio).sum(axis=0)
    return paid


def price_release(costs: CostBook, gone: Collection[str], releasing: Collection[str]) -> ReleasePrice:
    """
    Return what is saved when the nodes `releasing` go, after those in `gone` went.

    What the nodes save together is split by what each would save if it went alone: a node that commitments pay for
    gets nothing, and equal nodes get equal parts. Of the whole week and its last day, scaled to a week, the one by
    which a node saves less counts: what was bought or changed since the week began is in force from now on.
    """
    known = sorted(node for node in releasing if node in costs.nodes)
    before: dict[str, float] = {}
    on_demand: dict[str, float] = {}
    direct: dict[str, float] = {}
    by_week: dict[str, float] = {}
    for scope in sorted({costs.nodes[node].scope for node in known}):
        members = [node for node in known if costs.nodes[node].scope == scope]
        fall = _fall(costs, scope, members, gone)
        before[scope] = float(fall.before_usd.sum())
        whole, last_day = (_saved(costs, members, fall, hours) for hours in (costs.hours(scope), HOURS_PER_DAY))
        for node in members:
            on_demand[node], direct[node] = min(whole[node], last_day[node], key=sum)
            by_week[node] = sum(whole[node])
    return ReleasePrice(before, on_demand, direct, by_week)


@dataclass(frozen=True, slots=True)
class _Fall:
    """How much less is billed on demand in each hour, shape (hours,)."""

    before_usd: Dollars
    together_usd: Dollars
    alone_usd: Mapping[str, Dollars]  # by node


def _fall(costs: CostBook, scope: str, nodes: Sequence[str], gone: Collection[str]) -> _Fall:
    before = on_demand_usd(costs, scope, gone)
    known: dict[tuple[tuple[int, ...], bytes], Dollars] = {}
    alone: dict[str, Dollars] = {}
    for node in nodes:
        week = costs.nodes[node]
        kind = (week.cells, week.coverable_usd.tobytes())
        if kind not in known:  # a fleet has many nodes and few kinds of them
            known[kind] = before - on_demand_usd(costs, scope, [*gone, node])
        alone[node] = known[kind]
    return _Fall(before, before - on_demand_usd(costs, scope, [*gone, *nodes]), alone)


def _saved(costs: CostBook, nodes: Iterable[str], fall: _Fall, hours: int) -> dict[str, tuple[float, float]]:
    """Return what each node saves on demand and directly by the last `hours`, scaled to the whole week."""
    span = slice(-hours, None)
    scale = len(fall.before_usd) / len(fall.before_usd[span])
    alone = {
        node: min(_total(fall.alone_usd[node][span]), _total(costs.nodes[node].payable_usd[span])) for node in nodes
    }
    together, apart = _total(fall.together_usd[span]), sum(alone.values())
    part = min(1.0, together / apart) if apart > 0.0 else 0.0
    return {
        node: (usd * part * scale, _total(costs.nodes[node].direct_usd[span]) * scale) for node, usd in alone.items()
    }


def _total(hourly_usd: Dollars) -> float:
    """Return the sum; corrections of earlier bills may make it negative, and nobody is paid for a node that goes."""
    return max(float(hourly_usd.sum()), 0.0)


def _usage_without(costs: CostBook, scope: str, gone: Collection[str]) -> Dollars:
    whole = costs.weeks[scope].book.usage_usd
    usage = whole.copy()
    for node in sorted(set(gone)):
        week = costs.nodes.get(node)
        if week is not None and week.scope == scope:
            for row, cell in enumerate(week.cells):
                usage[cell] -= week.coverable_usd[row]
    # Sums of floats may end a hair under zero when everything goes.
    return np.maximum(usage, np.minimum(whole, 0.0))


def _refuse_missing(lines: pl.DataFrame) -> None:
    missing = lines.filter(pl.any_horizontal(pl.col(*_DOLLARS).is_null()))
    if missing.height:
        node, hour = missing.sort("node_key", "hour_start").select("node_key", "hour_start").row(0)
        message = (
            f"node_usage_by_hour: {missing.height} rows lack a dollar value, first {node} at {hour}; "
            "expected list, contracted, effective and billed in each"
        )
        raise InputError(message)
