"""Give nodes back: what only the owner of the node pool can do, as steps."""

import shlex
from collections.abc import Sequence

from optimizer.manifest import Runbook


def release_runbook(nodes: Sequence[str]) -> Runbook:
    """Return the steps that give back nodes named "cluster/node", and the steps that take them again."""
    steps: list[str] = []
    undo_steps: list[str] = []
    for key in sorted(nodes):
        cluster_id, name = (shlex.quote(word) for word in key.rsplit("/", 1))
        on_cluster = f"kubectl --context {cluster_id}"
        steps += [
            f"{on_cluster} cordon {name}",
            f"{on_cluster} get pods -A --field-selector spec.nodeName={name}  # only DaemonSet pods may be left",
            f"{on_cluster} drain {name} --ignore-daemonsets --delete-emptydir-data",
            f"Take {key} out of its node pool, so that the pool is one smaller (an autoscaler does it by itself).",
        ]
        undo_steps.append(
            f"Make the pool of {key} one larger again, or `{on_cluster} uncordon {name}` if it still runs."
        )
    return Runbook(tuple(steps), tuple(undo_steps))
