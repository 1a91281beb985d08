"""Rows of raw tables out of the history that kube-state-metrics series tell."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from connectors.inventory.cluster_index import ClusterIndex
from connectors.inventory.conventions import Conventions
from connectors.inventory.findings import Findings
from connectors.inventory.history import INIT_REQUESTS, PHASE, REQUESTS, PodHistory, chain_of, node_spans
from connectors.inventory.nodes import NodeFacts, node_row
from connectors.inventory.owners import OwnerRef
from connectors.inventory.requests import ContainerRequest, EffectiveRequest, Role, effective_requests
from connectors.inventory.resources import of_series
from connectors.inventory.rows import NodeRow, PodRow, RequestRow, Span
from connectors.inventory.runs import Run, cut, widened
from connectors.inventory.series_store import SeriesStore
from connectors.inventory.workloads import OwnedPod
from models.domain.window import naive_utc

_NODE_INFO = "kube_node_info"
_NODE_LABELS = "kube_node_labels"
_CAPACITY = "kube_node_status_capacity"


def span_of(run: Run) -> Span:
    """Return a run as instants of the warehouse."""
    return Span(*(naive_utc(datetime.fromtimestamp(seconds, UTC)) for seconds in (run.start, run.end)))


def pod_rows(
    pods: Iterable[PodHistory], store: SeriesStore, index: ClusterIndex, findings: Findings
) -> Iterator[PodRow | RequestRow]:
    """Yield each pod, and what its containers held while it ran."""
    for pod in pods:
        _note_doubts(pod, findings)
        span = pod_span(pod, store)
        if span is None:
            continue
        chain = chain_of(pod, index.owners)
        ref = workload_ref(pod, index)
        kind, name = (ref.kind, ref.name) if ref else (None, None)
        yield PodRow(pod.namespace, pod.pod, pod.uid, pod.node, kind, name, chain.is_daemon, span.start, span.end)
        if pod.node:
            yield from _requests(pod, pod.node, store)


def workload_ref(pod: PodHistory, index: ClusterIndex) -> OwnerRef | None:
    """Return the workload a pod belongs to, or None where no series tells of owners."""
    chain = chain_of(pod, index.owners)
    if chain.refs:
        return chain.refs[-1]
    return OwnerRef("v1", "Pod", pod.pod) if pod.is_owner_known else None


def owned_pod(pod: PodHistory, store: SeriesStore, index: ClusterIndex) -> OwnedPod | None:
    """Return what a pod tells about its workload, or None where it is not known which."""
    ref, span = workload_ref(pod, index), pod_span(pod, store)
    if ref is None or span is None:
        return None
    chain = chain_of(pod, index.owners)
    has_budget = index.has_disruption_budget(pod.namespace, pod.labels) if pod.labels else None
    return OwnedPod(pod.namespace, ref, chain, pod.labels, {}, tuple(sorted(pod.images)), span, has_budget)


def pod_span(pod: PodHistory, store: SeriesStore) -> Span | None:
    """Return from the first to the last instant a pod ran, or was seen where it never did."""
    runs = pod.running or cut(pod.seen, 0.0, store.last_scrape)
    return span_of(Run(min(run.start for run in runs), max(run.end for run in runs), 1.0)) if runs else None


def node_rows(origin: str, store: SeriesStore, conventions: Conventions, findings: Findings) -> Iterator[NodeRow]:
    """Yield the nodes that a file tells of first."""
    for key in store.keys(_NODE_INFO):
        node, provider_id = key
        if not node or store.origin(_NODE_INFO, key) != origin:
            continue
        for run in node_spans(store, store.runs(_NODE_INFO, key)):
            facts = NodeFacts(
                node, provider_id or None, _labels(node, run, store), _capacity(node, run, store), span_of(run)
            )
            yield node_row(facts, conventions, findings)


def note_missing_metrics(store: SeriesStore, findings: Findings) -> None:
    """Say which series the files lack, and what that costs."""
    if (store.has(REQUESTS) or store.has(INIT_REQUESTS)) and not store.has(PHASE):
        message = f"{PHASE} is missing, so no request is known to have run; export it with {REQUESTS}"
        findings.note("series_missing", PHASE, message)
    if store.has("kube_pod_info") and not store.has("kube_pod_labels"):
        message = (
            "teams fall back to namespaces and classes to owner kinds and images; start kube-state-metrics with "
            "--metric-labels-allowlist=pods=[*],namespaces=[*],nodes=[*]"
        )
        findings.note("labels_missing", "kube_pod_labels", message)
    if not store.has(_NODE_INFO) and (store.has(_NODE_LABELS) or store.has(_CAPACITY)):
        message = f"{_NODE_INFO} is missing, so no node is known by its provider id; export it with {_NODE_LABELS}"
        findings.note("series_missing", _NODE_INFO, message)
    if store.has(_NODE_INFO) and not store.has(_NODE_LABELS):
        message = (
            "GPU model and count, pool, capacity type and zone of nodes are unknown; start kube-state-metrics with "
            "--metric-labels-allowlist=nodes=[*]"
        )
        findings.note("labels_missing", _NODE_LABELS, message)


def _note_doubts(pod: PodHistory, findings: Findings) -> None:
    subject = f"pod {pod.namespace}/{pod.pod}"
    if pod.requests and not pod.node:
        findings.note("pod_without_node", subject, "no node took it; it holds nothing")
    if pod.requests and not pod.has_phase:
        findings.note("phase_unknown", subject, f"no series {PHASE} tells whether it ran; its requests are not counted")
    if not pod.is_owner_known:
        findings.note("owner_unknown", subject, "neither kube_pod_owner nor kube_pod_info tells its owner")
    if pod.has_claims:
        message = "it holds devices through ResourceClaims, which these series do not count"
        findings.note("resource_claims", subject, message)


def _requests(pod: PodHistory, node: str, store: SeriesStore) -> Iterator[RequestRow]:
    for part in effective_requests(_at_their_largest(pod)):
        for run in _pieces(pod, part, store):
            for span in (span_of(piece) for running in pod.running for piece in cut([run], running.start, running.end)):
                yield RequestRow(
                    pod.namespace,
                    pod.pod,
                    pod.uid,
                    part.container,
                    node,
                    part.resource,
                    run.value,
                    span.start,
                    span.end,
                )


def _at_their_largest(pod: PodHistory) -> list[ContainerRequest]:
    """
    Return each container's largest requests: they change only where pods are resized in place.

    Series do not tell in which order init containers start; put first, they stand on no sidecar: the least there is.
    """
    containers: dict[str, dict[str, float]] = {}
    for (container, resource), runs in sorted(pod.requests.items()):
        containers.setdefault(container, {})[resource] = max(run.value for run in runs)
    found = [ContainerRequest(name, pod.roles[name], quantities) for name, quantities in containers.items()]
    return sorted(found, key=lambda request: request.role is not Role.INIT)


def _pieces(pod: PodHistory, part: EffectiveRequest, store: SeriesStore) -> list[Run]:
    runs = pod.requests[part.container, part.resource]
    if pod.roles[part.container] is Role.INIT:  # the surplus over what the others hold, as long as the pod runs
        return [Run(0.0, store.last_scrape, part.quantity)]
    return [run for run in widened(runs, store.bridged_seconds) if run.value > 0.0]


def _labels(node: str, during: Run, store: SeriesStore) -> Mapping[str, str]:
    """Return the newest labels a node had in a span, else the newest of all."""
    newest: tuple[bool, float, str] | None = None
    for key in store.keys_of(_NODE_LABELS, node):
        for run in store.runs(_NODE_LABELS, key):
            overlaps = run.start <= during.end and during.start <= run.end
            newest = max(newest or (False, 0.0, ""), (overlaps, run.end, key[1]))
    return store.labels(newest[2]) if newest else {}


def _capacity(node: str, during: Run, store: SeriesStore) -> dict[str, float]:
    capacity: dict[str, float] = {}
    for key in store.keys_of(_CAPACITY, node):
        runs = store.runs(_CAPACITY, key)
        inside = [run for run in runs if run.start <= during.end and during.start <= run.end] or runs
        capacity[of_series(key[1])] = inside[-1].value
    return capacity
