"""
What stays on demand once the commitments held are applied again to the usage that remains.

Every hour stands alone: what a commitment does not use in an hour is stranded, and lost. Within an hour the order is
the providers': commitments on a usage type (reserved instances) before commitments to spend (savings plans), a
commitment's own accounts before the others that share it, the highest discount first, names last. One dollar committed
covers 1 / covered_ratio dollars of usage at on-demand prices.

Source: the clouds' documented order of application, FOCUS 1.2 (CommitmentDiscountCategory).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl

from models.commitment_book import CommitmentBook, Dollars, ReapplySettings, open_book


@dataclass(frozen=True, slots=True)
class OnDemand:
    """What is left after the commitments: on demand, shape (cells, hours), and stranded, shape (held, hours)."""

    left_usd: Dollars
    stranded_usd: Dollars


@dataclass(frozen=True, slots=True)
class OnDemandTables:
    """The same as tables: account, sku_key (or commitment_id), hour_start, on_demand_usd (or stranded_usd)."""

    on_demand: pl.DataFrame
    stranded: pl.DataFrame


def residual_on_demand(
    usage: pl.DataFrame,
    commitments: pl.DataFrame,
    rates: pl.DataFrame,
    settings: ReapplySettings,
) -> OnDemandTables:
    """
    Return what is paid on demand, and what commitments lose, when they are applied to `usage` hour by hour.

    Args:
        usage: Eligible usage: account, sku_key, hour_start, contracted_usd (what it costs on demand).
        commitments: account, commitment_id, commitment_category (Spend, Usage), hour_start, covered_usd, stranded_usd;
            the two together are the effective dollars committed in that hour.
        rates: commitment_id, sku_key, covered_ratio (effective / contracted of covered usage).
        settings: Who shares, and what happens on SKUs never covered so far.

    Raises:
        InputError: a dollar value is missing.
    """
    hours = pl.concat([usage.get_column("hour_start"), commitments.get_column("hour_start")]).unique().sort()
    book = open_book(usage, commitments, rates, hours, settings)
    rest = reapply(book, book.usage_usd)
    names = pl.DataFrame(
        {"account": [cell.account for cell in book.cells], "sku_key": [cell.sku_key for cell in book.cells]},
        schema={"account": pl.String, "sku_key": pl.String},
    )
    owners = pl.DataFrame(
        {
            "account": [held.accounts[0] for held in book.held],
            "commitment_id": [held.commitment_id for held in book.held],
        },
        schema={"account": pl.String, "commitment_id": pl.String},
    )
    return OnDemandTables(
        on_demand=_long(names, book.hours, rest.left_usd, "on_demand_usd"),
        stranded=_long(owners, book.hours, rest.stranded_usd, "stranded_usd"),
    )


def reapply(book: CommitmentBook, usage_usd: Dollars) -> OnDemand:
    """
    Return what commitments leave on demand of `usage_usd`, on-demand dollars of shape (cells, hours).

    Taking usage away never raises what is left on demand of any cell: an hour's dollars only move down the order.
    """
    left = usage_usd.copy()
    unspent = book.committed_usd.copy()
    for coverage in book.coverages:
        open_usd = np.maximum(left[coverage.cell], 0.0)
        if coverage.covered_ratio > 0.0:
            covered = np.minimum(open_usd, unspent[coverage.held] / coverage.covered_ratio)
            spent = covered * coverage.covered_ratio
            # A product of a quotient may miss its start by the last bit; no commitment pays more than it has.
            unspent[coverage.held] = np.maximum(unspent[coverage.held] - spent, 0.0)
        else:
            covered = np.where(book.in_force[coverage.held], open_usd, 0.0)
        left[coverage.cell] = left[coverage.cell] - covered
    return OnDemand(left, unspent)


def _long(names: pl.DataFrame, hours: Sequence[datetime], values: Dollars, column: str) -> pl.DataFrame:
    hour = pl.DataFrame({"hour_start": list(hours)}, schema={"hour_start": pl.Datetime("us")})
    return names.join(hour, how="cross", maintain_order="left_right").with_columns(
        pl.Series(column, values.reshape(-1))
    )
