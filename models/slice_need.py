"""What slice of a GPU a workload needs, from what it used of whole ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from models.catalog.gpus import gpu_model
from models.catalog.mig import board_of
from models.holding import Doubt

_TOLERATED_GAPS_RATIO = 0.05  # share of the observed hours that may lack one quantity
_BOARD_SPREAD_RATIO = 0.05  # drivers report the memory of one board a little differently
_SURE_WORK_RATIO = 0.1  # activity at which SM_ACTIVE cannot be zero


@dataclass(frozen=True, slots=True)
class SliceNeed:
    """What one replica needs."""

    memory_max_gib: float
    sm_quantile_ratio: float


def wrong_board(models: Sequence[str | None]) -> Doubt | None:
    """Return why boards of these GPU models, null where unknown, cannot be cut; None when they can."""
    if len(models) != 1 or models[0] is None:
        shown = ", ".join("unknown" if model is None else model for model in models)
        return Doubt("gpu_model_unclear", f"runs on {shown}; needs one known GPU model")
    whole, board = gpu_model(models[0]), board_of(models[0])
    if whole is None:
        return Doubt("gpu_model_unknown", f"{models[0]} is not in the catalogue; nothing is known of its geometry")
    if board is None:
        return Doubt("no_mig", f"{models[0]} cannot be cut, or nobody published where its slices go")
    if whole.sm_count is None or whole.sm_count != board.sm_count:
        return Doubt("slices_unmeasured", f"nobody published how many SMs a slice of a {models[0]} has")
    return None


def slice_need(history: pl.DataFrame, sm_quantile: float) -> SliceNeed | Doubt:
    """
    Return what one replica needs, or why that is unknown.

    Args:
        history: The workload's rows of `holder_gpu_by_hour`.
        sm_quantile: Level, 0 to 1, of the hourly maxima of SM_ACTIVE.
    """
    boards = history.get_column("memory_total_gib").drop_nulls().sort()
    if not boards.is_empty() and boards.item(-1) > boards.item(0) * (1 + _BOARD_SPREAD_RATIO):
        sizes = f"{boards.item(0):.0f} and {boards.item(-1):.0f} GiB"
        return Doubt("gpu_model_changed", f"ran on devices of {sizes}; a share of one is none of the other")
    observed = history.filter(pl.col("observed_buckets") > 0)
    if _is_sparse(observed, pl.col("memory_used_gib_max").is_null()):
        return Doubt("memory_unknown", "no memory telemetry (DCGM_FI_DEV_FB_USED); a slice's memory is a hard limit")
    if _is_sparse(observed, pl.col("sm_active_ratio_max").is_null()):
        return Doubt(
            "no_sm_active",
            "SM_ACTIVE is not collected, and a busy GPU may need one SM or all; add the line "
            "`DCGM_FI_PROF_SM_ACTIVE, gauge, SM active` to the exporter's counters",
        )
    worked = pl.col("activity_max") >= _SURE_WORK_RATIO
    if _is_sparse(observed, worked & (pl.col("sm_active_ratio_max") <= 0)):
        return Doubt(
            "sm_active_stuck",
            "SM_ACTIVE stands at 0 in hours in which the GPU worked (a known fault after XID 31); restart the exporter",
        )
    memory_max_gib = history.get_column("memory_used_gib_max").max()
    quantile = observed.get_column("sm_active_ratio_max").drop_nulls().quantile(sm_quantile, "linear")
    assert isinstance(memory_max_gib, float)  # noqa: S101 - checked above: there is at least one value
    assert quantile is not None  # noqa: S101 - checked above
    return SliceNeed(memory_max_gib, quantile)


def _is_sparse(observed: pl.DataFrame, bad: pl.Expr) -> bool:
    return observed.is_empty() or observed.filter(bad).height > _TOLERATED_GAPS_RATIO * observed.height
