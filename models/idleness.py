"""Which devices did nothing, and what that does not prove."""

from dataclasses import dataclass

import polars as pl

from models.domain.recommendation import Risk
from models.domain.units import BUCKETS_PER_HOUR, HOURS_PER_DAY
from models.holding import Doubt, Holding, observed_devices, unobserved_device


@dataclass(frozen=True, slots=True)
class IdleLimits:
    """What no device may reach to count as idle, and how well that must be known."""

    activity_ratio: float
    memory_gib: float  # from it on something is loaded
    coverage_ratio: float  # share of its time by which a device counts as observed
    span_days: int  # days looked at


def idle_devices(holding: Holding, limits: IdleLimits) -> pl.DataFrame:
    """Return the observed devices on which no activity signal ever reached the limit; memory may be loaded."""
    return observed_devices(holding, limits.coverage_ratio).filter(
        pl.col("activity_max") < limits.activity_ratio  # null: nobody saw it, so it is not idle
    )


def nothing_idle(
    holding: Holding, idle: pl.DataFrame, now: pl.DataFrame, limits: IdleLimits, whole_gpu: str
) -> Doubt | None:
    """
    Return why nothing can be given back although some devices may be idle.

    Args:
        holding: What the workload held.
        idle: Its idle devices.
        now: Its rows of `holder_now`.
        limits: What counts as idle.
        whole_gpu: Name of the resource that stands for a whole GPU.
    """
    unobserved = unobserved_device(holding, limits.coverage_ratio)
    peaks = holding.devices.get_column("activity_max").drop_nulls().sort()
    if unobserved is not None and (peaks.is_empty() or not idle.is_empty()):
        return unobserved
    busy = holding.devices.height - idle.height
    if idle.is_empty() or busy >= float(now.get_column("devices").sum()):
        unseen = holding.devices.height - observed_devices(holding, limits.coverage_ratio).height
        worked = f"{busy - unseen} of {holding.devices.height} devices it held worked"
        also = "" if unobserved is None else "; some went unseen, and unknown counts as active"
        return Doubt("busy", f"{worked} within {limits.span_days} days, peak {peaks.item(-1):.0%}{also}")
    if not busy:
        return None
    some = f"{idle.height} of {holding.devices.height} devices are idle"
    pods = now.get_column("pod_uid").n_unique()
    if pods > 1:
        return Doubt("partly_idle", f"{some}, spread over {pods} replicas; its autoscaler or gpu_downsize decides that")
    is_whole = (pl.col("resource").cast(pl.String) == whole_gpu) & (pl.col("devices") == pl.col("requested_gpus"))
    if now.filter(is_whole).height < now.height:
        return Doubt("partly_idle", f"{some}, but it holds {now.item(0, 'resource')}, not whole GPUs of its own")
    return None


def maybe_frozen(devices: pl.DataFrame, powered: pl.Series) -> Doubt | None:
    """
    Return that constant zeros may be those of a frozen exporter; None where another reading says that it runs.

    Args:
        devices: Columns gpu_uuid, memory_used_gib_max.
        powered: UUIDs of the GPUs whose power was read; a frozen exporter shows there, and counts as stuck.
    """
    mute = unpowered(devices, powered).filter(pl.col("memory_used_gib_max").is_null())
    if mute.is_empty():
        return None
    first = mute.get_column("gpu_uuid").sort().item(0)
    return Doubt(
        "telemetry_missing",
        f"{mute.height} devices, such as {first}, report neither power nor memory: their zeros may be a frozen "
        "exporter's; export DCGM_FI_DEV_POWER_USAGE and DCGM_FI_DEV_FB_USED",
    )


def unpowered(devices: pl.DataFrame, powered: pl.Series) -> pl.DataFrame:
    """Return the devices whose power nobody read."""
    return devices.filter(~pl.col("gpu_uuid").is_in(powered.implode()))


def maybe_serving(idle: pl.DataFrame, workload_class: object, held_memory_gib: float) -> Doubt | None:
    """Return that an inference server has a model loaded and may be called; None when it has not."""
    memory_gib = loaded_gib(idle)
    if workload_class != "inference" or (memory_gib is not None and memory_gib < held_memory_gib):
        return None
    loaded = "an unknown amount of memory" if memory_gib is None else f"{memory_gib:.1f} GiB"
    return Doubt(
        "traffic_unknown",
        f"an inference server with {loaded} loaded and no computation, but no traffic telemetry says nobody calls it",
    )


def loaded_gib(devices: pl.DataFrame) -> float | None:
    """Return the most memory any device had loaded, GiB; None where that of one is unknown."""
    memory_gib = devices.get_column("memory_used_gib_max")
    return None if memory_gib.null_count() else float(memory_gib.max())  # type: ignore[arg-type]


def stop_risk(workload_class: object, *, is_surely_empty: bool) -> Risk:
    """Return how bad it is to stop a workload, or a part of it, that did nothing."""
    if is_surely_empty:
        return Risk.NONE
    # What nobody classified may be a server.
    return Risk.OUTAGE if workload_class in {"inference", None} else Risk.SLOWER


def node_in_use(rows: pl.DataFrame, gpu_count: int, limits: IdleLimits) -> Doubt | None:
    """
    Return why a node without holders may be in use all the same; None when every GPU did nothing and held nothing.

    Args:
        rows: The node's rows of `gpu_by_hour` over the span looked at.
        gpu_count: GPUs it has.
        limits: What counts as idle.
    """
    span_buckets = limits.span_days * HOURS_PER_DAY * BUCKETS_PER_HOUR
    # A GPU cut into slices has a row for each of them: its time counts once.
    hours = rows.group_by("gpu_uuid", "hour_start").agg(pl.col("observed_buckets").max())
    buckets = hours.group_by("gpu_uuid").agg(pl.col("observed_buckets").sum()).get_column("observed_buckets")
    seen_gpus = int((buckets >= limits.coverage_ratio * span_buckets).sum())
    peak = rows.get_column("activity_max").max()
    if not isinstance(peak, float) or seen_gpus < gpu_count:
        ratio = float(buckets.sum()) / (gpu_count * span_buckets)
        reason = f"telemetry covers {ratio:.0%} of its GPUs' time; unknown counts as active"
        return Doubt("telemetry_missing", reason)
    if not peak < limits.activity_ratio:
        return Doubt(
            "used_without_request", f"no pod asked for its GPUs, yet one reached {peak:.0%}: used outside Kubernetes"
        )
    memory_gib = rows.get_column("memory_used_gib_max").max()
    if isinstance(memory_gib, float) and memory_gib >= limits.memory_gib:
        return Doubt("used_without_request", f"{memory_gib:.1f} GiB loaded by something outside Kubernetes")
    devices = rows.group_by("gpu_uuid").agg(pl.col("memory_used_gib_max").max())
    return maybe_frozen(devices, powered_gpus(rows))


def powered_gpus(rows: pl.DataFrame) -> pl.Series:
    """Return the UUIDs of the GPUs whose power rows of `gpu_by_hour` show."""
    return rows.filter(pl.col("power_watts_mean").is_not_null()).get_column("gpu_uuid").unique().sort()
