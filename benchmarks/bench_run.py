"""
One whole run over 1,000 simulated GPUs x 30 days, by stage, and the build beside the bare hourly roll-up.

The roll-up is query m1: mean, median, p95, p99, maximum, the instant of the maximum and idle seconds per GPU and
hour, of one quantity, into a table; same rows, same process, same memory limit and threads as the build.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from models.domain.window import Window
from optimizer.cli_context import LogFormat
from optimizer.config import load_config
from optimizer.demo_fleet import FleetSpec, write_fleet
from optimizer.engines.duckdb import DuckdbEngine
from optimizer.log import configure, open_progress
from optimizer.run import RunContext, build, check, recommend, report, sync
from optimizer.state import State

AS_OF = datetime(2026, 11, 30, tzinfo=UTC)
MEMORY_LIMIT_GIB = 2.0
MAX_SECONDS = 600
MAX_GIB = 4.0
MAX_RATIO = 3.0
ROUNDS = 3  # the ratio compares the best of so many
M1 = """
create or replace table m1 as
select
    cluster_id, gpu_uuid, mig_instance_id, date_trunc('hour', bucket_start) as hour_start,
    avg(sm_active_ratio_mean) as mean,
    percentile_cont(0.50) within group (order by sm_active_ratio_mean) as p50,
    percentile_cont(0.95) within group (order by sm_active_ratio_mean) as p95,
    percentile_cont(0.99) within group (order by sm_active_ratio_mean) as p99,
    max(sm_active_ratio_max) as highest,
    max_by(bucket_start, sm_active_ratio_max) as highest_at,
    300 * count(*) filter (where sm_active_ratio_max < 0.01) as idle_seconds
from raw.gpu_5m
group by all
"""


def main() -> int:
    """Print seconds by stage, then the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="keep the files here, and use them again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return _bench(arguments.gpus, arguments.folder or Path(scratch))


def _bench(gpus: int, folder: Path) -> int:
    spec = FleetSpec(seed=1, as_of=AS_OF, gpus=gpus, parquet_metrics=True)
    if not (folder / "earnkeep.toml").exists():
        _timed("write the fleet's files", lambda: write_fleet(spec, folder))
    for leftover in folder.glob("earnkeep.duckdb*"):
        leftover.unlink()
    configure(LogFormat.CONSOLE, 0)
    config = load_config(folder / "earnkeep.toml", {})
    config = replace(config, run=replace(config.run, memory_limit_gib=MEMORY_LIMIT_GIB))
    with (
        DuckdbEngine(config.run.warehouse, MEMORY_LIMIT_GIB) as engine,
        State(config.run.state) as state,
        open_progress(LogFormat.CONSOLE) as progress,
    ):
        context = RunContext(config, Window(spec.window_start, spec.as_of), engine, state, progress)
        stages: list[tuple[str, Callable[[], object]]] = [
            ("sync", lambda: sync(context)),
            ("build", lambda: build(context)),
            ("check", lambda: check(context)),
            ("recommend", lambda: recommend(context)),
            ("report", lambda: report(context)),
        ]
        seconds = sum(_timed(name, stage) for name, stage in stages)
        peak_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        ratio = _build_ratio(context, engine)
    bars = (
        ("run_seconds", seconds, MAX_SECONDS),
        ("run_peak_gib", peak_gib, MAX_GIB),
        ("build_over_bare_rollup", ratio, MAX_RATIO),
    )
    for name, value, target in bars:
        print(f"BAR {name} {value:.4g} {target:g} {'met' if value <= target else 'missed'}")
    return int(not all(value <= target for _, value, target in bars))


def _build_ratio(context: RunContext, engine: DuckdbEngine) -> float:
    ((rows,),) = engine.run("select count(*) from raw.gpu_5m")
    rollup, whole = [], []
    for _ in range(ROUNDS):
        rollup.append(_timed("bare hourly roll-up", lambda: engine.run(M1)))
        engine.run("delete from build.model_state")  # so that nothing is left of the last build
        whole.append(_timed("build from raw", lambda: build(context)))
    print(json.dumps({"gpu_5m_rows": rows, "rollup_seconds": rollup, "build_seconds": whole}))
    return min(whole) / min(rollup)


def _timed(name: str, work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    print(f"{seconds:8.2f} s  {name}", flush=True)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
