"""
The shape of a connector: fetch pages (the only I/O), normalise each to rows of raw tables (pure).

A module in `connectors/<family>/` that defines `CONNECTOR` is a connector; there is no other list.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from models.domain.errors import ConfigError
from models.domain.window import Window

FAMILIES = ("billing", "cluster", "metrics", "prices")


class Page(Protocol):
    """One piece of a source's answer. `origin` names it for a reader: a file, an object, a day of an API."""

    @property
    def origin(self) -> str:
        """Return where the page came from."""
        ...


class Extent(StrEnum):
    """How much of a source one load replaces."""

    WINDOW = "window"  # the window asked for
    EVERYTHING = "everything"  # all the source ever gave: files, which are read whole


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of a source that could not be read; what earlier loads brought from it stays."""

    origin: str
    reason: str  # names the line or series, what was found, what was expected, what to do


SettingsT = TypeVar("SettingsT")
PageT = TypeVar("PageT", bound=Page)


@dataclass(frozen=True, slots=True)
class Connector(Generic[SettingsT, PageT]):
    """
    One kind of outside source.

    `fetch` yields pages or `Unreadable`; it may raise `InputError` inside a page's iteration only for faults
    that concern the whole source. `normalise` returns rows by raw table (columns of `connectors.raw_tables`
    less `source_id` and `source_object`, which `load` adds); an absent value is null, never zero.
    """

    name: str  # module, `connector =` in the configuration, docs page and test carry this name
    tables: tuple[str, ...]  # raw tables it fills
    extent: Extent
    settings: type[SettingsT]
    fetch: Callable[[SettingsT, Window], Iterator[PageT | Unreadable]]
    normalise: Callable[[SettingsT, PageT], Mapping[str, pa.Table]]


def names() -> tuple[str, ...]:
    """Return the names of all connectors, sorted."""
    return tuple(sorted(_module_by_name()))


def find(name: str) -> Connector[Any, Any]:
    """
    Return the connector of that name, importing only its module.

    Raises:
        ConfigError: there is none; the message lists those there are.
    """
    modules = _module_by_name()
    if name not in modules:
        message = f"connector {name!r} is unknown; known: {', '.join(sorted(modules))}"
        raise ConfigError(message)
    connector: Connector[Any, Any] = importlib.import_module(modules[name]).CONNECTOR
    return connector


def _module_by_name() -> dict[str, str]:
    found: dict[str, str] = {}
    for family in FAMILIES:
        package = importlib.import_module(f"connectors.{family}")
        for module in pkgutil.iter_modules(package.__path__):
            if not module.ispkg:  # a folder holds what the connectors of the family share
                found[module.name] = f"connectors.{family}.{module.name}"
    return found
