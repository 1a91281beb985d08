"""The same inputs give the same bytes, whatever the hash seed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
import hashlib, importlib.util, sys
spec = importlib.util.spec_from_file_location("fleet", sys.argv[1])
fleet = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fleet)
from reports.build_report import build_report
from reports.formats import html, json, markdown
shown = build_report(fleet.small_inputs())
for form in (html, json, markdown):
    print(form.__name__, hashlib.sha256(form.render(shown).encode()).hexdigest())
"""


def rendered(seed):
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent / "conftest.py")]
    variables = {"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "TZ": f"Etc/GMT+{seed}"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_hash_seed_and_time_zone_leave_no_trace():
    assert rendered("1") == rendered("7")
