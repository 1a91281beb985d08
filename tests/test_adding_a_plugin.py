"""Adding a recommender or a connector is three new files and no edit: nothing that was there is touched."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("models", "connectors", "optimizer", "reports", "sql", "docs", "tests/recommenders", "tests/connectors")
FILES = ("pyproject.toml", "tests/conftest.py")

RECOMMENDER = '''"""
Greet every workload that holds a GPU.

Claim: It is there.
Saves: Nothing.
Gate: None.
Risk: None.
Undo: Nothing to undo.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from models.domain.recommendation import Candidate, Decision, Rejection, Step, SubjectKind
from optimizer.facts import Facts, subjects_of
from optimizer.manifest import Change, Runbook, TargetVersions
from optimizer.recommender import Recommender


@dataclass(frozen=True, slots=True)
class Settings:
    """How to greet."""

    max_greetings: int = 3


def find(facts: Facts, settings: Settings) -> Iterator[Candidate]:
    """Yield some of the holders."""
    for subject in subjects_of(facts.marts["holder_now"], SubjectKind.WORKLOAD)[: settings.max_greetings]:
        yield Candidate(subject)


def evaluate(candidate: Candidate, facts: Facts, settings: Settings) -> Rejection:
    """Greet it and leave it alone."""
    return Rejection("greeting", candidate.subject, "greeted", "hello")


def write(decision: Decision, targets: TargetVersions) -> Change:
    """Write nothing."""
    return Change((), Runbook((), ()))


RECOMMENDER = Recommender("greeting", Step.ADVISE, ("holder_now",), Settings, find, evaluate, write)
'''

CONNECTOR = '''"""One price that never changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from connectors.connector import Connector, Extent, Unreadable
from connectors.raw_tables import RAW_TABLES
from models.domain.window import Window


@dataclass(frozen=True, slots=True)
class Settings:
    """What costs how much."""

    item: str = "node"


@dataclass(frozen=True, slots=True)
class Page:
    """The price."""

    origin: str


def fetch(settings: Settings, window: Window) -> Iterator[Page | Unreadable]:
    """Yield the only page."""
    yield Page("a constant")


def normalise(settings: Settings, page: Page) -> Mapping[str, pa.Table]:
    """Return one row of raw.price."""
    columns = RAW_TABLES["price"].columns
    return {"price": pa.table({name: pa.nulls(1, columns.field(name).type) for name in columns.names})}


CONNECTOR = Connector("constant", ("price",), Extent.EVERYTHING, Settings, fetch, normalise)
'''

NEW_FILES = {
    "optimizer/recommenders/greeting.py": RECOMMENDER,
    "tests/recommenders/test_greeting.py": (
        "from optimizer.recommenders.greeting import Settings, find\n\n\n"
        "def test_greets_nobody_where_nobody_is(marts):\n    assert list(find(marts.facts(), Settings())) == []\n"
    ),
    "docs/recommenders/greeting.md": "# greeting\n\nGreets.\n",
    "connectors/prices/constant.py": CONNECTOR,
    "tests/connectors/test_constant.py": (
        "from connectors.prices.constant import CONNECTOR\n\n\n"
        'def test_has_a_name():\n    assert CONNECTOR.name == "constant"\n'
    ),
    "docs/connectors/constant.md": "# constant\n\nOne price.\n",
}


def digests(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {"__pycache__", ".hypothesis", ".pytest_cache"} & set(path.parts)
    }


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory):
    """Give a copy of the repository with the new files, and the digests of what was there before."""
    folder = tmp_path_factory.mktemp("repository")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    before = digests(folder)
    for name, text in NEW_FILES.items():
        assert not (folder / name).exists()
        (folder / name).write_text(text, encoding="utf-8")
    return folder, before


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-B", *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def test_both_are_found_by_their_names(before_and_after):
    ask = "from optimizer import recommenders\nfrom connectors import connector\n"
    ask += "print('greeting' in recommenders.names(), connector.find('constant').tables)"
    finished = run(before_and_after[0], "-c", ask)
    assert (finished.stdout, finished.stderr) == ("True ('price',)\n", "")


def test_both_keep_the_promises_of_all_and_nothing_else_changed(before_and_after):
    folder, before = before_and_after
    tests = [
        "tests/recommenders/test_greeting.py", "tests/connectors/test_constant.py",
        "tests/recommenders/test_contract.py", "tests/connectors/test_contract.py",
    ]  # fmt: skip
    finished = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "greeting or constant", *tests)
    assert finished.returncode == 0, finished.stdout
    assert {"skipped", "deselected"} >= {
        word for word in ("skipped", "failed", "error") if word in finished.stdout.splitlines()[-1]
    }
    after = digests(folder)
    assert set(after) - set(before) == set(NEW_FILES)
    assert {name: after[name] for name in before} == before
