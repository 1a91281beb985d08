"""Pods of a dump: who they belong to, and what they hold while they run."""

from collections.abc import Iterator
from datetime import datetime

from connectors.inventory.findings import Findings
from connectors.inventory.json_stream import JsonObject
from connectors.inventory.objects import at, container_instants, instant_at, items_at, text_at
from connectors.inventory.owners import OwnerChain, OwnerRef
from connectors.inventory.quantities import quantity
from connectors.inventory.requests import ContainerRequest, Role, effective_requests
from connectors.inventory.resources import in_our_unit, is_counted
from connectors.inventory.rows import PodRow, RequestRow, Span
from models.domain.errors import InputError

_ENDED = frozenset({"Succeeded", "Failed"})


def pod_name(pod: JsonObject) -> str:
    """Return "namespace/name" for messages."""
    return f"{text_at(pod, 'metadata', 'namespace')}/{text_at(pod, 'metadata', 'name')}"


def workload_ref(pod: JsonObject, chain: OwnerChain) -> OwnerRef:
    """Return the workload a pod belongs to: the top of its owners, or the bare pod itself."""
    return chain.refs[-1] if chain.refs else OwnerRef("v1", "Pod", str(text_at(pod, "metadata", "name")))


def pod_rows(
    pod: JsonObject, chain: OwnerChain, observed_at: datetime, findings: Findings
) -> Iterator[PodRow | RequestRow]:
    """
    Yield the pod, and what each of its containers holds while it runs.

    A pod holds from status.startTime, as kube_pod_start_time has it, until its last container finished or the dump
    was taken: devices of a container that ended stay with a pod that runs on. Pending pods and pods without a node
    hold nothing.
    """
    node = text_at(pod, "spec", "nodeName")
    if node is None:
        findings.note(
            "pod_without_node", f"pod {pod_name(pod)}", "pods that no node took yet hold nothing; not counted"
        )
    running = _running(pod, observed_at, findings)
    span = running or _waiting(pod, observed_at)
    if span is None:
        return
    ref = workload_ref(pod, chain)
    namespace, name, uid = (str(text_at(pod, "metadata", key) or "") for key in ("namespace", "name", "uid"))
    yield PodRow(namespace, name, uid, node, ref.kind, ref.name, chain.is_daemon, span.start, span.end)
    if running is None or node is None:
        return
    for part in effective_requests(_containers(pod, findings)):
        yield RequestRow(
            namespace, name, uid, part.container, node, part.resource, part.quantity, running.start, running.end
        )


def pod_span(pod: JsonObject, observed_at: datetime) -> Span | None:
    """Return since when and until when a pod ran, or waited where it never did; None where the dump cannot tell."""
    return _running(pod, observed_at, Findings()) or _waiting(pod, observed_at)


def images_of(pod: JsonObject) -> tuple[str, ...]:
    """Return the images of the main containers."""
    return tuple(image for container in items_at(pod, "spec", "containers") if (image := text_at(container, "image")))


def _running(pod: JsonObject, observed_at: datetime, findings: Findings) -> Span | None:
    phase = text_at(pod, "status", "phase")
    if phase in {"Pending", None}:
        return None
    subject = f"pod {pod_name(pod)}"
    if phase != "Running" and phase not in _ENDED:
        findings.note("pod_phase_unknown", subject, f"phase {phase}: its node is lost, so what it holds is not counted")
        return None
    start = instant_at(pod, "status", "startTime") or min(container_instants(pod, "startedAt"), default=None)
    end = max(container_instants(pod, "finishedAt"), default=None) if phase in _ENDED else observed_at
    if start is None or end is None:
        missing = "start" if start is None else "end"
        findings.note(f"pod_{missing}_unknown", subject, f"{phase}, but the dump has no {missing}; not counted")
        return None
    if start >= end:
        message = f"it starts at {start} and ends at {end}; check observed_at or the dump time in the file name"
        findings.note("after_dump_time", subject, message)
        return None
    return Span(start, end)


def _waiting(pod: JsonObject, observed_at: datetime) -> Span | None:
    """Return since when a pod that waits is known; one that ended without a trace is not."""
    created = instant_at(pod, "metadata", "creationTimestamp")
    has_ended = text_at(pod, "status", "phase") in _ENDED
    return None if created is None or has_ended or created >= observed_at else Span(created, observed_at)


def _containers(pod: JsonObject, findings: Findings) -> list[ContainerRequest]:
    found = []
    for container in items_at(pod, "spec", "initContainers"):
        role = Role.SIDECAR if container.get("restartPolicy") == "Always" else Role.INIT
        found.append(_container(pod, container, role, findings))
    found += [_container(pod, container, Role.MAIN, findings) for container in items_at(pod, "spec", "containers")]
    return found


def _container(pod: JsonObject, container: JsonObject, role: Role, findings: Findings) -> ContainerRequest:
    # The API server fills a missing request in from the limit; objects from a file may not have been through it.
    written = dict(at(container, "resources", "limits") or {}) | dict(at(container, "resources", "requests") or {})
    quantities: dict[str, float] = {}
    for resource, value in written.items():
        if not is_counted(resource):
            continue
        try:
            quantities[resource] = in_our_unit(resource, quantity(value))
        except InputError as error:
            subject = f"pod {pod_name(pod)}, container {container.get('name')}, {resource}"
            findings.note("quantity_unreadable", subject, f"{error}; not counted")
    return ContainerRequest(str(container.get("name") or ""), role, quantities)
