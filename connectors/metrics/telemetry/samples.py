"""Samples as flat arrays, each with the series it is of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from connectors.metrics.telemetry.findings import Span


@dataclass(frozen=True, slots=True)
class Samples:
    """Arrays of shape (samples,)."""

    series: NDArray[np.int32]
    at_ms: NDArray[np.int64]
    values: NDArray[np.float64]

    def where(self, wanted: NDArray[np.bool_]) -> "Samples":
        """Return the samples that are wanted."""
        if wanted.all():
            return self
        return Samples(self.series[wanted], self.at_ms[wanted], self.values[wanted])


def span_of(at_ms: NDArray[np.int64]) -> Span:
    """Return the first and last instant."""
    return Span(int(at_ms.min()), int(at_ms.max())) if len(at_ms) else Span(None, None)


def run_starts(keys: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where runs of equal keys begin."""
    if len(keys) == 0:
        return np.zeros(0, np.int64)
    return np.concatenate(([0], np.flatnonzero(keys[1:] != keys[:-1]) + 1)).astype(np.int64)
