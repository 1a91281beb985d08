"""One TOML file, and what the environment overrides, as settings dataclasses."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from connectors import connector as connector_shape
from models.domain.errors import ConfigError
from optimizer import recommenders
from optimizer.engine import BuildSettings
from optimizer.planning.settings import PlanSettings
from optimizer.setting_values import EnvironmentValue, Surroundings, as_text, at, read_settings, require_known

TABLES = ("build", "plan", "recommenders", "run", "sources")
ENVIRONMENT_PREFIX = "EARNKEEP__"
_SOURCE_ID = re.compile(r"^[a-z0-9][a-z0-9_-]*$")  # it becomes part of table rows, file names and messages


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How much is looked at, and where a run keeps what it made."""

    lookback_days: int = 30  # history a run looks at, ending at --as-of
    warehouse: Path = Path("earnkeep.duckdb")  # the warehouse file
    state: Path = Path("earnkeep.sqlite")  # runs, watermarks, proposals, decisions
    out: Path = Path("out")  # folder the reports are written to
    memory_limit_gib: float = 2.0  # what the engine may take before it spills to disk

    def __post_init__(self) -> None:
        """Refuse what no run can work with."""
        if self.lookback_days < 1:
            message = f"lookback_days must be at least 1, got {self.lookback_days}"
            raise ValueError(message)
        if self.memory_limit_gib <= 0:
            message = f"memory_limit_gib must be above 0, got {self.memory_limit_gib}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One configured source."""

    id: str
    connector_name: str
    settings: object  # the `Settings` of that connector


@dataclass(frozen=True, slots=True)
class Config:
    """All that is configured; paths are absolute."""

    folder: Path  # where the configuration file lies
    run: RunSettings
    sources: tuple[SourceConfig, ...]  # by id
    recommenders: Mapping[str, object]  # the `Settings` of each recommender, by its name
    build: BuildSettings
    plan: PlanSettings


def load_config(path: Path, environ: Mapping[str, str]) -> Config:
    """
    Return what the file says, overridden by variables such as EARNKEEP__RUN__LOOKBACK_DAYS=21.

    Raises:
        ConfigError: the file cannot be read, or a table of it is wrong; one line per fault of the first such table.
    """
    surroundings = Surroundings(path, environ)
    document = _document(path)
    _override(document, surroundings)
    require_known("table", document, TABLES, at((), surroundings))
    return Config(
        folder=path.absolute().parent,
        run=read_settings(RunSettings, _table(document, ("run",), surroundings), ("run",), surroundings),
        sources=_sources(_table(document, ("sources",), surroundings), surroundings),
        recommenders=_recommenders(_table(document, ("recommenders",), surroundings), surroundings),
        build=read_settings(BuildSettings, _table(document, ("build",), surroundings), ("build",), surroundings),
        plan=read_settings(PlanSettings, _table(document, ("plan",), surroundings), ("plan",), surroundings),
    )


def _document(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        message = f"there is no configuration file {path}; name one with --config, or try `earnkeep demo` first"
        raise ConfigError(message) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path}: cannot be read as TOML: {error}"
        raise ConfigError(message) from None


def _override(document: dict[str, object], surroundings: Surroundings) -> None:
    """Put each EARNKEEP__TABLE__KEY variable where the file has, or would have, that key."""
    for variable in sorted(surroundings.environ):
        if not variable.startswith(ENVIRONMENT_PREFIX):
            continue
        *tables, last = variable.removeprefix(ENVIRONMENT_PREFIX).split("__")
        table = document
        for name in tables:
            inner = table.setdefault(_key_of(name, table), {})
            if not isinstance(inner, dict):
                message = f"environment variable {variable}: {name.lower()} is a value, not a table"
                raise ConfigError(message)
            table = inner
        table[_key_of(last, table)] = EnvironmentValue(variable, surroundings.environ[variable])


def _key_of(level: str, table: Mapping[str, object]) -> str:
    # Variables are written in capitals and have no dashes; the file's own spelling wins.
    matching = [key for key in sorted(table) if key.upper().replace("-", "_") == level.upper()]
    return matching[0] if matching else level.lower()


def _table(document: Mapping[str, object], keys: tuple[str, ...], surroundings: Surroundings) -> Mapping[str, object]:
    found = document.get(keys[-1], {})
    if not isinstance(found, Mapping):
        message = f"{at(keys, surroundings)}: expected a table, got {as_text(found)!r}"
        raise ConfigError(message)
    return found


def _sources(tables: Mapping[str, object], surroundings: Surroundings) -> tuple[SourceConfig, ...]:
    return tuple(_source(source_id, tables, surroundings) for source_id in sorted(tables))


def _source(source_id: str, tables: Mapping[str, object], surroundings: Surroundings) -> SourceConfig:
    keys = ("sources", source_id)
    table = _table(tables, keys, surroundings)
    if not _SOURCE_ID.match(source_id):
        message = f"{at(keys, surroundings)}: a source id is made of a-z, 0-9, - and _; rename {source_id!r}"
        raise ConfigError(message)
    name = as_text(table.get("connector"))
    if not isinstance(name, str):
        message = f"{at(keys, surroundings)}: say which `connector`; known: {', '.join(connector_shape.names())}"
        raise ConfigError(message)
    require_known("connector", (name,), connector_shape.names(), at(keys, surroundings))
    own = {key: value for key, value in table.items() if key != "connector"}
    return SourceConfig(source_id, name, read_settings(connector_shape.find(name).settings, own, keys, surroundings))


def _recommenders(tables: Mapping[str, object], surroundings: Surroundings) -> Mapping[str, object]:
    found = {recommender.name: recommender for recommender in recommenders.discover()}
    require_known("recommender", tables, tuple(found), at(("recommenders",), surroundings))
    settings: dict[str, object] = {}
    for name in sorted(found):
        keys = ("recommenders", name)
        settings[name] = read_settings(found[name].settings, _table(tables, keys, surroundings), keys, surroundings)
    return MappingProxyType(settings)
