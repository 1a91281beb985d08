"""The bill, its parts, and whether they add up."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import polars as pl

from models.domain.units import HOURS_PER_DAY, usd_per_month
from reports.report import ControlTotal, Reconciliation, ScopeLine, SplitLine
from reports.sections.frames import ratio, sums
from reports.wording import NODE_PARTS, SCOPES

DOLLARS = "USD"
AMOUNTS = ("charge_rows", "billed_usd", "effective_usd", "list_usd")  # in the currency of the row, as billed
NO_CURRENCY = "unknown currency"
NOTHING = Decimal(0)


def reconcile(
    bill: pl.DataFrame, node_cost: pl.DataFrame, control_totals: Sequence[ControlTotal]
) -> tuple[Reconciliation, ...]:
    """
    Return one reconciliation per billing currency, US dollars first.

    Args:
        bill: Mart `bill_reconciliation_by_day`.
        node_cost: Mart `cost_by_node_hour`, in the one currency of the bill, or in US dollars when it has several.
        control_totals: What the loads brought over the same window.
    """
    by_scope = sums(bill, ("billing_currency", "scope"), AMOUNTS)
    scopes: dict[str, list[ScopeLine]] = {}
    for currency, scope, rows, billed, effective, list_amount in by_scope.iter_rows():
        scopes.setdefault(currency or NO_CURRENCY, []).append(ScopeLine(scope, rows, billed, effective, list_amount))
    controls = {control.currency or NO_CURRENCY: control for control in control_totals}
    currencies = sorted(scopes.keys() | controls.keys(), key=lambda currency: (currency != DOLLARS, currency))
    node_currency = next(iter(scopes)) if len(scopes) == 1 else DOLLARS
    split = _node_split(node_cost)
    return tuple(
        _one(currency, scopes.get(currency, []), split if currency == node_currency else {}, controls.get(currency))
        for currency in currencies
    )


def _one(
    currency: str, scopes: Sequence[ScopeLine], split: Mapping[str, Decimal], control: ControlTotal | None
) -> Reconciliation:
    ranks = {scope: rank for rank, scope in enumerate(SCOPES)}
    lines = sorted(scopes, key=lambda line: (ranks.get(line.scope, len(ranks)), line.scope))
    total = _total(lines)
    node = sum((line.effective_amount for line in lines if line.scope == "node"), NOTHING)
    return Reconciliation(
        currency=currency,
        scopes=tuple(lines),
        total=total,
        node_split=tuple(SplitLine(part, split[part]) for part in NODE_PARTS if part in split),
        node_difference_amount=node - sum(split.values(), NOTHING) if split else None,
        control=control,
        billed_difference_amount=control.billed_amount - total.billed_amount if control else None,
        effective_difference_amount=control.effective_amount - total.effective_amount if control else None,
    )


def _total(lines: Sequence[ScopeLine]) -> ScopeLine:
    known = [line.list_amount for line in lines if line.list_amount is not None]
    return ScopeLine(
        scope="total",
        charge_days=sum(line.charge_days for line in lines),
        billed_amount=sum((line.billed_amount for line in lines), NOTHING),
        effective_amount=sum((line.effective_amount for line in lines), NOTHING),
        list_amount=sum(known, NOTHING) if len(known) == len(lines) else None,
    )


def _node_split(node_cost: pl.DataFrame) -> dict[str, Decimal]:
    if node_cost.is_empty():
        return {}
    totals = node_cost.select(pl.col(f"{part}_usd").sum() for part in NODE_PARTS).row(0)
    return dict(zip(NODE_PARTS, totals, strict=True))


def cost_currency(reconciliations: Sequence[Reconciliation]) -> str:
    """Return the currency that node, workload and team costs are in; US dollars when nothing is billed."""
    split = [one.currency for one in reconciliations if one.node_split]
    return split[0] if split else DOLLARS


def billed_usd_per_month(bill: pl.DataFrame) -> float | None:
    """
    Return what the days with charges cost in US dollars, scaled to 730 h; None when nothing was charged.

    At the amortised price: a commitment paid up front in the window must not count as if it were paid every month.
    """
    dollars = bill.filter(pl.col("billing_currency") == DOLLARS)
    days = dollars.get_column("day_start").n_unique()
    if days == 0:
        return None
    effective = float(dollars.get_column("effective_usd").sum())
    return round(usd_per_month(effective / (days * HOURS_PER_DAY)), 2)


def unattributed_ratio(reconciliations: Sequence[Reconciliation]) -> float | None:
    """Return the share of node cost that no holder or telemetry covers; None without node cost."""
    split = [line for one in reconciliations for line in one.node_split]
    if not split:
        return None
    missing = sum((line.effective_amount for line in split if line.part == "unattributed"), NOTHING)
    return ratio(float(missing), float(sum((line.effective_amount for line in split), NOTHING)))
