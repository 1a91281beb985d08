"""
Put small inference models that each hold a whole GPU onto MIG slices, and free GPUs and nodes.

Claim: The most memory the workload ever had loaded, and its SM_ACTIVE at p99 of the hourly maxima, both with
    headroom, fit a slice. Memory is held against the true size of the profile, not its name.
Saves: The nodes the pool no longer needs once its slices are packed to the proved optimum.
Gate: Production inference with one GPU per pod, `min_observed_days` of history, SM_ACTIVE observed on a board
    whose geometry is published. A node that anything else holds a GPU of is never converted.
Risk: Each pod restarts once; a service of one replica is away for that time.
Undo: Label the nodes back to whole GPUs, and let the pods ask for whole GPUs again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from models.catalog.gpus import gpu_model
from models.catalog.mig import MigProfile, board_of, mig_resource
from models.current_pods import hours_of_current_pods, no_standing, unknown_device
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
)
from models.domain.window import naive_utc
from models.holding import Doubt, doubt_about, holding_of, keep_doubt, rarely_held, too_young, unobserved_device
from models.slice_need import SliceNeed, slice_need, wrong_board
from optimizer.facts import Facts, gpu_workloads, subject_condition
from optimizer.manifest import Change, Manifest, Runbook, TargetVersions, join_runbooks
from optimizer.manifests import gpu_request
from optimizer.manifests.mig_parted import mig_config_map, mig_runbook
from optimizer.manifests.node_release import release_runbook
from optimizer.recommender import Recommender

NAME = "mig_consolidation"
_SHARED_ELSEWHERE = ("notebook", "dev")


@dataclass(frozen=True, slots=True)
class Settings:
    """When a workload fits a slice."""

    min_observed_days: int = 28  # a structural change
    min_coverage_ratio: float = 0.95  # share of the held hours that must be observed
    memory_headroom_ratio: float = 0.10  # above the most memory ever seen, start included
    sm_headroom_ratio: float = 0.20  # above the SM_ACTIVE quantile
    sm_quantile: float = 0.99  # over the maxima of the hours
    max_alternatives: int = 3  # the smallest profiles that fit
    max_inventory_age_hours: float = 6.0  # how long before as_of the inventory may have ended


def find(facts: Facts, settings: Settings) -> Iterator[Candidate]:  # noqa: ARG001, the shape of a recommender
    """Yield every workload that held GPUs in the window; most get a reason why not."""
    for subject in gpu_workloads(facts):
        yield Candidate(subject)


def evaluate(candidate: Candidate, facts: Facts, settings: Settings) -> Proposal | Rejection:
    """Name the slices the workload fits, smallest first, or say why it keeps a whole GPU."""
    subject = candidate.subject
    now = facts.of("holder_now", subject)
    workload = facts.of("workload", subject)
    end = naive_utc(facts.window.end)
    doubt = (
        no_standing(now, workload, end, settings.max_inventory_age_hours)
        or _wrong_kind(now, workload)
        or wrong_board(_gpu_models(now, facts))
    )
    if doubt is not None:
        return _rejection(subject, doubt)
    history = facts.of("holder_gpu_by_hour", subject)
    holding = holding_of(history)
    doubt = (
        too_young(holding, end, settings.min_observed_days)
        or rarely_held(holding, settings.min_observed_days)
        or doubt_about(holding, settings.min_coverage_ratio)
        or unknown_device(now, history)
        # one replica nobody saw may be the large one
        or unobserved_device(holding_of(hours_of_current_pods(history, now)), settings.min_coverage_ratio)
    )
    if doubt is not None:
        return _rejection(subject, doubt)
    need = slice_need(history, settings.sm_quantile)
    if isinstance(need, Doubt):
        return _rejection(subject, need)
    model = _gpu_models(now, facts)[0]
    profiles = _profiles_that_fit(model, need, settings)
    if not profiles:
        return _rejection(subject, _needs_whole_gpu(need, settings))
    alternatives = tuple(
        _alternative(now, profile, _evidence(subject, need, (model, profile), settings)) for profile in profiles
    )
    return Proposal(NAME, Step.FIT, subject, alternatives)


def write(decision: Decision, targets: TargetVersions) -> Change:  # noqa: ARG001, one known version so far
    """Return the layouts, the pods' requests, and the steps that drain, cut and give back nodes."""
    manifests: list[Manifest] = [mig_config_map(decision.subject.key, decision.layouts)]
    by_hand: list[str] = []
    by_hand_undo: list[str] = []
    for chosen in decision.chosen:
        alternative = chosen.alternative
        resource = mig_resource(alternative.demand.slice_profile or "")
        _, namespace, kind, name = chosen.subject.key.rsplit("/", 3)
        if kind in gpu_request.KINDS and alternative.container:
            owner = (kind, namespace, name)
            manifests.append(
                gpu_request.request_gpus(owner, alternative.container, {resource: 1}, {gpu_request.GPU: 1})
            )
        else:
            by_hand.append(
                f"Let each pod of {kind} {namespace}/{name} ask for {resource}: 1, not {gpu_request.GPU}: 1."
            )
            by_hand_undo.append(f"Let each pod of {kind} {namespace}/{name} ask for {gpu_request.GPU}: 1 again.")
    steps = Runbook(
        (*by_hand, "Merge the changed requests; each pod restarts on a slice."),
        (*by_hand_undo, "Revert the changed requests once whole GPUs are back."),
    )
    return Change(
        tuple(manifests),
        join_runbooks(
            mig_runbook(decision.subject.key, decision.layouts), steps, release_runbook(decision.released_nodes)
        ),
    )


def _wrong_kind(now: pl.DataFrame, workload: pl.DataFrame) -> Doubt | None:
    kept = keep_doubt(workload.item(0, "annotations"))
    if kept is not None:
        return kept
    if now.get_column("mig_profile").is_not_null().any():
        return Doubt("already_sliced", "runs on MIG slices already")
    several = now.filter(pl.col("requested_gpus") > 1)
    if not several.is_empty():
        most = several.sort("requested_gpus").item(-1, "requested_gpus")
        return Doubt("several_gpus_per_pod", f"asks for {most:g} GPUs per pod; a slice has no NVLink to another")
    # time-sliced GPUs are asked for as nvidia.com/gpu too; the share held tells
    is_whole = (pl.col("resource").cast(pl.String) == gpu_request.GPU) & (pl.col("devices") == 1.0)
    if now.filter(is_whole).height < now.height:
        return Doubt("not_a_whole_gpu", f"holds {now.item(0, 'resource')}, not a whole GPU of its own")
    return _wrong_class(workload.item(0, "workload_class"))


def _wrong_class(workload_class: object) -> Doubt | None:
    if workload_class is None:
        return Doubt(
            "class_unknown",
            "nothing says what it does; label it earnkeep.dev/workload-class: inference if it serves a model",
        )
    if workload_class in _SHARED_ELSEWHERE:
        return Doubt("not_production", f"{workload_class} work shares GPUs by time-slicing, not by fixed slices")
    if workload_class != "inference":
        return Doubt("not_inference", f"{workload_class} work keeps whole GPUs")
    return None


def _gpu_models(now: pl.DataFrame, facts: Facts) -> list[str | None]:
    nodes = facts.marts["node_now"].select("cluster_id", "node", "gpu_model")
    joined = now.join(nodes, on=["cluster_id", "node"], how="left").get_column("gpu_model")
    return joined.unique().sort().to_list()


def _profiles_that_fit(model: str | None, need: SliceNeed, settings: Settings) -> tuple[MigProfile, ...]:
    board = board_of(model or "")
    whole = gpu_model(model or "")
    if board is None or whole is None or whole.sm_count is None:
        return ()
    memory_gib = need.memory_max_gib * (1 + settings.memory_headroom_ratio)
    busy_sms = need.sm_quantile_ratio * whole.sm_count * (1 + settings.sm_headroom_ratio)
    fitting = [
        profile
        for profile in board.profiles
        # variants with media engines or graphics are for work that asks for them
        if profile.name.endswith("gb")
        and profile.compute_slices < board.max_compute_slices
        and profile.memory_gib is not None
        and profile.sm_count is not None
        and profile.memory_gib >= memory_gib
        and profile.sm_count >= busy_sms
    ]
    fitting.sort(key=lambda profile: (profile.memory_units, profile.compute_slices, profile.name))
    return tuple(fitting[: settings.max_alternatives])


def _alternative(now: pl.DataFrame, profile: MigProfile, evidence: tuple[Evidence, ...]) -> Alternative:
    pods = now.get_column("pod_uid").n_unique()
    row = now.sort("pod").row(0, named=True)
    vcpu, memory_gib = (float(now.get_column(name).cast(pl.Float64).sum()) for name in ("vcpu", "memory_gib"))
    return Alternative(
        name=f"slice {profile.name}",
        demand=Demand(0.0, profile.name, pods, vcpu, memory_gib),
        pool=f"{row['cluster_id']}/{row['pool'] or 'unpooled'}",
        disrupted_pods=pods,
        risk=Risk.OUTAGE if pods == 1 else Risk.SLOWER,
        evidence=evidence,
        before=Demand(float(now.get_column("devices").sum()), None, pods, vcpu, memory_gib),
        container=row["container"] or "",
    )


def _evidence(
    subject: Subject, need: SliceNeed, slice_of: tuple[str | None, MigProfile], settings: Settings
) -> tuple[Evidence, ...]:
    whole, profile = gpu_model(slice_of[0] or ""), slice_of[1]
    sm_count = whole.sm_count if whole else None
    where = f"from holder_gpu_by_hour where {subject_condition(subject)}"
    share = (
        f"SM_ACTIVE at p{settings.sm_quantile * 100:g} of the hourly maxima; {profile.name} has {profile.sm_count} SMs"
    )
    return (
        Evidence(
            f"most memory loaded; {profile.name} holds {profile.memory_gib} GiB", need.memory_max_gib, "GiB",
            "holder_gpu_by_hour", f"select max(memory_used_gib_max) {where}",
            None if profile.memory_gib is None else profile.memory_gib / (1 + settings.memory_headroom_ratio),
        ),
        Evidence(
            share, need.sm_quantile_ratio, "ratio", "holder_gpu_by_hour",
            f"select percentile(sm_active_ratio_max, {settings.sm_quantile}) {where} and observed_buckets > 0",
            profile.sm_count / sm_count / (1 + settings.sm_headroom_ratio) if profile.sm_count and sm_count else None,
        ),
    )  # fmt: skip


def _needs_whole_gpu(need: SliceNeed, settings: Settings) -> Doubt:
    return Doubt(
        "needs_whole_gpu",
        f"{need.memory_max_gib:.1f} GiB at most and {need.sm_quantile_ratio:.0%} of the SMs at "
        f"p{settings.sm_quantile * 100:g}, with headroom, fit no slice whose size was measured",
    )


def _rejection(subject: Subject, doubt: Doubt) -> Rejection:
    return Rejection(NAME, subject, doubt.code, doubt.reason)


RECOMMENDER = Recommender(
    name=NAME,
    step=Step.FIT,
    reads=("holder_gpu_by_hour", "holder_now", "node_now", "workload"),
    settings=Settings,
    find=find,
    evaluate=evaluate,
    write=write,
)
