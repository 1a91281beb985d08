"""Who owns whom: from a pod up to the object a person or a repository made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from models.catalog.workload_kinds import ObjectKind

DAEMON_SET = "DaemonSet"
NODE = "Node"  # owner of the mirror of a static pod
_MOST_HOPS = 16  # a ring of owners must end somewhere


@dataclass(frozen=True, slots=True)
class OwnerRef:
    """An owner as its dependant names it; `api_version` is null where the source does not tell it."""

    api_version: str | None
    kind: str
    name: str

    @property
    def object_kind(self) -> ObjectKind:
        """Return group and kind."""
        return ObjectKind(None if self.api_version is None else group_of(self.api_version), self.kind)


@dataclass(frozen=True, slots=True)
class Controller:
    """An object that may own pods, directly or through others."""

    namespace: str  # empty for cluster-wide objects
    ref: OwnerRef
    owner: OwnerRef | None  # its own controller
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    replicas: int | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OwnerChain:
    """The owners of a pod, nearest first; empty for a bare pod."""

    refs: tuple[OwnerRef, ...]
    top: Controller | None  # the last of them, where it is known as an object

    @property
    def is_daemon(self) -> bool:
        """Return whether the pod belongs to every node it fits, or to one node itself."""
        return any(ref.kind in {DAEMON_SET, NODE} for ref in self.refs)

    @property
    def kinds(self) -> tuple[ObjectKind, ...]:
        """Return the kinds from the top down."""
        return tuple(ref.object_kind for ref in reversed(self.refs))


class Owners:
    """All objects of a source that may own pods."""

    def __init__(self) -> None:
        """Start without any."""
        self._by_kind: dict[tuple[str, str, str, str], Controller] = {}
        self._by_name: dict[tuple[str, str, str], Controller] = {}

    def add(self, controller: Controller) -> None:
        """Take an object up; a later one of the same name replaces an earlier one."""
        ref = controller.ref
        kind = ref.object_kind
        self._by_kind[kind.group or "", ref.kind, controller.namespace, ref.name] = controller
        self._by_name[ref.kind, controller.namespace, ref.name] = controller

    def add_if_absent(self, controller: Controller) -> None:
        """Take an object up unless a richer source has told of it."""
        if (controller.ref.kind, controller.namespace, controller.ref.name) not in self._by_name:
            self.add(controller)

    def chain(self, namespace: str, owner: OwnerRef | None) -> OwnerChain:
        """
        Return the owners above a pod, as far as their objects are known.

        It ends at a DaemonSet: what owns that (an operator's policy) says nothing about who uses the node.
        """
        refs: list[OwnerRef] = []
        top: Controller | None = None
        while owner is not None and owner not in refs and len(refs) < _MOST_HOPS:
            top = self._find(namespace, owner)
            refs.append(top.ref if top else owner)
            owner = top.owner if top and owner.kind != DAEMON_SET else None
        return OwnerChain(tuple(refs), top)

    def _find(self, namespace: str, ref: OwnerRef) -> Controller | None:
        for place in (namespace, ""):
            group = ref.object_kind.group
            found = (
                self._by_name.get((ref.kind, place, ref.name))
                if group is None
                else self._by_kind.get((group, ref.kind, place, ref.name))
            )
            if found:
                return found
        return None


def group_of(api_version: str) -> str:
    """Return the group of an apiVersion: "apps" of "apps/v1", "" of "v1"."""
    return api_version.rpartition("/")[0]
