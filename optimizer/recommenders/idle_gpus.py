"""
Give back GPUs that a workload holds and does not use, and nodes nobody uses.

Claim: In every hour of `idle_days` each device was observed, and no activity signal (GPU_UTIL, GR_ENGINE, SM,
    tensor, DRAM) reached `idle_activity_ratio` in any five minutes of it.
Saves: The nodes that nobody holds any more once the workload stops, or asks for fewer devices.
Gate: `min_observed_days` of history, `min_coverage_ratio` of it observed. Unknown counts as active: missing or
    stuck telemetry, a device nobody names, an inference server loaded without traffic telemetry.
Risk: None where nothing was loaded; what is in memory is lost where something was.
Undo: Scale back up, or ask for the devices again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import polars as pl

from models.domain.recommendation import (
    Alternative,
    Candidate,
    Decision,
    Demand,
    Evidence,
    Proposal,
    Rejection,
    Risk,
    Step,
    Subject,
    SubjectKind,
)
from models.domain.units import HOURS_PER_DAY
from models.domain.window import naive_utc
from models.holding import Doubt, Holding, doubt_about, holding_of, keep_doubt, too_young
from optimizer.facts import Facts, subjects_of
from optimizer.manifest import Change, TargetVersions, join_runbooks
from optimizer.manifests.node_release import release_runbook
from optimizer.manifests.workload_size import resize
from optimizer.recommender import Recommender

NAME = "idle_gpus"


@dataclass(frozen=True, slots=True)
class Settings:
    """When a held GPU counts as idle."""

    min_observed_days: int = 14  # history a workload must have
    idle_days: int = 14  # span without a sign of work, up to as_of
    idle_activity_ratio: float = 0.01  # what no signal may reach in any five minutes
    held_memory_gib: float = 0.5  # under it no process is loaded: 500 MiB, traces_papers.md R7
    min_coverage_ratio: float = 0.95  # share of the held hours that must be observed


def find(facts: Facts, settings: Settings) -> Iterator[Candidate]:  # noqa: ARG001, the shape of a recommender
    """Yield every workload that holds GPUs now, and every node with GPUs that nobody holds."""
    holders = facts.marts["holder_now"]
    for subject in subjects_of(holders, SubjectKind.WORKLOAD):
        yield Candidate(subject)
    held = set(subjects_of(holders, SubjectKind.NODE))
    for subject in subjects_of(facts.marts["node_now"], SubjectKind.NODE):
        if subject not in held:
            yield Candidate(subject)


def evaluate(candidate: Candidate, facts: Facts, settings: Settings) -> Proposal | Rejection:
    """Say what the workload or node can give back, or why nothing."""
    if candidate.subject.kind is SubjectKind.NODE:
        return _evaluate_node(candidate.subject, facts, settings)
    return _evaluate_workload(candidate.subject, facts, settings)


def write(decision: Decision, targets: TargetVersions) -> Change:
    """Return the edits that stop or shrink the workload or release the node, and how to undo them."""
    release = release_runbook(decision.released_nodes)
    if decision.subject.kind is SubjectKind.NODE:
        return Change((), release)
    size = resize(decision.subject, decision.chosen[0].alternative, targets)
    return Change(size.manifests, join_runbooks(size.runbook, release))


def _evaluate_workload(subject: Subject, facts: Facts, settings: Settings) -> Proposal | Rejection:
    history = facts.of("holder_gpu_by_hour", subject)
    end = naive_utc(facts.window.end)
    holding = holding_of(history.filter(pl.col("hour_start") >= end - timedelta(days=settings.idle_days)))
    workload = facts.of("workload", subject)
    doubt = (
        keep_doubt(workload.item(0, "annotations") if workload.height else None)
        or too_young(holding_of(history), end, settings.min_observed_days)
        or doubt_about(holding, settings.min_coverage_ratio)
    )
    if doubt is not None:
        return _rejection(subject, doubt)
    working = pl.col("activity_max") >= settings.idle_activity_ratio
    busy_devices = holding.devices.filter(working.fill_null(value=True))
    idle_devices = holding.devices.filter(~working.fill_null(value=True))
    if idle_devices.is_empty():
        return _rejection(subject, _busy(busy_devices, settings))
    serving = workload.height and workload.item(0, "workload_class") == "inference"
    loaded_gib = _loaded_gib(idle_devices)
    if serving and (loaded_gib is None or loaded_gib >= settings.held_memory_gib):
        return _rejection(subject, _no_traffic_seen(loaded_gib))
    return _give_back(subject, facts, settings, (holding, busy_devices.height))


def _give_back(subject: Subject, facts: Facts, settings: Settings, held: tuple[Holding, int]) -> Proposal | Rejection:
    holding, busy_count = held
    now = facts.of("holder_now", subject)
    devices_now = float(now.get_column("devices").sum())
    pods_now = now.get_column("pod_uid").n_unique()
    idle_count = holding.devices.height - busy_count
    if busy_count and pods_now > 1:
        reason = f"{idle_count} of {holding.devices.height} devices are idle, spread over {pods_now} replicas"
        return _rejection(subject, Doubt("partly_idle", reason + "; its autoscaler or gpu_downsize decides that"))
    remaining_devices = float(min(busy_count, devices_now))
    before = Demand(
        devices=devices_now,
        replicas=pods_now,
        vcpu=float(now.get_column("vcpu").sum()),
        memory_gib=float(now.get_column("memory_gib").sum()),
    )
    stays = remaining_devices > 0
    alternative = Alternative(
        name="shrink" if stays else "stop",
        demand=Demand(
            devices=remaining_devices,
            replicas=pods_now if stays else 0,
            vcpu=before.vcpu if stays else 0.0,
            memory_gib=before.memory_gib if stays else 0.0,
        ),
        pool=_pool(now),
        disrupted_pods=pods_now,
        risk=_risk(holding, settings, stays=stays),
        evidence=_evidence(subject, facts, settings, holding),
        before=before,
        container=now.sort("pod").item(0, "container"),
    )
    return Proposal(NAME, Step.WASTE, subject, (alternative,))


def _evaluate_node(subject: Subject, facts: Facts, settings: Settings) -> Proposal | Rejection:
    end = naive_utc(facts.window.end)
    start = end - timedelta(days=settings.idle_days)
    node = facts.of("node_now", subject).row(0, named=True)
    if node["alive_since"] > end - timedelta(days=settings.min_observed_days):
        return _rejection(subject, Doubt("too_young", f"node seen since {node['alive_since']:%Y-%m-%d}"))
    held = facts.of("holder_gpu_by_hour", subject).filter(pl.col("hour_start") >= start)
    if not held.is_empty():
        last_hour = held.sort("hour_start").item(-1, "hour_start")
        return _rejection(subject, Doubt("used_lately", f"a pod held its GPUs until {last_hour:%Y-%m-%d %H:%M} UTC"))
    seen = facts.of("gpu_by_hour", subject).filter(pl.col("hour_start") >= start)
    expected_buckets = node["gpu_count"] * settings.idle_days * HOURS_PER_DAY * 12
    observed_ratio = float(seen.get_column("observed_buckets").sum()) / expected_buckets
    if observed_ratio < settings.min_coverage_ratio:
        reason = f"telemetry covers {observed_ratio:.0%} of its GPUs' time; unknown counts as active"
        return _rejection(subject, Doubt("telemetry_missing", reason))
    activity_max = float(seen.get_column("activity_max").drop_nulls().max())  # type: ignore[arg-type]
    if activity_max >= settings.idle_activity_ratio:
        reason = f"no pod asked for its GPUs, yet one reached {activity_max:.0%}: used outside Kubernetes"
        return _rejection(subject, Doubt("used_without_request", reason))
    query = f"select max(activity_max) from gpu_by_hour where cluster_id || '/' || node = {_text(subject.key)}"
    evidence = Evidence(
        f"busiest five minutes of any of its {node['gpu_count']} GPUs in {settings.idle_days} days, held by no pod",
        activity_max, "ratio", "gpu_by_hour", f"{query} and hour_start >= timestamp '{start}'",
        settings.idle_activity_ratio,
    )  # fmt: skip
    alternative = Alternative("release", Demand(0.0, replicas=0), _pool_of(node), 0, Risk.NONE, (evidence,))
    return Proposal(NAME, Step.WASTE, subject, (alternative,))


def _rejection(subject: Subject, doubt: Doubt) -> Rejection:
    return Rejection(NAME, subject, doubt.code, doubt.reason)


def _busy(devices: pl.DataFrame, settings: Settings) -> Doubt:
    peaks = devices.get_column("activity_max").drop_nulls().sort()
    shown = "unknown" if peaks.is_empty() else f"{peaks.item(-1):.0%}"
    return Doubt("busy", f"all {devices.height} devices worked within {settings.idle_days} days, peak {shown}")


def _no_traffic_seen(loaded_gib: float | None) -> Doubt:
    loaded = "an unknown amount of memory" if loaded_gib is None else f"{loaded_gib:.1f} GiB"
    return Doubt(
        "traffic_unknown",
        f"an inference server with {loaded} loaded and no computation, but no traffic telemetry says nobody calls it",
    )


def _loaded_gib(devices: pl.DataFrame) -> float | None:
    memory = devices.get_column("memory_used_gib_max")
    return None if memory.null_count() else float(memory.max())  # type: ignore[arg-type]


def _risk(holding: Holding, settings: Settings, *, stays: bool) -> Risk:
    loaded_gib = _loaded_gib(holding.devices)
    if loaded_gib is not None and loaded_gib < settings.held_memory_gib and not stays:
        return Risk.NONE
    return Risk.SLOWER


def _evidence(subject: Subject, facts: Facts, settings: Settings, holding: Holding) -> tuple[Evidence, ...]:
    start = naive_utc(facts.window.end) - timedelta(days=settings.idle_days)
    where = (
        "from holder_gpu_by_hour where cluster_id || '/' || namespace || '/' || workload_kind || '/' || workload_name"
        f" = {_text(subject.key)} and hour_start >= timestamp '{start}'"
    )
    idle = holding.devices.filter(pl.col("activity_max") < settings.idle_activity_ratio)
    loaded_gib = _loaded_gib(idle)
    loaded = "truly idle" if loaded_gib is not None and loaded_gib < settings.held_memory_gib else "held idle"
    facts_seen = [
        Evidence(
            f"busiest five minutes of its {idle.height} idle devices in {settings.idle_days} days ({loaded})",
            float(idle.get_column("activity_max").max()),  # type: ignore[arg-type]
            "ratio",
            "holder_gpu_by_hour",
            f"select gpu_uuid, max(activity_max) {where} group by gpu_uuid",
            settings.idle_activity_ratio,
        ),
        Evidence(
            "share of the held GPU-hours that telemetry observed",
            holding.observed_hours / holding.held_hours,
            "ratio",
            "holder_gpu_by_hour",
            f"select 1 - sum(unknown_gpu_hours) / sum(held_gpu_hours) {where}",
            settings.min_coverage_ratio,
        ),
    ]
    if loaded_gib is not None:
        facts_seen.append(
            Evidence(
                "most memory an idle device had loaded", loaded_gib, "GiB", "holder_gpu_by_hour",
                f"select gpu_uuid, max(memory_used_gib_max) {where} group by gpu_uuid", settings.held_memory_gib,
            )
        )  # fmt: skip
    return tuple(facts_seen)


def _pool(now: pl.DataFrame) -> str:
    row = now.sort("pod").row(0, named=True)
    return _pool_of(row)


def _pool_of(row: dict[str, object]) -> str:
    return f"{row['cluster_id']}/{row['pool'] or 'unpooled'}"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


RECOMMENDER = Recommender(
    name=NAME,
    step=Step.WASTE,
    reads=("holder_gpu_by_hour", "holder_now", "node_now", "workload", "gpu_by_hour"),
    settings=Settings,
    find=find,
    evaluate=evaluate,
    write=write,
)
