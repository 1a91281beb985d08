"""Resource names: which of them are devices, and how kube-state-metrics spells them."""

import re

from connectors.inventory.quantities import gib

CPU = "cpu"
MEMORY = "memory"
NVIDIA_GPU = "nvidia.com/gpu"
NVIDIA_SHARED_GPU = "nvidia.com/gpu.shared"  # device plugin with renameByDefault
NVIDIA_MIG_PREFIX = "nvidia.com/mig-"

_OTHER_DEVICES = (
    NVIDIA_GPU,
    NVIDIA_SHARED_GPU,
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "google.com/tpu",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
    "habana.ai/gaudi",
    "intel.com/gpu",
)
_SERIES_MIG_PREFIX = "nvidia_com_mig_"


def is_device(resource: str) -> bool:
    """
    Return whether the resource counts accelerators or slices of them.

    Not nvidia.com/gpumem and gpucores of HAMi: they limit a device that nvidia.com/gpu already counts.
    """
    return resource in _OTHER_DEVICES or resource.startswith(NVIDIA_MIG_PREFIX)


def is_counted(resource: str) -> bool:
    """Return whether requests of the resource are kept: devices, cpu and memory."""
    return resource in {CPU, MEMORY} or is_device(resource)


def in_our_unit(resource: str, base_quantity: float) -> float:
    """Return a quantity in the unit of raw.container_request: GiB of memory, cores, devices."""
    return gib(base_quantity) if resource == MEMORY else base_quantity


def of_series(label: str) -> str:
    """
    Return the resource that kube-state-metrics writes as `label`: nvidia_com_mig_1g_10gb is nvidia.com/mig-1g.10gb.

    A name we do not know comes back unchanged, and is no device.
    """
    if label.startswith(_SERIES_MIG_PREFIX):
        return NVIDIA_MIG_PREFIX + label.removeprefix(_SERIES_MIG_PREFIX).replace("_", ".")
    return _RESOURCE_BY_SERIES_LABEL.get(label, label)


def series_label(key: str) -> str:
    """
    Return a label key or resource as kube-state-metrics spells it in a label name.

    Source: kube-state-metrics 2.20, internal/store/utils.go (invalid characters to "_", then snake case).
    """
    sanitised = re.sub(r"[^a-zA-Z0-9_]", "_", key)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", sanitised).lower()


_RESOURCE_BY_SERIES_LABEL = {series_label(resource): resource for resource in (*_OTHER_DEVICES, CPU, MEMORY)}
