"""Which slices fit on one GPU together, and where: search over placements, never sums of slices."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from models.catalog.mig import MediaEngines, MigBoard, MigProfile

# Slice counts that contradict intuition, and the reason for searching: 2 x 3g + 1g fills 7 of 7 compute slices and
# does not fit; 3 x 1g.20gb + 2 x 1g.10gb does.


@dataclass(frozen=True, slots=True, order=True)
class PlacedSlice:
    """A slice at its place: the memory unit it starts at."""

    start: int
    profile: str


Layout = tuple[PlacedSlice, ...]  # the slices of one GPU, by start
Counts = tuple[int, ...]  # slices of one GPU by profile, in the order of a `Geometry.names`


@dataclass(frozen=True, slots=True)
class Geometry:
    """All ways to cut one GPU of a board into slices of some profiles."""

    names: tuple[str, ...]  # the profiles, in the board's own order
    layout_by_counts: Mapping[Counts, Layout]  # every feasible combination, each with the layout that leaves most room
    maximal_counts: tuple[Counts, ...]  # combinations no slice can be added to
    maximal_layouts: tuple[Layout, ...]  # placed layouts no slice can be added to where they stand

    def counts_of(self, layout: Sequence[PlacedSlice]) -> Counts:
        """Return how many slices of each of `names` the layout has; other profiles are left out."""
        tally = Counter(placed.profile for placed in layout)
        return tuple(tally[name] for name in self.names)


def place(board: MigBoard, profiles: Sequence[str]) -> tuple[int, ...] | None:
    """
    Return where each of the slices starts on one empty GPU, in the order given, or None when they do not fit.

    Of the ways that fit it is the one that leaves most room for other slices, the lowest starts among equals.

    Raises:
        ValueError: the board has no such profile.
    """
    cut = geometry(board, frozenset(profiles))
    tally = Counter(profiles)
    layout = cut.layout_by_counts.get(tuple(tally[name] for name in cut.names))
    if layout is None:
        return None
    starts = {name: iter([placed.start for placed in layout if placed.profile == name]) for name in cut.names}
    return tuple(next(starts[name]) for name in profiles)


@lru_cache(maxsize=256)
def geometry(board: MigBoard, names: frozenset[str]) -> Geometry:
    """
    Return every way to cut a GPU of that board into slices of those profiles.

    Raises:
        ValueError: the board has no such profile.
    """
    profiles = _profiles(board, names)
    ordered = tuple(profile.name for profile in profiles)
    slots = [(profile, start) for profile in profiles for start in profile.starts]
    options = [_Option(profile, start) for profile, start in slots]
    best: dict[Counts, tuple[tuple[int, Layout], Layout]] = {}
    maximal_layouts: list[Layout] = []
    for chosen in _placements(board, options):
        layout = tuple(sorted(PlacedSlice(option.start, option.profile.name) for option in chosen))
        tally = Counter(option.profile.name for option in chosen)
        counts = tuple(tally[name] for name in ordered)
        room = _room(board, chosen)
        rank = (-room, layout)
        if counts not in best or rank < best[counts][0]:
            best[counts] = (rank, layout)
        if not any(_fits(board, chosen, option) for option in options):
            maximal_layouts.append(layout)
    layout_by_counts = {counts: best[counts][1] for counts in sorted(best, reverse=True)}
    maximal_counts = tuple(counts for counts in layout_by_counts if not _can_grow(counts, layout_by_counts))
    return Geometry(ordered, layout_by_counts, maximal_counts, tuple(sorted(maximal_layouts)))


@dataclass(frozen=True, slots=True)
class _Option:
    """One profile at one of its starts."""

    profile: MigProfile
    start: int

    @property
    def mask(self) -> int:
        """Return the memory units it takes, one bit each."""
        return ((1 << self.profile.memory_units) - 1) << self.start


def _profiles(board: MigBoard, names: frozenset[str]) -> tuple[MigProfile, ...]:
    unknown = sorted(names - {profile.name for profile in board.profiles})
    if unknown:
        known = ", ".join(profile.name for profile in board.profiles)
        message = f"{board.name} has no MIG profile {', '.join(unknown)}; it has: {known}"
        raise ValueError(message)
    return tuple(profile for profile in board.profiles if profile.name in names)


def _placements(
    board: MigBoard, options: Sequence[_Option], chosen: tuple[_Option, ...] = ()
) -> Iterator[tuple[_Option, ...]]:
    """Yield each set of options that fits on one GPU, once, the empty set first."""
    yield chosen
    for position, option in enumerate(options):
        if _fits(board, chosen, option):
            yield from _placements(board, options[position + 1 :], (*chosen, option))


def _fits(board: MigBoard, chosen: Sequence[_Option], option: _Option) -> bool:
    if any(option.mask & other.mask for other in chosen) or len(chosen) >= board.max_instances:
        return False
    alike = sum(other.profile is option.profile for other in chosen)
    return alike < option.profile.max_instances and _has_media(board, [*chosen, option])


def _has_media(board: MigBoard, chosen: Sequence[_Option]) -> bool:
    for kind, limit in enumerate(_engines(board.media_limits)):
        if limit is None:
            continue
        taken = [_engines(option.profile.media)[kind] for option in chosen]
        if sum(engines for engines in taken if engines is not None) > limit:
            return False
    return True


def _engines(media: MediaEngines) -> tuple[int | None, ...]:
    return (media.nvdec, media.nvenc, media.jpeg, media.ofa)


def _room(board: MigBoard, chosen: Sequence[_Option]) -> int:
    """
    Return how much a GPU so filled can still take: its free starts, each weighted by memory and compute of the slice.

    Source: the fragmentation measure of FGD (USENIX ATC 2023), applied to slices.
    """
    taken = sum(option.mask for option in chosen)
    return sum(
        profile.memory_units * profile.compute_slices
        for profile in board.profiles
        for start in profile.starts
        if not _Option(profile, start).mask & taken
    )


def _can_grow(counts: Counts, feasible: Mapping[Counts, Layout]) -> bool:
    return any(
        (*counts[:position], counts[position] + 1, *counts[position + 1 :]) in feasible
        for position in range(len(counts))
    )
