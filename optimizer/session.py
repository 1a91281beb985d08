"""Open what a command works with: configuration, warehouse, state, progress."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from models.domain.errors import EarnkeepError
from models.domain.window import Window
from optimizer.cli_context import CliContext
from optimizer.config import Config, load_config
from optimizer.engines.duckdb import DuckdbEngine
from optimizer.log import open_progress
from optimizer.run import RunContext
from optimizer.state import State


@contextmanager
def open_run(cli: CliContext, config: Config | None = None) -> Iterator[RunContext]:
    """Give the context of a run over the window that ends at `--as-of`."""
    configured = config or load_config(cli.config_path, cli.environ)
    window = Window(cli.as_of - timedelta(days=configured.run.lookback_days), cli.as_of)
    with (
        DuckdbEngine(configured.run.warehouse, configured.run.memory_limit_gib) as engine,
        State(configured.run.state) as state,
        open_progress(cli.log_format) as progress,
    ):
        yield RunContext(configured, window, engine, state, progress)


@contextmanager
def open_state(cli: CliContext) -> Iterator[tuple[Config, State]]:
    """Give configuration and state alone: they can be read while a run writes."""
    configured = load_config(cli.config_path, cli.environ)
    if not configured.run.state.exists():
        message = f"{configured.run.state} does not exist: no run has happened yet; run `earnkeep run` first"
        raise EarnkeepError(message)
    with State(configured.run.state) as state:
        yield configured, state
