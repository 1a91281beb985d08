"""What every command is handed: the options before its name, the clock and the environment, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path


class LogFormat(StrEnum):
    """How progress and log lines look."""

    AUTO = "auto"  # console on a terminal, json otherwise
    CONSOLE = "console"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class CliContext:
    """
    A command gets this as `click.pass_obj`.

    `as_of` is aware UTC, on the full hour; history ends there. Left out on the command line, it is the hour that
    has begun, and `is_as_of_given` is false.
    """

    config_path: Path
    as_of: datetime
    is_as_of_given: bool
    environ: Mapping[str, str]
    log_format: LogFormat  # never AUTO here
    verbosity: int
