"""Series and their samples as they come from a source: labels once, samples as flat arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from connectors.metrics.telemetry.labels import Labels, uuid_label
from models.domain.errors import InputError

SampleT = TypeVar("SampleT", bound=np.generic)

_FIRST_BELIEVED_MS = 10**11  # 1973; what is less was meant in seconds
_LAST_BELIEVED_MS = 10**14  # 5138

# A page may grow so much beyond its limit to keep the series of one GPU together.
_ROOM_FOR_ONE_GPU = 1.25


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader let pass in a file."""

    code: str
    message: str
    occurrences: int = 1


@dataclass(frozen=True, slots=True)
class SamplePage:
    """
    Series of one file, or of a part of one, with their samples in the order of the file.

    Arrays have shape (samples,). `values` may hold NaN and anything an exporter prints; a sample without a value
    (null, a staleness marker) is not in it.
    """

    origin: str
    series: tuple[Labels, ...]
    series_index: NDArray[np.int32]
    sampled_at_ms: NDArray[np.int64]  # since 1970, UTC
    values: NDArray[np.float64]
    notes: tuple[Note, ...] = ()


class PageBuilder:
    """Gathers series and samples of one file and cuts them into pages."""

    def __init__(self, origin: str, max_samples: int) -> None:
        """Begin a file; a page ends at the first change of GPU after `max_samples`."""
        self._origin = origin
        self._max_samples = max_samples
        self._series: list[Labels] = []
        self._indexes: list[NDArray[np.int32]] = []
        self._times: list[NDArray[np.int64]] = []
        self._values: list[NDArray[np.float64]] = []
        self._notes: list[Note] = []
        self._samples = 0
        self._last_uuid: str | None = None

    def add_series(self, labels: Labels) -> int:
        """Return the number of a new series."""
        self._series.append(labels)
        return len(self._series) - 1

    def add_samples(
        self, series_index: NDArray[np.int32], sampled_at_ms: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Add samples of series added before; arrays of one length."""
        if len(values):
            self._indexes.append(series_index)
            self._times.append(sampled_at_ms)
            self._values.append(values)
            self._samples += len(values)

    def note(self, note: Note) -> None:
        """Add a remark to the next page."""
        self._notes.append(note)

    def is_full_before(self, labels: Labels) -> bool:
        """Return whether a page should be cut before a series with these labels."""
        uuid = uuid_label(labels)
        is_new_gpu = uuid != self._last_uuid
        self._last_uuid = uuid
        return self.is_over_limit if is_new_gpu else self._samples >= self._max_samples * _ROOM_FOR_ONE_GPU

    @property
    def is_over_limit(self) -> bool:
        """Return whether the samples gathered fill a page."""
        return self._samples >= self._max_samples

    @property
    def is_empty(self) -> bool:
        """Return whether there are no samples to make a page of."""
        return not self._samples

    def take(self) -> SamplePage:
        """Return what was gathered, with only the series that have samples; the series keep their numbers."""
        indexes = _joined(self._indexes, np.int32)
        has_samples = np.zeros(len(self._series), dtype=bool)
        has_samples[indexes] = True
        new_number = (np.cumsum(has_samples) - 1).astype(np.int32)
        page = SamplePage(
            origin=self._origin,
            series=tuple(self._series[number] for number in np.flatnonzero(has_samples)),
            series_index=new_number[indexes],
            sampled_at_ms=_joined(self._times, np.int64),
            values=_joined(self._values, np.float64),
            notes=tuple(self._notes),
        )
        self._indexes, self._times, self._values, self._notes = [], [], [], []
        self._samples = 0
        return page

    def forget_series(self) -> None:
        """Drop the series gathered so far, where none of them can come again."""
        self._series = []


def check_milliseconds(sampled_at_ms: NDArray[np.int64], where: str) -> None:
    """
    Refuse timestamps that cannot be milliseconds since 1970.

    Raises:
        InputError: a timestamp lies before 1973 or after 5138.
    """
    if len(sampled_at_ms) == 0:
        return
    earliest, latest = int(sampled_at_ms.min()), int(sampled_at_ms.max())
    if earliest < _FIRST_BELIEVED_MS or latest > _LAST_BELIEVED_MS:
        message = f"{where} has timestamps from {earliest} to {latest}; expected milliseconds since 1970"
        raise InputError(message)


def _joined(parts: Sequence[NDArray[SampleT]], kind: type[SampleT]) -> NDArray[SampleT]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
