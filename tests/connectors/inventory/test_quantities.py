"""Kubernetes quantities and resource names."""

import pytest

from connectors.inventory.quantities import gib, quantity
from connectors.inventory.resources import is_counted, is_device, of_series, series_label
from models.domain.errors import InputError


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2", 2.0),
        (4, 4.0),
        ("500m", 0.5),
        ("1.5", 1.5),
        (".5", 0.5),
        ("16Gi", 17_179_869_184.0),
        ("1Ki", 1024.0),
        ("1G", 1e9),
        ("1e3", 1000.0),
        ("2E", 2e18),
        ("1E3", 1000.0),
        ("250u", 0.00025),
        ("-1", -1.0),
    ],
)
def test_reads_kubernetes_quantities(text, number):
    assert quantity(text) == number


@pytest.mark.parametrize("text", ["4 GB", "", "one", "1Kib", "1mm", None, True, ["1"], "1e9999"])
def test_refuses_what_is_no_quantity_and_says_what_is(text):
    with pytest.raises(InputError, match="not Kubernetes syntax; expected a number such as 2, 500m, 16Gi or 1e3"):
        quantity(text)


def test_gib_is_two_to_the_thirtieth():
    assert gib(quantity("512Mi")) == 0.5


@pytest.mark.parametrize(
    "resource", ["nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb", "amd.com/gpu", "google.com/tpu"]
)
def test_knows_devices(resource):
    assert is_device(resource)


@pytest.mark.parametrize("resource", ["nvidia.com/gpumem", "nvidia.com/gpucores", "hugepages-2Mi", "ephemeral-storage"])
def test_limits_on_a_device_and_other_resources_are_not_counted(resource):
    assert not is_counted(resource)


@pytest.mark.parametrize(
    ("label", "resource"),
    [
        ("nvidia_com_gpu", "nvidia.com/gpu"),
        ("nvidia_com_gpu_shared", "nvidia.com/gpu.shared"),
        ("nvidia_com_mig_1g_10gb", "nvidia.com/mig-1g.10gb"),
        ("nvidia_com_mig_1g_10gb_me", "nvidia.com/mig-1g.10gb.me"),
        ("gpu_intel_com_i915", "gpu.intel.com/i915"),
        ("cpu", "cpu"),
        ("example_com_fpga", "example_com_fpga"),
    ],
)
def test_undoes_the_spelling_of_kube_state_metrics(label, resource):
    assert of_series(label) == resource


def test_spells_labels_as_kube_state_metrics_does():
    assert series_label("eks.amazonaws.com/capacityType") == "eks_amazonaws_com_capacity_type"
    assert series_label("myLabel") == "my_label"
