"""What a pod asks for in effect, container by container."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

_TOLERANCE = 1e-9  # sums of decimals such as 0.1 + 0.2 are no surplus


class Role(StrEnum):
    """When a container runs."""

    MAIN = "main"
    SIDECAR = "sidecar"  # init container with restartPolicy Always: runs along
    INIT = "init"


@dataclass(frozen=True, slots=True)
class ContainerRequest:
    """Requests of one container, in the units of raw.container_request."""

    container: str
    role: Role
    quantity_by_resource: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class EffectiveRequest:
    """A part of what the pod holds; the parts of one resource sum to what the scheduler reserves for it."""

    container: str
    resource: str
    quantity: float


def effective_requests(containers: Sequence[ContainerRequest]) -> Iterator[EffectiveRequest]:
    """
    Yield what each container holds, positive quantities only, sorted by resource.

    The scheduler reserves max(sum of main and sidecar containers, largest init container with the sidecars started
    before it). Main containers and sidecars keep their own requests; where an init container asks for more than
    their sum, the surplus alone is its row.

    Args:
        containers: Init containers and sidecars in their order, main containers anywhere.

    Source: Kubernetes KEP-753 (sidecar containers), resource calculation.
    """
    resources = sorted({resource for container in containers for resource in container.quantity_by_resource})
    for resource in resources:
        steady = 0.0
        started_sidecars = 0.0
        peak, peak_container = 0.0, ""
        for container in containers:
            quantity = container.quantity_by_resource.get(resource, 0.0)  # not asked for is nothing asked for
            if container.role is Role.INIT:
                if started_sidecars + quantity > peak:
                    peak, peak_container = started_sidecars + quantity, container.container
                continue
            steady += quantity
            started_sidecars += quantity if container.role is Role.SIDECAR else 0.0
            if quantity > 0.0:
                yield EffectiveRequest(container.container, resource, quantity)
        if peak - steady > _TOLERANCE:
            yield EffectiveRequest(peak_container, resource, peak - steady)
