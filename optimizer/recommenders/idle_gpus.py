"""
Give back GPUs that a workload holds and does not use, and nodes nobody uses.

Claim: In every hour of `idle_days` each device was observed, and no activity signal (GPU_UTIL, GR_ENGINE, SM,
    tensor, DRAM) reached `idle_activity_ratio` in any five minutes of it.
Saves: The nodes that nobody holds any more once the workload stops, or asks for fewer devices.
Gate: `min_observed_days` of history, `min_coverage_ratio` of it observed. Unknown counts as active: missing or
    stuck telemetry, a device nobody names, an inference server loaded without traffic telemetry.
Risk: None where nothing was loaded; what is in memory is lost where something was. What serves, or what nobody
    classified, may miss a request.
Undo: Scale back up, or ask for the devices again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

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
from models.domain.units import BUCKETS_PER_HOUR, HOURS_PER_DAY
from models.domain.window import naive_utc
from models.holding import (
    Doubt,
    Holding,
    doubt_about,
    holding_of,
    keep_doubt,
    observed_devices,
    rarely_held,
    too_young,
)
from optimizer.facts import Facts, subject_condition, subjects_of
from optimizer.manifest import Change, TargetVersions, join_runbooks
from optimizer.manifests.gpu_request import GPU
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
        or rarely_held(holding, settings.idle_days)
        or doubt_about(holding, settings.min_coverage_ratio)
    )
    if doubt is not None:
        return _rejection(subject, doubt)
    idle = observed_devices(holding, settings.min_coverage_ratio).filter(
        pl.col("activity_max") < settings.idle_activity_ratio  # null: nobody saw it, so it is not idle
    )
    now = facts.of("holder_now", subject)
    workload_class = workload.item(0, "workload_class") if workload.height else None
    doubt = _nothing_idle(holding, idle, now, settings) or _maybe_serving(idle, workload_class, settings)
    if doubt is not None:
        return _rejection(subject, doubt)
    busy_count = holding.devices.height - idle.height
    pods_now = now.get_column("pod_uid").n_unique()
    before = Demand(
        devices=float(now.get_column("devices").sum()),
        replicas=pods_now if busy_count else _declared_replicas(workload, pods_now),
        vcpu=float(now.get_column("vcpu").cast(pl.Float64).sum()),
        memory_gib=float(now.get_column("memory_gib").cast(pl.Float64).sum()),
    )
    stopped = Demand(0.0, replicas=0)
    alternative = Alternative(
        name="shrink" if busy_count else "stop",
        demand=replace(before, devices=float(busy_count)) if busy_count else stopped,
        pool=_pool_of(now.sort("pod").row(0, named=True)),
        disrupted_pods=pods_now,
        risk=_risk(holding, workload_class, settings, stops=not busy_count),
        evidence=_evidence(subject, facts, settings, (holding, idle)),
        before=before,
        container=now.sort("pod").item(0, "container") or "",
    )
    return Proposal(NAME, Step.WASTE, subject, (alternative,))


def _evaluate_node(subject: Subject, facts: Facts, settings: Settings) -> Proposal | Rejection:
    end = naive_utc(facts.window.end)
    start = end - timedelta(days=settings.idle_days)
    node = facts.of("node_now", subject).row(0, named=True)
    needed = _needed(node, end - timedelta(days=settings.min_observed_days))
    if needed is not None:
        return _rejection(subject, needed)
    held = facts.of("holder_gpu_by_hour", subject).filter(pl.col("hour_start") >= start)
    if not held.is_empty():
        last_hour = held.sort("hour_start").item(-1, "hour_start")
        return _rejection(subject, Doubt("used_lately", f"a pod held its GPUs until {last_hour:%Y-%m-%d %H:%M} UTC"))
    seen = facts.of("gpu_by_hour", subject).filter(pl.col("hour_start") >= start)
    # A GPU cut into slices has a row for each of them: its time counts once.
    buckets = seen.group_by("gpu_uuid", "hour_start").agg(pl.col("observed_buckets").max())
    expected_buckets = node["gpu_count"] * settings.idle_days * HOURS_PER_DAY * BUCKETS_PER_HOUR
    observed_ratio = float(buckets.get_column("observed_buckets").sum()) / expected_buckets
    activity = seen.get_column("activity_max").drop_nulls()
    if activity.is_empty() or observed_ratio < settings.min_coverage_ratio:
        reason = f"telemetry covers {observed_ratio:.0%} of its GPUs' time; unknown counts as active"
        return _rejection(subject, Doubt("telemetry_missing", reason))
    activity_max = float(activity.max())  # type: ignore[arg-type]
    if not activity_max < settings.idle_activity_ratio:
        reason = f"no pod asked for its GPUs, yet one reached {activity_max:.0%}: used outside Kubernetes"
        return _rejection(subject, Doubt("used_without_request", reason))
    evidence = Evidence(
        f"busiest five minutes of any of its {node['gpu_count']} GPUs in {settings.idle_days} days, held by no pod",
        activity_max, "ratio", "gpu_by_hour",
        f"select max(activity_max) from gpu_by_hour where {subject_condition(subject)} "
        f"and hour_start >= timestamp '{start}'",
        settings.idle_activity_ratio,
    )  # fmt: skip
    alternative = Alternative("release", Demand(0.0, replicas=0), _pool_of(node), 0, Risk.NONE, (evidence,))
    return Proposal(NAME, Step.WASTE, subject, (alternative,))


def _needed(node: dict[str, object], old_enough: datetime) -> Doubt | None:
    labels, other_pods, alive_since = node["labels"], node["other_pods"], node["alive_since"]
    kept = keep_doubt(labels if isinstance(labels, str) else None)
    if kept is not None:
        return kept
    if other_pods:
        return Doubt("holds_other_pods", f"{other_pods} pods that ask for no GPU run on it and would need another node")
    if isinstance(alive_since, datetime) and alive_since <= old_enough:
        return None
    return Doubt("too_young", f"the node is seen since {alive_since} UTC only")


def _rejection(subject: Subject, doubt: Doubt) -> Rejection:
    return Rejection(NAME, subject, doubt.code, doubt.reason)


def _nothing_idle(holding: Holding, idle: pl.DataFrame, now: pl.DataFrame, settings: Settings) -> Doubt | None:
    """Return why nothing can be given back although some devices may be idle."""
    busy = holding.devices.height - idle.height
    if idle.is_empty() or busy >= float(now.get_column("devices").sum()):
        peaks = holding.devices.get_column("activity_max").drop_nulls().sort()
        shown = "unknown" if peaks.is_empty() else f"{peaks.item(-1):.0%}"
        unseen = busy - holding.devices.filter(pl.col("activity_max") >= settings.idle_activity_ratio).height
        also = f"; {unseen} more went unseen, and unknown counts as active" if unseen > 0 else ""
        worked = f"{busy - unseen} of {holding.devices.height} devices it held worked"
        return Doubt("busy", f"{worked} within {settings.idle_days} days, peak {shown}{also}")
    if not busy:
        return None
    some = f"{idle.height} of {holding.devices.height} devices are idle"
    pods = now.get_column("pod_uid").n_unique()
    if pods > 1:
        return Doubt("partly_idle", f"{some}, spread over {pods} replicas; its autoscaler or gpu_downsize decides that")
    is_whole = (pl.col("resource").cast(pl.String) == GPU) & (pl.col("devices") == pl.col("requested_gpus"))
    if now.filter(is_whole).height < now.height:
        return Doubt("partly_idle", f"{some}, but it holds {now.item(0, 'resource')}, not whole GPUs of its own")
    return None


def _maybe_serving(idle: pl.DataFrame, workload_class: object, settings: Settings) -> Doubt | None:
    loaded_gib = _loaded_gib(idle)
    if workload_class != "inference" or (loaded_gib is not None and loaded_gib < settings.held_memory_gib):
        return None
    loaded = "an unknown amount of memory" if loaded_gib is None else f"{loaded_gib:.1f} GiB"
    return Doubt(
        "traffic_unknown",
        f"an inference server with {loaded} loaded and no computation, but no traffic telemetry says nobody calls it",
    )


def _loaded_gib(devices: pl.DataFrame) -> float | None:
    memory = devices.get_column("memory_used_gib_max")
    return None if memory.null_count() else float(memory.max())  # type: ignore[arg-type]


def _risk(holding: Holding, workload_class: object, settings: Settings, *, stops: bool) -> Risk:
    loaded_gib = _loaded_gib(holding.devices)
    if stops and loaded_gib is not None and loaded_gib < settings.held_memory_gib:
        return Risk.NONE
    # What nobody classified may be a server.
    return Risk.OUTAGE if workload_class in {"inference", None} else Risk.SLOWER


def _declared_replicas(workload: pl.DataFrame, pods_now: int) -> int:
    """Return how many replicas to come back to: pods of the last hour may be those of a rollout."""
    declared = workload.item(0, "replicas") if workload.height else None
    return int(declared) if declared else pods_now


def _evidence(
    subject: Subject, facts: Facts, settings: Settings, seen: tuple[Holding, pl.DataFrame]
) -> tuple[Evidence, ...]:
    holding, idle = seen
    start = naive_utc(facts.window.end) - timedelta(days=settings.idle_days)
    where = f"from holder_gpu_by_hour where {subject_condition(subject)} and hour_start >= timestamp '{start}'"
    by_device = (
        f"{where} and gpu_uuid is not null group by node, gpu_uuid, mig_instance_id "
        f"having max(activity_max) < {settings.idle_activity_ratio} and sum(held_gpu_hours - unknown_gpu_hours) >= "
        f"{settings.min_coverage_ratio} * sum(held_gpu_hours) order by 4 desc"
    )
    loaded_gib = _loaded_gib(idle)
    loaded = "truly idle" if loaded_gib is not None and loaded_gib < settings.held_memory_gib else "held idle"
    facts_seen = [
        Evidence(
            f"busiest five minutes in {settings.idle_days} days of {idle.height} unused devices ({loaded})",
            float(idle.get_column("activity_max").max()),  # type: ignore[arg-type]
            "ratio",
            "holder_gpu_by_hour",
            f"select node, gpu_uuid, mig_instance_id, max(activity_max) {by_device}",
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
                f"select node, gpu_uuid, mig_instance_id, max(memory_used_gib_max) {by_device}",
                settings.held_memory_gib,
            )
        )  # fmt: skip
    return tuple(facts_seen)


def _pool_of(row: dict[str, object]) -> str:
    return f"{row['cluster_id']}/{row['pool'] or 'unpooled'}"


RECOMMENDER = Recommender(
    name=NAME,
    step=Step.WASTE,
    reads=("holder_gpu_by_hour", "holder_now", "node_now", "workload", "gpu_by_hour"),
    settings=Settings,
    find=find,
    evaluate=evaluate,
    write=write,
)
