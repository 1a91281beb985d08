"""Write what Prometheus scraped from dcgm-exporter: one file a day and cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from models.domain.units import HOURS_PER_DAY, MILLISECONDS_PER_SECOND
from optimizer.demo_fleet.activity import BLANK, Day, Floats, Milliseconds, Steps, activity, break_telemetry
from optimizer.demo_fleet.cluster_labels import EXPORTER, host_address
from optimizer.demo_fleet.dcgm_names import NEW_NAMES, OLD_NAMES, MetricName
from optimizer.demo_fleet.device_segments import Segment, device_segments
from optimizer.demo_fleet.nouns import Cloud, Cluster, Fault, FaultKind, Fleet
from optimizer.demo_fleet.series_file import SeriesFile, series_file
from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.tokens import generator

SEGMENTS_AT_A_TIME = 2048  # bounds memory: eight quantities of a day take some 40 MiB
DRIVER = "580.105.08"
RENAMED_DAYS_AGO = 12
RENAMED_AT_HOUR = 11  # in the middle of a day, so that one file holds both eras


@dataclass(frozen=True, slots=True)
class Scrape:
    """What all series of a cluster's exporter have in common."""

    spec: FleetSpec
    cluster: Cluster
    exporters: dict[int, str]  # the exporter's pod, by node number
    faults: dict[int, list[Fault]]
    renamed_from_hour: int | None


def write_dcgm(fleet: Fleet, cluster: Cluster, folder: Path) -> None:
    """Write `dcgm-YYYY-MM-DD` files for a cluster into the folder."""
    spec = fleet.spec
    scrape = _scrape(fleet, cluster)
    segments = device_segments(fleet, cluster)
    for first in range(0, spec.hours, HOURS_PER_DAY):
        day = Day(spec, first)
        today = [one for one in segments if one.start_hour < first + HOURS_PER_DAY and one.end_hour > first]
        stem = folder / f"dcgm-{spec.instant(first):%Y-%m-%d}"
        with series_file(stem, is_parquet=spec.parquet_metrics) as file:
            for begin in range(0, len(today), SEGMENTS_AT_A_TIME):
                dice = generator(spec.seed, "dcgm", cluster.cluster_id, first, begin)
                _write_some(file, scrape, day, today[begin : begin + SEGMENTS_AT_A_TIME], dice)


def _scrape(fleet: Fleet, cluster: Cluster) -> Scrape:
    exporters = {
        pod.node.number: pod.name for pod in fleet.pods if pod.workload.name == EXPORTER and pod.node is not None
    }
    faults: dict[int, list[Fault]] = {}
    for fault in fleet.faults:
        faults.setdefault(fault.node.number, []).append(fault)
    hour = fleet.spec.hours - RENAMED_DAYS_AGO * HOURS_PER_DAY + RENAMED_AT_HOUR
    return Scrape(fleet.spec, cluster, exporters, faults, max(0, hour) if cluster.cloud is Cloud.GCP else None)


def _write_some(
    file: SeriesFile, scrape: Scrape, day: Day, segments: Sequence[Segment], dice: np.random.Generator
) -> None:
    values = activity(day, segments, dice)
    hours = day.hours
    start = int(scrape.spec.instant(day.first_hour).timestamp())
    step = scrape.spec.telemetry_step_seconds
    times = (start + np.arange(day.steps, dtype=np.int64) * step) * MILLISECONDS_PER_SECOND
    for row, segment in enumerate(segments):
        is_there, has_sm = _break_row(scrape, segment, (hours, values, row))
        mine = {quantity: array[row] for quantity, array in values.items()}
        is_new = hours >= (np.inf if scrape.renamed_from_hour is None else scrape.renamed_from_hour)
        for names, era in ((OLD_NAMES, ~is_new), (NEW_NAMES, is_new)):
            if not (is_there & era).any():
                continue
            labels = _labels(scrape, segment, is_new=names is NEW_NAMES)
            for name in names:
                steps = is_there & era & has_sm if name.quantity == "sm" else is_there & era
                # The driver gives no utilisation under MIG.
                if name.quantity != "gpu_util" or not segment.device.instance_id:
                    _write_series(file, name, labels, mine[name.quantity], (times, steps))


def _break_row(scrape: Scrape, segment: Segment, row: tuple[Floats, dict[str, Floats], int]) -> tuple[Steps, Steps]:
    """Apply the faults of the segment's node to its row; return in which steps there are samples, and SM_ACTIVE."""
    hours, values, number = row
    is_there = (hours >= segment.start_hour) & (hours < segment.end_hour)
    has_sm = np.ones_like(is_there)
    for fault in scrape.faults.get(segment.device.node.number, ()):
        steps = (hours >= fault.start_hour) & (hours < (np.inf if fault.end_hour is None else fault.end_hour))
        if fault.kind is FaultKind.GAP:
            is_there &= ~steps
        elif fault.kind is FaultKind.NO_SM:
            has_sm &= ~steps
        else:
            break_telemetry(values, number, steps, fault.kind)
    return is_there, has_sm


def _write_series(
    file: SeriesFile, name: MetricName, labels: dict[str, str], values: Floats, at: tuple[Milliseconds, Steps]
) -> None:
    times, steps = at
    chosen, instants = (values, times) if steps.all() else (values[steps], times[steps])
    is_blank = chosen == BLANK
    native = np.asarray(np.round(np.where(is_blank, BLANK, chosen * name.factor), name.digits), dtype=np.float64)
    metric = orjson.dumps({"__name__": name.name, **labels})
    if name.digits == 0 and not is_blank.any():
        file.add(metric, np.asarray(native, dtype=np.int64), instants)
    else:
        file.add(metric, native, instants)


def _labels(scrape: Scrape, segment: Segment, *, is_new: bool) -> dict[str, str]:
    device, node = segment.device, segment.device.node
    labels = {
        "UUID": device.uuid,
        "gpu": str(device.index),
        "device": f"nvidia{device.index}",
        "modelName": node.shape.gpu_model or "",
        "hostname" if is_new else "Hostname": node.name,
        "DCGM_FI_SYSTEM_DRIVER_VERSION" if is_new else "DCGM_FI_DRIVER_VERSION": DRIVER,
        "instance": f"{host_address(node)}:9400",
        "job": "dcgm-exporter",
    }
    if device.instance_id:
        labels |= {"GPU_I_ID": device.instance_id, "GPU_I_PROFILE": device.profile}
    exporter = {"namespace": "gpu-operator", "pod": scrape.exporters[node.number], "container": EXPORTER}
    if segment.pod is None:
        return labels | exporter  # a free GPU carries the exporter's own pod
    holder = {"namespace": segment.pod.workload.namespace, "pod": segment.pod.name, "container": "main"}
    if scrape.cluster.cloud is Cloud.GCP:
        return labels | holder  # scraped with honor_labels
    return labels | exporter | {f"exported_{key}": value for key, value in holder.items()}
