"""The whole product on a small demo fleet: bills and telemetry in, reconciled report out."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import orjson
import pytest

ROOT = Path(__file__).parents[1]
GPUS = "40"


def earnkeep(*arguments, hash_seed="0", **environ):
    return subprocess.run(
        [sys.executable, "-m", "optimizer", "--log-format", "json", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, **environ},  # noqa: TID251 - the child needs ours
    )  # fmt: skip


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One demo run; tests that change its folder work on a copy."""
    folder = tmp_path_factory.mktemp("first")
    done = earnkeep("demo", "--folder", str(folder), "--gpus", GPUS, "--seed", "3", hash_seed="1")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture
def copy(demo, tmp_path):
    shutil.copytree(demo[0], tmp_path / "copy")
    return tmp_path / "copy"


def on(folder, *arguments):
    return earnkeep("--config", str(folder / "earnkeep.toml"), "--as-of", "2026-11-30", *arguments)


def report_of(folder):
    return orjson.loads((folder / "out" / "report.json").read_bytes())


def test_the_demo_ends_with_the_total_the_top_and_the_report(demo):
    folder, printed = demo
    assert "all of it accounted for" in printed
    assert "USD a month in cash" in printed
    for name in ("report.html", "report.md", "report.json"):
        assert f"{folder}/out/{name}" in printed
        assert (folder / "out" / name).stat().st_size > 1000


def test_another_hash_seed_and_folder_give_the_same_bytes(demo, tmp_path):
    again = earnkeep("demo", "--folder", str(tmp_path / "b"), "--gpus", GPUS, "--seed", "3", hash_seed="2")
    assert again.returncode == 0, again.stderr
    for name in ("report.html", "report.md", "report.json"):
        assert (tmp_path / "b" / "out" / name).read_bytes() == (demo[0] / "out" / name).read_bytes(), name


def test_running_again_changes_nothing(copy):
    before = {name: (copy / "out" / name).read_bytes() for name in ("report.html", "report.md", "report.json")}
    done = on(copy, "run")
    assert done.returncode == 0, done.stderr
    assert {name: (copy / "out" / name).read_bytes() for name in before} == before


def test_a_bad_file_is_named_and_stops_neither_the_others_nor_what_is_loaded(copy):
    bill = max((copy / "bills" / "aws").iterdir())
    bill.write_bytes(bill.read_bytes()[: bill.stat().st_size // 2])  # truncated
    done = on(copy, "run")
    assert done.returncode == 20
    assert bill.name in done.stderr
    assert bill.name in (copy / "out" / "report.md").read_text()


def test_a_lost_bill_row_stops_the_run_before_any_advice(copy):
    before = (copy / "out" / "report.json").read_bytes()
    with duckdb.connect(str(copy / "earnkeep.duckdb")) as db:
        db.execute("delete from raw.cost where rowid = (select min(rowid) from raw.cost where EffectiveCost > 1)")
    done = on(copy, "run", "--stage", "recommend")
    assert done.returncode == 40
    assert "bill_rows_are_all_there" in done.stderr
    assert (copy / "out" / "report.json").read_bytes() == before


def test_explain_shows_formula_times_and_queries_that_run(demo):
    folder, printed = demo
    recommendation_id = printed.rsplit("[", 1)[1].split("]")[0]
    done = on(folder, "explain", recommendation_id)
    assert done.returncode == 0, done.stderr
    assert "Formula" in done.stdout
    assert "2026-10-31 00:00 to 2026-11-30 00:00 UTC" in done.stdout
    queries = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("select ")]
    assert queries
    with duckdb.connect(str(folder / "earnkeep.duckdb"), read_only=True) as db:
        for query in queries:
            assert db.execute(query).fetchall()


def test_why_not_names_the_reason(demo):
    done = on(demo[0], "why-not", "prod-aws")
    assert done.returncode == 0, done.stderr
    assert "busy" in done.stdout


def test_every_gpu_workload_has_advice_or_a_reason(demo):
    folder, _ = demo
    with duckdb.connect(str(folder / "earnkeep.duckdb"), read_only=True) as db:
        held = {
            "/".join(row)
            for row in db.execute(
                "select distinct cluster_id, namespace, workload_kind, workload_name from holder_now"
            ).fetchall()
        }
    text = (folder / "out" / "report.json").read_text()
    assert [key for key in sorted(held) if key not in text] == []


def test_status_and_doctor_are_content_with_the_demo(demo):
    assert "Newest run: as of 2026-11-30" in on(demo[0], "status").stdout
    doctor = on(demo[0], "doctor")
    assert doctor.returncode == 0, doctor.stdout


def test_the_report_names_no_path_of_this_machine(demo):
    folder, _ = demo
    for name in ("report.html", "report.md", "report.json"):
        assert str(folder) not in (folder / "out" / name).read_text(), name
