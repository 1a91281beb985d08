"""
The instance types the simulated fleet buys, with their list prices.

Prices: AWS us-east-1 and Google Cloud us-central1 on-demand list of July 2026, Spot prices of the same snapshots
(AWS price lists of 2026-07), Google's core and memory SKUs from its A2, G2 and N2 price pages. They belong to the
simulator: the product reads prices from `models/catalog`, never from here.
"""

from dataclasses import dataclass

from optimizer.demo_fleet.nouns import Cloud, Cluster, Shape
from optimizer.demo_fleet.ticks import ticks

A100 = "NVIDIA A100-SXM4-80GB"
H100 = "NVIDIA H100 80GB HBM3"
L4 = "NVIDIA L4"

AWS_CLUSTER = Cluster(
    "prod-aws",
    Cloud.AWS,
    "us-east-1",
    ("us-east-1a", "us-east-1b", "us-east-1d"),
    "210987654321",
    "v1.34.2-eks-113cf36",
)
GCP_CLUSTER = Cluster(
    "prod-gcp", Cloud.GCP, "us-central1", ("us-central1-a", "us-central1-c"), "acme-ml-prod", "v1.32.9-gke.1010000"
)


@dataclass(frozen=True, slots=True)
class Board:
    """What telemetry needs to know about a GPU model."""

    memory_mib: int
    idle_watts: float
    full_watts: float
    mig_memory_mib: tuple[tuple[str, int], ...] = ()  # usable memory of the profiles the fleet cuts


BOARDS: dict[str, Board] = {
    A100: Board(81920, 62.0, 400.0),
    H100: Board(81559, 70.0, 700.0, (("1g.10gb", 9984),)),
    L4: Board(23034, 16.0, 72.0),
}


def _shape(cloud: Cloud, instance_type: str, gpu: tuple[str, int] | None, size: tuple[int, int], usd: str) -> Shape:
    model, count = gpu or (None, 0)
    list_ticks = ticks(usd)
    return Shape(
        cloud=cloud,
        instance_type=instance_type,
        gpu_model=model,
        gpu_count=count,
        gpu_memory_mib=BOARDS[model].memory_mib if model else 0,
        vcpu=size[0],
        memory_gib=size[1],
        list_ticks_per_hour=list_ticks,
        spot_ticks_per_hour=list_ticks * _SPOT_PERCENT[cloud] // 100,
    )


_SPOT_PERCENT = {Cloud.AWS: 41, Cloud.GCP: 34}

P5 = _shape(Cloud.AWS, "p5.48xlarge", (H100, 8), (192, 2048), "55.04")
P5_SMALL = _shape(Cloud.AWS, "p5.4xlarge", (H100, 1), (16, 256), "6.88")
P4DE = _shape(Cloud.AWS, "p4de.24xlarge", (A100, 8), (96, 1152), "27.44705")
G6_XLARGE = _shape(Cloud.AWS, "g6.xlarge", (L4, 1), (4, 16), "0.8048")
G6_12XLARGE = _shape(Cloud.AWS, "g6.12xlarge", (L4, 4), (48, 192), "4.6016")
M6I = _shape(Cloud.AWS, "m6i.2xlarge", None, (8, 32), "0.384")
A2_1G = _shape(Cloud.GCP, "a2-ultragpu-1g", (A100, 1), (12, 170), "5.068798")
A2_2G = _shape(Cloud.GCP, "a2-ultragpu-2g", (A100, 2), (24, 340), "10.137596")
G2_4 = _shape(Cloud.GCP, "g2-standard-4", (L4, 1), (4, 16), "0.706832")
G2_24 = _shape(Cloud.GCP, "g2-standard-24", (L4, 2), (24, 96), "2.000833")
G2_48 = _shape(Cloud.GCP, "g2-standard-48", (L4, 4), (48, 192), "4.001665")
N2 = _shape(Cloud.GCP, "n2-standard-8", None, (8, 32), "0.388472")


@dataclass(frozen=True, slots=True)
class ComponentRates:
    """What Google Cloud charges for a core and a GiB of one machine series, ticks per hour."""

    core_ticks: int
    memory_gib_ticks: int


COMPONENT_RATES: dict[str, ComponentRates] = {
    "a2": ComponentRates(ticks("0.031611"), ticks("0.004237")),
    "g2": ComponentRates(ticks("0.024988"), ticks("0.002927")),
    "n2": ComponentRates(ticks("0.031611"), ticks("0.004237")),
}

# Savings Plan rate as thousandths of list: what the contracts of the simulated company say.
INSTANCE_PLAN_PER_MILLE = {"p4de": 634, "g5": 630}
COMPUTE_PLAN_PER_MILLE = {"g6": 690, "p4de": 720, "p5": 800, "m6i": 720}
# The company's private rate: on-demand usage of AWS at 94 % of list. Google Cloud bills list.
CONTRACTED_PERCENT = {Cloud.AWS: 94, Cloud.GCP: 100}
