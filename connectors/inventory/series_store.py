"""kube-state-metrics series reduced to runs as they are read: small, whatever the number of samples."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

import orjson

from connectors.inventory.conventions import Conventions
from connectors.inventory.nodes import KNOWN_LABELS
from connectors.inventory.resources import series_label
from connectors.inventory.runs import BRIDGED_STEPS, Run, merged, runs_of
from connectors.inventory.series_files import Series
from models.catalog.workload_kinds import label_keys

SERIES_PREFIX = "kube_"
_POD = ("namespace", "pod", "uid")
_USUAL_STEP_SECONDS = 60.0  # where no series has three samples

# The labels that tell one thing from another; all others (instance, job, ip) only repeat it.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "kube_pod_info": (*_POD, "node", "created_by_kind", "created_by_name"),
    "kube_pod_owner": (*_POD, "owner_kind", "owner_name", "owner_is_controller"),
    "kube_replicaset_owner": ("namespace", "replicaset", "owner_kind", "owner_name"),
    "kube_job_owner": ("namespace", "job_name", "owner_kind", "owner_name"),
    "kube_pod_status_phase": (*_POD, "phase"),
    "kube_pod_start_time": _POD,
    "kube_pod_completion_time": _POD,
    "kube_pod_container_resource_requests": (*_POD, "container", "resource", "node"),
    "kube_pod_init_container_resource_requests": (*_POD, "container", "resource", "node"),
    "kube_pod_container_info": (*_POD, "container", "image"),
    "kube_pod_init_container_info": (*_POD, "container", "restart_policy"),
    "kube_pod_resourceclaim_info": _POD,
    "kube_pod_labels": _POD,
    "kube_namespace_labels": ("namespace",),
    "kube_node_labels": ("node",),
    "kube_node_info": ("node", "provider_id"),
    "kube_node_status_capacity": ("node", "resource"),
    "kube_deployment_spec_replicas": ("namespace", "deployment"),
    "kube_statefulset_replicas": ("namespace", "statefulset"),
}
_LABEL_PREFIX = "label_"

SeriesKey = tuple[str, ...]  # the label values of _KEYS, then, for *_labels, the labels as JSON


@dataclass(slots=True)
class FileSeries:
    """What one file says, by metric."""

    origin: str
    runs: dict[str, dict[SeriesKey, list[Run]]] = field(default_factory=dict)
    steps: list[float] = field(default_factory=list)
    first_scrape: float | None = None
    last_scrape: float | None = None

    def add(self, series: Series) -> None:
        """Take up a series of a metric we read; others are passed over."""
        name = series.labels["__name__"]
        names = _KEYS.get(name)
        if names is None:
            return
        runs, step = runs_of(series.seconds, series.values)
        if not runs:
            return
        if step:
            self.steps.append(step)
        self.first_scrape = min(self.first_scrape or runs[0].start, runs[0].start)
        self.last_scrape = max(self.last_scrape or runs[-1].end, runs[-1].end)
        key = tuple(_label(series.labels, label) for label in names)
        if name.endswith("_labels"):
            key = (*key, _labels_text(series.labels))
        self.runs.setdefault(name, {}).setdefault(key, []).extend(runs)


class SeriesStore:
    """All files of a source together."""

    def __init__(self, files: Iterable[FileSeries], conventions: Conventions) -> None:
        """Merge the files; what two of them, or two servers, both say counts once."""
        kept = tuple(files)
        steps = [step for file in kept for step in file.steps]
        self.step_seconds = float(median(steps)) if steps else _USUAL_STEP_SECONDS
        self.last_scrape = max((file.last_scrape for file in kept if file.last_scrape is not None), default=0.0)
        self.first_scrape = min((file.first_scrape for file in kept if file.first_scrape is not None), default=0.0)
        self._origins: dict[tuple[str, SeriesKey], str] = {}
        self._runs: dict[str, dict[SeriesKey, list[Run]]] = {}
        self._label_names = {series_label(key): key for key in sorted(_known_labels(conventions))}
        for file in kept:
            for name, by_key in file.runs.items():
                for key, runs in by_key.items():
                    self._origins.setdefault((name, key), file.origin)
                    self._runs.setdefault(name, {}).setdefault(key, []).extend(runs)
        self._sorted_keys = {name: sorted(by_key) for name, by_key in self._runs.items()}

    @property
    def bridged_seconds(self) -> float:
        """Return the longest gap that is a missed scrape."""
        return BRIDGED_STEPS * self.step_seconds

    def has(self, name: str) -> bool:
        """Return whether any series of a metric was read."""
        return name in self._runs

    def keys(self, name: str) -> list[SeriesKey]:
        """Return the label values of a metric's series, sorted."""
        return self._sorted_keys.get(name, [])

    def keys_of(self, name: str, first: str) -> list[SeriesKey]:
        """Return those keys of a metric that begin with a value, sorted."""
        keys = self.keys(name)
        return keys[bisect_left(keys, (first,)) : bisect_left(keys, (first + "\0",))]

    def runs(self, name: str, key: SeriesKey) -> list[Run]:
        """Return when a series had which value, without overlaps, sorted."""
        return merged(self._runs.get(name, {}).get(key, ()), self.bridged_seconds)

    def last_value(self, name: str, key: SeriesKey) -> float | None:
        """Return the newest value of a series."""
        runs = self.runs(name, key)
        return runs[-1].value if runs else None

    def origin(self, name: str, key: SeriesKey) -> str:
        """Return the first file that holds a series."""
        return self._origins[name, key]

    def labels(self, text: str) -> dict[str, str]:
        """
        Return labels by their own names as far as we know them, from the last part of a *_labels key.

        Others keep the name of the series: what was a dot, a slash or a dash there is lost.
        """
        known: dict[str, str] = orjson.loads(text)
        return {self._label_names.get(name, name): value for name, value in known.items()}


def _label(labels: Mapping[str, str], name: str) -> str:
    """Return a label of the object, not of the scraped kube-state-metrics itself (honor_labels: false)."""
    return labels.get(f"exported_{name}") or labels.get(name, "")


def _labels_text(labels: Mapping[str, str]) -> str:
    found = {
        name.removeprefix(_LABEL_PREFIX): value for name, value in labels.items() if name.startswith(_LABEL_PREFIX)
    }
    return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode()


def _known_labels(conventions: Conventions) -> set[str]:
    origins = ("app.kubernetes.io/managed-by", "argocd.argoproj.io/instance")
    return {*KNOWN_LABELS, *label_keys(), *conventions.team_labels, *conventions.pool_labels, *origins}
