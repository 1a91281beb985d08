"""Adding a recommender takes three new files and no edit, as CONTRIBUTING says."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("models", "connectors", "optimizer", "reports", "sql")

MODULE = '''"""
Say hello to every workload.

Claim   Nothing; it shows where a recommender goes.
Saves   Nothing.
Gate    None.
Risk    None.
Undo    Nothing to undo.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from models.domain.recommendation import Candidate, Decision, Rejection, Step, Subject, SubjectKind
from optimizer.facts import Facts
from optimizer.manifest import Change, Runbook, TargetVersions
from optimizer.recommender import Recommender


@dataclass(frozen=True, slots=True)
class Settings:
    """How to say hello."""

    max_greetings: int = 3  # more would be too many


def find(facts: Facts, settings: Settings) -> Iterator[Candidate]:
    """Yield one candidate."""
    yield Candidate(Subject(SubjectKind.WORKLOAD, "prod/ns/Deployment/greeter"))


def evaluate(candidate: Candidate, facts: Facts, settings: Settings) -> Rejection:
    """Reject it."""
    return Rejection("hello", candidate.subject, "only_an_example", "it is only an example")


def write(decision: Decision, targets: TargetVersions) -> Change:
    """Write nothing."""
    return Change((), Runbook((), ()))


RECOMMENDER = Recommender("hello", Step.ADVISE, (), Settings, find, evaluate, write)
'''

TEST = """from optimizer.recommenders.hello import RECOMMENDER


def test_says_hello():
    assert RECOMMENDER.name == "hello"
"""

ASK = """
from pathlib import Path
from optimizer import recommenders
from optimizer.config import load_config
from optimizer.settings_reference import settings_reference

Path("earnkeep.toml").write_text("[recommenders.hello]\\nmax_greetings = 7\\n")
assert "hello" in recommenders.names()
assert load_config(Path("earnkeep.toml"), {}).recommenders["hello"].max_greetings == 7
assert "| `max_greetings` | whole number | `3` | more would be too many |" in settings_reference()
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Give a copy of the repository with three files more."""
    folder = tmp_path_factory.mktemp("checkout")
    for package in (*PACKAGES, "docs", "tests"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "optimizer/recommenders/hello.py").write_text(MODULE)
    (folder / "tests/recommenders/test_hello.py").write_text(TEST)
    (folder / "docs/recommenders/hello.md").write_text("# hello\n\nSays hello to every workload.\n")
    return folder


def run(checkout, *arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False, timeout=120)


def test_it_is_found_configured_and_documented(checkout):
    finished = run(checkout, "-c", ASK)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_it_passes_its_own_test_and_the_promises_of_all(checkout):
    tests = ["tests/recommenders/test_hello.py", "tests/test_docs.py"]
    tests += [str(path.relative_to(checkout)) for path in (checkout / "tests/recommenders").glob("test_contract.py")]
    finished = run(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "hello", *tests)
    assert finished.returncode == 0, finished.stdout


def test_it_keeps_the_import_contracts(checkout):
    finished = run(checkout, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
    assert finished.returncode == 0, finished.stdout
