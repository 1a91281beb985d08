"""
The nouns of the simulated fleet.

Instants are whole hours counted from the start of the window; a negative hour lies before it, an end of None
means "still there at as_of".
"""

from dataclasses import dataclass, field
from enum import StrEnum

from optimizer.demo_fleet.curve import IDLE, Curve
from optimizer.demo_fleet.spec import FleetSpec


class Cloud(StrEnum):
    """Who sends the bill."""

    AWS = "aws"
    GCP = "gcp"


class Market(StrEnum):
    """How a machine is bought."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"


@dataclass(frozen=True, slots=True)
class Cluster:
    """One Kubernetes cluster and the account that pays for it."""

    cluster_id: str
    cloud: Cloud
    region: str
    zones: tuple[str, ...]
    account: str  # AWS account or Google Cloud project
    kubelet_version: str


@dataclass(frozen=True, slots=True)
class Shape:
    """One instance type as its provider sells it."""

    cloud: Cloud
    instance_type: str
    gpu_model: str | None  # exact nvidia-smi name
    gpu_count: int
    gpu_memory_mib: int  # of one device
    vcpu: int
    memory_gib: int
    list_ticks_per_hour: int
    spot_ticks_per_hour: int

    @property
    def family(self) -> str:
        """Return the instance family, "p4de"."""
        return self.instance_type.split(".", maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the devices of a node are cut: MIG profiles of each device, or time-slicing replicas."""

    mig_profiles: tuple[str, ...] = ()
    replicas: int = 1


@dataclass(frozen=True, slots=True)
class Node:
    """One machine."""

    number: int
    cluster: Cluster
    name: str
    resource_name: str  # "i-0abc…" on AWS, the VM's name on Google Cloud
    shape: Shape
    pool: str
    zone: str
    market: Market
    start_hour: int
    end_hour: int | None
    sharing: Sharing
    annotations: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """Return the name the truth uses."""
        return f"{self.cluster.cluster_id}/{self.name}"


@dataclass(frozen=True, slots=True)
class Device:
    """What telemetry speaks about: a GPU, or one MIG instance of it."""

    number: int
    node: Node
    index: int
    uuid: str
    share: float  # of its GPU
    memory_mib: int
    instance_id: str = ""  # GPU_I_ID
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """One controller."""

    number: int
    cluster: Cluster
    namespace: str
    kind: str  # Deployment, Notebook, StatefulSet, Job, PyTorchJob, DaemonSet
    name: str
    team: str
    image: str
    created_hour: int
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    has_disruption_budget: bool = False
    is_suspended: bool = False

    @property
    def key(self) -> str:
        """Return the name the truth uses."""
        return f"{self.cluster.cluster_id}/{self.namespace}/{self.kind}/{self.name}"


@dataclass(frozen=True, slots=True)
class Requests:
    """What one pod asks for."""

    gpus: int = 0
    vcpu: float = 1.0
    memory_gib: float = 2.0
    gpu_resource: str = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod. Without a node it waits from `created_hour` on."""

    number: int
    workload: Workload
    name: str
    uid: str
    ordinal: int
    requests: Requests
    created_hour: int
    node: Node | None
    start_hour: int
    end_hour: int | None
    devices: tuple[Device, ...] = ()
    curves: tuple[Curve, ...] = (IDLE,)  # one for all devices, or one for each
    waiting_reason: str = ""  # CrashLoopBackOff, or why it is pending


class FaultKind(StrEnum):
    """How telemetry goes wrong."""

    GAP = "gap"  # no samples
    FROZEN = "frozen"  # the same floats over and over
    COUNTERS_ZERO = "counters_zero"  # profiling counters at 0 while the GPU works
    BLANK = "blank"  # DCGM's "no value" number
    NO_SM = "no_sm"  # SM_ACTIVE is not exported


@dataclass(frozen=True, slots=True)
class Fault:
    """A stretch of wrong or missing telemetry on one node."""

    kind: FaultKind
    node: Node
    start_hour: int
    end_hour: int | None


@dataclass(frozen=True, slots=True)
class Commitment:
    """A Savings Plan held for the whole window, paid by the hour without upfront."""

    commitment_id: str
    plan_type: str  # "Compute" or "EC2 Instance"
    family: str | None  # of an EC2 Instance plan
    ticks_per_hour: int


@dataclass(frozen=True, slots=True)
class Change:
    """The same fleet with something taken out: what differs, node by node."""

    removed: tuple[Node, ...] = ()
    replaced: tuple[tuple[Node, Shape], ...] = ()
    to_spot: tuple[Node, ...] = ()
    off_outside: tuple[tuple[Node, Curve], ...] = ()  # up only in the hours in which the curve is at work
    bought: tuple[Commitment, ...] = ()
    expired: tuple[Commitment, ...] = ()


@dataclass(frozen=True, slots=True)
class PlantedWaste:
    """One planted waste and the fleet without it."""

    kind: str
    subject_key: str
    subject_keys: tuple[str, ...]
    story: str
    change: Change
    least_gpus: int | None = None  # fewest devices that can hold the work, where that is known by construction


@dataclass(frozen=True, slots=True)
class Decoy:
    """Something that looks like waste and is not."""

    kind: str
    subject_key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fleet:
    """All that exists and happens in the window."""

    spec: FleetSpec
    clusters: tuple[Cluster, ...]
    nodes: tuple[Node, ...]
    devices: tuple[Device, ...]
    workloads: tuple[Workload, ...]
    pods: tuple[Pod, ...]
    faults: tuple[Fault, ...]
    commitments: tuple[Commitment, ...]
    wastes: tuple[PlantedWaste, ...]
    decoys: tuple[Decoy, ...]
    not_planted: dict[str, int] = field(default_factory=dict)
