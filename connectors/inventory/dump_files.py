"""Files of kubectl objects: a first reading for owners and dates, a second for pods and nodes page by page."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath

from connectors.inventory.cluster_index import ClusterIndex
from connectors.inventory.conventions import Conventions
from connectors.inventory.json_stream import JsonObject, read_objects
from connectors.inventory.objects import KEPT_ANNOTATIONS, at, newest_instant, text_at, without_secrets
from connectors.storage import open_stream
from models.domain.errors import InputError
from models.domain.window import naive_utc

OBJECTS_PER_PAGE = 5_000  # some 100 MB as Python objects
_TIME_IN_NAME = re.compile(r"(?:^|[-_.])(\d{8}T\d{4}(?:\d{2})?)Z\.jsonl?(?:\.gz)?$")


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A file of objects that can be read to its end."""

    path: str
    named_at: datetime | None  # when its name says it was taken, naive UTC
    newest_instant: datetime | None  # the latest thing that happened to one of its objects
    objects: int  # none in the answer to a question after what the cluster does not have
    unnamed_objects: int  # JSON objects that are no Kubernetes objects


@dataclass(frozen=True, slots=True)
class DatedDump:
    """A dump and when it was taken."""

    path: str
    observed_at: datetime
    is_assumed: bool
    unnamed_objects: int


def first_reading(path: str, index: ClusterIndex, conventions: Conventions) -> DumpFile:
    """
    Read a file once: put its owners, namespaces and budgets into the index, and find its time.

    Raises:
        InputError: the file is broken somewhere, or holds no Kubernetes object. Nothing of it is in the index then.
    """
    newest: datetime | None = None
    unnamed = 0
    referred: list[JsonObject] = []
    objects = 0
    with open_stream(path) as stream:
        for thing in read_objects(stream, path):
            if not _is_kubernetes(thing):
                unnamed += 1
                continue
            objects += 1
            newest = max((instant for instant in (newest, newest_instant(thing)) if instant), default=None)
            if thing["kind"] not in {"Pod", "Node"}:
                referred.append(without_secrets(thing, _kept_annotations(conventions)))
    if unnamed and not objects:
        message = (
            f"{path}: no Kubernetes object in it ({unnamed} JSON objects without kind and metadata.name); expected "
            "the output of kubectl get -o json, or kube-state-metrics series as VictoriaMetrics JSON lines"
        )
        raise InputError(message)
    for thing in referred:
        index.add(thing)
    return DumpFile(path, time_in_name(path), newest, objects, unnamed)


def dated(dumps: Iterable[DumpFile], observed_at: datetime | None) -> Iterator[DatedDump | DumpFile]:
    """
    Yield each dump with its time: as given, else as its name says, else the newest instant in its folder.

    A dump for which there is none comes back as it was. Files of one folder are taken for parts of one dump, since
    pods may be silent for days while nodes report every few minutes.
    """
    known = tuple(dumps)
    newest_by_folder: dict[PurePath, datetime] = {}
    for dump in known:
        if dump.named_at is None and dump.newest_instant:
            folder = PurePath(dump.path).parent
            newest_by_folder[folder] = max(newest_by_folder.get(folder, dump.newest_instant), dump.newest_instant)
    given = naive_utc(observed_at) if observed_at else None
    for dump in known:
        assumed = newest_by_folder.get(PurePath(dump.path).parent)
        told = given or dump.named_at
        taken = told or assumed
        yield DatedDump(dump.path, taken, told is None, dump.unnamed_objects) if taken else dump


def second_reading(path: str, conventions: Conventions) -> Iterator[tuple[JsonObject, ...]]:
    """Yield the pods and nodes of a file, less secrets, some thousand at a time."""
    page: list[JsonObject] = []
    with open_stream(path) as stream:
        for thing in read_objects(stream, path):
            if _is_kubernetes(thing) and thing["kind"] in {"Pod", "Node"}:
                page.append(without_secrets(thing, _kept_annotations(conventions)))
            if len(page) == OBJECTS_PER_PAGE:
                yield tuple(page)
                page = []
    yield tuple(page)


def time_in_name(path: str) -> datetime | None:
    """Return the time in a name such as objects-20261130T1200Z.json.gz, naive UTC, or None where there is none."""
    match = _TIME_IN_NAME.search(PurePath(path).name)
    if not match:
        return None
    try:
        return naive_utc(datetime.fromisoformat(match[1]).replace(tzinfo=UTC))
    except ValueError:
        return None


def _is_kubernetes(thing: JsonObject) -> bool:
    return bool(text_at(thing, "kind") and text_at(thing, "metadata", "name") and at(thing, "apiVersion") is not None)


def _kept_annotations(conventions: Conventions) -> frozenset[str]:
    return KEPT_ANNOTATIONS | set(conventions.team_labels)
