"""Pods and nodes over time, out of kube-state-metrics series."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from connectors.inventory.cluster_index import ClusterIndex
from connectors.inventory.owners import Controller, OwnerChain, OwnerRef, Owners
from connectors.inventory.requests import Role
from connectors.inventory.resources import in_our_unit, is_counted, of_series
from connectors.inventory.runs import Run, cut, merged
from connectors.inventory.series_store import SeriesStore

REQUESTS = "kube_pod_container_resource_requests"
INIT_REQUESTS = "kube_pod_init_container_resource_requests"
PHASE = "kube_pod_status_phase"
_BUILT_IN_VERSIONS = {
    "ReplicaSet": "apps/v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "CronJob": "batch/v1",
    "ReplicationController": "v1",
    "Node": "v1",
}
_NOBODY = {"", "<none>"}  # kube-state-metrics 2 and 1


@dataclass(slots=True)
class PodHistory:
    """What the series say about one pod, by its uid."""

    namespace: str
    pod: str
    uid: str
    origin: str
    node: str | None = None
    owner: OwnerRef | None = None
    is_owner_known: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    images: set[str] = field(default_factory=set)
    sidecars: set[str] = field(default_factory=set)
    roles: dict[str, Role] = field(default_factory=dict)
    requests: dict[tuple[str, str], list[Run]] = field(default_factory=dict)  # by container, resource; our units
    seen: list[Run] = field(default_factory=list)
    running: list[Run] = field(default_factory=list)
    has_phase: bool = False
    has_claims: bool = False


def pod_histories(store: SeriesStore) -> list[PodHistory]:
    """Return the pods of the series by uid, sorted; series without a uid are passed over."""
    pods: dict[str, PodHistory] = {}
    for name in (REQUESTS, INIT_REQUESTS, "kube_pod_info", "kube_pod_owner", PHASE):
        for key in store.keys(name):
            namespace, pod, uid = key[:3]
            if uid:
                pods.setdefault(uid, PodHistory(namespace, pod, uid, store.origin(name, key)))
    _add_places(store, pods)
    _add_declarations(store, pods)
    for _, _, uid in store.keys("kube_pod_resourceclaim_info"):
        if uid in pods:
            pods[uid].has_claims = True
    _add_requests(store, pods)
    _add_running(store, pods)
    return [pods[uid] for uid in sorted(pods)]


def add_owners(store: SeriesStore, index: ClusterIndex) -> None:
    """Put the owners and namespaces that the series tell of into the index, where no dump tells more."""
    for namespace, labels in store.keys("kube_namespace_labels"):
        index.namespace_labels.setdefault(namespace, store.labels(labels))
    owners = index.owners
    replicas = {
        ("Deployment", *key): store.last_value("kube_deployment_spec_replicas", key)
        for key in store.keys("kube_deployment_spec_replicas")
    } | {
        ("StatefulSet", *key): store.last_value("kube_statefulset_replicas", key)
        for key in store.keys("kube_statefulset_replicas")
    }
    for (kind, namespace, name), count in sorted(replicas.items()):
        ref = OwnerRef(_BUILT_IN_VERSIONS[kind], kind, name)
        owners.add_if_absent(Controller(namespace, ref, None, replicas=None if count is None else int(count)))
    for metric, kind, version in (
        ("kube_replicaset_owner", "ReplicaSet", "apps/v1"),
        ("kube_job_owner", "Job", "batch/v1"),
    ):
        for namespace, name, owner_kind, owner_name in store.keys(metric):
            owners.add_if_absent(Controller(namespace, OwnerRef(version, kind, name), _ref(owner_kind, owner_name)))


def chain_of(pod: PodHistory, owners: Owners) -> OwnerChain:
    """Return the owners above a pod."""
    return owners.chain(pod.namespace, pod.owner)


def _ref(kind: str, name: str) -> OwnerRef | None:
    return None if kind in _NOBODY or name in _NOBODY else OwnerRef(_BUILT_IN_VERSIONS.get(kind), kind, name)


def _add_places(store: SeriesStore, pods: Mapping[str, PodHistory]) -> None:
    for key in store.keys("kube_pod_info"):
        _, _, uid, node, creator_kind, creator_name = key
        if uid in pods:
            pods[uid].node = node or pods[uid].node  # empty until the pod is scheduled
            pods[uid].owner = _ref(creator_kind, creator_name) or pods[uid].owner
            pods[uid].is_owner_known = True
            pods[uid].seen += store.runs("kube_pod_info", key)
    for _, _, uid, kind, name, is_controller in store.keys("kube_pod_owner"):
        if uid in pods and (is_controller == "true" or kind in _NOBODY):
            pods[uid].owner = _ref(kind, name) or pods[uid].owner
            pods[uid].is_owner_known = True


def _add_declarations(store: SeriesStore, pods: Mapping[str, PodHistory]) -> None:
    for _, _, uid, labels in store.keys("kube_pod_labels"):
        if uid in pods:
            pods[uid].labels = {**pods[uid].labels, **store.labels(labels)}
    for _, _, uid, _, image in store.keys("kube_pod_container_info"):
        if uid in pods and image:
            pods[uid].images.add(image)
    for _, _, uid, container, restart_policy in store.keys("kube_pod_init_container_info"):
        if uid in pods and restart_policy == "Always":
            pods[uid].sidecars.add(container)


def _add_requests(store: SeriesStore, pods: Mapping[str, PodHistory]) -> None:
    for name, role in ((INIT_REQUESTS, Role.INIT), (REQUESTS, Role.MAIN)):
        for key in store.keys(name):
            _, _, uid, container, label, node = key
            resource = of_series(label)
            if uid not in pods or not is_counted(resource):
                continue
            pod = pods[uid]
            pod.node = pod.node or node or None
            pod.roles[container] = Role.SIDECAR if container in pod.sidecars else role
            runs = [Run(run.start, run.end, in_our_unit(resource, run.value)) for run in store.runs(name, key)]
            # The node label turns from "" to a name when the pod is scheduled: two series, one request.
            earlier = pod.requests.get((container, resource), [])
            pod.requests[container, resource] = merged([*earlier, *runs], store.bridged_seconds)


def _add_running(store: SeriesStore, pods: Mapping[str, PodHistory]) -> None:
    for key in store.keys(PHASE):
        namespace, pod, uid, phase = key
        if uid not in pods:
            continue
        pods[uid].has_phase = True
        if phase == "Running":
            identity = (namespace, pod, uid)
            start, end = (
                _last(store, "kube_pod_start_time", identity),
                _last(store, "kube_pod_completion_time", identity),
            )
            pods[uid].running = running_spans(store, store.runs(PHASE, key), start, end)


def _last(store: SeriesStore, name: str, key: tuple[str, ...]) -> float | None:
    value = store.last_value(name, key)
    return value or None  # 0 is what a missing time would read as: 1970


def running_spans(
    store: SeriesStore, phase_runs: list[Run], started_at: float | None, completed_at: float | None
) -> list[Run]:
    """
    Return when a pod ran, from samples of its phase.

    A span ends one scrape interval after its last sample and never after the last scrape of the server. Start and
    completion time, where they lie near enough to the first and last sample to be about that span, are better ends.
    """
    spans = [Run(run.start, run.end + store.step_seconds, 1.0) for run in phase_runs if run.value == 1.0]
    if not spans:
        return []
    first, last = spans[0], spans[-1]
    idle_until = max((run.end for run in phase_runs if run.value != 1.0 and run.end < first.start), default=0.0)
    if started_at is not None and started_at < first.start:
        spans[0] = Run(max(started_at, idle_until, first.start - store.bridged_seconds), first.end, 1.0)
    if completed_at is not None and completed_at > last.start:
        last_sample = last.end - store.step_seconds
        spans[-1] = Run(spans[-1].start, min(completed_at, last_sample + store.bridged_seconds), 1.0)
    return cut(spans, 0.0, store.last_scrape)


def node_spans(store: SeriesStore, runs: list[Run]) -> Iterator[Run]:
    """Yield when a node was there, from samples of a series about it."""
    present = merged((Run(run.start, run.end, 1.0) for run in runs), store.bridged_seconds)
    yield from cut([Run(run.start, run.end + store.step_seconds, 1.0) for run in present], 0.0, store.last_scrape)
