"""Write a dump of a cluster's objects at as_of, as `kubectl get nodes,pods,… -A -o json` would."""

import gzip
from pathlib import Path

import orjson

from optimizer.demo_fleet.kubernetes_objects import Document, controller_objects, node_object, pod_object
from optimizer.demo_fleet.nouns import Cluster, Fleet, Pod

GZIP_LEVEL = 6


def write_objects(fleet: Fleet, cluster: Cluster, folder: Path) -> None:
    """Write `objects-YYYYMMDDTHHMMZ.json.gz` for a cluster into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    spec = fleet.spec
    pods_by_workload: dict[int, list[Pod]] = {}
    for pod in fleet.pods:
        if pod.workload.cluster is cluster and pod.end_hour is None:
            pods_by_workload.setdefault(pod.workload.number, []).append(pod)
    items: list[Document] = [
        node_object(spec, node) for node in fleet.nodes if node.cluster is cluster and node.end_hour is None
    ]
    items += [pod_object(spec, pod) for pods in pods_by_workload.values() for pod in pods]
    for workload in fleet.workloads:
        pods = pods_by_workload.get(workload.number, [])
        if workload.cluster is cluster and (pods or workload.is_suspended):
            items += controller_objects(spec, workload, pods)
    document = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
    text = orjson.dumps(document, option=orjson.OPT_INDENT_2)
    name = f"objects-{spec.as_of:%Y%m%dT%H%MZ}.json.gz"  # kubectl says nowhere when it was asked
    (folder / name).write_bytes(gzip.compress(text, GZIP_LEVEL, mtime=0))
