"""Run the product on a simulated fleet, and hold what it says against the fleet's truth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import structlog

from models.domain.recommendation import Decision
from models.domain.window import Window
from optimizer.cli_context import LogFormat
from optimizer.config import load_config
from optimizer.demo_fleet import FleetSpec, Truth, write_fleet
from optimizer.engines.duckdb import DuckdbEngine
from optimizer.log import configure, open_progress
from optimizer.run import RunContext, build, check, recommend, sync
from optimizer.state import State

KINDS = ("idle_gpus", "mig_consolidation")
PARTS = ("effective_usd", "workload_usd", "shared_usd", "idle_usd", "unattributed_usd")


@dataclass(frozen=True, slots=True)
class Score:
    """How one fleet went; dollars are US dollars a month, in cash."""

    seed: int
    gpus: int
    planted_usd: float
    found_usd: float  # of planted waste that was advised
    advised_usd: float
    true_usd: float  # the same two kinds, idle first, then slices on what is left
    decoys: int
    decoys_advised: tuple[str, ...]
    worst_part_difference_usd: float  # of any part, node and day
    unattributed_ratio: float

    @property
    def savings_error_ratio(self) -> float:
        """Return how far the advised savings are from the truth."""
        return abs(self.advised_usd - self.true_usd) / self.true_usd


def score(spec: FleetSpec, folder: Path) -> Score:
    """Write the fleet, run everything on it through the real connectors, and compare."""
    truth = write_fleet(spec, folder)
    decisions, costs = run_pipeline(spec, folder)
    advised = {key for decision in decisions for key in _keys(decision)}
    planted = [waste for waste in truth.wastes if waste.kind in KINDS]
    decoys = [decoy for decoy in truth.decoys if decoy.kind in KINDS]
    return Score(
        seed=spec.seed,
        gpus=truth.gpus,
        planted_usd=sum(waste.savings.cash_usd_per_month for waste in planted),
        found_usd=sum(waste.savings.cash_usd_per_month for waste in planted if waste.subject_key in advised),
        advised_usd=sum(decision.savings.expected_usd_per_month for decision in decisions),
        true_usd=sum(step.cash_usd_per_month for step in truth.idle_then_mig),
        decoys=len(decoys),
        decoys_advised=tuple(sorted(decoy.subject_key for decoy in decoys if decoy.subject_key in advised)),
        worst_part_difference_usd=_worst_difference(truth, costs),
        unattributed_ratio=float(costs["unattributed_usd"].sum()) / float(costs["effective_usd"].sum()),
    )


def run_pipeline(spec: FleetSpec, folder: Path) -> tuple[Sequence[Decision], pl.DataFrame]:
    """Return what was decided, and the cost of each node and day by its parts."""
    configure(LogFormat.CONSOLE, 0)
    config = load_config(folder / "earnkeep.toml", {})
    config = replace(config, run=replace(config.run, memory_limit_gib=3.0))
    window = Window(spec.window_start, spec.as_of)
    with (
        DuckdbEngine(config.run.warehouse, config.run.memory_limit_gib) as engine,
        State(config.run.state) as state,
        open_progress(LogFormat.JSON) as progress,
    ):
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
        context = RunContext(config, window, engine, state, progress)
        failures = sync(context)
        if failures:
            message = f"seed {spec.seed}: {failures}"
            raise RuntimeError(message)
        build(context)
        check(context)
        advice = state.advice(recommend(context))
        costs = pl.from_arrow(engine.read("cost_by_node_hour"))
    assert isinstance(costs, pl.DataFrame)
    by_day = costs.group_by("cluster_id", "node", pl.col("hour_start").dt.date().alias("day_start"))
    return [each.decision for each in advice], by_day.agg(pl.col(PARTS).sum().cast(pl.Float64))


def _keys(decision: Decision) -> set[str]:
    return {decision.subject.key, *(chosen.subject.key for chosen in decision.chosen)}


def _worst_difference(truth: Truth, costs: pl.DataFrame) -> float:
    expected = truth.cost_by_node_day.with_columns(pl.col("day_start").cast(pl.Date))
    both = expected.join(costs, on=["cluster_id", "node", "day_start"], how="full", suffix="_found")
    worst = [both.select((pl.col(part) - pl.col(f"{part}_found")).abs().max()).item() for part in PARTS]
    if both.select(pl.any_horizontal(pl.all().is_null()).any()).item():
        return float("inf")  # a node or day that only one of the two knows
    return float(max(worst))
