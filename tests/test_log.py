"""What goes to standard error while a command works."""

import io
import json

import pytest
import structlog

from optimizer import log
from optimizer.cli_context import LogFormat


@pytest.fixture
def stream():
    yield io.StringIO()
    structlog.reset_defaults()


def test_a_step_is_two_json_lines_with_what_was_done(stream):
    log.configure(LogFormat.JSON, 0, stream)
    with log.open_progress(LogFormat.JSON, stream) as progress, progress.step("sync", total=3) as advance:
        advance(1)
        advance(2)
    begins, ends = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (begins["event"], begins["step"], begins["total"]) == ("step begins", "sync", 3)
    assert (ends["event"], ends["step"], ends["done"]) == ("step ends", "sync", 3)


def test_a_step_that_fails_does_not_say_that_it_ended(stream):
    log.configure(LogFormat.JSON, 0, stream)
    with (
        pytest.raises(RuntimeError),
        log.open_progress(LogFormat.JSON, stream) as progress,
        progress.step("sync"),
    ):
        raise RuntimeError
    assert "step ends" not in stream.getvalue()


def test_a_console_shows_a_bar_that_is_full_at_the_end(stream):
    with log.open_progress(LogFormat.CONSOLE, stream) as progress, progress.step("build") as advance:
        advance(4)
    assert "build" in stream.getvalue()
    assert "4/4" in stream.getvalue()


@pytest.mark.parametrize(
    ("log_format", "verbosity", "shown"),
    [
        (LogFormat.CONSOLE, 0, {"warned"}),
        (LogFormat.CONSOLE, 1, {"warned", "told"}),
        (LogFormat.CONSOLE, 2, {"warned", "told", "detailed"}),
        (LogFormat.JSON, 0, {"warned", "told"}),
        (LogFormat.JSON, 5, {"warned", "told", "detailed"}),
    ],
)
def test_verbosity_decides_what_is_shown(stream, log_format, verbosity, shown):
    log.configure(log_format, verbosity, stream)
    logger = structlog.get_logger()
    logger.warning("warned")
    logger.info("told")
    logger.debug("detailed")
    assert {word for word in ("warned", "told", "detailed") if word in stream.getvalue()} == shown
