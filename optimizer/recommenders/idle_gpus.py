"""
Give back GPUs that a workload holds and does not use, and nodes nobody uses.

Claim: In every hour of `idle_days` each device was observed, and no activity signal (GPU_UTIL, GR_ENGINE, SM,
    tensor, DRAM) reached `idle_activity_ratio` in any five minutes of it.
Saves: The nodes that nobody holds any more once the workload stops, or asks for fewer devices.
Gate: `min_observed_days` of history, `min_coverage_ratio` of it observed on each device, an inventory that is fresh,
    pods a day old. Unknown counts as active: missing or stuck telemetry, a device nobody names, an inference server
    loaded without traffic telemetry.
Risk: None where nothing was loaded; what is in memory is lost where something was. What serves, or what nobody
    classified, may miss a request.
Undo: Scale back up, or ask for the devices again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import polars as pl

from models.current_pods import no_standing, stale_inventory, unknown_device, young_pod
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
from models.domain.window import naive_utc
from models.holding import Doubt, Holding, doubt_about, holding_of, keep_doubt, rarely_held, too_young
from models.idleness import (
    IdleLimits,
    idle_devices,
    loaded_gib,
    maybe_frozen,
    maybe_serving,
    node_in_use,
    nothing_idle,
    powered_gpus,
    stop_risk,
    unpowered,
)
from optimizer.facts import Facts, gpu_workloads, subject_condition, subjects_of
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
    held_memory_gib: float = 0.5  # under it no process is loaded: a driver's context takes 300 to 500 MiB
    min_coverage_ratio: float = 0.95  # share of the held hours that must be observed, of each device too
    min_pod_age_hours: float = 24.0  # how long each pod must hold its GPUs
    max_inventory_age_hours: float = 6.0  # how long before as_of the inventory may have ended

    @property
    def limits(self) -> IdleLimits:
        """Return what counts as idle."""
        return IdleLimits(self.idle_activity_ratio, self.held_memory_gib, self.min_coverage_ratio, self.idle_days)


def find(facts: Facts, settings: Settings) -> Iterator[Candidate]:  # noqa: ARG001, the shape of a recommender
    """Yield every workload that held GPUs in the window, and every node with GPUs that nobody holds."""
    for subject in gpu_workloads(facts):
        yield Candidate(subject)
    held = set(subjects_of(facts.marts["holder_now"], SubjectKind.NODE))
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
    end = naive_utc(facts.window.end)
    start = end - timedelta(days=settings.idle_days)
    now, workload = facts.of("holder_now", subject), facts.of("workload", subject)
    doubt = no_standing(now, workload, end, settings.max_inventory_age_hours)
    if doubt is not None:
        return _rejection(subject, doubt)
    rows = facts.of("holder_gpu_by_hour", subject).filter(pl.col("hour_start") >= start)
    holding = holding_of(rows)
    idle = idle_devices(holding, settings.limits)
    powered = _powered(subject, facts, idle, start)
    workload_class = workload.item(0, "workload_class")
    doubt = (
        keep_doubt(workload.item(0, "annotations"))
        or _little_known(subject, facts, settings, holding)
        or unknown_device(now, rows)
        or nothing_idle(holding, idle, now, settings.limits, GPU)
        or maybe_frozen(idle, powered)
        or maybe_serving(idle, workload_class, settings.held_memory_gib)
    )
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
    memory_gib, is_powered = loaded_gib(holding.devices), unpowered(idle, powered).is_empty()
    is_surely_empty = not busy_count and is_powered and memory_gib is not None and memory_gib < settings.held_memory_gib
    alternative = Alternative(
        name="shrink" if busy_count else "stop",
        demand=replace(before, devices=float(busy_count)) if busy_count else stopped,
        pool=_pool_of(now.sort("pod").row(0, named=True)),
        disrupted_pods=pods_now,
        risk=stop_risk(workload_class, is_surely_empty=is_surely_empty),
        evidence=_evidence(subject, facts, settings, (holding, idle, is_powered)),
        before=before,
        container=now.sort("pod").item(0, "container") or "",
    )
    return Proposal(NAME, Step.WASTE, subject, (alternative,))


def _little_known(subject: Subject, facts: Facts, settings: Settings, holding: Holding) -> Doubt | None:
    """Return why too little is known of a workload, or of its youngest pod; `holding` is that of the idle span."""
    history, now = facts.of("holder_gpu_by_hour", subject), facts.of("holder_now", subject)
    end = naive_utc(facts.window.end)
    return (
        too_young(holding_of(history), end, settings.min_observed_days)
        or rarely_held(holding, settings.idle_days)
        or doubt_about(holding, settings.min_coverage_ratio)
        or young_pod(now, history, end, settings.min_pod_age_hours)
    )


def _powered(subject: Subject, facts: Facts, devices: pl.DataFrame, start: datetime) -> pl.Series:
    """Return the GPUs whose power was read since an instant, of the nodes some devices of a workload are on."""
    cluster_id = subject.key.rsplit("/", 3)[0]
    keys = [f"{cluster_id}/{node}" for node in devices.get_column("node").unique().sort()]
    rows = [facts.of("gpu_by_hour", Subject(SubjectKind.NODE, key)) for key in keys]
    seen = pl.concat([facts.marts["gpu_by_hour"].clear(), *rows])
    return powered_gpus(seen.filter(pl.col("hour_start") >= start))


def _evaluate_node(subject: Subject, facts: Facts, settings: Settings) -> Proposal | Rejection:
    end = naive_utc(facts.window.end)
    start = end - timedelta(days=settings.idle_days)
    node = facts.of("node_now", subject).row(0, named=True)
    holders = facts.marts["holder_now"].filter(pl.col("cluster_id") == node["cluster_id"])
    held = facts.of("holder_gpu_by_hour", subject).filter(pl.col("hour_start") >= start)
    seen = facts.of("gpu_by_hour", subject).filter(pl.col("hour_start") >= start)
    doubt = (
        stale_inventory(holders, end, settings.max_inventory_age_hours)
        or _needed(node, end - timedelta(days=settings.min_observed_days))
        or _used_lately(held)
        or node_in_use(seen, node["gpu_count"], settings.limits)
    )
    if doubt is not None:
        return _rejection(subject, doubt)
    evidence = Evidence(
        f"busiest five minutes of any of its {node['gpu_count']} GPUs in {settings.idle_days} days, held by no pod",
        float(seen.get_column("activity_max").max()),  # type: ignore[arg-type]
        "ratio", "gpu_by_hour",
        f"select max(activity_max) from gpu_by_hour where {subject_condition(subject)} "
        f"and hour_start >= timestamp '{start}'",
        settings.idle_activity_ratio,
    )  # fmt: skip
    alternative = Alternative("release", Demand(0.0, replicas=0), _pool_of(node), 0, Risk.NONE, (evidence,))
    return Proposal(NAME, Step.WASTE, subject, (alternative,))


def _used_lately(held: pl.DataFrame) -> Doubt | None:
    if held.is_empty():
        return None
    last_hour = held.sort("hour_start").item(-1, "hour_start")
    return Doubt("used_lately", f"a pod held its GPUs until {last_hour:%Y-%m-%d %H:%M} UTC")


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


def _declared_replicas(workload: pl.DataFrame, pods_now: int) -> int:
    """Return how many replicas to come back to: pods of the last hour may be those of a rollout."""
    declared = workload.item(0, "replicas") if workload.height else None
    return int(declared) if declared else pods_now


def _evidence(
    subject: Subject, facts: Facts, settings: Settings, seen: tuple[Holding, pl.DataFrame, bool]
) -> tuple[Evidence, ...]:
    holding, idle, is_powered = seen
    start = naive_utc(facts.window.end) - timedelta(days=settings.idle_days)
    where = f"from holder_gpu_by_hour where {subject_condition(subject)} and hour_start >= timestamp '{start}'"
    by_device = (
        f"{where} and gpu_uuid is not null group by node, gpu_uuid, mig_instance_id "
        f"having max(activity_max) < {settings.idle_activity_ratio} and sum(held_gpu_hours - unknown_gpu_hours) >= "
        f"{settings.min_coverage_ratio} * sum(held_gpu_hours) order by 4 desc"
    )
    memory_gib = loaded_gib(idle)
    loaded = "truly idle" if memory_gib is not None and memory_gib < settings.held_memory_gib else "held idle"
    power = "" if is_powered else "; no power reading shows that the exporter was not frozen"
    facts_seen = [
        Evidence(
            f"busiest five minutes in {settings.idle_days} days of {idle.height} unused devices ({loaded}{power})",
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
    if memory_gib is not None:
        facts_seen.append(
            Evidence(
                "most memory an idle device had loaded", memory_gib, "GiB", "holder_gpu_by_hour",
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
