"""Instance types that carry GPUs."""

from dataclasses import dataclass
from functools import cache

import polars as pl

from models.catalog.csv_rows import csv_rows, number


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance type; None where no source says."""

    cloud: str  # aws | azure | gcp
    instance_type: str
    gpu_model: str  # exact nvidia-smi name of the physical GPU; a vGPU guest prints another
    gpu_count: int  # physical devices, 1 for a slice of one
    gpu_fraction: float  # share of each device: 1, or less for a vGPU slice
    vcpu: float | None
    memory_gib: float | None

    @property
    def whole_gpus(self) -> float:
        """Return the GPUs it amounts to, slices counted by their share."""
        return self.gpu_count * self.gpu_fraction


@cache
def instances() -> tuple[Instance, ...]:
    """Return every instance type of the catalogue, by cloud and name."""
    return tuple(_instance(row) for row in csv_rows("instances.csv"))


def instance(cloud: str, instance_type: str) -> Instance | None:
    """Return the instance type, or None when the catalogue lacks it; case does not matter (Azure bills vary it)."""
    return _instance_by_key().get((cloud.lower(), instance_type.lower()))


@cache
def instance_frame() -> pl.DataFrame:
    """Return one row per instance type, columns as the fields of `Instance`."""
    schema = {
        "cloud": pl.String,
        "instance_type": pl.String,
        "gpu_model": pl.String,
        "gpu_count": pl.Int32,
        "gpu_fraction": pl.Float64,
        "vcpu": pl.Float64,
        "memory_gib": pl.Float64,
    }
    return pl.DataFrame([tuple(getattr(one, name) for name in schema) for one in instances()], schema, orient="row")


@cache
def _instance_by_key() -> dict[tuple[str, str], Instance]:
    return {(one.cloud, one.instance_type.lower()): one for one in instances()}


def _instance(row: dict[str, str]) -> Instance:
    return Instance(
        cloud=row["cloud"],
        instance_type=row["instance_type"],
        gpu_model=row["gpu_model"],
        gpu_count=int(row["gpu_count"]),
        gpu_fraction=float(row["gpu_fraction"]),
        vcpu=number(row["vcpu"]),
        memory_gib=number(row["memory_gib"]),
    )
