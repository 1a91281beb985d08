"""Read fields of a Kubernetes object whatever its shape, and forget what must never be kept."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from connectors.inventory.json_stream import JsonObject
from connectors.inventory.owners import OwnerRef
from models.domain.window import naive_utc

KEPT_ANNOTATIONS = frozenset(
    {
        "argocd.argoproj.io/tracking-id",
        "autoscaling.knative.dev/max-scale",
        "autoscaling.knative.dev/min-scale",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "config.kubernetes.io/origin",
        "gpu-fraction",
        "gpu-memory",
        "karpenter.sh/do-not-disrupt",
        "kubeflow-resource-stopped",
        "kubernetes.io/config.mirror",
        "meta.helm.sh/release-name",
        "meta.helm.sh/release-namespace",
        "notebooks.kubeflow.org/last-activity",
        "pod-group-name",
        "serving.kserve.io/autoscalerClass",
        "serving.kserve.io/stop",
    }
)
_OWN_PREFIX = "earnkeep.dev/"
_LONGEST_ANNOTATION = 256  # characters; what is longer is a document, not a word
_CONTAINER_LISTS = ("containers", "initContainers")
_KEPT_OF_METADATA = ("name", "namespace", "uid", "labels", "ownerReferences", "creationTimestamp")
_KEPT_OF_SPEC = ("nodeName", "providerID", "selector", "replicas")
_KEPT_OF_STATUS = ("phase", "startTime", "capacity", "containerStatuses")
_KEPT_OF_CONTAINER = ("name", "image", "resources", "restartPolicy")


def at(thing: object, *path: str) -> Any:  # noqa: ANN401, any JSON value
    """Return the value at a path of keys, or None where the path ends early."""
    for key in path:
        if not isinstance(thing, Mapping):
            return None
        thing = thing.get(key)
    return thing


def text_at(thing: object, *path: str) -> str | None:
    """Return the text at a path, or None where there is none or it is empty."""
    value = at(thing, *path)
    return value if isinstance(value, str) and value else None


def items_at(thing: object, *path: str) -> Iterator[JsonObject]:
    """Yield the objects of the list at a path."""
    value = at(thing, *path)
    yield from (item for item in (value if isinstance(value, list) else ()) if isinstance(item, dict))


def words_at(thing: object, *path: str) -> dict[str, str]:
    """Return the text-to-text entries at a path: labels, annotations."""
    value = at(thing, *path)
    entries = value.items() if isinstance(value, Mapping) else ()
    return {key: word for key, word in entries if isinstance(key, str) and isinstance(word, str)}


def instant_at(thing: object, *path: str) -> datetime | None:
    """Return the instant at a path, naive UTC, or None where there is none."""
    text = text_at(thing, *path)
    try:
        instant = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return naive_utc(instant) if instant and instant.tzinfo else None


def owner_of(thing: JsonObject) -> OwnerRef | None:
    """Return the controller that an object names as its owner."""
    for reference in items_at(thing, "metadata", "ownerReferences"):
        kind, name = text_at(reference, "kind"), text_at(reference, "name")
        if reference.get("controller") is True and kind and name:
            return OwnerRef(text_at(reference, "apiVersion"), kind, name)
    return None


def without_secrets(thing: JsonObject, kept_annotations: frozenset[str]) -> JsonObject:
    """
    Return what may be kept of an object: no environment, arguments, configuration data or free annotations.

    Args:
        thing: As the API gives it; it is not used afterwards.
        kept_annotations: Keys whose short values are kept; kubectl's last-applied-configuration never is.
    """
    annotations = words_at(thing, "metadata", "annotations")
    kept: JsonObject = {"apiVersion": thing.get("apiVersion"), "kind": thing.get("kind")}
    kept["metadata"] = {key: at(thing, "metadata", key) for key in _KEPT_OF_METADATA}
    kept["metadata"]["annotations"] = {
        key: word
        for key, word in annotations.items()
        if (key in kept_annotations or key.startswith(_OWN_PREFIX)) and len(word) <= _LONGEST_ANNOTATION
    }
    spec = at(thing, "spec")
    kept["spec"] = {key: at(spec, key) for key in _KEPT_OF_SPEC}
    for name in _CONTAINER_LISTS:
        kept["spec"][name] = [
            {key: container[key] for key in _KEPT_OF_CONTAINER if key in container}
            for container in items_at(spec, name)
        ]
    kept["status"] = {key: at(thing, "status", key) for key in _KEPT_OF_STATUS}
    return kept


def newest_instant(thing: JsonObject) -> datetime | None:
    """Return the latest instant at which something is said to have happened to an object, naive UTC."""
    seen = [
        instant_at(thing, "metadata", "creationTimestamp"),
        instant_at(thing, "status", "startTime"),
        *(instant_at(entry, "time") for entry in items_at(thing, "metadata", "managedFields")),
    ]
    for condition in items_at(thing, "status", "conditions"):
        seen += [instant_at(condition, key) for key in ("lastHeartbeatTime", "lastTransitionTime", "lastUpdateTime")]
    seen += [*container_instants(thing, "startedAt"), *container_instants(thing, "finishedAt")]
    return max((instant for instant in seen if instant), default=None)


def container_instants(pod: JsonObject, name: str) -> list[datetime]:
    """Return when the containers of a pod, as they are now, `startedAt` or `finishedAt`."""
    found = [
        instant_at(container, "state", state, name)
        for container in items_at(pod, "status", "containerStatuses")
        for state in ("running", "terminated")
    ]
    return [instant for instant in found if instant]
