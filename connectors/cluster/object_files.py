"""Nodes, pods, requests and workloads of a cluster, out of kubectl dumps and kube-state-metrics series in files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from connectors.connector import Connector, Extent, Unreadable
from connectors.inventory.cluster_index import ClusterIndex
from connectors.inventory.conventions import POOL_LABELS, TEAM_LABELS, Conventions
from connectors.inventory.dump_files import DatedDump, DumpFile, dated, first_reading, second_reading
from connectors.inventory.findings import Findings
from connectors.inventory.history import add_owners, pod_histories
from connectors.inventory.history_rows import note_missing_metrics, owned_pod, span_of
from connectors.inventory.pages import InventoryPage, ObjectPage, SeriesPage, WorkloadPage
from connectors.inventory.rows import Span
from connectors.inventory.runs import Run
from connectors.inventory.series_files import is_parquet, is_series, read_json_lines, read_parquet
from connectors.inventory.series_store import SERIES_PREFIX, FileSeries, SeriesStore
from connectors.inventory.workloads import Workloads
from connectors.storage import find_files, open_stream
from models.domain.errors import InputError
from models.domain.window import Window

SUFFIXES = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".parquet")
_HEAD_BYTES = 65_536
_PODS_PER_PAGE = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the files are, and how the organisation names its things."""

    location: str  # a file, a folder with all below it, or a glob
    cluster_id: str  # name of the cluster in all tables and reports; metric sources must use the same
    observed_at: datetime | None = None  # when kubectl dumps were taken; null: by file name, else the newest instant
    team_labels: tuple[str, ...] = TEAM_LABELS  # labels or annotations, of pod, controller or namespace
    team_by_namespace: Mapping[str, str] = field(default_factory=dict)  # team of what no label tells the team of
    pool_labels: tuple[str, ...] = POOL_LABELS  # node labels that name the pool, the first one present
    class_overrides: Mapping[str, str] = field(default_factory=dict)  # "namespace/kind/name" with * and ? to class

    @property
    def conventions(self) -> Conventions:
        """Return what pods and nodes are read by."""
        return Conventions(
            self.cluster_id, self.team_labels, self.team_by_namespace, self.pool_labels, self.class_overrides
        )


def fetch(settings: Settings, window: Window) -> Iterator[InventoryPage | Unreadable]:
    """
    Yield the inventory page by page; every file is read whole, whatever the window.

    Owners are looked up over all files, so each dump is read twice. A file that cannot be read to its end is
    `Unreadable`, and no part of it counts.
    """
    del window
    paths = find_files(settings.location, SUFFIXES)
    if not paths:
        yield Unreadable(
            settings.location, f"{settings.location}: no file ends in {', '.join(SUFFIXES)}; check the path"
        )
    index = ClusterIndex()
    dumps: list[DumpFile] = []
    series: list[FileSeries] = []
    for path in paths:
        try:
            found = _first_look(path, index, settings.conventions)
        except InputError as error:
            yield Unreadable(path, str(error))
            continue
        if isinstance(found, FileSeries):
            series.append(found)
        elif found.objects:
            dumps.append(found)
    store = SeriesStore(series, settings.conventions)
    add_owners(store, index)
    for dump in dated(dumps, settings.observed_at):
        if isinstance(dump, DatedDump):
            yield from _dump_pages(dump, index, settings.conventions)
        else:
            reason = (
                f"{dump.path}: nothing in it says when it was taken; set observed_at, or name it *-YYYYMMDDTHHMMZ.json"
            )
            yield Unreadable(dump.path, reason)
    yield from _series_pages(store, series, index)


def normalise(settings: Settings, page: InventoryPage) -> Mapping[str, pa.Table]:
    """Return the rows of a page by raw table."""
    return page.tables(settings.conventions)


def _first_look(path: str, index: ClusterIndex, conventions: Conventions) -> DumpFile | FileSeries:
    with open_stream(path) as stream:
        head = stream.read(_HEAD_BYTES)
    if not is_parquet(head) and not is_series(head):
        return first_reading(path, index, conventions)
    series = FileSeries(path)
    read = read_parquet if is_parquet(head) else read_json_lines
    with open_stream(path) as stream:
        for one in read(stream, path, SERIES_PREFIX):
            series.add(one)
    return series


def _dump_pages(dump: DatedDump, index: ClusterIndex, conventions: Conventions) -> Iterator[InventoryPage | Unreadable]:
    workloads = Workloads()
    try:
        for objects in second_reading(dump.path, conventions):
            page = ObjectPage(dump.path, objects, dump.observed_at, index)
            for pod in page.owned_pods():
                workloads.see(pod)
            yield page
    except InputError as error:  # it was whole a moment ago, and changed
        yield Unreadable(dump.path, str(error))
        return
    findings = Findings()
    if dump.is_assumed:
        message = (
            f"taken for a dump of {dump.observed_at} UTC, the newest instant in its folder; set observed_at to correct"
        )
        findings.note("dump_time_assumed", dump.path, message)
    for _ in range(dump.unnamed_objects):
        findings.note("not_kubernetes", dump.path, "JSON objects without kind and metadata.name are passed over")
    observed = Span(dump.observed_at, dump.observed_at)
    yield WorkloadPage(dump.path, workloads.sorted(), index.namespace_labels, observed, findings)


def _series_pages(store: SeriesStore, series: Sequence[FileSeries], index: ClusterIndex) -> Iterator[InventoryPage]:
    if not any(file.runs for file in series):
        return
    observed = span_of(Run(store.first_scrape, store.last_scrape, 1.0))
    pods = pod_histories(store)
    workloads_by_origin: dict[str, Workloads] = {}
    origin_by_workload: dict[tuple[str, str, str], str] = {}
    for pod in pods:
        if owned := owned_pod(pod, store, index):
            key = (owned.namespace, owned.ref.kind, owned.ref.name)
            origin = origin_by_workload.setdefault(key, pod.origin)
            workloads_by_origin.setdefault(origin, Workloads()).see(owned)
    for position, file in enumerate(series):
        here = [pod for pod in pods if pod.origin == file.origin]
        for start in range(0, max(len(here), 1), _PODS_PER_PAGE):
            some = tuple(here[start : start + _PODS_PER_PAGE])
            yield SeriesPage(file.origin, some, store, index, start == 0, observed)
        findings = Findings()
        if position == 0:
            note_missing_metrics(store, findings)
        workloads = workloads_by_origin.get(file.origin, Workloads()).sorted()
        yield WorkloadPage(file.origin, workloads, index.namespace_labels, observed, findings)


CONNECTOR: Connector[Settings, InventoryPage] = Connector(
    name="object_files",
    tables=("node", "pod", "container_request", "workload"),
    extent=Extent.EVERYTHING,
    settings=Settings,
    fetch=fetch,
    normalise=normalise,
)
