"""kill -9 anywhere in load and build, then run again: the same tables."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from optimizer.engines.duckdb import DuckdbEngine
from optimizer.sql_models import sql_models
from tests.engines.load_and_build import load_and_build

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("load_and_build.py")
KILLS = 40
LONGEST_SECONDS = 1.5  # a whole turn of load and build takes about as long


def contents(path):
    """Every table and view, as text."""
    with DuckdbEngine(path, memory_limit_gib=1) as engine:
        names = [f"raw.{name}" for (name,) in engine.run(
            "select table_name from duckdb_tables() where schema_name = 'raw' order by table_name"
        )] + [model.name for model in sql_models()]  # fmt: skip
        return {name: engine.run(f"select * from {name} order by all") for name in names}


def killed_after(path, seconds):
    """Run the script, and kill it so long after it began to work."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # noqa: TID251 - the child needs ours
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    with process.stdout:
        turns = process.stdout.read().count("done")
    assert process.wait() == -signal.SIGKILL
    return turns


@pytest.mark.slow
def test_killed_at_forty_random_points_and_run_again_gives_the_same_tables(tmp_path):
    untouched, killed = tmp_path / "untouched.duckdb", tmp_path / "killed.duckdb"
    load_and_build(untouched)
    moments = random.Random(7)  # noqa: S311 - where to kill, not a secret
    for _ in range(KILLS):
        killed_after(killed, moments.uniform(0, LONGEST_SECONDS))
    load_and_build(killed)
    assert contents(killed) == contents(untouched)
