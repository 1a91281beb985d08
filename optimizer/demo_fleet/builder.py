"""Put a fleet together node by node; keeps the count of GPUs and who sits on which device."""

from collections import Counter
from dataclasses import dataclass, field

from optimizer.demo_fleet.curve import IDLE, Curve
from optimizer.demo_fleet.nouns import (
    Change,
    Cloud,
    Cluster,
    Decoy,
    Device,
    Fault,
    FaultKind,
    Market,
    Node,
    PlantedWaste,
    Pod,
    Requests,
    Shape,
    Sharing,
    Workload,
)
from optimizer.demo_fleet.shapes import AWS_CLUSTER, BOARDS, GCP_CLUSTER
from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.tokens import token, uuid

LONG_AGO_HOURS = -24 * 45  # older than the window and than any rule's least age
DAEMONS = (("kube-system", "node-agent", 0.1, 0.125), ("kube-system", "kube-proxy", 0.1, 0.125))
GPU_DAEMONS = (*DAEMONS, ("gpu-operator", "nvidia-dcgm-exporter", 0.1, 0.25))
COMPUTE_SLICES_PER_BOARD = 7


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how a node is bought."""

    pool: str
    market: Market = Market.ON_DEMAND
    start_hour: int = LONG_AGO_HOURS
    end_hour: int | None = None
    sharing: Sharing = Sharing()  # noqa: RUF009 - frozen
    annotations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """What a workload is, apart from its name."""

    kind: str
    image: str
    created_hour: int = LONG_AGO_HOURS
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    has_disruption_budget: bool = False
    is_suspended: bool = False


@dataclass(frozen=True, slots=True)
class Stay:
    """When a pod runs, and what it asks for."""

    requests: Requests
    start_hour: int = LONG_AGO_HOURS
    end_hour: int | None = None
    created_hour: int | None = None  # earlier than the start when it waited
    waiting_reason: str = ""


@dataclass(slots=True)
class FleetBuilder:
    """A fleet in the making."""

    spec: FleetSpec
    nodes: list[Node] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    workloads: list[Workload] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    wastes: list[PlantedWaste] = field(default_factory=list)
    decoys: list[Decoy] = field(default_factory=list)
    gpus: int = 0
    _daemon_sets: dict[tuple[str, str], Workload] = field(default_factory=dict)
    _devices_by_node: dict[int, list[Device]] = field(default_factory=dict)
    _gpu_pods_by_node: dict[int, list[Pod]] = field(default_factory=dict)
    _pods_of: Counter[int] = field(default_factory=Counter)
    _names: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    @property
    def gpus_left(self) -> int:
        """Return how many devices may still be added."""
        return self.spec.gpus - self.gpus

    def node(self, shape: Shape, place: Place) -> Node:
        """Add a machine with its system pods."""
        cluster = AWS_CLUSTER if shape.cloud is Cloud.AWS else GCP_CLUSTER
        number = len(self.nodes)
        word = token(17, self.spec.seed, "node", number)
        if shape.cloud is Cloud.AWS:
            name = f"ip-10-{number >> 16 & 255}-{number >> 8 & 255}-{number & 255}.ec2.internal"
            resource_name = f"i-{word}"
        else:
            name = resource_name = f"gke-prod-gcp-{place.pool}-{word[:8]}-{word[8:12]}"
        node = Node(
            number=number,
            cluster=cluster,
            name=name,
            resource_name=resource_name,
            shape=shape,
            pool=place.pool,
            zone=cluster.zones[number % len(cluster.zones)],
            market=place.market,
            start_hour=place.start_hour,
            end_hour=place.end_hour,
            sharing=place.sharing,
            annotations=place.annotations,
        )
        self.nodes.append(node)
        self.gpus += shape.gpu_count
        self._add_devices(node)
        self._add_daemons(node)
        return node

    def _add_devices(self, node: Node) -> None:
        first = len(self.devices)
        for index in range(node.shape.gpu_count):
            gpu = f"GPU-{uuid(self.spec.seed, 'gpu', node.number, index)}"
            profiles = node.sharing.mig_profiles
            if not profiles:
                whole = Device(len(self.devices), node, index, gpu, 1.0, node.shape.gpu_memory_mib)
                self.devices.append(whole)
                continue
            memory = dict(BOARDS[node.shape.gpu_model or ""].mig_memory_mib)
            for position, profile in enumerate(profiles):
                share = int(profile[0]) / COMPUTE_SLICES_PER_BOARD
                instance = Device(
                    len(self.devices), node, index, gpu, share, memory[profile], str(7 + position), profile
                )
                self.devices.append(instance)
        self._devices_by_node[node.number] = self.devices[first:]
        self._gpu_pods_by_node[node.number] = []

    def _add_daemons(self, node: Node) -> None:
        for namespace, name, vcpu, memory_gib in GPU_DAEMONS if node.shape.gpu_count else DAEMONS:
            key = (node.cluster.cluster_id, name)
            if key not in self._daemon_sets:
                kind = Kind("DaemonSet", f"registry.k8s.io/{name}:v1.9.3", labels=(("app", name),))
                self._daemon_sets[key] = self.workload(node.cluster, (namespace, name), "platform", kind)
            stay = Stay(Requests(0, vcpu, memory_gib), node.start_hour, node.end_hour)
            self.pod(self._daemon_sets[key], node, stay)

    def workload(self, cluster: Cluster, named: tuple[str, str], team: str, kind: Kind) -> Workload:
        """Add a controller; `named` is its namespace and name."""
        taken = self._names[cluster.cluster_id, *named]
        self._names[cluster.cluster_id, *named] += 1
        workload = Workload(
            number=len(self.workloads),
            cluster=cluster,
            namespace=named[0],
            kind=kind.kind,
            name=f"{named[1]}-{taken}" if taken else named[1],
            team=team,
            image=kind.image,
            created_hour=kind.created_hour,
            labels=kind.labels,
            annotations=kind.annotations,
            arguments=kind.arguments,
            has_disruption_budget=kind.has_disruption_budget,
            is_suspended=kind.is_suspended,
        )
        self.workloads.append(workload)
        return workload

    def pod(self, workload: Workload, node: Node | None, stay: Stay, *curves: Curve) -> Pod:
        """Add a pod; it takes the first devices of the node that are free while it runs."""
        number = len(self.pods)
        ordinal = self._pods_of[workload.number]
        self._pods_of[workload.number] += 1
        created = stay.start_hour if stay.created_hour is None else stay.created_hour
        pod = Pod(
            number=number,
            workload=workload,
            name=self._pod_name(workload, number, ordinal),
            uid=uuid(self.spec.seed, "pod", number),
            ordinal=ordinal,
            requests=stay.requests,
            created_hour=created,
            node=node,
            start_hour=stay.start_hour,
            end_hour=stay.end_hour,
            devices=self._free_devices(node, stay) if node and stay.requests.gpus else (),
            curves=curves or (IDLE,),
            waiting_reason=stay.waiting_reason,
        )
        self.pods.append(pod)
        if node and pod.devices:
            self._gpu_pods_by_node[node.number].append(pod)
        return pod

    def _pod_name(self, workload: Workload, number: int, ordinal: int) -> str:
        word = token(10, self.spec.seed, "pod-name", number)
        match workload.kind:
            case "StatefulSet" | "Notebook":
                return f"{workload.name}-{ordinal}"
            case "Deployment":
                return f"{workload.name}-{replica_set_word(self.spec.seed, workload)}-{word[:5]}"
            case "PyTorchJob":
                return f"{workload.name}-{'master' if ordinal == 0 else 'worker'}-{max(0, ordinal - 1)}"
            case _:
                return f"{workload.name}-{word[:5]}"

    def _free_devices(self, node: Node, stay: Stay) -> tuple[Device, ...]:
        if node.sharing.replicas > 1:
            return tuple(self.devices_of(node)[:1])  # replicas of one device
        taken = {
            device.number
            for pod in self._gpu_pods_by_node[node.number]
            if _overlap((pod.start_hour, pod.end_hour), (stay.start_hour, stay.end_hour))
            for device in pod.devices
        }
        free = [device for device in self.devices_of(node) if device.number not in taken]
        if len(free) < stay.requests.gpus:
            message = f"{node.name} has {len(free)} free devices, a pod asks for {stay.requests.gpus}"
            raise ValueError(message)
        return tuple(free[: stay.requests.gpus])

    def devices_of(self, node: Node) -> list[Device]:
        """Return the devices of a node, in order."""
        return self._devices_by_node[node.number]

    def fault(self, kind: FaultKind, node: Node, start_hour: int, end_hour: int | None = None) -> None:
        """Break a node's telemetry for some hours."""
        self.faults.append(Fault(kind, node, start_hour, end_hour))

    def waste(
        self, kind: str, keys: tuple[str, ...], story: str, change: Change, least_gpus: int | None = None
    ) -> None:
        """Note a planted waste; its first key is the subject."""
        self.wastes.append(PlantedWaste(kind, keys[0], keys, story, change, least_gpus))

    def decoy(self, kind: str, key: str, reason: str) -> None:
        """Note a decoy."""
        self.decoys.append(Decoy(kind, key, reason))


def replica_set_word(seed: int, workload: Workload) -> str:
    """Return the hash in the name of a Deployment's ReplicaSet."""
    return token(10, seed, "replica-set", workload.number)


def _overlap(one: tuple[int, int | None], other: tuple[int, int | None]) -> bool:
    return (one[1] is None or other[0] < one[1]) and (other[1] is None or one[0] < other[1])
