"""NumPy arrays as Arrow columns, without copying them value by value."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.metrics.telemetry.findings import MICROSECONDS_PER_MILLISECOND


def number_column(values: NDArray[np.float64]) -> pa.Array:
    """Return doubles; NaN becomes null."""
    return _column(pa.float64(), values, ~np.isnan(values))


def count_column(values: NDArray[np.int64]) -> pa.Array:
    """Return 32-bit counts."""
    return _column(pa.int32(), values.astype(np.int32), None)


def instant_column(milliseconds: NDArray[np.int64]) -> pa.Array:
    """Return instants from milliseconds since 1970."""
    return _column(pa.timestamp("us"), milliseconds * MICROSECONDS_PER_MILLISECOND, None)


def text_column(values: Sequence[str], codes: NDArray[np.int64]) -> pa.Array:
    """Return the text of each code; a negative code becomes null."""
    return pa.array(values, pa.string()).take(_column(pa.int64(), codes, codes >= 0))


def constant_column(value: str, count: int) -> pa.Array:
    """Return the same text over and over."""
    return pa.repeat(pa.scalar(value, pa.string()), count)


def _column(
    kind: pa.DataType,
    values: NDArray[np.float64] | NDArray[np.int64] | NDArray[np.int32],
    known: NDArray[np.bool_] | None,
) -> pa.Array:
    validity = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little").tobytes())
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(np.ascontiguousarray(values))])
