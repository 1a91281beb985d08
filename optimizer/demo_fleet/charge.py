"""Charges that are not the use of a machine: storage, traffic, fees, taxes."""

from dataclasses import dataclass
from datetime import datetime

from models.domain.units import HOURS_PER_DAY, HOURS_PER_MONTH
from optimizer.demo_fleet.bill_period import BillMonth
from optimizer.demo_fleet.nouns import Cloud, Cluster, Fleet
from optimizer.demo_fleet.shapes import AWS_CLUSTER, GCP_CLUSTER
from optimizer.demo_fleet.ticks import ticks
from optimizer.demo_fleet.tokens import token

DISK_GIB_PER_GPU = 40
SUPPORT_PERCENT = 3


@dataclass(frozen=True, slots=True)
class Charge:
    """One charge; list and contracted cost equal the billed one."""

    start: datetime
    end: datetime
    category: str  # Usage, Purchase, Tax, Credit
    service: str
    service_category: str
    description: str
    billed_ticks: int
    frequency: str = "Usage-Based"
    resource: str | None = None
    cluster_id: str | None = None


def charges_of_day(fleet: Fleet, cloud: Cloud, hours: range) -> list[Charge]:
    """Return what a day costs beside its machines."""
    start = fleet.spec.instant(hours.start)
    end = fleet.spec.instant(hours.stop)
    cluster = AWS_CLUSTER if cloud is Cloud.AWS else GCP_CLUSTER
    gib = DISK_GIB_PER_GPU * sum(node.shape.gpu_count for node in fleet.nodes if node.cluster is cluster)
    disk_rate = ticks("0.08") if cloud is Cloud.AWS else ticks("0.10")
    disk = int(gib * disk_rate * HOURS_PER_DAY / HOURS_PER_MONTH)
    traffic = ticks("0.09") * (200 + hours.start // HOURS_PER_DAY * 7 % 50)
    names = _NAMES[cloud]
    volume = _volume(fleet, cluster)
    return [
        Charge(start, end, "Usage", names.control_plane, "Compute", "Kubernetes control plane", ticks("2.40"),
               resource=_cluster_resource(cluster), cluster_id=cluster.cluster_id),
        Charge(start, end, "Usage", names.disks, "Storage", "Volumes of persistent claims, GiB-months", disk,
               resource=volume, cluster_id=cluster.cluster_id),
        Charge(start, end, "Usage", names.traffic, "Networking", "Data transfer out to the internet, GiB", traffic),
        Charge(start, end, "Usage", names.objects, "Storage", "Object storage of models and data", ticks("31.7")),
    ]  # fmt: skip


def charges_of_month(month: BillMonth, cloud: Cloud, machine_ticks: int) -> list[Charge]:
    """Return what is charged once a month: support, tax, a credit."""
    names = _NAMES[cloud]
    support = machine_ticks * SUPPORT_PERCENT // 100
    tax = (machine_ticks + support) // 100
    return [
        Charge(month.start, month.end, "Usage", names.support, "Management and Governance", "Business support", support,
               "Recurring"),
        Charge(month.start, month.end, "Tax", names.support, "Other", "Sales tax", tax, "One-Time"),
        Charge(month.start, month.end, "Credit", names.support, "Other", "Promotional credit", -ticks("250"),
               "One-Time"),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _ServiceNames:
    control_plane: str
    disks: str
    traffic: str
    objects: str
    support: str


_NAMES = {
    Cloud.AWS: _ServiceNames(
        "Amazon Elastic Kubernetes Service",
        "Amazon Elastic Block Store",
        "AWS Data Transfer",
        "Amazon Simple Storage Service",
        "AWS Support (Business)",
    ),
    Cloud.GCP: _ServiceNames("Kubernetes Engine", "Compute Engine", "Networking", "Cloud Storage", "Support"),
}


def _cluster_resource(cluster: Cluster) -> str:
    if cluster.cloud is Cloud.AWS:
        return f"arn:aws:eks:{cluster.region}:{cluster.account}:cluster/{cluster.cluster_id}"
    place = f"projects/{cluster.account}/locations/{cluster.region}"
    return f"//container.googleapis.com/{place}/clusters/{cluster.cluster_id}"


def _volume(fleet: Fleet, cluster: Cluster) -> str:
    word = token(17, fleet.spec.seed, "volume", cluster.cluster_id)
    if cluster.cloud is Cloud.AWS:
        return f"arn:aws:ec2:{cluster.region}:{cluster.account}:volume/vol-{word}"
    return f"//compute.googleapis.com/projects/{cluster.account}/regions/{cluster.region}/disks/pvc-{word}"
