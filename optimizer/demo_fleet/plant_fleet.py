"""Plant what concerns whole clusters and accounts: commitments, readiness for DRA, the work everybody sees."""

from optimizer.demo_fleet.builder import Kind, Place, Stay
from optimizer.demo_fleet.curve import Curve
from optimizer.demo_fleet.kinds_of_work import CPU_IMAGE, ONE_GPU, SMALL, service, training, triton, vllm
from optimizer.demo_fleet.nouns import Change, Market, Requests, Sharing
from optimizer.demo_fleet.plant_batch import SMALL_TRAINING, train_on_big_node
from optimizer.demo_fleet.shapes import AWS_CLUSTER, G2_24, G6_12XLARGE, G6_XLARGE, GCP_CLUSTER, M6I, N2, P4DE, P5_SMALL
from optimizer.demo_fleet.tokens import between
from optimizer.demo_fleet.variant import Occasion, Variant

COMMITMENTS = "commitment_sizing"
DRA = "dra_migration"
SYSTEM_SERVICES = ("coredns", "prometheus", "karpenter", "ingress")


def plant_system(occasion: Occasion) -> None:
    """Add two nodes without GPUs to each cluster, with what a cluster needs."""
    builder = occasion.builder
    for cluster, shape in ((AWS_CLUSTER, M6I), (GCP_CLUSTER, N2)):
        nodes = [builder.node(shape, Place("system")) for _ in range(2)]
        for position, name in enumerate(SYSTEM_SERVICES):
            kind = Kind("Deployment", f"registry.k8s.io/{name}:v1.0.0")
            workload = builder.workload(cluster, ("kube-system", name), "platform", kind)
            builder.pod(workload, nodes[position % 2], Stay(Requests(0, 0.5, 1.0)))


def plant_sliced_node(occasion: Occasion) -> None:
    """Add a node that is sliced already: seven instances, five of them used."""
    builder = occasion.builder
    sharing = Sharing(mig_profiles=("1g.10gb",) * 7)
    node = builder.node(P5_SMALL, Place("shared-mig", sharing=sharing))
    for position in range(5):
        name = f"sliced-{position}"
        workload = builder.workload(node.cluster, (occasion.team, name), occasion.team, triton())
        requests = Requests(1, 1.0, 6.0, "nvidia.com/mig-1g.10gb")
        curve = Curve(between(0.3, 0.7, *occasion.dice, position), 0.2, memory_gib=6.0)
        builder.pod(workload, node, Stay(requests), curve)


def plant_language_models(occasion: Occasion) -> None:
    """Add an eight-GPU node with two busy models of four GPUs each."""
    builder = occasion.builder
    node = builder.node(P4DE, Place(f"{occasion.team}-llm"))
    for position in range(2):
        named = (occasion.team, f"llm-{occasion.index}-{position}")
        workload = builder.workload(node.cluster, named, occasion.team, vllm("meta-llama/Llama-3.3-70B-Instruct", 4))
        curve = Curve(between(0.45, 0.6, *occasion.dice, position), 0.25, memory_gib=70.0)
        builder.pod(workload, node, Stay(Requests(4, 24.0, 256.0)), curve)


def plant_training(occasion: Occasion) -> None:
    """Add an eight-GPU node on which one gang after the other trains without checkpoints."""
    train_on_big_node(occasion, has_checkpoints=False)


def plant_busy_four(occasion: Occasion) -> None:
    """Add a node of four L4 with busy models and a service that squats on its CPUs."""
    builder = occasion.builder
    node = builder.node(G6_12XLARGE, Place(f"{occasion.team}-l4-large"))
    workload = builder.workload(node.cluster, (occasion.team, f"search-{occasion.index}"), occasion.team, triton())
    for position in range(4):
        curve = Curve(between(0.45, 0.65, *occasion.dice, position), 0.3, memory_gib=17.0)
        builder.pod(workload, node, Stay(Requests(1, 8.0, 32.0)), curve)
    squatter = builder.workload(node.cluster, (occasion.team, f"features-{occasion.index}"), occasion.team, service())
    builder.pod(squatter, node, Stay(SMALL))


def plant_busy_two(occasion: Occasion) -> None:
    """Add a node of two L4, busy day and night."""
    builder = occasion.builder
    node = builder.node(G2_24, Place(f"{occasion.team}-l4-pairs"))
    workload = builder.workload(node.cluster, (occasion.team, f"asr-{occasion.index}"), occasion.team, triton())
    for position in range(2):
        curve = Curve(between(0.5, 0.65, *occasion.dice, position), 0.3, memory_gib=16.0)
        builder.pod(workload, node, Stay(Requests(1, 4.0, 16.0)), curve)


def plant_busy_one(occasion: Occasion) -> None:
    """Add a node of one L4, busy day and night; every third is bought on Spot."""
    builder = occasion.builder
    is_spot = occasion.index % 3 == 0
    place = Place(f"{occasion.team}-{'spot' if is_spot else 'l4'}", Market.SPOT if is_spot else Market.ON_DEMAND)
    node = builder.node(G6_XLARGE, place)
    kind = training("Job", has_checkpoints=True) if is_spot else triton()
    workload = builder.workload(node.cluster, (occasion.team, f"steady-{occasion.index}"), occasion.team, kind)
    builder.pod(workload, node, Stay(ONE_GPU), SMALL_TRAINING)


def _ready_cluster(occasion: Occasion) -> None:
    key = f"{AWS_CLUSTER.cluster_id}"
    story = f"Kubernetes {AWS_CLUSTER.kubelet_version} can allocate devices by claim; no cash of its own"
    occasion.builder.waste(DRA, (key,), story, Change())


def _old_cluster(occasion: Occasion) -> None:
    builder = occasion.builder
    old = [
        workload for workload in builder.workloads if workload.cluster is GCP_CLUSTER and workload.image != CPU_IMAGE
    ]
    holders = {pod.workload.number for pod in builder.pods if pod.devices}
    candidates = [workload.key for workload in old if workload.number in holders]
    key = candidates[occasion.index] if occasion.index < len(candidates) else GCP_CLUSTER.cluster_id
    reason = f"Kubernetes {GCP_CLUSTER.kubelet_version} is too old for claims in production"
    builder.decoy(DRA, key, reason)


def _gone_since(occasion: Occasion) -> None:
    builder = occasion.builder
    end = occasion.end - 24 * 3
    node = builder.node(G6_XLARGE, Place(f"{occasion.team}-project", end_hour=end))
    workload = builder.workload(node.cluster, (occasion.team, f"campaign-{occasion.index}"), occasion.team, triton())
    builder.pod(workload, node, Stay(ONE_GPU, end_hour=end), SMALL_TRAINING)
    builder.decoy(COMMITMENTS, workload.key, "steady for weeks, and finished three days ago")


def _steady_spot(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G6_XLARGE, Place(f"{occasion.team}-spot", Market.SPOT))
    named = (occasion.team, f"crawler-{occasion.index}")
    workload = builder.workload(node.cluster, named, occasion.team, training("Job", has_checkpoints=True))
    builder.pod(workload, node, Stay(ONE_GPU), SMALL_TRAINING)
    builder.decoy(COMMITMENTS, workload.key, "steady, but on Spot, which no commitment covers")


WASTE = {DRA: (Variant(0, _ready_cluster),)}
DECOYS = {
    DRA: (Variant(0, _old_cluster),),
    COMMITMENTS: (Variant(1, _gone_since), Variant(1, _steady_spot)),
}
CORE = (Variant(1, plant_sliced_node), Variant(8, plant_training))
FILLER = (
    Variant(8, plant_language_models),
    Variant(4, plant_busy_four),
    Variant(8, plant_training),
    Variant(2, plant_busy_two),
    Variant(4, plant_busy_four),
    Variant(1, plant_busy_one),
    Variant(2, plant_busy_two),
    Variant(1, plant_busy_one),
)
