"""What the devices of some segments did on one day, all quantities at once; arrays have shape (segments, steps)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.domain.units import HOURS_PER_DAY, MIB_PER_GIB, SECONDS_PER_HOUR
from optimizer.demo_fleet.curve import NOISE_LIMIT
from optimizer.demo_fleet.device_segments import Segment
from optimizer.demo_fleet.nouns import FaultKind
from optimizer.demo_fleet.shapes import BOARDS
from optimizer.demo_fleet.spec import FleetSpec

Floats = npt.NDArray[np.float64]
Steps = npt.NDArray[np.bool_]
Milliseconds = npt.NDArray[np.int64]
BLANK = 9223372036854775794.0  # DCGM's "no value" for 64-bit integers
FROZEN_WATTS = 31.427
NOISE = 0.06
PEAK_HOUR = 14  # of the day
RESERVED_MIB = 512  # of a whole GPU: the driver's own


@dataclass(frozen=True, slots=True)
class Day:
    """One day of the window in telemetry steps."""

    spec: FleetSpec
    first_hour: int

    @property
    def steps(self) -> int:
        """Return how many samples a day has."""
        return HOURS_PER_DAY * SECONDS_PER_HOUR // self.spec.telemetry_step_seconds

    @property
    def hours(self) -> Floats:
        """Return the hour of the window of each step, with its fraction."""
        step_hours = self.spec.telemetry_step_seconds / SECONDS_PER_HOUR
        return np.asarray(self.first_hour + np.arange(self.steps) * step_hours, dtype=np.float64)


def activity(day: Day, segments: Sequence[Segment], dice: np.random.Generator) -> dict[str, Floats]:
    """Return each quantity: ratios 0..1, MiB and watts."""
    hours = day.hours
    whole_hours = np.floor(hours).astype(np.int64)
    shape = (len(segments), day.steps)
    noise = np.clip(dice.standard_normal(shape) * NOISE, -NOISE_LIMIT, NOISE_LIMIT)
    other_noise = np.clip(dice.standard_normal(shape) * NOISE, -NOISE_LIMIT, NOISE_LIMIT)
    sm = _sm_active(day, segments, whole_hours) * (1.0 + noise)
    is_working = sm > 0.0
    sm = np.minimum(sm, 1.0)
    gr_engine = np.minimum(1.0, sm * 1.2)
    used, total = _memory(segments, whole_hours, other_noise)
    watts = _watts(segments, sm) + dice.standard_normal(shape) * 0.4
    return {
        "gpu_util": np.minimum(1.0, np.maximum(gr_engine * 1.05, np.where(is_working, 0.01, 0.0))),
        "gr_engine": gr_engine,
        "sm": sm,
        "tensor": sm * 0.35 * (1.0 + other_noise),
        "dram": np.where(is_working, sm * 0.45 * (1.0 - other_noise), 0.002 * np.abs(other_noise)),
        "used": used,
        "free": total - used,
        "power": watts,
    }


def _sm_active(day: Day, segments: Sequence[Segment], whole_hours: npt.NDArray[np.int64]) -> Floats:
    """Return the level without noise."""
    of_day = day.hours % HOURS_PER_DAY
    swing = np.sin((of_day - PEAK_HOUR + HOURS_PER_DAY / 4) * (2 * np.pi / HOURS_PER_DAY))
    level = np.zeros((len(segments), day.steps))
    is_first_step = np.isclose(day.hours, whole_hours)
    for row, segment in enumerate(segments):
        curve = segment.curve
        if curve.sm_active_ratio <= 0.0:
            continue
        at_work = curve.is_at_work(whole_hours, day.spec.window_start)
        level[row] = np.where(at_work, curve.sm_active_ratio * (1.0 + curve.swing_ratio * swing), 0.0)
        if curve.burst_every_hours:
            is_burst = is_first_step & at_work & (whole_hours % curve.burst_every_hours == 0)
            level[row, is_burst] = curve.burst_sm_active_ratio
    return level


def _memory(segments: Sequence[Segment], whole_hours: npt.NDArray[np.int64], noise: Floats) -> tuple[Floats, Floats]:
    held = np.array([segment.curve.memory_gib for segment in segments])[:, None] * MIB_PER_GIB
    used = np.broadcast_to(held, noise.shape) * (1.0 + noise * 0.05)
    for row, segment in enumerate(segments):
        if segment.curve.peak_memory_gib:
            is_start = whole_hours == segment.start_hour
            used[row, is_start] = segment.curve.peak_memory_gib * MIB_PER_GIB
    reserved = np.array([RESERVED_MIB * segment.device.share for segment in segments])
    total = np.array([segment.device.memory_mib for segment in segments]) - reserved
    return np.round(np.minimum(used, total[:, None])), np.round(np.broadcast_to(total[:, None], noise.shape))


def _watts(segments: Sequence[Segment], sm: Floats) -> Floats:
    """Return the power of each segment's whole GPU; slices of one GPU all get their mean, as exporters repeat it."""
    boards = [BOARDS[segment.device.node.shape.gpu_model or ""] for segment in segments]
    idle = np.array([board.idle_watts for board in boards])[:, None]
    full = np.array([board.full_watts for board in boards])[:, None]
    has_memory = np.array([segment.curve.memory_gib > 0 for segment in segments])[:, None]
    watts = idle * (1.0 + 0.15 * has_memory) + (full - idle) * 0.85 * sm
    rows_by_gpu: dict[str, list[int]] = {}
    for row, segment in enumerate(segments):
        if segment.device.instance_id:
            rows_by_gpu.setdefault(segment.device.uuid, []).append(row)
    for rows in rows_by_gpu.values():
        watts[rows] = watts[rows].mean(axis=0)
    return np.asarray(watts, dtype=np.float64)


def break_telemetry(values: dict[str, Floats], row: int, steps: Steps, kind: FaultKind) -> None:
    """Overwrite what a broken exporter or driver would report in these steps of a row."""
    changes: Mapping[str, float]
    match kind:
        case FaultKind.FROZEN:
            changes = dict.fromkeys(("gpu_util", "gr_engine", "sm", "tensor", "dram"), 0.0) | {"power": FROZEN_WATTS}
        case FaultKind.COUNTERS_ZERO:
            changes = dict.fromkeys(("gr_engine", "sm", "tensor", "dram"), 0.0) | {"gpu_util": 1.0}
        case FaultKind.BLANK:
            changes = dict.fromkeys(("gpu_util", "gr_engine", "sm", "tensor", "dram", "used", "free"), BLANK)
        case _:
            changes = {}
    for quantity, value in changes.items():
        values[quantity][row, steps] = value
