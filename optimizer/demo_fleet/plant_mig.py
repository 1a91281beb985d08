"""
Plant small models that hold whole MIG-capable GPUs, and what must not be sliced.

Needs keep clear of every limit, so that the fewest GPUs follow from the construction: memory at most 80 % of the
profile's usable memory, SM at most 70 % of the profile's share at the highest sample. Slices and memory of the
profiles: the catalogue's MIG tables.
"""

from dataclasses import dataclass

from optimizer.demo_fleet.builder import Kind, Place, Stay
from optimizer.demo_fleet.curve import Curve
from optimizer.demo_fleet.kinds_of_work import KEEP, training, triton, vllm
from optimizer.demo_fleet.nouns import Change, FaultKind, Node, Requests, Shape, Workload
from optimizer.demo_fleet.shapes import A2_1G, A2_2G, G2_24, P4DE, P5_SMALL
from optimizer.demo_fleet.tokens import between
from optimizer.demo_fleet.variant import Occasion, Variant

KIND = "mig_consolidation"
MODELS = ("ner", "ocr", "tagger", "embed", "rerank", "intent", "toxicity", "langid", "caption", "asr", "spell", "topic")
POD = Requests(gpus=1, vcpu=2.0, memory_gib=12.0)


@dataclass(frozen=True, slots=True)
class Size:
    """Bounds of what one model needs: memory, and SM of a whole GPU at its highest."""

    memory_gib: tuple[float, float]
    sm_active_ratio: tuple[float, float]

    def curve(self, *dice: object) -> Curve:
        """Return a steady day of such a model."""
        highest = between(*self.sm_active_ratio, *dice, "sm")
        swing = 0.25
        # Noise adds at most a fifth and the swing a quarter: 1.2 x 1.25 = 1.5 times the level.
        return Curve(
            sm_active_ratio=highest / 1.5,
            swing_ratio=swing,
            memory_gib=between(*self.memory_gib, *dice, "memory"),
        )


ONE_SLICE = Size((5.0, 7.2), (0.05, 0.09))  # 1g.10gb: 9.62 GiB, 14 of 108 SMs
TWO_SLICES = Size((12.5, 15.0), (0.16, 0.18))  # 2g.20gb: 19.5 GiB, 28 of 108 SMs; above one slice's 0.14


def _server(occasion: Occasion, node: Node, position: int, named: Kind, *curves: Curve) -> Workload:
    builder = occasion.builder
    model = MODELS[position % len(MODELS)]
    name = f"{model}-{occasion.index}-{position}"
    workload = builder.workload(node.cluster, (occasion.team, name), occasion.team, named)
    builder.pod(workload, node, Stay(POD, named.created_hour), *curves)
    return workload


def _pool(occasion: Occasion, shape: Shape, sizes: tuple[Size, ...], least_nodes: int, least_gpus: int) -> None:
    builder = occasion.builder
    pool = f"{occasion.team}-serving-{occasion.index}"
    nodes = [builder.node(shape, Place(pool)) for _ in range(len(sizes) // shape.gpu_count)]
    keys = [f"{nodes[0].cluster.cluster_id}/{pool}"]
    for position, size in enumerate(sizes):
        node = nodes[position // shape.gpu_count]
        curve = size.curve(*occasion.dice, position)
        keys.append(_server(occasion, node, position, triton(), curve).key)
    story = (
        f"{len(sizes)} small models hold a whole GPU each on {len(nodes)} nodes; sliced they fit on {least_gpus} GPUs, "
        f"{least_nodes} node(s)"
    )
    builder.waste(KIND, tuple(keys), story, Change(removed=tuple(nodes[least_nodes:])), least_gpus)


def _two_big_nodes(occasion: Occasion) -> None:
    # Eight models of two slices take three GPUs (3 + 3 + 2), with room for 1 + 1 + 3 of one slice; the other three
    # take a fourth GPU: four GPUs of one node.
    _pool(occasion, P4DE, (TWO_SLICES, ONE_SLICE) * P4DE.gpu_count, least_nodes=1, least_gpus=4)


def _four_single_nodes(occasion: Occasion) -> None:
    _pool(occasion, A2_1G, (ONE_SLICE,) * 4, least_nodes=1, least_gpus=1)  # Google slices a pool one way only


def _mixed_single_nodes(occasion: Occasion) -> None:
    _pool(occasion, P5_SMALL, (TWO_SLICES, TWO_SLICES, TWO_SLICES, ONE_SLICE), least_nodes=1, least_gpus=1)


def _two_single_nodes(occasion: Occasion) -> None:
    _pool(occasion, A2_1G, (TWO_SLICES,) * 2, least_nodes=1, least_gpus=1)


def _decoy(occasion: Occasion, shape: Shape, named: Kind, reason: str, curve: Curve) -> Node:
    """Add a pool of one node with one server that ought to be left alone."""
    builder = occasion.builder
    node = builder.node(shape, Place(f"{occasion.team}-special-{shape.gpu_count}"))
    name = f"{MODELS[occasion.index % len(MODELS)]}-special-{occasion.index}"
    workload = builder.workload(node.cluster, (occasion.team, name), occasion.team, named)
    builder.pod(workload, node, Stay(Requests(shape.gpu_count, 8.0, 64.0), named.created_hour), curve)
    builder.decoy(KIND, workload.key, reason)
    return node


def _peak_at_start(occasion: Occasion) -> None:
    curve = Curve(0.05, memory_gib=6.0, peak_memory_gib=74.0)
    _decoy(occasion, A2_1G, triton(), "needs nearly the whole card while it loads", curve)


def _bursts(occasion: Occasion) -> None:
    curve = Curve(0.05, memory_gib=6.0, burst_sm_active_ratio=0.95, burst_every_hours=2)
    _decoy(occasion, A2_1G, triton(), "bursts to 95 % of the SMs every other hour", curve)


def _no_mig(occasion: Occasion) -> None:
    builder = occasion.builder
    node = builder.node(G2_24, Place(f"{occasion.team}-l4-serving-{occasion.index}"))
    for position in range(G2_24.gpu_count):
        curve = ONE_SLICE.curve(*occasion.dice, position)
        workload = _server(occasion, node, 100 + position, triton(), curve)
        builder.decoy(KIND, workload.key, "an L4 cannot be sliced")


def _tensor_parallel(occasion: Occasion) -> None:
    curve = Curve(0.06, memory_gib=7.0)
    _decoy(occasion, A2_2G, vllm("acme/assistant-13b", 2), "one model across two GPUs: slices cannot do that", curve)


def _training(occasion: Occasion) -> None:
    named = training("PyTorchJob", has_checkpoints=True)
    _decoy(occasion, A2_1G, named, "training that waits for its data loader", Curve(0.08, memory_gib=7.0))


def _without_sm(occasion: Occasion) -> None:
    curve = Curve(0.08, memory_gib=6.0)
    node = _decoy(occasion, P5_SMALL, triton(), "SM_ACTIVE is not exported: its compute need is unknown", curve)
    occasion.builder.fault(FaultKind.NO_SM, node, 0)


def _nothing_freed(occasion: Occasion) -> None:
    builder = occasion.builder
    pool = f"{occasion.team}-wide-{occasion.index}"
    for position in range(2):
        node = builder.node(A2_1G, Place(pool))
        named = (occasion.team, f"wide-{occasion.index}-{position}")
        workload = builder.workload(node.cluster, named, occasion.team, triton())
        curve = ONE_SLICE.curve(*occasion.dice, position)
        builder.pod(workload, node, Stay(Requests(1, 9.0, 100.0)), curve)
        builder.decoy(KIND, workload.key, "slices would fit, but two such pods do not fit one node's CPUs and memory")


def _forbidden(occasion: Occasion) -> None:
    builder = occasion.builder
    pool = f"{occasion.team}-licensed-{occasion.index}"
    for position in range(2):
        node = builder.node(A2_1G, Place(pool))
        workload = _server(
            occasion, node, 200 + position, triton(annotations=KEEP), ONE_SLICE.curve(*occasion.dice, position)
        )
        builder.decoy(
            KIND, workload.key, "its owner annotated it to be left alone: its licence is bound to whole cards"
        )


def _too_young(occasion: Occasion) -> None:
    builder = occasion.builder
    pool = f"{occasion.team}-fresh-{occasion.index}"
    start = occasion.end - 24 * 9
    for position in range(2):
        node = builder.node(A2_1G, Place(pool, start_hour=start - 1))
        workload = _server(occasion, node, 300 + position, triton(start), ONE_SLICE.curve(*occasion.dice, position))
        builder.decoy(KIND, workload.key, "nine days of history: too little for a structural change")


def _needs_it_all(occasion: Occasion) -> None:
    curve = Curve(0.5, swing_ratio=0.25, memory_gib=62.0)
    _decoy(occasion, A2_1G, vllm("Qwen/Qwen3-32B"), "a big model that needs the whole card", curve)


def _new_names(occasion: Occasion) -> None:
    curve = Curve(0.62, swing_ratio=0.2, memory_gib=55.0)
    reason = "busy and full; read as percent and MiB, ratios and bytes of the new exporter would look small"
    _decoy(occasion, A2_1G, triton(), reason, curve)


WASTE = (
    Variant(16, _two_big_nodes),
    Variant(4, _four_single_nodes),
    Variant(4, _mixed_single_nodes),
    Variant(2, _two_single_nodes),
)
SMALL_WASTE = WASTE[1:]
DECOYS = (
    Variant(1, _peak_at_start),
    Variant(1, _bursts),
    Variant(1, _without_sm),
    Variant(2, _tensor_parallel),
    Variant(1, _training),
    Variant(1, _new_names),
    Variant(1, _needs_it_all),
    Variant(2, _nothing_freed),
    Variant(2, _forbidden),
    Variant(2, _too_young),
    Variant(2, _no_mig),
)
