"""One row per device and bucket with all its quantities, as raw.gpu_5m has them."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.metrics.telemetry.arrow_columns import (
    constant_column,
    count_column,
    instant_column,
    number_column,
    text_column,
)
from connectors.metrics.telemetry.series_table import QUANTITIES, Device, SeriesTable
from connectors.metrics.telemetry.streams import MS_PER_BUCKET, Buckets
from connectors.raw_tables import GPU_QUANTITIES, RAW_TABLES


@dataclass(frozen=True, slots=True)
class GpuRows:
    """
    Rows sorted by device and bucket; the rules of `gpu_rules` write into `mean`, `largest` and `samples`.

    `mean` and `largest` have shape (quantities, rows) and NaN where a row has no such quantity, `samples` then 0.
    """

    devices: tuple[Device, ...]
    device: NDArray[np.int64]  # into devices, by row
    number: NDArray[np.int64]  # of the bucket, since 1970
    node: NDArray[np.int64]
    model: NDArray[np.int64]
    profile: NDArray[np.int64]
    mean: NDArray[np.float64]
    largest: NDArray[np.float64]
    samples: NDArray[np.int64]

    def has(self, quantity: str) -> NDArray[np.bool_]:
        """Return which rows have that quantity."""
        is_known: NDArray[np.bool_] = self.samples[QUANTITIES.index(quantity)] > 0
        return is_known

    def mean_of(self, quantity: str) -> NDArray[np.float64]:
        """Return the means, NaN where unknown."""
        means: NDArray[np.float64] = self.mean[QUANTITIES.index(quantity)]
        return means

    def largest_of(self, quantity: str) -> NDArray[np.float64]:
        """Return the maxima, NaN where unknown."""
        maxima: NDArray[np.float64] = self.largest[QUANTITIES.index(quantity)]
        return maxima

    def forget(self, quantity: str, rows: NDArray[np.bool_]) -> None:
        """Make a quantity unknown in some rows."""
        position = QUANTITIES.index(quantity)
        self.mean[position, rows] = np.nan
        self.largest[position, rows] = np.nan
        self.samples[position, rows] = 0

    def where(self, wanted: NDArray[np.bool_]) -> "GpuRows":
        """Return the rows that are wanted."""
        return GpuRows(
            self.devices,
            self.device[wanted],
            self.number[wanted],
            self.node[wanted],
            self.model[wanted],
            self.profile[wanted],
            self.mean[:, wanted],
            self.largest[:, wanted],
            self.samples[:, wanted],
        )


def widen(table: SeriesTable, buckets: Buckets) -> GpuRows:
    """Return the buckets with one row per device and bucket."""
    order = np.lexsort((buckets.number, buckets.device))
    device, number = buckets.device[order], buckets.number[order]
    is_start = np.ones(len(order), np.bool_)
    is_start[1:] = (device[1:] != device[:-1]) | (number[1:] != number[:-1])
    starts = np.flatnonzero(is_start)
    row = np.empty(len(order), np.int64)
    row[order] = np.cumsum(is_start) - 1
    shape = (len(QUANTITIES), len(starts))
    rows = GpuRows(
        table.device.values,
        device[starts],
        number[starts],
        _largest_code(buckets.node[order], starts),
        _largest_code(buckets.model[order], starts),
        _largest_code(buckets.profile[order], starts),
        np.full(shape, np.nan),
        np.full(shape, np.nan),
        np.zeros(shape, np.int64),
    )
    rows.mean[buckets.quantity, row] = buckets.mean
    rows.largest[buckets.quantity, row] = buckets.largest
    rows.samples[buckets.quantity, row] = buckets.samples
    return rows


def gpu_table(table: SeriesTable, rows: GpuRows, cluster_id: str) -> pa.Table:
    """Return the rows as raw.gpu_5m."""
    schema = RAW_TABLES["gpu_5m"].columns
    count = len(rows.device)
    columns: dict[str, pa.Array] = {
        "cluster_id": constant_column(cluster_id, count),
        "node": text_column(table.node.values, rows.node),
        "gpu_uuid": text_column([device.gpu_uuid for device in rows.devices], rows.device),
        "mig_instance_id": text_column([device.mig_instance_id for device in rows.devices], rows.device),
        "mig_profile": text_column(table.profile.values, rows.profile),
        "gpu_model": text_column(table.model.values, rows.model),
        "bucket_start": instant_column(rows.number * MS_PER_BUCKET),
    }
    for position, quantity in enumerate(GPU_QUANTITIES):
        columns[f"{quantity}_mean"] = number_column(rows.mean[position])
        columns[f"{quantity}_max"] = number_column(rows.largest[position])
        columns[f"{quantity}_samples"] = count_column(rows.samples[position])
    return pa.table(columns, schema)


def _largest_code(codes: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a code where any series has one; where two differ, the later in the alphabet, in whatever order read."""
    return np.maximum.reduceat(codes, starts) if len(starts) else codes
