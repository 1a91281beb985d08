"""Spans of constant value out of samples: what was so, from which sample to which."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BRIDGED_STEPS = 2.5  # a gap this many scrape intervals long is a missed scrape, a longer one is unknown time


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """The same value from one instant to another, seconds since 1970."""

    start: float
    end: float
    value: float


def runs_of(seconds: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> tuple[list[Run], float | None]:
    """
    Return the runs of one series, and its scrape interval where three samples or more show it.

    Args:
        seconds: Instants of the samples, any order, repeats allowed (the larger value counts).
        values: Their values; NaN marks the end of a series and is no sample.
    """
    gaps = seconds[1:] - seconds[:-1]
    if len(gaps) > 1 and gaps[0] > 0 and (gaps == gaps[0]).all() and (values == values[0]).all():
        # Nearly every series: one value at every scrape. The rest of this function would say the same, slower.
        if np.isfinite(values[0]):
            return [Run(float(seconds[0]), float(seconds[-1]), float(values[0]))], float(gaps[0])
        return [], None
    is_sample = np.isfinite(values)
    seconds, values = seconds[is_sample], values[is_sample]
    order = np.lexsort((values, seconds))
    seconds, values = seconds[order], values[order]
    is_last_of_instant = np.append(seconds[1:] != seconds[:-1], np.ones(min(len(seconds), 1), dtype=np.bool_))
    seconds, values = seconds[is_last_of_instant], values[is_last_of_instant]
    if not len(seconds):
        return [], None
    gaps = np.diff(seconds)
    step = float(np.median(gaps)) if len(seconds) > 2 else None  # noqa: PLR2004, two samples may lie hours apart
    is_break = (values[1:] != values[:-1]) | (gaps > (BRIDGED_STEPS * step if step else 0.0))
    starts = np.flatnonzero(np.append([True], is_break))
    ends = np.append(starts[1:] - 1, len(seconds) - 1)
    runs = [
        Run(float(seconds[first]), float(seconds[last]), float(values[first]))
        for first, last in zip(starts, ends, strict=True)
    ]
    return runs, step


def merged(runs: Iterable[Run], longest_gap: float) -> list[Run]:
    """
    Return runs that do not overlap, sorted: gaps between equal values bridged, the larger value where two claim a time.

    Two servers, or two replicas of kube-state-metrics, tell the same twice.
    """
    by_value: dict[float, list[Run]] = {}
    for run in sorted(runs):
        same = by_value.setdefault(run.value, [])
        if same and run.start <= same[-1].end + longest_gap:
            same[-1] = Run(same[-1].start, max(same[-1].end, run.end), run.value)
        else:
            same.append(run)
    kept: list[Run] = []
    for value in sorted(by_value, reverse=True):
        kept += [rest for run in by_value[value] for rest in _without(run, kept)]
    return sorted(kept)


def cut(runs: Sequence[Run], start: float, end: float) -> list[Run]:
    """Return the parts of the runs inside a span that have a length."""
    inside = (Run(max(run.start, start), min(run.end, end), run.value) for run in runs)
    return [run for run in inside if run.start < run.end]


def widened(runs: Sequence[Run], by_seconds: float) -> list[Run]:
    """Return runs that reach so much further at both ends, and up to their neighbour where it is nearer."""
    wide: list[Run] = []
    for position, run in enumerate(runs):
        start = max(run.start - by_seconds, wide[-1].end) if wide else run.start - by_seconds
        next_start = runs[position + 1].start if position + 1 < len(runs) else run.end + by_seconds
        wide.append(Run(start, min(run.end + by_seconds, next_start), run.value))
    return wide


def _without(run: Run, taken: Sequence[Run]) -> list[Run]:
    parts = [run]
    for other in taken:
        parts = [
            piece
            for part in parts
            for piece in (
                [part]
                if part.end < other.start or other.end < part.start
                else [
                    *([Run(part.start, other.start, part.value)] if part.start < other.start else []),
                    *([Run(other.end, part.end, part.value)] if other.end < part.end else []),
                ]
            )
        ]
    return parts
