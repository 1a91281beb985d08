"""The command line: what it finds, what it imports, how it ends."""

import json
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from optimizer.cli import Surroundings, run_command

ROOT = Path(__file__).parents[1]
STARTED = Surroundings(datetime(2026, 11, 30, 6, 42, 17, tzinfo=UTC), {"HOME": "/home/ada"}, is_terminal=False)
MAX_HELP_SECONDS = 0.3

SHOW = '''"""Show what a command is handed."""

import json

import click


@click.command()
@click.pass_obj
def COMMAND(context):
    click.echo(json.dumps({
        "config": str(context.config_path), "as_of": context.as_of.isoformat(), "given": context.is_as_of_given,
        "format": context.log_format, "verbosity": context.verbosity, "home": context.environ["HOME"],
    }))
'''
FAIL = '''"""Fail on purpose."""

import click

from models.domain.errors import ConfigError, ConservationError


@click.command()
@click.argument("how")
def COMMAND(how):
    if how == "config":
        raise ConfigError("earnkeep.toml, [run]: unknown key")
    if how == "sums":
        raise ConservationError("node a, 2026-11-30: 0.02 USD are missing")
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "crash":
        raise RuntimeError("nobody expected this")
    return int(how)
'''
WHY_NOT = '''"""Say why. Its import would fail."""

raise ImportError("imported without need")
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Give the name of a package with three commands, one of which cannot be imported."""
    folder = tmp_path / f"commands_of_{tmp_path.name}"
    folder.mkdir()
    sources = {"__init__": '"""Commands."""\n', "show": SHOW, "fail": FAIL, "why_not": WHY_NOT}
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder.name


def shown(capsys, package, *arguments):
    assert run_command([*arguments, "show"], STARTED, package) == 0
    return json.loads(capsys.readouterr().out)


def test_help_lists_commands_with_the_first_line_of_their_module_and_imports_none(capsys, package):
    assert run_command(["--help"], STARTED, package) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["why-not", "Say", "why.", "Its", "import", "would", "fail."] in lines
    assert ["show", "Show", "what", "a", "command", "is", "handed."] in lines


def test_an_empty_folder_of_commands_still_has_help(capsys, tmp_path, monkeypatch):
    (tmp_path / "no_commands_here").mkdir()
    (tmp_path / "no_commands_here" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert run_command(["--help"], STARTED, "no_commands_here") == 0
    assert "Usage: earnkeep" in capsys.readouterr().out


def test_calls_one_command_without_importing_the_others(capsys, package):
    assert shown(capsys, package)["home"] == "/home/ada"


def test_as_of_defaults_to_the_hour_that_has_begun(capsys, package):
    handed = shown(capsys, package)
    assert (handed["as_of"], handed["given"]) == ("2026-11-30T06:00:00+00:00", False)


@pytest.mark.parametrize("text", ["2026-11-29T22:00Z", "2026-11-29T22:00", "2026-11-30T03:30:00+05:30"])
def test_as_of_is_read_as_utc(capsys, package, text):
    handed = shown(capsys, package, "--as-of", text)
    assert (handed["as_of"], handed["given"]) == ("2026-11-29T22:00:00+00:00", True)


@pytest.mark.parametrize("text", ["yesterday", "2026-11-30T06:30Z"])
def test_an_as_of_that_is_no_full_hour_is_refused(capsys, package, text):
    assert run_command(["--as-of", text, "show"], STARTED, package) == 2
    assert text in capsys.readouterr().err


def test_options_before_the_command_reach_it(capsys, package):
    handed = shown(capsys, package, "--config", "other.toml", "--log-format", "console", "-vv")
    assert (handed["config"], handed["format"], handed["verbosity"]) == ("other.toml", "console", 2)


@pytest.mark.parametrize(("is_terminal", "expected"), [(True, "console"), (False, "json")])
def test_logs_are_for_people_on_a_terminal_and_for_machines_elsewhere(capsys, package, is_terminal, expected):
    started = Surroundings(STARTED.now, STARTED.environ, is_terminal=is_terminal)
    assert run_command(["show"], started, package) == 0
    assert json.loads(capsys.readouterr().out)["format"] == expected


@pytest.mark.parametrize(
    ("how", "exit_code", "message"),
    [
        ("config", 30, "earnkeep: earnkeep.toml, [run]: unknown key"),
        ("sums", 40, "earnkeep: node a, 2026-11-30: 0.02 USD are missing"),
        ("interrupt", 130, "interrupted"),
        ("20", 20, ""),
        ("0", 0, ""),
    ],
)
def test_each_end_has_its_exit_code_and_says_why_on_standard_error(capsys, package, how, exit_code, message):
    assert run_command(["fail", how], STARTED, package) == exit_code
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_crash_is_not_hidden(package):
    with pytest.raises(RuntimeError, match="nobody expected this"):
        run_command(["fail", "crash"], STARTED, package)


@pytest.mark.parametrize("arguments", [["shwo"], ["--nope"], ["show", "--nope"], ["fail"]])
def test_wrong_usage_ends_with_2(package, arguments):
    assert run_command(arguments, STARTED, package) == 2


def test_a_misspelt_command_is_told_the_nearest(capsys, package):
    run_command(["shwo"], STARTED, package)
    assert "show" in capsys.readouterr().err


def earnkeep(*arguments):
    command = [sys.executable, "-m", "optimizer", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_python_dash_m_optimizer_is_the_command():
    finished = earnkeep("--help")
    assert finished.returncode == 0
    assert finished.stdout.startswith("Usage: earnkeep")


def test_help_starts_quickly():
    # Processor time, which is what it takes on a free core; the clock on the wall would time the other tests as well.
    best = min(timed_help() for _ in range(5))
    assert best < MAX_HELP_SECONDS


def timed_help() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    earnkeep("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from datetime import UTC, datetime; from optimizer.cli import Surroundings, run_command;"
        "run_command(['--help'], Surroundings(datetime(2026, 1, 1, tzinfo=UTC), {}, is_terminal=False));"
        "heavy = {'altair', 'duckdb', 'highspy', 'numpy', 'polars', 'pyarrow', 'pydantic', 'rich', 'structlog'};"
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
