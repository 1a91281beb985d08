"""apps/v1 Deployment and StatefulSet: how many replicas run."""

from optimizer.manifest import Manifest

API_VERSION = "apps/v1"
KINDS = ("Deployment", "StatefulSet")


def set_replicas(kind: str, namespace: str, name: str, replicas: int, replicas_before: int) -> Manifest:
    """
    Return the change of `spec.replicas`, and the change back.

    Raises:
        ValueError: the kind has no replicas.
    """
    if kind not in KINDS:
        message = f"{kind} has no spec.replicas of {API_VERSION}; it can be one of {', '.join(KINDS)}"
        raise ValueError(message)
    return Manifest(
        target=f"{kind} {namespace}/{name}",
        apply=_patch(kind, namespace, name, replicas),
        undo=_patch(kind, namespace, name, replicas_before),
        written_for=API_VERSION,
    )


def _patch(kind: str, namespace: str, name: str, replicas: int) -> dict[str, object]:
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas},
    }
