"""Money of the simulator: whole ticks of 1e-10 USD, so that the rows of a bill add up to the last digit."""

from decimal import Decimal

import numpy as np
import numpy.typing as npt
import polars as pl

TICKS_PER_USD = 10**10
TICK_DIGITS = 10

Ticks = npt.NDArray[np.int64]


def ticks(usd: str) -> int:
    """Return dollars, written as text, in ticks."""
    return int(Decimal(usd) * TICKS_PER_USD)


def usd(amount_ticks: int) -> float:
    """Return ticks in dollars."""
    return amount_ticks / TICKS_PER_USD


def share_of(amount_ticks: Ticks | int, part: Ticks, whole: int) -> Ticks:
    """Return amount x part / whole in ticks, rounded down, without leaving 64 bits."""
    quotient, remainder = np.divmod(np.asarray(amount_ticks, dtype=np.int64), whole)
    # A float keeps 53 bits; the remainder is below `whole`, so the error stays under one tick of a dollar's 1e-5.
    return np.asarray(quotient * part + np.floor(remainder * (part / whole)), dtype=np.int64)


def decimal_of(amount: pl.Expr) -> pl.Expr:
    """Return an expression that writes ticks as a decimal number of dollars."""
    sign = pl.when(amount < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    whole = (amount.abs() // TICKS_PER_USD).cast(pl.String)
    fraction = (amount.abs() % TICKS_PER_USD).cast(pl.String).str.zfill(TICK_DIGITS)
    return sign + whole + "." + fraction


def decimal_text(column: str) -> pl.Expr:
    """Return an expression that writes a column of ticks as a decimal number of dollars."""
    return decimal_of(pl.col(column)).alias(column)
