"""Whether the pods that hold GPUs now, rows of the mart `holder_now`, are known well enough to act on."""

from datetime import datetime, timedelta

import polars as pl

from models.holding import Doubt

_KNOWN_ATTRIBUTIONS = ("direct", "estimated")
_HOUR = timedelta(hours=1)


def no_standing(
    now: pl.DataFrame, workload: pl.DataFrame, window_end: datetime, max_inventory_age_hours: float
) -> Doubt | None:
    """
    Return why nobody may judge a workload at all: it holds nothing now, the cluster needs it, or it was seen long ago.

    Args:
        now: Its rows of `holder_now`.
        workload: Its rows of `workload`, which leaves out what a cluster needs to run.
        window_end: Naive UTC.
        max_inventory_age_hours: How long before that the inventory may have ended, hours.
    """
    if now.is_empty():
        last = workload.get_column("last_held").cast(pl.Datetime("us")).max()
        if isinstance(last, datetime):
            return Doubt("no_longer_running", f"held GPUs until {last:%Y-%m-%d %H:%M} UTC and holds none now")
        return Doubt("holds_nothing", "held no GPU in the span looked at")
    if workload.is_empty():
        return Doubt(
            "system_pod", "runs in kube-system or once per node (DaemonSet): part of the cluster, not work to stop"
        )
    return stale_inventory(now, window_end, max_inventory_age_hours)


def stale_inventory(holders: pl.DataFrame, window_end: datetime, max_inventory_age_hours: float) -> Doubt | None:
    """Return that the inventory behind rows of `holder_now` ended long ago; None when it did not, or without a row."""
    if holders.is_empty():
        return None
    ends = holders.get_column("inventory_until").cast(pl.Datetime("us"))
    until = ends.min()
    if ends.null_count() or not isinstance(until, datetime):
        return Doubt("inventory_stale", "nobody knows when the inventory of its cluster ended; load a newer dump")
    if window_end - until <= timedelta(hours=max_inventory_age_hours):
        return None
    hours = (window_end - until) / _HOUR
    return Doubt(
        "inventory_stale",
        f"the inventory of its cluster ended at {until:%Y-%m-%d %H:%M} UTC, {hours:.0f} hours before the run's end: "
        "nobody knows what runs now; load a newer dump",
    )


def young_pod(now: pl.DataFrame, history: pl.DataFrame, window_end: datetime, min_pod_age_hours: float) -> Doubt | None:
    """Return that a pod started too lately to be judged by what its predecessors did; None when none did."""
    # A gap in the inventory parts a pod's time, so `held_since` may be late; its hours tell of the time before.
    first_hours = history.group_by(_text("pod_uid")).agg(pl.col("hour_start").min().alias("first_hour"))
    since = (
        now.select(_text("pod_uid"), _text("pod"), pl.col("held_since").cast(pl.Datetime("us")))
        .join(first_hours, on="pod_uid", how="left")
        .group_by("pod_uid", "pod")
        # it held from some instant within its first hour
        .agg(pl.min_horizontal(pl.col("held_since").min(), pl.col("first_hour").min() + _HOUR).alias("since"))
        .sort("since", "pod", descending=[True, False], nulls_last=False)
    )
    youngest = since.row(0, named=True)
    if youngest["since"] is None:
        return Doubt("too_young", f"nobody knows since when pod {youngest['pod']} holds its GPUs")
    age: timedelta = window_end - youngest["since"]
    if age >= timedelta(hours=min_pod_age_hours):
        return None
    return Doubt(
        "too_young",
        f"pod {youngest['pod']} holds its GPUs for {age / _HOUR:.1f} hours; needs {min_pod_age_hours:g} to be judged",
    )


def hours_of_current_pods(rows: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `holder_gpu_by_hour` that are about pods of `holder_now`."""
    return rows.join(now.select(_text("pod_uid")).unique(), on=_text("pod_uid"), how="semi")


def unknown_device(now: pl.DataFrame, rows: pl.DataFrame) -> Doubt | None:
    """
    Return that nobody can name each device a current pod holds, however few they are among many.

    Args:
        now: The workload's rows of `holder_now`.
        rows: Its rows of `holder_gpu_by_hour` over the span looked at.
    """
    shareless = now.filter(pl.col("devices").is_null())
    if not shareless.is_empty():
        return Doubt("device_unknown", f"nobody knows what share of a GPU {shareless.item(0, 'resource')} is")
    hours = hours_of_current_pods(rows, now).with_columns(_text("pod_uid"))
    device = pl.struct("node", "gpu_uuid", "mig_instance_id")
    named = hours.group_by("pod_uid").agg(
        device.filter(pl.col("gpu_uuid").is_not_null()).n_unique().alias("named_devices"),
        pl.col("gpu_uuid").is_null().any().alias("has_unnamed_hours"),
    )
    is_sure = _text("attribution").is_in(_KNOWN_ATTRIBUTIONS)
    pods = (
        now.group_by(_text("pod_uid"), _text("pod"))
        .agg(is_sure.all(ignore_nulls=False).alias("is_sure"), pl.col("requested_gpus").cast(pl.Float64).sum())
        .join(named, on="pod_uid", how="left")
    )
    is_named = pl.col("is_sure") & ~pl.col("has_unnamed_hours") & (pl.col("named_devices") >= pl.col("requested_gpus"))
    # null: a pod without an hour in the span, or without an attribution
    unnamed = pods.filter(is_named.is_null() | ~is_named).sort("pod")
    if unnamed.is_empty():
        return None
    return Doubt(
        "device_unknown",
        f"nothing says which GPU {unnamed.height} of its {pods.height} pods hold, such as {unnamed.item(0, 'pod')}; "
        "give the exporter pod labels (DCGM_EXPORTER_KUBERNETES=true), on every node",
    )


def _text(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String)
