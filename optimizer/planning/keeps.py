"""Which nodes stay whatever their GPU pods do: one verdict for every node the plan would release or cut."""

from collections.abc import Mapping
from dataclasses import dataclass

from models.fleet import Fleet, Node, Unheld
from models.holding import KEEP_ANNOTATION, keep_doubt
from optimizer.planning.settings import PlanSettings


@dataclass(frozen=True, slots=True)
class Keep:
    """Why a node is not released, and whether it may be cut into slices all the same."""

    reason: str
    may_be_cut: bool


Keeps = Mapping[str, Keep]  # by node; a node that may go is absent


def kept_nodes(fleet: Fleet, settings: PlanSettings) -> dict[str, Keep]:
    """Return the nodes that must not go, by key."""
    verdicts = {key: why_kept(node, fleet.unsized.get(key, ()), settings) for key, node in sorted(fleet.nodes.items())}
    return {key: keep for key, keep in verdicts.items() if keep is not None}


def why_kept(node: Node, unsized: tuple[str, ...], settings: PlanSettings) -> Keep | None:
    """Return why the node must stay once its GPU pods are gone, or None when it may go."""
    reason = _asked_to_keep(node) or _held_by_unknown_share(unsized) or _not_seen_idle(node.unheld, settings)
    if node.others is None:
        reason = reason or "no inventory names it"
    if reason:
        return Keep(reason, may_be_cut=False)
    if node.others is not None and node.others.count:
        pods = f"{node.others.count} pods that ask" if node.others.count > 1 else "1 pod that asks"
        return Keep(f"{pods} for no GPU on it would need another node", may_be_cut=True)
    return None


def _asked_to_keep(node: Node) -> str:
    doubt = keep_doubt(node.labels)
    if doubt is None:
        return ""
    if doubt.code == "kept_on_purpose":
        return f"it is labelled {KEEP_ANNOTATION}; remove the label to let it go"
    return "its labels are no JSON object, so nobody can say whether it is to be kept; load them again"


def _held_by_unknown_share(unsized: tuple[str, ...]) -> str:
    return f"{', '.join(unsized)} holds a share of it that nobody knows" if unsized else ""


def _not_seen_idle(unheld: Unheld | None, settings: PlanSettings) -> str:
    """Return what speaks for work on its devices that no pod asked for; unknown counts as active."""
    if unheld is None:
        return "nobody can say what its devices did while no pod held them"
    if unheld.memory_gib is not None and unheld.memory_gib >= settings.held_memory_gib:
        return (
            f"{unheld.memory_gib:,.1f} GiB were loaded on its devices while no pod held them: used outside Kubernetes"
        )
    # Also where all that the inventory counts was held: telemetry may see a device that it does not count.
    if unheld.activity_max is not None and unheld.activity_max >= settings.idle_activity_ratio:
        return f"its devices reached {unheld.activity_max:.0%} while no pod held them: used outside Kubernetes"
    seen = unheld.observed_ratio if unheld.activity_max is not None else None
    if unheld.gpu_hours > settings.brief_unheld_gpu_hours and (
        seen is None or seen < settings.min_unheld_observed_ratio
    ):
        share = "nothing" if seen is None else f"{seen:.0%}"
        return (
            f"telemetry saw {share} of the {unheld.gpu_hours:,.6g} GPU-hours in which no pod held its devices; unknown "
            "counts as active"
        )
    return ""
