"""A GPU is known by its exact name, never by a part of it."""

import pytest

from models.catalog.gpus import gpu_model, gpu_model_frame, gpu_model_of_label, gpu_models
from models.catalog.mig import board_of


@pytest.mark.parametrize(
    ("name", "memory_total_mib", "sm_count"),
    [
        ("NVIDIA A10", 23028, 72),
        ("NVIDIA A10G", 23028, 80),
        ("NVIDIA A100-SXM4-40GB", 40960, 108),
        ("NVIDIA L4", 23034, 58),
        ("NVIDIA L40S", 46068, 142),
        ("Tesla T4", 15360, 40),
    ],
)
def test_similar_names_are_different_gpus(name, memory_total_mib, sm_count):
    model = gpu_model(name)
    assert (model.memory_total_mib, model.sm_count) == (memory_total_mib, sm_count)


@pytest.mark.parametrize("name", ["A100", "NVIDIA A100", "nvidia a10", "L4", "NVIDIA H100 80GB HBM3 ", ""])
def test_a_part_of_a_name_is_nobody(name):
    assert gpu_model(name) is None


def test_an_alias_is_the_same_gpu():
    assert gpu_model("NVIDIA GH200 120GB") is gpu_model("NVIDIA GH200 480GB")


def test_the_memory_in_a_name_may_not_be_the_gpus():
    assert gpu_model("NVIDIA GH200 480GB").memory_total_mib == 97871  # 480 GB belong to the CPU


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Tesla-T4", "Tesla T4"),
        ("NVIDIA-H100-80GB-HBM3", "NVIDIA H100 80GB HBM3"),
        ("NVIDIA-A100-80GB-PCIe", "NVIDIA A100 80GB PCIe"),
        ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "NVIDIA A100-SXM4-80GB"),
        ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb.me-SHARED", "NVIDIA A100-SXM4-80GB"),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition-MIG-1g.24gb-me", "NVIDIA RTX PRO 6000 Blackwell Server Edition"),
        ("NVIDIA-A30-MIG-INVALID", "NVIDIA A30"),
        ("NVIDIA-L4-SHARED", "NVIDIA L4"),
    ],
)
def test_reads_the_label_of_gpu_feature_discovery(label, name):
    assert gpu_model_of_label(label).smi_name == name


def test_a_label_nobody_knows_is_nobody():
    assert gpu_model_of_label("NVIDIA-A100") is None


def test_no_name_means_two_gpus():
    names = [name for model in gpu_models() for name in (model.smi_name, *model.aliases)]
    assert len(names) == len(set(names)) == gpu_model_frame().height


def test_every_board_named_is_there():
    assert [model.smi_name for model in gpu_models() if model.mig_board and board_of(model.smi_name) is None] == []


def test_figures_lie_where_silicon_can_be():
    for model in gpu_models():
        assert model.memory_total_mib is None or 4_000 <= model.memory_total_mib <= 300_000, model.smi_name
        assert model.tdp_watts is None or 20 <= model.tdp_watts <= 1_500, model.smi_name
        assert model.idle_watts is None or model.idle_watts < model.tdp_watts, model.smi_name
