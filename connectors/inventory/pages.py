"""Pieces of an inventory, small enough to hold, each able to say its rows without reading anything more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from connectors.inventory import history_rows
from connectors.inventory.cluster_index import ClusterIndex
from connectors.inventory.conventions import Conventions
from connectors.inventory.findings import Findings
from connectors.inventory.history import PodHistory
from connectors.inventory.json_stream import JsonObject
from connectors.inventory.nodes import NodeFacts, node_row
from connectors.inventory.objects import at, instant_at, owner_of, text_at, words_at
from connectors.inventory.pods import images_of, pod_rows, pod_span, workload_ref
from connectors.inventory.quantities import quantity
from connectors.inventory.rows import Row, Span, tables
from connectors.inventory.series_store import SeriesStore
from connectors.inventory.workloads import OwnedPod, WorkloadFacts, workload_rows
from models.domain.errors import InputError


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """Pods and nodes of one dump."""

    origin: str
    objects: tuple[JsonObject, ...]
    observed_at: datetime
    index: ClusterIndex

    def tables(self, conventions: Conventions) -> Mapping[str, pa.Table]:
        """Return rows of raw.node, raw.pod, raw.container_request and raw.finding."""
        findings = Findings()
        found = tables(conventions.cluster_id, self._rows(conventions, findings))
        return {**found, "finding": findings.table(Span(self.observed_at, self.observed_at))}

    def owned_pods(self) -> Iterator[OwnedPod]:
        """Yield what the pods tell about their workloads."""
        for pod in self.objects:
            span = pod_span(pod, self.observed_at) if pod["kind"] == "Pod" else None
            if span is None:
                continue
            namespace = str(text_at(pod, "metadata", "namespace"))
            labels = words_at(pod, "metadata", "labels")
            chain = self.index.owners.chain(namespace, owner_of(pod))
            yield OwnedPod(
                namespace,
                workload_ref(pod, chain),
                chain,
                labels,
                words_at(pod, "metadata", "annotations"),
                images_of(pod),
                Span(span.start, self.observed_at),
                self.index.has_disruption_budget(namespace, labels),
            )

    def _rows(self, conventions: Conventions, findings: Findings) -> Iterator[Row]:
        for thing in self.objects:
            if thing["kind"] == "Node":
                span = Span(instant_at(thing, "metadata", "creationTimestamp") or self.observed_at, self.observed_at)
                yield node_row(_node_facts(thing, span, findings), conventions, findings)
            else:
                chain = self.index.owners.chain(str(text_at(thing, "metadata", "namespace")), owner_of(thing))
                yield from pod_rows(thing, chain, self.observed_at, findings)


@dataclass(frozen=True, slots=True)
class WorkloadPage:
    """Workloads of one file, after all its pods were seen."""

    origin: str
    workloads: tuple[WorkloadFacts, ...]
    namespace_labels: Mapping[str, Mapping[str, str]]
    observed: Span
    assumptions: Findings

    def tables(self, conventions: Conventions) -> Mapping[str, pa.Table]:
        """Return rows of raw.workload and raw.finding."""
        findings = self.assumptions.copy()
        rows = workload_rows(self.workloads, self.namespace_labels, conventions, findings)
        return {**tables(conventions.cluster_id, rows), "finding": findings.table(self.observed)}


@dataclass(frozen=True, slots=True)
class SeriesPage:
    """Pods and nodes that one file of series tells of first."""

    origin: str
    pods: tuple[PodHistory, ...]
    store: SeriesStore
    index: ClusterIndex
    has_nodes: bool  # the first page of a file brings its nodes
    observed: Span

    def tables(self, conventions: Conventions) -> Mapping[str, pa.Table]:
        """Return rows of raw.node, raw.pod, raw.container_request and raw.finding."""
        findings = Findings()
        found = tables(conventions.cluster_id, self._rows(conventions, findings))
        return {**found, "finding": findings.table(self.observed)}

    def _rows(self, conventions: Conventions, findings: Findings) -> Iterator[Row]:
        if self.has_nodes:
            yield from history_rows.node_rows(self.origin, self.store, conventions, findings)
        yield from history_rows.pod_rows(self.pods, self.store, self.index, findings)


InventoryPage = ObjectPage | WorkloadPage | SeriesPage


def _node_facts(node: JsonObject, span: Span, findings: Findings) -> NodeFacts:
    name = str(text_at(node, "metadata", "name"))
    capacity: dict[str, float] = {}
    for resource, value in (at(node, "status", "capacity") or {}).items():
        try:
            capacity[resource] = quantity(value)
        except InputError as error:
            findings.note("quantity_unreadable", f"node {name}, {resource}", f"{error}; not counted")
    labels = words_at(node, "metadata", "labels")
    return NodeFacts(name, text_at(node, "spec", "providerID"), labels, capacity, span)
