"""
The GPU request of one container in a workload's pod template (Kubernetes core/v1 resources).

Only kinds whose template may change in place, and whose lists merge by name. A Job's template is immutable, and a
patch of a custom resource, such as a Notebook, replaces the whole list of containers.
"""

from collections.abc import Mapping

from optimizer.manifest import Manifest

_API_VERSIONS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
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
        message = (
            f"{kind} {namespace}/{name}, container {container!r}: no pod template to edit in place; kinds: {KINDS}"
        )
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
