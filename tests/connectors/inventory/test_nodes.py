"""What a node's labels and capacity say about its devices, price class and pool."""

from datetime import datetime

import pytest

from connectors.inventory.conventions import Conventions
from connectors.inventory.findings import Findings
from connectors.inventory.nodes import NodeFacts, node_row
from connectors.inventory.quantities import quantity
from connectors.inventory.rows import Span

SPAN = Span(datetime(2026, 11, 1), datetime(2026, 11, 30))  # noqa: DTZ001, naive UTC as stored
H100 = "NVIDIA-H100-80GB-HBM3"


def read(labels=None, capacity=None, provider_id="aws:///us-east-1a/i-0123456789abcdef0"):
    labels = {
        key.replace("gpu.", "nvidia.com/gpu.") if key.startswith("gpu.") else key: v
        for key, v in (labels or {}).items()
    }
    findings = Findings()
    amounts = {name: quantity(value) for name, value in (capacity or {}).items()}
    row = node_row(NodeFacts("n", provider_id, labels, amounts, SPAN), Conventions("prod"), findings)
    return row, findings.table(SPAN).column("code").to_pylist()


def test_a_gpu_node_by_its_labels():
    row, codes = read(
        {
            "gpu.product": H100,
            "gpu.count": "8",
            "gpu.replicas": "1",
            "gpu.sharing-strategy": "none",
            "nvidia.com/mig.strategy": "single",
            "node.kubernetes.io/instance-type": "p5.48xlarge",
            "topology.kubernetes.io/region": "us-east-1",
            "topology.kubernetes.io/zone": "us-east-1a",
            "karpenter.sh/capacity-type": "spot",
            "karpenter.sh/nodepool": "h100",
        },
        {"cpu": "191450m", "memory": "2Ti", "nvidia.com/gpu": "8"},
    )
    assert codes == []
    assert (row.gpu_model, row.gpu_count, row.gpu_replicas, row.sharing) == ("NVIDIA H100 80GB HBM3", 8, 1, "none")
    assert (row.instance_type, row.region, row.zone) == ("p5.48xlarge", "us-east-1", "us-east-1a")
    assert (row.capacity_type, row.pool, row.resource_key) == ("spot", "h100", "i-0123456789abcdef0")
    assert (row.vcpu, row.memory_gib) == (191.45, 2048.0)
    assert row.mig_strategy is None  # strategy single without cut GPUs is no MIG


def test_a_node_without_gpus_has_none_and_no_model():
    row, codes = read(capacity={"cpu": "4", "memory": "16Gi"})
    assert (row.gpu_model, row.gpu_count, row.gpu_replicas, row.sharing, codes) == (None, 0, None, None, [])


def test_what_is_not_told_is_null_and_not_zero():
    row, _ = read()
    assert (row.gpu_count, row.vcpu, row.memory_gib, row.capacity_type, row.pool) == (None, None, None, None, None)


@pytest.mark.parametrize(
    ("labels", "capacity_type"),
    [
        ({"karpenter.sh/capacity-type": "on-demand"}, "on_demand"),
        ({"karpenter.sh/capacity-type": "reserved"}, "reserved"),
        ({"eks.amazonaws.com/capacityType": "SPOT"}, "spot"),
        ({"eks.amazonaws.com/capacityType": "CAPACITY_BLOCK"}, "reserved"),
        ({"cloud.google.com/gke-spot": "true"}, "spot"),
        ({"cloud.google.com/gke-preemptible": "true"}, "spot"),
        ({"cloud.google.com/gke-provisioning": "standard"}, "on_demand"),
        ({"kubernetes.azure.com/scalesetpriority": "spot"}, "spot"),
        ({"cloud.google.com/gke-spot": "false"}, None),
    ],
)
def test_reads_the_price_class_of_each_cloud(labels, capacity_type):
    assert read(labels)[0].capacity_type == capacity_type


def test_an_unknown_price_class_is_null_and_said():
    row, codes = read({"karpenter.sh/capacity-type": "lunar"})
    assert (row.capacity_type, codes) == (None, ["capacity_type_unknown"])


@pytest.mark.parametrize(
    "label",
    ["eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", "agentpool"],
)
def test_finds_the_pool_by_a_chain_of_labels(label):
    assert read({label: "gpu"})[0].pool == "gpu"


def test_time_slicing_does_not_multiply_devices():
    labels = {
        "gpu.product": "NVIDIA-L4-SHARED",
        "gpu.count": "2",
        "gpu.replicas": "4",
        "gpu.sharing-strategy": "time-slicing",
    }
    row, _ = read(labels, {"nvidia.com/gpu": "8"})
    assert (row.gpu_model, row.gpu_count, row.gpu_replicas, row.sharing) == ("NVIDIA L4", 2, 4, "time-slicing")


def test_without_a_count_label_the_capacity_is_divided_by_the_replicas():
    assert read({"gpu.replicas": "4"}, {"nvidia.com/gpu": "8"})[0].gpu_count == 2
    assert read({"gpu.replicas": "4"}, {"nvidia.com/gpu.shared": "8"})[0].gpu_count == 2
    assert read({}, {"nvidia.com/gpu": "8"})[0].gpu_count == 8
    assert read({}, {"amd.com/gpu": "8"})[0].gpu_count == 8


def test_shared_devices_without_replicas_are_of_unknown_number():
    row, codes = read({}, {"nvidia.com/gpu.shared": "8"})
    assert (row.gpu_count, codes) == (None, ["gpu_count_unknown"])


def test_mixed_slices_add_no_gpus():
    labels = {"gpu.product": H100, "gpu.count": "8", "gpu.replicas": "0", "nvidia.com/mig.strategy": "mixed"}
    row, codes = read(labels, {"nvidia.com/gpu": "6", "nvidia.com/mig-1g.10gb": "14"})
    assert (row.gpu_count, row.gpu_replicas, row.mig_strategy, codes) == (8, 1, "mixed", [])


def test_slices_beside_whole_gpus_without_a_count_label_leave_the_number_unknown():
    row, codes = read({}, {"nvidia.com/gpu": "6", "nvidia.com/mig-1g.10gb": "14"})
    assert (row.gpu_count, codes) == (None, ["gpu_count_unknown"])


def test_slices_that_a_node_no_longer_has_are_passed_over():
    assert read({}, {"nvidia.com/gpu": "8", "nvidia.com/mig-1g.10gb": "0"})[0].gpu_count == 8


def test_strategy_single_counts_slices_so_gpus_are_what_lies_behind_them():
    # 14 slices of 1g.10gb, at most 7 on one H100: 2 GPUs
    labels = {"gpu.product": f"{H100}-MIG-1g.10gb", "gpu.count": "14", "nvidia.com/mig.strategy": "single"}
    row, codes = read(labels, {"nvidia.com/gpu": "14"})
    assert (row.gpu_model, row.gpu_count, row.mig_strategy, codes) == ("NVIDIA H100 80GB HBM3", 2, "single", [])


def test_an_invalid_slicing_leaves_the_number_unknown():
    labels = {"gpu.product": f"{H100}-MIG-INVALID", "gpu.count": "0", "gpu.replicas": "0"}
    row, codes = read(labels, {"cpu": "1"})
    assert (row.gpu_count, codes) == (None, ["gpu_count_unknown"])


def test_gke_nodes_say_model_sharing_and_slices_in_their_own_labels():
    labels = {
        "cloud.google.com/gke-accelerator": "nvidia-l4",
        "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
        "cloud.google.com/gke-max-shared-clients-per-gpu": "3",
    }
    row, _ = read(labels, {"nvidia.com/gpu": "6"})
    assert (row.gpu_model, row.gpu_count, row.gpu_replicas, row.sharing) == ("NVIDIA L4", 2, 3, "time-slicing")
    cut = {"cloud.google.com/gke-accelerator": "nvidia-tesla-a100", "cloud.google.com/gke-gpu-partition-size": "1g.5gb"}
    assert read(cut, {"nvidia.com/gpu": "7"})[0].gpu_count == 1


def test_a_model_nobody_knows_keeps_its_name_and_is_said():
    row, codes = read({"gpu.product": "NVIDIA-X900-SHARED", "gpu.count": "1"})
    assert (row.gpu_model, codes) == ("NVIDIA-X900", ["gpu_model_unknown"])
