"""The shape of an engine: where raw rows are kept, models are built and marts are read."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from connectors.load import RawWriter
from models.domain.window import Window


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """Choices that the SQL models read from the one-row table `build_setting`; printed in the report."""

    idle_activity_ratio: float = 0.01  # a 5-minute bucket is idle when no activity signal reaches this
    held_memory_gib: float = 0.5  # under it a GPU has no process worth the name: 500 MiB
    min_stuck_buckets: int = 6  # as many equal power readings in a row are a frozen exporter: 30 minutes


@dataclass(frozen=True, slots=True)
class Violation:
    """One row a check returned: a broken promise."""

    check: str
    message: str  # names node, day and difference


class Engine(Protocol):
    """One warehouse. `engines/duckdb.py` is the default; the same SQL files run on all."""

    def replace_window(
        self, source_id: str, tables: Sequence[str], window: Window
    ) -> AbstractContextManager[RawWriter]:
        """Replace one source's rows in a window, in one transaction (see `connectors.load.RawStore`)."""
        ...

    def build(self, window: Window, settings: BuildSettings) -> None:
        """Build every model in the order their own references give."""
        ...

    def check(self) -> list[Violation]:
        """Return what the checks object to; empty when every promise holds."""
        ...

    def window(self) -> Window | None:
        """Return the window the marts were built over; None before the first build."""
        ...

    def read(self, mart: str) -> pa.Table:
        """Return a mart as it stands."""
        ...
