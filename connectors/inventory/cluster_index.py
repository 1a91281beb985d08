"""What is looked up while pods are read: owners, namespaces and disruption budgets of the whole source."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.inventory.json_stream import JsonObject
from connectors.inventory.objects import at, instant_at, items_at, owner_of, text_at, words_at
from connectors.inventory.owners import Controller, OwnerRef, Owners

_NO_OWNERS = frozenset({"Pod", "Node", "Secret", "ConfigMap", "Event", "Endpoints", "EndpointSlice", "Lease"})


@dataclass(slots=True)
class ClusterIndex:
    """Owners, namespaces and budgets; filled from every file before pods are read."""

    owners: Owners = field(default_factory=Owners)
    namespace_labels: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _budget_selectors: dict[str, list[JsonObject]] = field(default_factory=dict)

    def add(self, thing: JsonObject) -> None:
        """Take up an object that others may refer to; pods and nodes are passed over."""
        kind, name = text_at(thing, "kind"), text_at(thing, "metadata", "name")
        if kind is None or name is None or kind in _NO_OWNERS:
            return
        namespace = text_at(thing, "metadata", "namespace") or ""
        if kind == "Namespace":
            self.namespace_labels[name] = words_at(thing, "metadata", "labels")
        elif kind == "PodDisruptionBudget":
            selector = at(thing, "spec", "selector")
            if isinstance(selector, dict):  # policy/v1: none selects nothing, an empty one everything
                self._budget_selectors.setdefault(namespace, []).append(selector)
        else:
            self._add_owner(thing, namespace, OwnerRef(text_at(thing, "apiVersion"), kind, name))

    def has_disruption_budget(self, namespace: str, labels: Mapping[str, str]) -> bool | None:
        """Return whether a budget selects pods with these labels; None when the source shows no budget at all."""
        if not self._budget_selectors:
            return None
        return any(_selects(selector, labels) for selector in self._budget_selectors.get(namespace, ()))

    def _add_owner(self, thing: JsonObject, namespace: str, ref: OwnerRef) -> None:
        owner = owner_of(thing)
        replicas = at(thing, "spec", "replicas")
        # Only the top of a chain is looked at closer; the many ReplicaSets of a Deployment carry copies of its labels.
        is_top = owner is None
        self.owners.add(
            Controller(
                namespace,
                ref,
                owner,
                words_at(thing, "metadata", "labels") if is_top else {},
                words_at(thing, "metadata", "annotations") if is_top else {},
                replicas if type(replicas) is int else None,
                instant_at(thing, "metadata", "creationTimestamp"),
            )
        )


def _selects(selector: JsonObject, labels: Mapping[str, str]) -> bool:
    wanted = words_at(selector, "matchLabels")
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _fits(expression, labels) for expression in items_at(selector, "matchExpressions")
    )


def _fits(expression: JsonObject, labels: Mapping[str, str]) -> bool:
    value = labels.get(str(expression.get("key")))
    values = expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return False
