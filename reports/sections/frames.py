"""Sums over marts that keep unknown apart from zero."""

from collections.abc import Sequence

import polars as pl

FLOAT_DIGITS = 6  # GPU hours past it are noise of float addition, and would make two runs differ


def sums(frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """
    Return one row per key with the sums of `columns` as they are summed exactly, ordered by key.

    A sum is null where any of its values is: a part nobody knows makes the whole unknown.
    """
    totals = [
        pl.when(pl.col(column).is_null().any()).then(None).otherwise(pl.col(column).sum()).alias(column)
        for column in columns
    ]
    return frame.group_by(list(keys)).agg(totals).sort(list(keys), nulls_last=True)


def known_sums(frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Return one row per key with the sums of what is known; null only where nothing is."""
    totals = [
        pl.when(pl.col(column).is_not_null().any()).then(pl.col(column).sum()).otherwise(None).alias(column)
        for column in columns
    ]
    return frame.group_by(list(keys)).agg(totals).sort(list(keys), nulls_last=True)


def steady(value: float | None) -> float | None:
    """Return a float sum without the noise of the order in which it was added."""
    return None if value is None else round(value, FLOAT_DIGITS)


def ratio(part: float | None, whole: float | None) -> float | None:
    """Return part over whole; None when either is unknown or the whole is nothing, or credits outweigh it."""
    if part is None or whole is None or whole <= 0:
        return None
    return round(part / whole, FLOAT_DIGITS)


def workload_key() -> pl.Expr:
    """Return "cluster_id/namespace/workload_kind/workload_name"; a missing part reads "unknown"."""
    parts = ("cluster_id", "namespace", "workload_kind", "workload_name")
    return pl.concat_str([pl.col(part).fill_null("unknown") for part in parts], separator="/")


def node_key() -> pl.Expr:
    """Return "cluster_id/node"."""
    return pl.concat_str([pl.col(part).fill_null("unknown") for part in ("cluster_id", "node")], separator="/")
