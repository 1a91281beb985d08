"""
The SQL models of `sql/`: their text, how they are kept, and the order their own references give.

A model's first comment line states its grain. Later ones may say `materialized: view`, or
`incremental: <column> from <raw table> by <column>`: then only the days whose raw rows changed are computed again.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable

from models.domain.errors import EarnkeepError

LAYERS = ("1_staging", "2_intermediate", "3_marts")

_HEADER = re.compile(r"^-- (materialized|incremental): (.+)$", re.MULTILINE)
_INCREMENTAL = re.compile(r"^(\w+) from raw\.(\w+) by (\w+)$")
_REFERENCE = re.compile(r"\b(?:from|join)\s+([a-z_][a-z0-9_]*)\b(?!\s*\.)")
_COMMENT = re.compile(r"--[^\n]*")


class Kept(StrEnum):
    """How a model's rows are kept."""

    VIEW = "view"
    TABLE = "table"
    BY_DAY = "by day"


@dataclass(frozen=True, slots=True)
class Incremental:
    """Which rows of the model follow from which rows of the raw table: those of the same day."""

    column: str  # instant in the model
    raw_table: str
    raw_column: str  # instant in the raw table


@dataclass(frozen=True, slots=True)
class SqlModel:
    """One file of `sql/`."""

    name: str
    layer: str
    sql: str
    kept: Kept
    incremental: Incremental | None
    references: frozenset[str]  # other models it reads


@dataclass(frozen=True, slots=True)
class SqlCheck:
    """A query that returns one `message` per broken promise, and no row when it holds."""

    name: str
    sql: str


@cache
def sql_models() -> tuple[SqlModel, ...]:
    """Return every model so that each follows those it reads, ties by name."""
    texts = {name: (layer, text) for layer in LAYERS for name, text in _texts(layer).items()}
    models = {name: _model(name, layer, text, frozenset(texts)) for name, (layer, text) in texts.items()}
    graph = {name: sorted(model.references) for name, model in sorted(models.items())}
    return tuple(models[name] for name in TopologicalSorter(graph).static_order())


@cache
def sql_checks() -> tuple[SqlCheck, ...]:
    """Return every check, by name."""
    return tuple(SqlCheck(name, text) for name, text in _texts("checks").items())


def _texts(folder: str) -> dict[str, str]:
    paths = [path for path in files("sql").joinpath(folder).iterdir() if path.name.endswith(".sql")]
    return {path.name.removesuffix(".sql"): path.read_text(encoding="utf-8") for path in sorted(paths, key=_name)}


def _name(path: Traversable) -> str:
    return path.name


def _model(name: str, layer: str, text: str, known: frozenset[str]) -> SqlModel:
    headers = dict(_HEADER.findall(text))
    incremental = None
    if "incremental" in headers:
        match = _INCREMENTAL.match(headers["incremental"])
        if match is None:
            message = f"sql/{layer}/{name}.sql: expected 'incremental: <column> from raw.<table> by <column>'"
            raise EarnkeepError(message)
        incremental = Incremental(*match.groups())
    references = frozenset(_REFERENCE.findall(_COMMENT.sub("", text))) & known - {name}
    return SqlModel(name, layer, text, _kept(layer, headers), incremental, references)


def _kept(layer: str, headers: dict[str, str]) -> Kept:
    if "incremental" in headers:
        return Kept.BY_DAY
    if "materialized" in headers:
        return Kept(headers["materialized"])
    return Kept.VIEW if layer == LAYERS[0] else Kept.TABLE
