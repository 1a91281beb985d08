"""
NVIDIA mig-parted: how GPUs are cut, as a ConfigMap the GPU operator's MIG manager reads, and the steps per node.

The MIG manager acts on a node label, which is normally not in Git, and destroys every slice of a GPU whose layout
changes: a change is a drain, not a patch. Source: mig-parted and GPU operator v26.7, read 2026-11.
"""

import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence

import yaml

from models.domain.recommendation import NodeLayout
from optimizer.manifest import Manifest, Runbook

NAMESPACE = "gpu-operator"
NAME = "earnkeep-mig-parted-config"
ALL_DISABLED = "all-disabled"
_LABEL = "nvidia.com/mig.config"
_WRITTEN_FOR = "ConfigMap v1, mig-parted config v1, GPU operator 26.7"
_PLAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")  # of a label value's 63 characters; the rest is ours


def config_name(pool: str, layout: NodeLayout, layouts: Sequence[NodeLayout]) -> str:
    """Return the name of a node's layout; nodes cut alike share one."""
    distinct = sorted({each.gpu_profiles for each in layouts})
    return f"{_prefix(pool)}-{distinct.index(layout.gpu_profiles) + 1}"


def mig_config_map(pool: str, layouts: Sequence[NodeLayout]) -> Manifest:
    """Return the ConfigMap with one named layout per distinct way a node is cut, and the way back to whole GPUs."""
    configs: dict[str, object] = {ALL_DISABLED: [{"devices": "all", "mig-enabled": False}]}
    for layout in sorted(layouts, key=lambda each: each.gpu_profiles):
        configs[config_name(pool, layout, layouts)] = _devices(layout.gpu_profiles)
    undo: dict[str, object] = {ALL_DISABLED: configs[ALL_DISABLED]}
    return Manifest(f"ConfigMap {NAMESPACE}/{NAME}", _config_map(configs), _config_map(undo), _WRITTEN_FOR)


def mig_runbook(pool: str, layouts: Sequence[NodeLayout]) -> Runbook:
    """Return the steps that cut the nodes, one after the other, and the steps back to whole GPUs."""
    steps = [
        (
            f"Point the GPU operator at the new layouts: ClusterPolicy spec.migManager.config.name = {NAME}, and "
            'spec.mig.strategy = "mixed" (note what both say today).'
        ),
        (
            f"Where ConfigMap {NAMESPACE}/{NAME} is there already, for another pool, add the layouts {_prefix(pool)}-* "
            "to its config.yaml instead of replacing it: the MIG manager reads one ConfigMap per cluster."
        ),
    ]
    undo_steps: list[str] = []
    for layout in sorted(layouts, key=lambda each: each.node):
        cluster_id, node = (shlex.quote(word) for word in layout.node.rsplit("/", 1))
        on_cluster = f"kubectl --context {cluster_id}"
        steps += [
            *_relabel(on_cluster, node, config_name(pool, layout, layouts)),
            f"{on_cluster} get node {node} -o jsonpath='{{.status.allocatable}}'  # expect {_expected(layout)}",
            f"{on_cluster} uncordon {node}",
        ]
        undo_steps += [*_relabel(on_cluster, node, ALL_DISABLED), f"{on_cluster} uncordon {node}"]
    undo_steps.append(
        "Where no other pool is cut, set ClusterPolicy spec.migManager.config.name and spec.mig.strategy back to what "
        "they were."
    )
    return Runbook(tuple(steps), tuple(undo_steps))


def _prefix(pool: str) -> str:
    """Return what the names of a pool's layouts begin with; a label value cannot take every pool's name as it is."""
    name = pool.rsplit("/", 1)[-1]
    if _PLAIN.fullmatch(name):
        return f"earnkeep-{name}"
    words = re.sub(r"[^a-z0-9]+", "-", name.lower())[:32].strip("-")
    return f"earnkeep-{words or 'pool'}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _relabel(on_cluster: str, node: str, name: str) -> tuple[str, ...]:
    return (
        f"{on_cluster} cordon {node}",
        f"{on_cluster} drain {node} --ignore-daemonsets --delete-emptydir-data  # all its GPU pods move",
        f"{on_cluster} label node {node} {_LABEL}={name} --overwrite",
        (
            f"Wait until `{on_cluster} get node {node} -L {_LABEL}.state` says success; a node may reboot. "
            "On failed: read the mig-manager's log and go back."
        ),
    )


def _devices(gpu_profiles: Sequence[Sequence[str]]) -> list[dict[str, object]]:
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, profiles in enumerate(gpu_profiles):
        groups.setdefault(tuple(sorted(profiles)), []).append(index)
    return [
        {"devices": indexes, "mig-enabled": bool(profiles)} | ({"mig-devices": _counts(profiles)} if profiles else {})
        for profiles, indexes in sorted(groups.items(), key=lambda group: group[1])
    ]


def _counts(profiles: Sequence[str]) -> Mapping[str, int]:
    return {profile: profiles.count(profile) for profile in sorted(set(profiles))}


def _expected(layout: NodeLayout) -> str:
    counts = _counts([profile for profiles in layout.gpu_profiles for profile in profiles])
    return ", ".join(f"{count} x {profile}" for profile, count in counts.items())


def _config_map(configs: Mapping[str, object]) -> dict[str, object]:
    text = yaml.safe_dump({"version": "v1", "mig-configs": dict(configs)}, sort_keys=False)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "data": {"config.yaml": text},
    }
