"""GPU models by the exact name that nvidia-smi, NVML and DCGM print."""

import re
from dataclasses import dataclass
from functools import cache

import polars as pl

from models.catalog.csv_rows import count, csv_rows, number
from models.domain.units import MIB_PER_GIB

# What GPU Feature Discovery appends to the product label: "-MIG-1g.10gb", "-MIG-INVALID", "-SHARED".
_LABEL_SUFFIX = re.compile(r"(-MIG-.+?)?(-SHARED)?$")


@dataclass(frozen=True, slots=True)
class GpuModel:
    """One model of GPU; None where no source says."""

    smi_name: str
    aliases: tuple[str, ...]  # other exact names of the same device
    vendor: str  # nvidia | amd
    memory_total_mib: int | None  # as nvidia-smi prints it, not as it is sold
    sm_count: int | None  # compute units on AMD
    memory_bandwidth_gb_per_second: float | None  # 10^9 bytes
    fp32_tflops: float | None
    fp16_dense_tflops: float | None
    bf16_dense_tflops: float | None
    fp8_dense_tflops: float | None
    int8_dense_tops: float | None
    tdp_watts: float | None  # board limit; clouds may enforce a lower one
    idle_watts: float | None  # without a context
    mig_board: str | None  # None: cannot be cut, or its placements are not published

    @property
    def memory_total_gib(self) -> float | None:
        """Return the frame buffer size, GiB."""
        return None if self.memory_total_mib is None else self.memory_total_mib / MIB_PER_GIB


@cache
def gpu_models() -> tuple[GpuModel, ...]:
    """Return every GPU model of the catalogue, in the order of its file."""
    return tuple(_gpu_model(row) for row in csv_rows("gpus.csv"))


def gpu_model(name: str) -> GpuModel | None:
    """
    Return the model of that exact nvidia-smi name, or None when nobody told us of it.

    Never a part of a name: "A10" is in "A100" and "A10G", "L4" in "L40" and "L40S".
    """
    return _model_by_name().get(name)


def gpu_model_of_label(product: str) -> GpuModel | None:
    """Return the model behind a node label nvidia.com/gpu.product, such as "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"."""
    return _model_by_label().get(_LABEL_SUFFIX.sub("", product))


@cache
def gpu_model_frame() -> pl.DataFrame:
    """Return one row per name a GPU goes by: gpu_model, vendor, memory_total_gib, sm_count, tdp_watts, mig_board."""
    rows = [
        (name, model.vendor, model.memory_total_gib, model.sm_count, model.tdp_watts, model.mig_board)
        for name, model in _model_by_name().items()
    ]
    schema = {
        "gpu_model": pl.String,
        "vendor": pl.String,
        "memory_total_gib": pl.Float64,
        "sm_count": pl.Int32,
        "tdp_watts": pl.Float64,
        "mig_board": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


@cache
def _model_by_name() -> dict[str, GpuModel]:
    return {name: model for model in gpu_models() for name in (model.smi_name, *model.aliases)}


@cache
def _model_by_label() -> dict[str, GpuModel]:
    return {name.replace(" ", "-"): model for name, model in _model_by_name().items()}


def _gpu_model(row: dict[str, str]) -> GpuModel:
    return GpuModel(
        smi_name=row["smi_name"],
        aliases=tuple(row["aliases"].split(";")) if row["aliases"] else (),
        vendor=row["vendor"],
        memory_total_mib=count(row["memory_total_mib"]),
        sm_count=count(row["sm_count"]),
        memory_bandwidth_gb_per_second=number(row["memory_bandwidth_gb_per_second"]),
        fp32_tflops=number(row["fp32_tflops"]),
        fp16_dense_tflops=number(row["fp16_dense_tflops"]),
        bf16_dense_tflops=number(row["bf16_dense_tflops"]),
        fp8_dense_tflops=number(row["fp8_dense_tflops"]),
        int8_dense_tops=number(row["int8_dense_tops"]),
        tdp_watts=number(row["tdp_watts"]),
        idle_watts=number(row["idle_watts"]),
        mig_board=row["mig_board"] or None,
    )
