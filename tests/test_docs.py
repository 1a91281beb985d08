"""What exists is documented and tested, and what is documented exists."""

import ast
import re
from pathlib import Path

import pytest

from connectors import connector
from models.domain import errors
from optimizer import recommenders

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(path.stem for path in (ROOT / "optimizer" / "commands").glob("[a-z]*.py"))
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)
PLUG_INS = [("recommenders", name) for name in recommenders.names()] + [
    ("connectors", name) for name in connector.names()
]


@pytest.mark.parametrize(("folder", "name"), PLUG_INS)
def test_every_plug_in_has_its_page(folder, name):
    page = ROOT / "docs" / folder / f"{name}.md"
    assert page.is_file()
    assert page.read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize(("folder", "name"), PLUG_INS)
def test_every_plug_in_has_its_test(folder, name):
    assert list((ROOT / "tests" / folder).rglob(f"test_{name}.py"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does_in_one_line(name):
    source = (ROOT / "optimizer" / "commands" / f"{name}.py").read_text(encoding="utf-8")
    first, _, rest = (ast.get_docstring(ast.parse(source)) or "").partition("\n")
    assert first.endswith(".")
    assert rest == ""


def test_pages_name_only_files_that_exist():
    missing = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert missing == []


def test_pages_name_only_commands_that_exist():
    named = {
        word.replace("-", "_")
        for page in PAGES
        for word in re.findall(r"`(?:\.venv/bin/)?earnkeep ([a-z][a-z-]*)", page.read_text(encoding="utf-8"))
    }
    assert named - set(COMMANDS) == set()


def test_pages_name_only_make_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    benches = {f"bench-{path.stem.removeprefix('bench_')}" for path in (ROOT / "benchmarks").glob("bench_*.py")}
    named = {
        word for page in PAGES for word in re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE)
    }
    assert named - targets - benches == set()


def test_the_readme_lists_every_exit_code_of_an_error():
    codes = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.EarnkeepError)
    }
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert codes | {0, 1, 2, 20, 130} == listed
