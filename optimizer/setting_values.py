"""
From a table of the configuration file to a settings dataclass.

The dataclass beside the code is schema, default and documentation. Here stands what holds for all of them: an
unknown key is an error that lists the known ones, types are strict, a secret is given by reference only, and a
relative path starts at the folder of the configuration file.
"""

import difflib
import re
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from models.domain.errors import ConfigError
from models.domain.secret import SecretText

SettingsT = TypeVar("SettingsT")
_ADDRESS = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_LOCATION_FIELD = re.compile(r"(^|_)locations?$")  # texts that name a file, a folder, a glob or an address
_MAX_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a value may refer to: the configuration file and the environment."""

    file: Path
    environ: Mapping[str, str]

    @property
    def folder(self) -> Path:
        """Return where relative paths start."""
        return self.file.resolve().parent


@dataclass(frozen=True, slots=True)
class EnvironmentValue:
    """A setting given by an environment variable: text, whose type the field decides."""

    variable: str
    text: str


def read_settings(
    settings: type[SettingsT], table: Mapping[str, object], keys: tuple[str, ...], surroundings: Surroundings
) -> SettingsT:
    """
    Return the settings a table gives; what it leaves out has its default.

    Args:
        settings: A frozen dataclass.
        table: As TOML or the environment gave it.
        keys: Where the table stands in the file, such as ("sources", "aws").
        surroundings: What values refer to.

    Raises:
        ConfigError: a key is unknown, a value has another type or is out of range, a secret cannot be read.
    """
    plain = _plain(settings, table, keys, surroundings)
    try:
        value = TypeAdapter(settings).validate_json(orjson.dumps(plain, default=str), strict=True)
    except ValidationError as error:
        faults = [_fault(detail, table, keys, surroundings) for detail in error.errors(include_url=False)]
        raise ConfigError("\n".join(faults)) from None  # pydantic's own message would print what was given, secrets too
    return typing.cast("SettingsT", _with_absolute_paths(value, surroundings.folder))


def require_known(kind: str, names: Iterable[str], known: Sequence[str], place: str) -> None:
    """
    Let known names pass.

    Raises:
        ConfigError: a name is unknown; the message lists the known ones, the nearest first.
    """
    for name in names:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1)
            guess = f"did you mean {nearest[0]!r}? " if nearest else ""
            message = f"{place}: unknown {kind} {name!r}; {guess}known: {', '.join(sorted(known)) or 'none'}"
            raise ConfigError(message)


def at(keys: tuple[str, ...], surroundings: Surroundings) -> str:
    """Return how messages name a place in the file."""
    return f"{surroundings.file}, [{'.'.join(keys)}]" if keys else str(surroundings.file)


def as_text(value: object) -> object:
    """Return the text of a value from the environment, and any other value as it is."""
    return value.text if isinstance(value, EnvironmentValue) else value


def _plain(annotation: object, value: object, keys: tuple[str, ...], surroundings: Surroundings) -> object:
    wanted = _without_none(annotation)
    if wanted is SecretText:
        return {"text": _secret(value, keys, surroundings)}
    if isinstance(value, Mapping):
        return _plain_table(wanted, value, keys, surroundings)
    if isinstance(value, list) and typing.get_origin(wanted) is tuple:
        item = typing.get_args(wanted)[0]
        return [_plain(item, each, (*keys, str(place)), surroundings) for place, each in enumerate(value, start=1)]
    if isinstance(value, EnvironmentValue):
        is_text = isinstance(wanted, type) and issubclass(wanted, (str, Path, StrEnum))
        return value.text if is_text else _parsed(value.text)
    return value


def _plain_table(
    wanted: object, table: Mapping[str, object], keys: tuple[str, ...], surroundings: Surroundings
) -> object:
    if isinstance(wanted, type) and is_dataclass(wanted):
        types_by_name = typing.get_type_hints(wanted)
        known = [field.name for field in fields(wanted)]
        require_known("key", table, known, at(keys, surroundings))
        return {key: _plain(types_by_name[key], each, (*keys, key), surroundings) for key, each in table.items()}
    arguments = typing.get_args(wanted)
    if arguments and typing.get_origin(wanted) is not tuple:
        return {key: _plain(arguments[-1], each, (*keys, key), surroundings) for key, each in table.items()}
    expected = "a value, got a table; only secrets are given as { env = ... } or { file = ... }"
    message = f"{at(keys[:-1], surroundings)} {keys[-1]}: expected {expected}"
    raise ConfigError(message)


def _without_none(annotation: object) -> object:
    if typing.get_origin(annotation) in {typing.Union, types.UnionType}:
        kept = [each for each in typing.get_args(annotation) if each is not type(None)]
        return kept[0] if len(kept) == 1 else annotation
    return annotation


def _parsed(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _secret(value: object, keys: tuple[str, ...], surroundings: Surroundings) -> str:
    place = f"{at(keys[:-1], surroundings)} {keys[-1]}"
    if isinstance(value, EnvironmentValue):
        return value.text
    reference = {key: as_text(each) for key, each in value.items()} if isinstance(value, Mapping) else {}
    if set(reference) == {"env"}:
        text = surroundings.environ.get(str(reference["env"]), "")
        if not text:
            message = f"{place}: environment variable {reference['env']} is not set or empty; set it"
            raise ConfigError(message)
        return text
    if set(reference) == {"file"}:
        return _secret_file(surroundings.folder / str(reference["file"]), place)
    message = f'{place}: a secret is given by reference, as {{ env = "NAME" }} or {{ file = "/path" }}'
    raise ConfigError(message)


def _secret_file(path: Path, place: str) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{place}: cannot read the secret from {path}: {type(error).__name__}"
        raise ConfigError(message) from None
    if not text:
        message = f"{place}: {path} is empty; write the secret into it"
        raise ConfigError(message)
    return text


def _fault(detail: ErrorDetails, table: Mapping[str, object], keys: tuple[str, ...], surroundings: Surroundings) -> str:
    path = tuple(str(step) for step in detail["loc"])
    found = detail["input"]
    shown = f" = {found!r}"[:_MAX_SHOWN_CHARACTERS] if isinstance(found, (str, int, float)) and path else ""
    given: object = table
    for step in path:
        given = given.get(step) if isinstance(given, Mapping) else None
    origin = f" (set by {given.variable})" if isinstance(given, EnvironmentValue) else ""
    reason = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "missing":
        reason, shown = "is required and missing", ""
    return f"{at(keys, surroundings)} {'.'.join(path)}{shown}{origin}: {reason}".replace(" : ", ": ")


def _with_absolute_paths(value: object, folder: Path) -> object:
    if isinstance(value, Path):
        return folder / value.expanduser()
    if isinstance(value, tuple):
        return tuple(_with_absolute_paths(each, folder) for each in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {
        field.name: _absolute_location(getattr(value, field.name), folder)
        if _LOCATION_FIELD.search(field.name)
        else _with_absolute_paths(getattr(value, field.name), folder)
        for field in fields(value)
    }
    return replace(value, **changed)


def _absolute_location(value: object, folder: Path) -> object:
    if isinstance(value, tuple):
        return tuple(_absolute_location(each, folder) for each in value)
    if isinstance(value, str):
        return value if _ADDRESS.match(value) else str(folder / Path(value).expanduser())
    return value
