"""What dcgm-exporter calls its metrics before and from version 4.9, and in which units."""

from dataclasses import dataclass

from models.domain.units import MIB_PER_GIB


@dataclass(frozen=True, slots=True)
class MetricName:
    """One quantity: its name and the factor from ratio, MiB or watt to the unit of that version."""

    quantity: str
    name: str
    factor: float
    digits: int


BYTES_PER_MIB = MIB_PER_GIB * MIB_PER_GIB

OLD_NAMES = (
    MetricName("gpu_util", "DCGM_FI_DEV_GPU_UTIL", 100.0, 0),
    MetricName("gr_engine", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1.0, 4),
    MetricName("sm", "DCGM_FI_PROF_SM_ACTIVE", 1.0, 4),
    MetricName("tensor", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 1.0, 4),
    MetricName("dram", "DCGM_FI_PROF_DRAM_ACTIVE", 1.0, 4),
    MetricName("used", "DCGM_FI_DEV_FB_USED", 1.0, 0),
    MetricName("free", "DCGM_FI_DEV_FB_FREE", 1.0, 0),
    MetricName("power", "DCGM_FI_DEV_POWER_USAGE", 1.0, 3),
)
NEW_NAMES = (
    MetricName("gpu_util", "DCGM_FI_DEV_GPU_UTIL_RATIO", 1.0, 2),
    MetricName("gr_engine", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", 1.0, 4),
    MetricName("sm", "DCGM_FI_PROF_SM_UTIL_RATIO", 1.0, 4),
    MetricName("tensor", "DCGM_FI_PROF_TENSOR_UTIL_RATIO", 1.0, 4),
    MetricName("dram", "DCGM_FI_PROF_DRAM_UTIL_RATIO", 1.0, 4),
    MetricName("used", "DCGM_FI_DEV_FB_USED_BYTES", BYTES_PER_MIB, 0),
    MetricName("free", "DCGM_FI_DEV_FB_FREE_BYTES", BYTES_PER_MIB, 0),
    MetricName("power", "DCGM_FI_DEV_BOARD_POWER_WATTS", 1.0, 3),
)
