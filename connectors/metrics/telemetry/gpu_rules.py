"""Rules over the quantities of one device and bucket: MIG repetitions, memory, counters stuck at zero."""

import numpy as np
from numpy.typing import NDArray

from connectors.metrics.telemetry.findings import Finding, Span
from connectors.metrics.telemetry.gpu_rows import GpuRows
from connectors.metrics.telemetry.series_table import ABSENT, QUANTITIES, SeriesTable
from connectors.metrics.telemetry.streams import MS_PER_BUCKET
from models.catalog.gpus import gpu_model
from models.catalog.mig import board_of, profile_of

_PROFILING = (
    "gr_engine_active_ratio",
    "sm_active_ratio",
    "sm_occupancy_ratio",
    "tensor_active_ratio",
    "dram_active_ratio",
)
_PROVES_PROFILING = ("gr_engine_active_ratio", "sm_active_ratio", "dram_active_ratio")  # a busy GPU may use no tensors
_BUSY_RATIO = 0.9
_POWER = QUANTITIES.index("power_watts")


def apply_rules(table: SeriesTable, rows: GpuRows) -> tuple[GpuRows, list[Finding]]:
    """Return the rows as they may be believed, and what was not."""
    rows = _without_cut_gpus(rows)
    findings = [*_forget_stuck_counters(rows), *_forget_empty_memory(rows)]
    _fill_total(table, rows)
    return rows, findings


def _is_instance(rows: GpuRows) -> NDArray[np.bool_]:
    return np.array([bool(device.mig_instance_id) for device in rows.devices], np.bool_)[rows.device]


def _without_cut_gpus(rows: GpuRows) -> GpuRows:
    """
    Return the rows without those of a GPU that is cut into instances at that time, and its power told once.

    Power is the whole GPU's, repeated on every instance at slightly different moments: the lowest instance gets the
    mean over all rows, the others none (dcgm-exporter issue 317).
    """
    is_instance = _is_instance(rows)
    if not is_instance.any():
        return rows
    uuids = {uuid: code for code, uuid in enumerate(dict.fromkeys(device.gpu_uuid for device in rows.devices))}
    uuid = np.array([uuids[device.gpu_uuid] for device in rows.devices], np.int64)[rows.device]
    first = int(rows.number.min())
    place = uuid * (int(rows.number.max()) - first + 1) + rows.number - first
    is_cut = np.isin(place, place[is_instance])
    of_cut = np.flatnonzero(is_cut)
    # Rows are sorted by device, and a GPU sorts before its instances, so that a stable sort keeps these in order.
    of_cut = of_cut[np.argsort(place[of_cut], kind="stable")]
    starts = np.flatnonzero(np.append(True, np.diff(place[of_cut]) != 0))
    _tell_power_once(rows, of_cut, starts, is_instance)
    return rows.where(~is_cut | is_instance)


def _tell_power_once(
    rows: GpuRows, of_cut: NDArray[np.int64], starts: NDArray[np.int64], is_instance: NDArray[np.bool_]
) -> None:
    samples = rows.samples[_POWER, of_cut]
    tellers = np.add.reduceat((samples > 0).astype(np.int64), starts)
    total = np.add.reduceat(np.where(samples > 0, rows.mean[_POWER, of_cut], 0.0), starts)
    largest = np.fmax.reduceat(rows.largest[_POWER, of_cut], starts)
    lowest = of_cut[starts]
    is_parent = ~is_instance[lowest]
    lowest[is_parent] = of_cut[starts[is_parent] + 1]
    most = np.maximum.reduceat(samples, starts)
    rows.forget("power_watts", _mask(of_cut, len(rows.device)))
    is_told = tellers > 0
    rows.mean[_POWER, lowest[is_told]] = np.minimum(total[is_told] / tellers[is_told], largest[is_told])
    rows.largest[_POWER, lowest[is_told]] = largest[is_told]
    rows.samples[_POWER, lowest[is_told]] = most[is_told]


def _forget_stuck_counters(rows: GpuRows) -> list[Finding]:
    """
    Make profiling quantities unknown where they are all zero on a GPU that is busy by GPU_UTIL.

    After XID 31, or with a profiler holding the counters, they stay at 0 for weeks (DCGM issue 303).
    """
    is_zero = np.zeros(len(rows.device), np.bool_)
    is_active = np.zeros(len(rows.device), np.bool_)
    for quantity in _PROVES_PROFILING:
        is_zero |= rows.has(quantity) & (rows.largest_of(quantity) == 0.0)
        is_active |= rows.has(quantity) & (rows.largest_of(quantity) > 0.0)
    is_stuck = is_zero & ~is_active & (rows.mean_of("gpu_util_ratio") >= _BUSY_RATIO)
    for quantity in _PROFILING:
        rows.forget(quantity, is_stuck)
    return _by_device(
        rows,
        is_stuck,
        "prof_stuck_at_zero",
        "5-minute buckets with profiling counters at 0 while GPU_UTIL is over 90 %: the counters are taken as unknown; "
        "look for XID 31 or a running profiler, and restart nv-hostengine",
    )


def _forget_empty_memory(rows: GpuRows) -> list[Finding]:
    """Make memory unknown where used and free are both zero, or an instance has no memory but zero used."""
    used, free, total = (rows.largest_of(f"memory_{part}_gib") for part in ("used", "free", "total"))
    has_size = (free > 0.0) | (total > 0.0)
    is_empty = (used == 0.0) & ~has_size & (rows.has("memory_free_gib") | _is_instance(rows))
    for part in ("used", "free", "total", "reserved"):
        rows.forget(f"memory_{part}_gib", is_empty)
    return _by_device(
        rows,
        is_empty,
        "memory_all_zero",
        "5-minute buckets in which the device has neither used nor free memory: memory is taken as unknown",
    )


def _fill_total(table: SeriesTable, rows: GpuRows) -> None:
    """Write the memory size where none was measured: the sum of its parts, else the catalogue's."""
    is_missing = ~rows.has("memory_total_gib") & rows.has("memory_used_gib")
    is_sum = is_missing & rows.has("memory_free_gib")
    reserved = rows.mean_of("memory_reserved_gib")
    parts = rows.mean_of("memory_used_gib") + rows.mean_of("memory_free_gib")
    _write_total(rows, is_sum, parts + np.where(np.isnan(reserved), 0.0, reserved))  # zero: old drivers report none
    known = _catalogued_gib(table, rows, is_missing & ~is_sum)
    _write_total(rows, ~np.isnan(known), known)
    rows.samples[QUANTITIES.index("memory_total_gib"), is_sum] = rows.samples[
        QUANTITIES.index("memory_free_gib"), is_sum
    ]


def _write_total(rows: GpuRows, is_of: NDArray[np.bool_], total_gib: NDArray[np.float64]) -> None:
    position = QUANTITIES.index("memory_total_gib")
    rows.mean[position, is_of] = total_gib[is_of]
    rows.largest[position, is_of] = total_gib[is_of]
    rows.samples[position, is_of] = 1  # so that a measured size outweighs it where pages are merged


def _catalogued_gib(table: SeriesTable, rows: GpuRows, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the size of the model or MIG profile, NaN where the catalogue has none or it is not wanted."""
    gib = np.full(len(rows.device), np.nan)
    of_wanted = np.flatnonzero(wanted)
    is_instance = _is_instance(rows)[of_wanted]
    profile = np.where(is_instance, rows.profile[of_wanted], ABSENT)
    kinds = np.stack((rows.model[of_wanted], profile, is_instance))
    for model, profile_code, is_cut in np.unique(kinds, axis=1).T.tolist():
        if model == ABSENT or (is_cut and profile_code == ABSENT):
            continue
        size = _size_gib(table.model.values[model], table.profile.values[profile_code] if is_cut else None)
        is_of = (kinds == np.array([[model], [profile_code], [is_cut]])).all(axis=0)
        gib[of_wanted[is_of]] = np.nan if size is None else size
    return gib


def _size_gib(model_name: str, profile_name: str | None) -> float | None:
    if profile_name is None:
        model = gpu_model(model_name)
        return model.memory_total_gib if model else None
    board = board_of(model_name)
    profile = profile_of(board, profile_name) if board else None
    return profile.memory_gib if profile else None


def _by_device(rows: GpuRows, is_of: NDArray[np.bool_], code: str, what: str) -> list[Finding]:
    """Return one finding per device with such rows."""
    findings = []
    device, number = rows.device[is_of], rows.number[is_of]
    for position in np.unique(device).tolist():
        of_device = number[device == position]
        subject = rows.devices[position]
        name = f"{subject.gpu_uuid}/{subject.mig_instance_id}" if subject.mig_instance_id else subject.gpu_uuid
        span = Span(int(of_device.min()) * MS_PER_BUCKET, (int(of_device.max()) + 1) * MS_PER_BUCKET)
        findings.append(Finding(code, name, what, len(of_device), span))
    return findings


def _mask(positions: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, np.bool_)
    mask[positions] = True
    return mask
