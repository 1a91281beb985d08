"""The command line: options before the command, the clock, the environment, the exit code. Nothing else."""

import ast
import errno
import importlib
import os
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from models.domain.errors import EarnkeepError
from optimizer import __version__
from optimizer.cli_context import CliContext, LogFormat

COMMANDS_PACKAGE = "optimizer.commands"
USAGE_EXIT_CODE = 2
INTERRUPTED_EXIT_CODE = 130  # as shells report SIGINT
BROKEN_PIPE_EXIT_CODE = 1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the process was started with, read in one place."""

    now: datetime
    environ: Mapping[str, str]
    is_terminal: bool  # standard error, where progress goes


def main() -> None:
    """Run the command line of this process."""
    surroundings = Surroundings(
        now=datetime.now(UTC),  # noqa: TID251, the one place that reads the clock
        environ=dict(os.environ),  # noqa: TID251, the one place that reads the environment
        is_terminal=sys.stderr.isatty(),
    )
    sys.exit(run_command(sys.argv[1:], surroundings))


def run_command(arguments: Sequence[str], surroundings: Surroundings, package: str = COMMANDS_PACKAGE) -> int:
    """
    Run one command and return the exit code of the process.

    0 done, 20 report written on partial data, 30 invalid configuration or input, 40 a conservation check failed,
    2 usage, 130 interrupted. A crash is no code of ours: the exception goes on, and Python ends with 1.
    """
    group = command_group(surroundings, package)
    try:
        outcome = group.main(args=list(arguments), prog_name="earnkeep", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("earnkeep: interrupted; what was committed stays, run again to go on", err=True)
        return INTERRUPTED_EXIT_CODE
    except EarnkeepError as error:
        click.echo(f"earnkeep: {error}", err=True)
        return error.exit_code
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        # The reader has gone (`earnkeep explain ID | head`). Nothing may be flushed into the pipe any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE_EXIT_CODE
    return outcome if isinstance(outcome, int) else 0


def command_group(surroundings: Surroundings, package: str) -> click.Group:
    """Return the command line over the commands of a package."""

    @click.command(cls=CommandFolder, package=package, context_settings={"help_option_names": ["-h", "--help"]})
    @click.version_option(__version__, prog_name="earnkeep")
    @click.option(
        "--config", "config_path", metavar="PATH", default="earnkeep.toml", show_default=True,
        type=click.Path(path_type=Path, dir_okay=False), help="Configuration file.",
    )  # fmt: skip
    @click.option(
        "--as-of", type=Instant(), metavar="TIME", help="End of the history looked at, UTC. [default: this hour]"
    )
    @click.option(
        "--log-format", type=click.Choice([each.value for each in LogFormat]), default=LogFormat.AUTO.value,
        help="Log lines on standard error; auto is console on a terminal, json otherwise.",
    )  # fmt: skip
    @click.option("-v", "--verbose", "verbosity", count=True, help="Log more; twice for all.")
    @click.pass_context
    def earnkeep(
        context: click.Context, config_path: Path, as_of: datetime | None, log_format: str, verbosity: int
    ) -> None:
        """Say which GPUs do not earn their keep, what to change, and what that saves on the real bill."""
        automatic = LogFormat.CONSOLE if surroundings.is_terminal else LogFormat.JSON
        wanted = LogFormat(log_format)
        invocation = CliContext(
            config_path=config_path,
            as_of=as_of or surroundings.now.replace(minute=0, second=0, microsecond=0),
            is_as_of_given=as_of is not None,
            environ=surroundings.environ,
            log_format=automatic if wanted is LogFormat.AUTO else wanted,
            verbosity=verbosity,
        )
        from optimizer import log  # noqa: PLC0415, takes as long as all the rest of `--help`

        log.configure(invocation.log_format, verbosity)
        context.obj = invocation

    return earnkeep


class CommandFolder(click.Group):
    """
    A group whose commands are the modules of a package; only the one that is called is imported.

    A module `why_not` is the command `why-not`: it defines `COMMAND`, and the first line of its docstring is its help.
    """

    def __init__(self, *, package: str, **attributes: Any) -> None:  # noqa: ANN401, click's own attributes
        """Name the package."""
        super().__init__(**attributes)
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, click's signature
        """Return the names of all commands, sorted."""
        return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(self._folders()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        if cmd_name.startswith("-"):
            return None  # click itself objects to an option it does not know
        if cmd_name not in self.list_commands(ctx):
            raise click.NoSuchCommand(cmd_name, possibilities=self.list_commands(ctx), ctx=ctx)
        module = importlib.import_module(f"{self.package}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.COMMAND
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the first line of their docstrings, read from the source without running it."""
        rows = [(name, self._summary(name)) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def _summary(self, name: str) -> str:
        for folder in self._folders():
            source = Path(folder, f"{name.replace('-', '_')}.py")
            if source.is_file():
                docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8")))
                return (docstring or "").partition("\n")[0]
        return ""

    def _folders(self) -> list[str]:
        found = find_spec(self.package)
        return list(found.submodule_search_locations or ()) if found else []


class Instant(click.ParamType[datetime]):
    """A full hour as ISO 8601; without an offset it is UTC."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:  # noqa: ANN401
        """Return the instant in UTC."""
        try:
            instant = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no ISO 8601 time; write 2026-11-30 or 2026-11-30T06:00Z", param, ctx)
        aware = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
        if (aware.minute, aware.second, aware.microsecond) != (0, 0, 0):
            self.fail(f"{value!r} is not on a full hour; history is kept by the hour", param, ctx)
        return aware
