"""Workloads: the controllers that own pods, with class, team, origin and disruption budget."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from connectors.inventory.conventions import Conventions
from connectors.inventory.findings import Findings
from connectors.inventory.owners import OwnerChain, OwnerRef
from connectors.inventory.rows import Span, WorkloadRow, json_text
from models.catalog.workload_kinds import DECLARED_LABEL, Classified, Declaration, ObjectKind, WorkloadClass, classify

_ARGO_CD = "argocd.argoproj.io/tracking-id"
_FLUX_LABELS = ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name")
_HELM = "meta.helm.sh/release-name"
_KUSTOMIZE = "config.kubernetes.io/origin"
_MANAGED_BY = "app.kubernetes.io/managed-by"


@dataclass(frozen=True, slots=True)
class OwnedPod:
    """What one pod tells about the workload it belongs to."""

    namespace: str
    ref: OwnerRef  # of the workload
    chain: OwnerChain
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    images: tuple[str, ...]
    span: Span
    has_disruption_budget: bool | None = None  # null: the source shows none at all


@dataclass(slots=True)
class WorkloadFacts:
    """What all pods of one workload tell about it."""

    namespace: str
    ref: OwnerRef
    chain: OwnerChain
    start: datetime
    end: datetime
    pod_labels: dict[str, str] = field(default_factory=dict)
    pod_annotations: dict[str, str] = field(default_factory=dict)
    images: set[str] = field(default_factory=set)
    has_disruption_budget: bool | None = None

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the labels of the controller, or of its pods where it is not known."""
        return self.chain.top.labels if self.chain.top and self.chain.top.labels else self.pod_labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """Return the kept annotations of the controller, or of its pods where it is not known."""
        return self.chain.top.annotations if self.chain.top else self.pod_annotations


class Workloads:
    """Gathers pods by the workload they belong to."""

    def __init__(self) -> None:
        """Start without any."""
        self._facts: dict[tuple[str, str, str], WorkloadFacts] = {}

    def see(self, pod: OwnedPod) -> None:
        """Take a pod up; pods of daemons and static pods make no workload."""
        if pod.chain.is_daemon:
            return
        key = (pod.namespace, pod.ref.kind, pod.ref.name)
        facts = self._facts.setdefault(
            key, WorkloadFacts(pod.namespace, pod.ref, pod.chain, pod.span.start, pod.span.end)
        )
        facts.start, facts.end = min(facts.start, pod.span.start), max(facts.end, pod.span.end)
        facts.pod_labels = {**pod.labels, **facts.pod_labels}
        facts.pod_annotations = {**pod.annotations, **facts.pod_annotations}
        facts.images.update(pod.images)
        if pod.has_disruption_budget is not None:
            facts.has_disruption_budget = bool(facts.has_disruption_budget) or pod.has_disruption_budget

    def sorted(self) -> tuple[WorkloadFacts, ...]:
        """Return the workloads by namespace, kind and name."""
        return tuple(self._facts[key] for key in sorted(self._facts))


def workload_rows(
    workloads: tuple[WorkloadFacts, ...],
    namespace_labels: Mapping[str, Mapping[str, str]],
    conventions: Conventions,
    findings: Findings,
) -> Iterator[WorkloadRow]:
    """Yield the workloads as rows of raw.workload."""
    for facts in workloads:
        top = facts.chain.top
        found = _class(facts, conventions, findings)
        created = top.created_at if top else None
        yield WorkloadRow(
            namespace=facts.namespace,
            workload_kind=facts.ref.kind,
            workload_name=facts.ref.name,
            api_version=facts.ref.api_version,
            workload_class=found.workload_class.value if found else None,
            class_evidence=found.evidence if found else None,
            team=conventions.team(
                facts.namespace,
                namespace_labels.get(facts.namespace, {}),
                facts.pod_labels,
                facts.labels,
                facts.pod_annotations,
                facts.annotations,
            ),
            replicas=top.replicas if top else None,
            has_disruption_budget=facts.has_disruption_budget,
            manifest_origin=manifest_origin(facts),
            labels=json_text(facts.labels),
            annotations=json_text(facts.annotations),
            valid_from=min(created, facts.start) if created else facts.start,
            valid_to=facts.end,
        )


def manifest_origin(facts: WorkloadFacts) -> str | None:
    """Return what put the workload there, the outermost of argocd, flux, helm and kustomize; null when nothing says."""
    labels, annotations = facts.labels, facts.annotations
    # A tracking-id that names another object was copied from it, for instance by a controller.
    names_itself = annotations.get(_ARGO_CD, "").endswith(f":{facts.namespace}/{facts.ref.name}")
    signs = (
        ("argocd", names_itself or "argocd.argoproj.io/instance" in labels),
        ("flux", any(label in labels for label in _FLUX_LABELS)),
        ("helm", _HELM in annotations or labels.get(_MANAGED_BY) == "Helm"),
        ("kustomize", _KUSTOMIZE in annotations or labels.get(_MANAGED_BY) == "kustomize"),
    )
    return next((origin for origin, is_shown in signs if is_shown), None)


def _class(facts: WorkloadFacts, conventions: Conventions, findings: Findings) -> Classified | None:
    declared = facts.pod_labels.get(DECLARED_LABEL) or facts.labels.get(DECLARED_LABEL)
    if declared and declared not in set(WorkloadClass):
        known = ", ".join(WorkloadClass)
        subject = f"{facts.namespace}/{facts.ref.kind}/{facts.ref.name}"
        findings.note("class_unknown", subject, f"label {DECLARED_LABEL}={declared} is no class; known: {known}")
    kinds = facts.chain.kinds or (ObjectKind("", facts.ref.kind),)
    labels = {**facts.labels, **facts.pod_labels}
    overridden = conventions.override(facts.namespace, facts.ref.kind, facts.ref.name)
    return overridden or classify(Declaration(kinds, labels, tuple(sorted(facts.images))))
