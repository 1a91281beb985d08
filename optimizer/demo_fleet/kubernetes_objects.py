"""Nodes, pods and controllers as `kubectl get -o json` prints them."""

from collections.abc import Mapping, Sequence

from models.domain.units import BINARY_PREFIX_STEP
from optimizer.demo_fleet.bill_period import iso
from optimizer.demo_fleet.cluster_labels import (
    Owner,
    device_capacity,
    host_address,
    memory_bytes,
    node_labels,
    owner_of,
    pod_address,
    pod_labels,
    provider_id,
)
from optimizer.demo_fleet.nouns import Node, Pod, Workload
from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.tokens import uuid

Document = dict[str, object]
KEPT_FOR_SYSTEM = (0.1, 0.5)  # cores and GiB the kubelet keeps: allocatable is that much smaller


def node_object(spec: FleetSpec, node: Node) -> Document:
    """Return a node."""
    vcpu, memory_gib = node.shape.vcpu, node.shape.memory_gib
    devices = {name: str(count) for name, count in device_capacity(node).items()}
    capacity = {
        "cpu": str(vcpu),
        "memory": f"{memory_bytes(memory_gib) // BINARY_PREFIX_STEP}Ki",
        "pods": "110",
        **devices,
    }
    kept_vcpu, kept_gib = KEPT_FOR_SYSTEM
    allocatable = {
        **capacity,
        "cpu": f"{int((vcpu - kept_vcpu) * 1000)}m",
        "memory": f"{memory_bytes(memory_gib - kept_gib) // BINARY_PREFIX_STEP}Ki",
    }
    metadata: Document = {
        "name": node.name,
        "uid": uuid(spec.seed, "node", node.number),
        "labels": node_labels(node),
        "creationTimestamp": iso(spec.instant(node.start_hour)),
    }
    if node.annotations:
        metadata["annotations"] = dict(node.annotations)
    taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}] if node.shape.gpu_count else []
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": {"providerID": provider_id(node), **({"taints": taints} if taints else {})},
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "addresses": [{"type": "InternalIP", "address": host_address(node)}],
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": node.cluster.kubelet_version, "architecture": "amd64"},
        },
    }  # fmt: skip


def pod_object(spec: FleetSpec, pod: Pod) -> Document:
    """Return a pod as it stands at as_of."""
    owner = owner_of(spec.seed, pod.workload)
    metadata = _metadata(spec, pod.workload, pod.name, pod.uid, owner)
    metadata["labels"] = pod_labels(spec.seed, pod)
    metadata["creationTimestamp"] = iso(spec.instant(pod.created_hour))
    body = _pod_spec(pod.workload, [pod])
    if pod.node is None:
        reason = {"type": "PodScheduled", "status": "False", "reason": pod.waiting_reason or "Unschedulable",
                  "message": "0/9 nodes are available: 9 Insufficient nvidia.com/gpu."}  # fmt: skip
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body,
                "status": {"phase": "Pending", "conditions": [reason]}}  # fmt: skip
    body["nodeName"] = pod.node.name
    started = iso(spec.instant(pod.start_hour))
    state: Document = {"running": {"startedAt": started}}
    if pod.waiting_reason:
        state = {"waiting": {"reason": pod.waiting_reason, "message": "back-off 5m0s restarting failed container"}}
    status = {
        "phase": "Running",
        "startTime": started,
        "podIP": pod_address(pod),
        "hostIP": host_address(pod.node),
        "containerStatuses": [
            {
                "name": "main",
                "image": pod.workload.image,
                "ready": not pod.waiting_reason,
                "restartCount": 7421 if pod.waiting_reason else 0,
                "state": state,
            }
        ],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body, "status": status}


def controller_objects(spec: FleetSpec, workload: Workload, pods: Sequence[Pod]) -> list[Document]:
    """Return the controller, what stands between it and its pods, and its disruption budget."""
    match workload.kind:
        case "Deployment":
            between = owner_of(spec.seed, workload)
            outer = Owner("apps/v1", "Deployment", workload.name)
            objects = [
                _replicated(spec, workload, pods, outer, None),
                _replicated(spec, workload, pods, between, outer),
            ]
        case "Notebook":
            outer = Owner("kubeflow.org/v1", "Notebook", workload.name)
            template = {"spec": _pod_spec(workload, pods)}
            notebook = _object(spec, workload, outer, {"template": template})
            objects = [notebook, _replicated(spec, workload, pods, owner_of(spec.seed, workload), outer)]
        case "PyTorchJob":
            objects = [_object(spec, workload, owner_of(spec.seed, workload), _training_spec(workload, pods))]
        case "Job":
            job = {
                "parallelism": max(1, len(pods)),
                "completions": max(1, len(pods)),
                "template": _template(workload, pods),
            }
            objects = [_object(spec, workload, owner_of(spec.seed, workload), job)]
        case _:
            objects = [_replicated(spec, workload, pods, owner_of(spec.seed, workload), None)]
    if workload.has_disruption_budget:
        budget = Owner("policy/v1", "PodDisruptionBudget", workload.name)
        selector = {"matchLabels": {"app": workload.name}}
        objects.append(_object(spec, workload, budget, {"minAvailable": 1, "selector": selector}))
    return objects


def _replicated(
    spec: FleetSpec, workload: Workload, pods: Sequence[Pod], named: Owner, above: Owner | None
) -> Document:
    selector = {"matchLabels": {"app": workload.name}}
    body: Document = {"selector": selector, "template": _template(workload, pods)}
    status: Document = {"readyReplicas": len(pods), "replicas": len(pods)}
    if named.kind == "DaemonSet":
        status = {"desiredNumberScheduled": len(pods), "numberReady": len(pods)}
    else:
        body["replicas"] = len(pods)
    document = _object(spec, workload, named, body, above)
    document["status"] = status
    return document


def _training_spec(workload: Workload, pods: Sequence[Pod]) -> Document:
    replicas = {"Master": 1, "Worker": max(0, len(pods) - 1)}
    run_policy: Document = {"cleanPodPolicy": "None", "suspend": workload.is_suspended}
    deadline = dict(workload.annotations).get("acme.example/active-deadline-seconds")
    if deadline:
        run_policy["activeDeadlineSeconds"] = int(deadline)
    return {
        "runPolicy": run_policy,
        "pytorchReplicaSpecs": {
            name: {"replicas": count, "restartPolicy": "OnFailure", "template": _template(workload, pods)}
            for name, count in replicas.items()
            if count
        },
    }


def _object(
    spec: FleetSpec, workload: Workload, named: Owner, body: Mapping[str, object], above: Owner | None = None
) -> Document:
    metadata = _metadata(spec, workload, named.name, _uid(spec, workload, named.kind), above)
    metadata["labels"] = {"app": workload.name, "team": workload.team, **dict(workload.labels)}
    return {"apiVersion": named.api_version, "kind": named.kind, "metadata": metadata, "spec": dict(body)}


def _metadata(spec: FleetSpec, workload: Workload, name: str, uid: str, owner: Owner | None) -> Document:
    metadata: Document = {
        "name": name,
        "namespace": workload.namespace,
        "uid": uid,
        "creationTimestamp": iso(spec.instant(workload.created_hour)),
    }
    if workload.annotations:
        metadata["annotations"] = dict(workload.annotations)
    if owner is not None:
        metadata["ownerReferences"] = [
            {
                "apiVersion": owner.api_version,
                "kind": owner.kind,
                "name": owner.name,
                "uid": _uid(spec, workload, owner.kind),
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
    return metadata


def _uid(spec: FleetSpec, workload: Workload, kind: str) -> str:
    return uuid(spec.seed, "object", workload.number, kind)


def _template(workload: Workload, pods: Sequence[Pod]) -> Document:
    metadata: Document = {"labels": {"app": workload.name, "team": workload.team, **dict(workload.labels)}}
    if workload.annotations:
        metadata["annotations"] = dict(workload.annotations)
    return {"metadata": metadata, "spec": _pod_spec(workload, pods)}


def _pod_spec(workload: Workload, pods: Sequence[Pod]) -> Document:
    container: Document = {"name": "main", "image": workload.image}
    if workload.arguments:
        container["args"] = list(workload.arguments)
    if pods:
        asked = pods[0].requests
        requests = {"cpu": f"{int(asked.vcpu * 1000)}m", "memory": f"{int(asked.memory_gib * BINARY_PREFIX_STEP)}Mi"}
        devices = {asked.gpu_resource: str(asked.gpus)} if asked.gpus else {}
        container["resources"] = {
            "requests": {**requests, **devices},
            "limits": {"memory": requests["memory"], **devices},
        }
    body: Document = {"containers": [container]}
    if "--output-dir" in workload.arguments:
        container["volumeMounts"] = [{"name": "checkpoints", "mountPath": "/checkpoints"}]
        body["volumes"] = [
            {"name": "checkpoints", "persistentVolumeClaim": {"claimName": f"{workload.name}-checkpoints"}}
        ]
    node = next((pod.node for pod in pods if pod.node is not None), None)
    if node is not None and workload.kind != "DaemonSet":
        key = (
            "karpenter.sh/nodepool" if "karpenter.sh/nodepool" in node_labels(node) else "cloud.google.com/gke-nodepool"
        )
        body["nodeSelector"] = {key: node.pool}
    body["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    return body
