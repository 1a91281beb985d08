"""The GPU request of one container in a workload's pod template (Kubernetes core/v1 resources)."""

from collections.abc import Mapping

from optimizer.manifest import Manifest

_API_VERSIONS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
    "Notebook": "kubeflow.org/v1",
}
KINDS = tuple(sorted(_API_VERSIONS))
GPU = "nvidia.com/gpu"


def request_gpus(
    owner: tuple[str, str, str], container: str, limits: Mapping[str, int], limits_before: Mapping[str, int]
) -> Manifest:
    """
    Return the strategic-merge patch that changes which GPU resources a container asks for.

    Args:
        owner: Kind, namespace and name of the workload.
        container: Name of the container in its pod template.
        limits: Count by extended resource; requests of extended resources equal their limits.
        limits_before: The same as it is today. A resource in one and not the other is taken away with null.

    Raises:
        ValueError: the kind has no pod template where we know it, or the container has no name.
    """
    kind, namespace, name = owner
    if kind not in _API_VERSIONS or not container:
        message = f"{kind} {namespace}/{name}, container {container!r}: no pod template to edit; kinds: {KINDS}"
        raise ValueError(message)
    return Manifest(
        target=f"{kind} {namespace}/{name}",
        apply=_patch(owner, container, limits, limits_before),
        undo=_patch(owner, container, limits_before, limits),
        written_for=_API_VERSIONS[kind],
    )


def _patch(
    owner: tuple[str, str, str], container: str, wanted: Mapping[str, int], other: Mapping[str, int]
) -> dict[str, object]:
    kind, namespace, name = owner
    quantities: dict[str, object] = {resource: None for resource in sorted(other) if resource not in wanted}
    quantities |= {resource: str(count) for resource, count in sorted(wanted.items())}
    # Requests of extended resources must equal their limits, so both are written.
    resources = {"limits": dict(quantities), "requests": dict(quantities)}
    template = {"spec": {"containers": [{"name": container, "resources": resources}]}}
    return {
        "apiVersion": _API_VERSIONS[kind],
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": template},
    }
