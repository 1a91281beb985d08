"""Pack MIG slices on the fewest GPUs: an integer program over layouts, to the proved optimum."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models.catalog.mig import MigBoard, MigProfile
from optimizer.packing.layouts import Counts, Geometry, geometry
from optimizer.solver import Columns, Limits, Rows, minimise

# The count is whole: within one GPU of the bound is the optimum. Half a GPU keeps clear of rounding at either end.
_LIMITS = Limits(gap_absolute=0.5, max_nodes=2_000, guard_seconds=20.0)
_ROUNDING = 1e-6  # the solver's own tolerance on a bound


@dataclass(frozen=True, slots=True)
class LayoutCount:
    """So many GPUs cut the same way."""

    profiles: tuple[str, ...]  # the slices of each, in the board's own order; one name per slice
    gpu_count: int


@dataclass(frozen=True, slots=True)
class Packing:
    """Layouts that together have exactly the slices demanded."""

    board: str
    layouts: tuple[LayoutCount, ...]  # most GPUs first, then by profiles
    gpus: int
    bound: int  # no packing uses fewer GPUs
    is_guard_used: bool = False  # the clock stopped the solver

    @property
    def is_optimal(self) -> bool:
        """Return whether no packing can use fewer GPUs."""
        return self.gpus == self.bound


@dataclass(frozen=True, slots=True)
class _Run:
    """GPUs in a row with the same slices."""

    counts: Counts
    gpu_count: int


def pack(board: MigBoard, demand: Mapping[str, int]) -> Packing:
    """
    Return the packing on the fewest GPUs; never more than `first_fit_decreasing` needs.

    Args:
        board: The geometry of the GPUs, all alike.
        demand: Slices wanted by profile name; the order of the keys does not matter.

    Raises:
        ValueError: the board has no such profile, or a count is negative.
    """
    cut, wanted = _wanted(board, demand)
    if not wanted:
        return Packing(board.name, (), 0, 0)
    greedy = first_fit_decreasing(board, demand)
    patterns = np.array(cut.maximal_counts, dtype=np.float64)  # shape (patterns, profiles)
    solution = minimise(_columns(len(patterns)), _cover(patterns, wanted), _LIMITS)
    bound = max(greedy.bound, math.ceil(solution.bound - _ROUNDING)) if math.isfinite(solution.bound) else greedy.bound
    if not solution.has_answer or round(solution.objective) >= greedy.gpus:
        return Packing(board.name, greedy.layouts, greedy.gpus, bound, solution.is_guard_used)
    runs = [
        _Run(counts, int(gpu_count))
        for counts, gpu_count in zip(cut.maximal_counts, solution.values, strict=True)
        if gpu_count
    ]
    return _packing(board, cut, _trimmed(runs, wanted), bound, is_guard_used=solution.is_guard_used)


def first_fit_decreasing(board: MigBoard, demand: Mapping[str, int]) -> Packing:
    """
    Return the packing that takes slices largest first and puts each on the first GPU with room.

    A GPU has room when all its slices can be placed together, which is kinder to this rule than placing for good.
    `bound` is by volume alone: memory units, compute slices and places per GPU.

    Raises:
        ValueError: the board has no such profile, or a count is negative.
    """
    cut, wanted = _wanted(board, demand)
    profiles = [profile for name in cut.names for profile in board.profiles if profile.name == name]
    largest_first = sorted(
        range(len(profiles)), key=lambda one: (-profiles[one].memory_units, -profiles[one].compute_slices, one)
    )
    runs: list[_Run] = []
    for position in largest_first:
        runs = _first_fit(cut, runs, position, wanted[position])
    return _packing(board, cut, runs, _volume_bound(board, profiles, wanted), is_guard_used=False)


def _wanted(board: MigBoard, demand: Mapping[str, int]) -> tuple[Geometry, Counts]:
    negative = sorted(name for name, count in demand.items() if count < 0)
    if negative:
        message = f"{board.name}: demand for {', '.join(negative)} is negative; expected slices, 0 or more"
        raise ValueError(message)
    cut = geometry(board, frozenset(name for name, count in demand.items() if count))
    return cut, tuple(demand[name] for name in cut.names)


def _columns(patterns: int) -> Columns:
    return Columns(
        cost=np.ones(patterns),
        lower=np.zeros(patterns),
        upper=np.full(patterns, np.inf),
        is_integer=np.ones(patterns, dtype=np.bool_),
    )


def _cover(patterns: np.ndarray[tuple[int, int], np.dtype[np.float64]], wanted: Counts) -> Rows:
    """Return one row per profile: at least as many slices as wanted."""
    profile_rows, pattern_columns = np.nonzero(patterns.T)
    return Rows(
        lower=np.array(wanted, dtype=np.float64),
        upper=np.full(len(wanted), np.inf),
        starts=np.searchsorted(profile_rows, np.arange(len(wanted))).astype(np.int32),
        column_indices=pattern_columns.astype(np.int32),
        coefficients=patterns.T[profile_rows, pattern_columns],
    )


def _first_fit(cut: Geometry, runs: list[_Run], position: int, remaining: int) -> list[_Run]:
    """
    Return the runs with `remaining` slices of one profile added, first GPU first.

    Slices of one profile come one after another, so a GPU takes as many as it can before the next one is asked.
    """
    filled: list[_Run] = []
    for run in runs:
        per_gpu = _room_for(cut, run.counts, position)
        whole = min(run.gpu_count, remaining // per_gpu) if per_gpu else 0
        rest = min(remaining - whole * per_gpu, per_gpu) if whole < run.gpu_count else 0
        pieces = (
            _Run(_added(run.counts, position, per_gpu), whole),
            _Run(_added(run.counts, position, rest), 1 if rest else 0),
            _Run(run.counts, run.gpu_count - whole - (1 if rest else 0)),
        )
        filled.extend(piece for piece in pieces if piece.gpu_count)
        remaining -= whole * per_gpu + rest
    if not remaining:
        return filled
    empty = (0,) * len(cut.names)
    per_gpu = _room_for(cut, empty, position)
    whole, rest = divmod(remaining, per_gpu)
    fresh = (_Run(_added(empty, position, per_gpu), whole), _Run(_added(empty, position, rest), 1 if rest else 0))
    return [*filled, *(piece for piece in fresh if piece.gpu_count)]


def _room_for(cut: Geometry, counts: Counts, position: int) -> int:
    """Return how many more slices of a profile fit beside those on a GPU."""
    added = 0
    while _added(counts, position, added + 1) in cut.layout_by_counts:
        added += 1
    return added


def _added(counts: Counts, position: int, slices: int) -> Counts:
    return (*counts[:position], counts[position] + slices, *counts[position + 1 :])


def _trimmed(runs: list[_Run], wanted: Counts) -> list[_Run]:
    """Return the runs less the slices beyond those wanted, taken from as few GPUs as possible, the last first."""
    for position, count in enumerate(wanted):
        surplus = sum(run.counts[position] * run.gpu_count for run in runs) - count
        trimmed: list[_Run] = []
        for run in reversed(runs):
            per_gpu = run.counts[position]
            whole = min(run.gpu_count, surplus // per_gpu) if per_gpu else 0
            rest = min(surplus - whole * per_gpu, per_gpu) if per_gpu and whole < run.gpu_count else 0
            pieces = (
                _Run(_added(run.counts, position, -per_gpu), whole),
                _Run(_added(run.counts, position, -rest), 1 if rest else 0),
                _Run(run.counts, run.gpu_count - whole - (1 if rest else 0)),
            )
            trimmed.extend(piece for piece in pieces if piece.gpu_count)
            surplus -= whole * per_gpu + rest
        runs = trimmed[::-1]
    return runs


def _volume_bound(board: MigBoard, profiles: list[MigProfile], wanted: Counts) -> int:
    memory_units = sum(count * profile.memory_units for count, profile in zip(wanted, profiles, strict=True))
    compute_slices = sum(count * profile.compute_slices for count, profile in zip(wanted, profiles, strict=True))
    return max(
        math.ceil(memory_units / board.memory_units),
        math.ceil(compute_slices / board.max_compute_slices),
        math.ceil(sum(wanted) / board.max_instances),
    )


def _packing(board: MigBoard, cut: Geometry, runs: list[_Run], bound: int, *, is_guard_used: bool) -> Packing:
    gpus_by_counts: Counter[Counts] = Counter()
    for run in runs:
        if any(run.counts):
            gpus_by_counts[run.counts] += run.gpu_count
    layouts = [
        LayoutCount(tuple(name for name, count in zip(cut.names, counts, strict=True) for _ in range(count)), gpu_count)
        for counts, gpu_count in gpus_by_counts.items()
    ]
    layouts.sort(key=lambda layout: (-layout.gpu_count, layout.profiles))
    return Packing(board.name, tuple(layouts), sum(layout.gpu_count for layout in layouts), bound, is_guard_used)
