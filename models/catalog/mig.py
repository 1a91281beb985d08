"""MIG geometry: which slices a board can be cut into, where each may start, and what it really holds."""

import re
from dataclasses import dataclass
from functools import cache

import polars as pl

from models.catalog.csv_rows import count, csv_rows, number
from models.catalog.gpus import GpuModel, gpu_model, gpu_models

RESOURCE_PREFIX = "nvidia.com/mig-"
NAME_TOLERANCE_RATIO = 0.15  # drivers round a profile's memory differently: 1g.11gb, 1g.12gb; 7g.79gb, 7g.80gb

_NAME = re.compile(r"(?P<slices>\d+)g\.(?P<memory>\d+)gb(?P<variant>.*)")


@dataclass(frozen=True, slots=True)
class MediaEngines:
    """Video and image engines; None where no source says (of a profile) or nothing binds (of a board)."""

    nvdec: int | None
    nvenc: int | None
    jpeg: int | None
    ofa: int | None


@dataclass(frozen=True, slots=True)
class MigProfile:
    """One kind of slice of one board."""

    name: str  # as nvidia-smi prints it: "1g.10gb", "1g.10gb+me"
    name_variants: tuple[str, ...]  # what other drivers print for the same slice
    gi_profile_id: int
    max_instances: int  # at most so many of it on one GPU
    compute_slices: int
    memory_units: int  # length on the board's placement grid
    starts: tuple[int, ...]  # memory units at which it may begin
    memory_gib: float | None  # usable, measured; less than the name says
    sm_count: int | None  # on the GPU whose SM count the board states
    media: MediaEngines
    evidence: str  # hw | doc | operator-config | inferred


@dataclass(frozen=True, slots=True)
class MigBoard:
    """One geometry, shared by the GPU models that name it."""

    name: str
    max_compute_slices: int
    memory_units: int
    max_instances: int
    sm_count: int | None  # of the whole GPU that the profiles' SM counts were read on
    media_limits: MediaEngines
    profiles: tuple[MigProfile, ...]


@cache
def mig_boards() -> tuple[MigBoard, ...]:
    """Return every board whose placements are published."""
    profiles: dict[str, list[MigProfile]] = {}
    for row in csv_rows("mig_profiles.csv"):
        profiles.setdefault(row["board"], []).append(_mig_profile(row))
    return tuple(
        MigBoard(
            name=row["board"],
            max_compute_slices=int(row["max_compute_slices"]),
            memory_units=int(row["memory_units"]),
            max_instances=int(row["max_instances"]),
            sm_count=count(row["sm_count"]),
            media_limits=_media(row, "max_"),
            profiles=tuple(profiles[row["board"]]),
        )
        for row in csv_rows("mig_boards.csv")
    )


def board_of(smi_name: str) -> MigBoard | None:
    """Return the geometry of a GPU model, or None: unknown model, no MIG, or placements nobody published."""
    model = gpu_model(smi_name)
    return _board_by_name().get(model.mig_board) if model and model.mig_board else None


def profile_of(board: MigBoard, name: str) -> MigProfile | None:
    """
    Return the board's profile behind a label, a resource or a driver's variant of its name; None when none is near.

    A name the board does not have stands for the profile with as many compute slices, the same ending (+me, -me,
    +gfx) and the nearest memory, at most 15 % off: 1g.11gb on an H100 NVL is its 1g.12gb.
    """
    plain = _plain_name(name)
    for profile in board.profiles:
        if plain == profile.name or plain in profile.name_variants:
            return profile
    wanted = _NAME.fullmatch(plain)
    if wanted is None:
        return None
    ranked = [
        (difference, order)
        for order, profile in enumerate(board.profiles)
        if (difference := _name_difference(wanted, profile.name)) is not None and difference <= NAME_TOLERANCE_RATIO
    ]
    return board.profiles[min(ranked)[1]] if ranked else None


def mig_resource(profile: str) -> str:
    """Return the Kubernetes resource of a profile under strategy mixed: 1g.10gb+me is nvidia.com/mig-1g.10gb.me."""
    return RESOURCE_PREFIX + profile.replace("+", ".")


def memory_floor_gib(board: MigBoard, profile: MigProfile) -> float | None:
    """
    Return the memory one may count on in a slice, GiB: measured, else by the board's measured slices.

    An unmeasured slice gets its memory units times the least GiB that any measured slice of the board has per unit.
    None when nothing on the board was measured.
    """
    if profile.memory_gib is not None:
        return profile.memory_gib
    per_unit = [known.memory_gib / known.memory_units for known in board.profiles if known.memory_gib is not None]
    return min(per_unit) * profile.memory_units if per_unit else None


@cache
def mig_profile_frame() -> pl.DataFrame:
    """
    Return one row per GPU model name and MIG profile name, driver variants of the name included.

    Columns: gpu_model, mig_profile, resource, compute_slices, max_compute_slices, memory_gib, sm_count; the last two
    null where nobody measured them. A model with another SM count than the board's (H100 PCIe) has no sm_count.
    """
    schema = {
        "gpu_model": pl.String,
        "mig_profile": pl.String,
        "resource": pl.String,
        "compute_slices": pl.Int32,
        "max_compute_slices": pl.Int32,
        "memory_gib": pl.Float64,
        "sm_count": pl.Int32,
    }
    rows = [row for model in gpu_models() for row in _profile_rows(model)]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _profile_rows(model: GpuModel) -> list[tuple[str | int | float | None, ...]]:
    board = board_of(model.smi_name)
    if board is None:
        return []
    is_measured_gpu = board.sm_count is not None and model.sm_count == board.sm_count
    return [
        (
            gpu_name,
            name,
            mig_resource(name),
            profile.compute_slices,
            board.max_compute_slices,
            profile.memory_gib,
            profile.sm_count if is_measured_gpu else None,
        )
        for gpu_name in (model.smi_name, *model.aliases)
        for profile in board.profiles
        for name in (profile.name, *profile.name_variants)
    ]


@cache
def _board_by_name() -> dict[str, MigBoard]:
    return {board.name: board for board in mig_boards()}


def _plain_name(name: str) -> str:
    """Return a profile name as nvidia-smi prints it, whatever wrote it: resource, label or "MIG 1g.10gb"."""
    plain = name.strip().removeprefix(RESOURCE_PREFIX).removeprefix("MIG ")
    return plain.replace("gb.me", "gb+me").replace("gb.gfx", "gb+gfx")


def _name_difference(wanted: re.Match[str], name: str) -> float | None:
    """Return how far the memory in two profile names lies apart, as a share of `name`'s; None: another kind."""
    offered = _NAME.fullmatch(name)
    if offered is None or (offered["slices"], offered["variant"]) != (wanted["slices"], wanted["variant"]):
        return None
    return abs(int(wanted["memory"]) - int(offered["memory"])) / int(offered["memory"])


def _media(row: dict[str, str], prefix: str = "") -> MediaEngines:
    return MediaEngines(*(count(row[prefix + engine]) for engine in ("nvdec", "nvenc", "jpeg", "ofa")))


def _mig_profile(row: dict[str, str]) -> MigProfile:
    return MigProfile(
        name=row["profile"],
        name_variants=tuple(row["name_variants"].split(";")) if row["name_variants"] else (),
        gi_profile_id=int(row["gi_profile_id"]),
        max_instances=int(row["max_instances"]),
        compute_slices=int(row["compute_slices"]),
        memory_units=int(row["memory_units"]),
        starts=tuple(int(start) for start in row["starts"].split()),
        memory_gib=number(row["memory_gib"]),
        sm_count=count(row["sm_count"]),
        media=_media(row),
        evidence=row["evidence"],
    )
