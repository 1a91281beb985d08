"""
Usage and the commitments that may pay for it, side by side hour by hour, in the order of application.

A commitment covers only what it was seen to cover. That is the careful way: if it could have covered more, it would
have done so in every hour in which it stranded dollars, and dollars set free are then never said to save elsewhere.
A ratio that is missing or zero covers all usage of its SKU for nothing, so that no saving is claimed without a price.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np
import polars as pl
from numpy.typing import NDArray

from models.domain.errors import InputError

Dollars = NDArray[np.float64]


class Sharing(StrEnum):
    """Who else may use what one account committed to."""

    PAYER = "payer"  # accounts of one bill, "payer/account", and accounts that one commitment was seen in: the default
    ACCOUNT = "account"  # nobody: sharing is switched off (AWS), or the scope is one project or subscription


@dataclass(frozen=True, slots=True)
class ReapplySettings:
    """How commitments held are applied to the usage that remains."""

    sharing: Sharing = Sharing.PAYER  # whose usage a commitment covers: all accounts of the payer, or its own
    unseen_spend_ratio: float | None = None  # effective / on demand on SKUs a spend commitment was never seen on


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """Usage of one account that has one price."""

    account: str
    sku_key: str


@dataclass(frozen=True, slots=True)
class Held:
    """One commitment, as far as one scope of sharing sees it."""

    commitment_id: str
    scope: str
    accounts: tuple[str, ...]  # where it was seen; these come first
    is_usage_type: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """One commitment may pay for one cell, by row number."""

    held: int
    cell: int
    covered_ratio: float  # 0: for nothing, since its price is unknown


@dataclass(frozen=True, slots=True)
class CommitmentBook:
    """Usage and commitments side by side; rows as named, one column an hour, `coverages` in order of application."""

    hours: tuple[datetime, ...]
    cells: tuple[Cell, ...]
    held: tuple[Held, ...]
    usage_usd: Dollars  # on-demand dollars, shape (cells, hours)
    committed_usd: Dollars  # effective dollars, shape (held, hours)
    in_force: NDArray[np.bool_]  # a row says the commitment existed in that hour, shape (held, hours)
    coverages: tuple[Coverage, ...]


def sharing_scopes(usage: pl.DataFrame, commitments: pl.DataFrame, settings: ReapplySettings) -> dict[str, str]:
    """Return the name of the group of accounts, for each account, that shares commitments with it."""
    accounts = (
        pl.concat([usage.select(account_or_unknown()), commitments.select(account_or_unknown())])
        .unique()
        .to_series()
        .sort()
    )
    parents = {account: account for account in accounts}
    if settings.sharing == Sharing.ACCOUNT:
        return parents
    first_of: dict[str, str] = {}
    seen_in = (
        commitments.select(pl.col("commitment_id"), account_or_unknown())
        .unique()
        .sort("commitment_id", "account")
        .rows()
    )
    bills = [(account.split("/", 1)[0], account) for account in accounts if "/" in account]
    for bond, account in (*((f"bill {bill}", account) for bill, account in bills), *seen_in):
        one, other = _root(parents, first_of.setdefault(bond, account)), _root(parents, account)
        parents[max(one, other)] = min(one, other)
    return {account: _root(parents, account) for account in accounts}


def open_book(
    usage: pl.DataFrame, commitments: pl.DataFrame, rates: pl.DataFrame, hours: pl.Series, settings: ReapplySettings
) -> CommitmentBook:
    """
    Return usage and commitments of `hours` as aligned arrays, to be applied again many times.

    Raises:
        InputError: a dollar value is missing.
    """
    _refuse_missing(usage, ("contracted_usd",), "eligible usage")
    _refuse_missing(commitments, ("covered_usd", "stranded_usd"), "commitment")
    scopes = sharing_scopes(usage, commitments, settings)
    usage = usage.with_columns(
        account_or_unknown(), sku_key_or_unknown(), usd=pl.col("contracted_usd").cast(pl.Float64)
    )
    committed = commitments.with_columns(
        account_or_unknown(),
        scope=account_or_unknown().replace_strict(scopes, return_dtype=pl.String),
        usd=pl.col("covered_usd").cast(pl.Float64) + pl.col("stranded_usd").cast(pl.Float64),
    )
    cells = usage.select("account", "sku_key").unique().sort("account", "sku_key")
    names = committed.select("scope", "commitment_id").unique().sort("scope", "commitment_id")
    held = _held(committed, names)
    cell_names = tuple(Cell(account, sku_key) for account, sku_key in cells.iter_rows())
    return CommitmentBook(
        hours=tuple(hours.to_list()),
        cells=cell_names,
        held=held,
        usage_usd=_matrix(usage, cells, hours),
        committed_usd=_matrix(committed, names, hours),
        in_force=_matrix(committed.with_columns(usd=pl.lit(1.0)), names, hours) > 0.0,
        coverages=_coverages([(cell, scopes[cell.account]) for cell in cell_names], held, rates, settings),
    )


def account_or_unknown() -> pl.Expr:
    """Return the column `account`; a bill that does not say has one unknown account."""
    return pl.col("account").fill_null("unknown account").alias("account")


def sku_key_or_unknown() -> pl.Expr:
    """Return the column `sku_key`; usage without one is of one unknown kind."""
    return pl.col("sku_key").fill_null("unknown SKU").alias("sku_key")


def _root(parents: dict[str, str], account: str) -> str:
    while parents[account] != account:
        account = parents[account]
    return account


def _held(committed: pl.DataFrame, names: pl.DataFrame) -> tuple[Held, ...]:
    """Return the commitments in the order of `names`."""
    seen = committed.group_by("scope", "commitment_id").agg(
        accounts=pl.col("account").unique().sort(), category=pl.col("commitment_category").drop_nulls().sort().last()
    )
    ordered = names.join(seen, on=["scope", "commitment_id"], how="left", maintain_order="left")
    return tuple(
        Held(commitment_id, scope, tuple(accounts), is_usage_type=category == "Usage")
        for scope, commitment_id, accounts, category in ordered.iter_rows()
    )


def _coverages(
    cells: Sequence[tuple[Cell, str]], held: Sequence[Held], rates: pl.DataFrame, settings: ReapplySettings
) -> tuple[Coverage, ...]:
    """Return every pair of commitment and cell of one scope in the order in which providers apply them."""
    known = rates.select("commitment_id", sku_key_or_unknown(), "covered_ratio").sort("commitment_id", "sku_key").rows()
    ratios = {(commitment_id, sku_key): ratio for commitment_id, sku_key, ratio in known}
    ordered: list[tuple[tuple[bool, bool, float, str, Cell], Coverage]] = []
    for (row, one), (column, (cell, scope)) in itertools.product(enumerate(held), enumerate(cells)):
        ratio = _ratio(ratios, one, cell, settings)
        if scope != one.scope or ratio is None:
            continue
        rank = (not one.is_usage_type, cell.account not in one.accounts, ratio, one.commitment_id, cell)
        ordered.append((rank, Coverage(row, column, ratio)))
    return tuple(coverage for _, coverage in sorted(ordered, key=lambda pair: pair[0]))


def _ratio(
    ratios: dict[tuple[str, str], float | None], held: Held, cell: Cell, settings: ReapplySettings
) -> float | None:
    """Return effective over on demand where `held` covers `cell`; None where it does not."""
    name = (held.commitment_id, cell.sku_key)
    if name not in ratios:
        return None if held.is_usage_type else settings.unseen_spend_ratio
    known = ratios[name]
    return known if known is not None and known > 0.0 else 0.0


def _matrix(frame: pl.DataFrame, rows: pl.DataFrame, hours: pl.Series) -> Dollars:
    """Return column `usd` with a row for each row of `rows` and a column for each hour; no row means no dollars."""
    keys = list(rows.columns)
    placed = (
        frame.group_by(*keys, "hour_start")
        .agg(pl.col("usd").sort().sum())  # sorted: the same sum whatever the order of rows
        .join(rows.with_row_index("row"), on=keys)
        .join(hours.to_frame("hour_start").with_row_index("column"), on="hour_start")
    )
    matrix = np.zeros((rows.height, len(hours)))
    matrix[placed.get_column("row").to_numpy(), placed.get_column("column").to_numpy()] = placed.get_column(
        "usd"
    ).to_numpy()
    return matrix


def _refuse_missing(frame: pl.DataFrame, columns: tuple[str, ...], what: str) -> None:
    for column in columns:
        missing = frame.filter(pl.col(column).is_null())
        if missing.height:
            first = missing.sort("account", "hour_start").row(0, named=True)
            message = (
                f"{what} without {column} in {missing.height} rows, first {first['account']} at {first['hour_start']}; "
                "expected dollars in every row: check the bill's columns and load it again"
            )
            raise InputError(message)
