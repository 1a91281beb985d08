"""What each series of a page is about, as codes that arrays of samples can be indexed with."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from connectors.metrics.telemetry.labels import Holder, Labels, SeriesIdentity, identify, own_pods, uuid_label
from connectors.metrics.telemetry.series import SamplePage
from connectors.raw_tables import GPU_QUANTITIES
from models.catalog.metric_names import MetricName, resolve

QUANTITIES = (*GPU_QUANTITIES, "memory_free_gib", "memory_reserved_gib")  # the last two only help to find the total
ABSENT = -1
WHOLE_GPU = -1  # its instance number

_GPU_LOOKING = re.compile(
    r"DCGM_|dcgm_|(amd_)?gpu_|nvidia_|nvml_|hami_|vGPU|HAMi|((kubernetes_io:)?(node|container|pod)_)(gpu|accelerator)_"
)
_WHOLE_GPU_ONLY = frozenset({"gpu_util_ratio"})  # under MIG it is absent, or 0 whatever runs (dcgm-exporter issue 216)
_FIRST_PARTITION_ONLY = frozenset({"gpu_util_ratio", "power_watts"})  # AMD: the other partitions print 0

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

KeyT = TypeVar("KeyT", bound="SupportsRichComparison")


@dataclass(frozen=True, slots=True, order=True)
class Device:
    """A GPU, or an instance of one; sorts a GPU before its instances, and those by their number."""

    gpu_uuid: str
    instance_number: int  # -1 for a whole GPU
    mig_instance_id: str


@dataclass(frozen=True, slots=True)
class Coded(Generic[KeyT]):
    """One code per series into sorted distinct values; -1 (ABSENT) where the series has none."""

    codes: NDArray[np.int32]
    values: tuple[KeyT, ...]


@dataclass(frozen=True, slots=True)
class SeriesTable:
    """What each series is about; arrays of shape (series,)."""

    metric: Coded[str]
    metrics: tuple[MetricName | None, ...]  # by metric code; None: nobody knows the name
    is_gpu: NDArray[np.bool_]
    quantity: NDArray[np.int32]  # into QUANTITIES; -1: not stored, or not usable
    device: Coded[Device]
    target: Coded[str]
    scrape: Coded[tuple[str, ...]]
    holder: Coded[Holder]
    node: Coded[str]
    model: Coded[str]
    profile: Coded[str]
    is_held_through_parent: NDArray[np.bool_]


def read_series(page: SamplePage, extra_names: Mapping[str, MetricName]) -> SeriesTable:
    """Return what the page's series are about; a series of no GPU metric has nothing but its name."""
    scraped = own_pods(page.series)
    names = [labels.get("__name__", "") for labels in page.series]
    metric = coded(names)
    metrics = {name: resolve(name, extra_names) for name in metric.values}
    is_gpu = [
        metrics[name] is not None or _is_gpu_looking(name, labels)
        for name, labels in zip(names, page.series, strict=True)
    ]
    known = [
        (labels, identify(labels, scraped), metrics[name]) if wanted else None
        for name, labels, wanted in zip(names, page.series, is_gpu, strict=True)
    ]
    identities = [None if row is None else row[1] for row in known]
    return SeriesTable(
        metric=metric,
        metrics=tuple(metrics[name] for name in metric.values),
        is_gpu=np.array(is_gpu, np.bool_),
        quantity=np.array([ABSENT if row is None else _quantity(*row) for row in known], np.int32),
        device=coded([_device(identity) if identity else None for identity in identities]),
        target=coded([identity.target if identity else None for identity in identities]),
        scrape=coded([identity.scrape if identity else None for identity in identities]),
        holder=coded([identity.holder if identity else None for identity in identities]),
        node=coded([identity.node if identity else None for identity in identities]),
        model=coded([identity.gpu_model if identity else None for identity in identities]),
        profile=coded([identity.mig_profile if identity else None for identity in identities]),
        is_held_through_parent=np.array(
            [identity is not None and identity.is_held_through_parent for identity in identities], np.bool_
        ),
    )


def coded(values: Sequence[KeyT | None]) -> Coded[KeyT]:
    """Return codes in the order of the values themselves, so that they do not depend on the order of a file."""
    distinct = sorted({value for value in values if value is not None})
    code_by_value: dict[KeyT | None, int] = {value: code for code, value in enumerate(distinct)}
    code_by_value[None] = ABSENT
    return Coded(np.array([code_by_value[value] for value in values], np.int32), tuple(distinct))


def _is_gpu_looking(name: str, labels: Labels) -> bool:
    return _GPU_LOOKING.match(name) is not None or uuid_label(labels) is not None


def _device(identity: SeriesIdentity) -> Device | None:
    if identity.gpu_uuid is None:
        return None
    instance = identity.mig_instance_id
    return Device(identity.gpu_uuid, int(instance) if instance.isdecimal() else WHOLE_GPU, instance)


def _quantity(labels: Labels, identity: SeriesIdentity, metric: MetricName | None) -> int:
    """Return the quantity a series may be used for."""
    if metric is None or metric.quantity is None or identity.gpu_uuid is None:
        return ABSENT
    if identity.mig_instance_id and metric.quantity in _WHOLE_GPU_ONLY:
        return ABSENT
    if labels.get("gpu_partition_id", "") not in {"", "0"} and metric.quantity in _FIRST_PARTITION_ONLY:
        return ABSENT
    return QUANTITIES.index(metric.quantity)
