"""What is shipped, what it needs, and what the locks hold."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from optimizer import __version__

ROOT = Path(__file__).parents[1]
PACKAGES = ("optimizer", "connectors", "models", "reports", "sql")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ("requirements.lock", "requirements-dev.lock")
MODULE_OF_DISTRIBUTION = {"pyyaml": "yaml", "vl-convert-python": "vl_convert"}
MODULE_OF_ANOTHER = {"markupsafe": "jinja2", "pydantic_core": "pydantic"}  # come with these, in a version that fits


def tracked(*suffixes):
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix in suffixes:
                yield str(path.relative_to(ROOT))


def imported_modules(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def declared_modules() -> set[str]:
    distributions = {re.split(r"[<>=\s;\[]", line)[0].lower() for line in PROJECT["dependencies"]}
    return {MODULE_OF_DISTRIBUTION.get(name, name.replace("-", "_")) for name in distributions}


def used_modules() -> set[str]:
    found = {name for path in tracked(".py") for name in imported_modules(ROOT / path)}
    third_party = found - set(sys.stdlib_module_names) - set(PACKAGES) - {"_typeshed"}
    return {MODULE_OF_ANOTHER.get(name, name) for name in third_party}


def test_every_import_is_a_declared_dependency():
    assert used_modules() - declared_modules() == set()


def test_every_declared_dependency_is_imported():
    assert declared_modules() - used_modules() == set()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r"\S*://\S*|--(?:extra-)?index-url.*|--find-links.*", text) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_version_has_hashes(lock):
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    pinned = [line for line in text.splitlines() if "==" in line and not line.strip().startswith("#")]
    assert len(pinned) > 20
    assert [line for line in pinned if "--hash=sha256:" not in line] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_dependency_is_locked(lock):
    text = (ROOT / lock).read_text(encoding="utf-8").lower()
    for line in PROJECT["dependencies"]:
        name = re.split(r"[<>=\s;\[]", line)[0].lower()
        assert re.search(rf"^{re.escape(name)}==", text, re.MULTILINE), f"{name} is not in {lock}; run `make lock`"


def test_both_locks_hold_the_same_versions():
    core, dev = (
        set(re.findall(r"^(\S+==\S+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE)) for lock in LOCKS
    )
    assert core - dev == set()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_every_file_of_the_packages(wheel):
    shipped = set(wheel.namelist())
    assert set(tracked(".py", ".sql", ".csv", ".yaml", ".yml", ".j2", ".css", ".json", ".typed")) - shipped == set()


def test_the_wheel_holds_no_tests(wheel):
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert tops - {f"earnkeep-{__version__}.dist-info"} == set(PACKAGES)


def test_the_wheel_has_the_command(wheel):
    entry_points = wheel.read(f"earnkeep-{__version__}.dist-info/entry_points.txt").decode()
    assert "earnkeep = optimizer.cli:main" in entry_points


def test_every_package_says_it_is_typed():
    assert [package for package in PACKAGES if not (ROOT / package / "py.typed").is_file()] == []
