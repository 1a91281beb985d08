"""What a person or a log collector sees while a command works: on standard error, never in a report."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import perf_counter
from typing import Protocol, TextIO

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from optimizer.cli_context import LogFormat

Advance = Callable[[int], None]
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)  # by how often -v was given
_DECIMALS_OF_SECONDS = 1


def configure(log_format: LogFormat, verbosity: int, stream: TextIO | None = None) -> None:
    """
    Send log lines to standard error: readable on a console, one JSON object a line otherwise.

    JSON logs hold steps as well, so they start one level lower: nobody watches, and somebody reads them later.
    """
    is_json = log_format is LogFormat.JSON
    level = _LEVELS[min(verbosity + is_json, len(_LEVELS) - 1)]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(sort_keys=True) if is_json else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )


class Progress(Protocol):
    """Shows the steps of a run."""

    def step(self, name: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Show one step while its block runs; call what it gives with the number of units done."""
        ...


@contextmanager
def open_progress(log_format: LogFormat, stream: TextIO | None = None) -> Iterator[Progress]:
    """Give bars on a console, log lines otherwise."""
    if log_format is LogFormat.JSON:
        yield LoggedProgress()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(file=stream or sys.stderr)) as bars:
        yield BarProgress(bars)


class BarProgress:
    """One bar a step."""

    def __init__(self, bars: Bars) -> None:
        """Draw on these bars."""
        self._bars = bars

    @contextmanager
    def step(self, name: str, total: int | None = None) -> Iterator[Advance]:
        """Show a bar; one whose total is unknown pulses, and is full at the end."""
        bar = self._bars.add_task(name, total=total)
        done = 0

        def advance(units: int) -> None:
            nonlocal done
            done += units
            self._bars.update(bar, completed=done)

        yield advance
        self._bars.update(bar, total=total or max(done, 1), completed=total or max(done, 1))


class LoggedProgress:
    """Two log lines a step."""

    @contextmanager
    def step(self, name: str, total: int | None = None) -> Iterator[Advance]:
        """Log that the step begins, and how long it took for how much."""
        logger = structlog.get_logger()
        logger.info("step begins", step=name, total=total)
        started = perf_counter()
        done = 0

        def advance(units: int) -> None:
            nonlocal done
            done += units

        yield advance
        seconds = round(perf_counter() - started, _DECIMALS_OF_SECONDS)
        logger.info("step ends", step=name, done=done, total=total, seconds=seconds)
