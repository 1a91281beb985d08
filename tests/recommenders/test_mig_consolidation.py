"""Which workloads fit a slice of a GPU, which slice, and why most keep a whole one."""

import json
import re
from datetime import datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.domain.money import SavingsRange
from models.domain.recommendation import (
    Alternative,
    Chosen,
    Decision,
    Demand,
    NodeLayout,
    Proposal,
    Rejection,
    Risk,
    Step,
    Subject,
)
from models.domain.recommendation import SubjectKind as Kind
from optimizer.facts import Facts
from optimizer.manifest import TargetVersions
from optimizer.recommenders.mig_consolidation import Settings, evaluate, find, write

# A100-SXM4-80GB, 108 SMs: 1g.10gb has 9.62 GiB and 14 SMs, 1g.20gb 19.5 and 14, 2g.20gb 19.5 and 28,
# 3g.40gb 39.25 and 42, 4g.40gb 39.25 and 56
SMALL = {"memory_used_gib_max": 6.0, "sm_active_ratio_max": 0.05, "activity_max": 0.2}


def outcome(marts, candidate, **chosen):
    return evaluate(candidate, marts.facts(), Settings(**chosen))


def code(marts, candidate, **chosen):
    answer = outcome(marts, candidate, **chosen)
    assert isinstance(answer, Rejection), answer
    return answer.code


def profiles(marts, candidate, **chosen):
    answer = outcome(marts, candidate, **chosen)
    assert isinstance(answer, Proposal), answer
    return [each.demand.slice_profile for each in answer.alternatives]


@pytest.fixture
def server(marts):
    """Give an inference server on one A100, without its history."""
    return marts.node().pod().described(workload_class="inference")


def test_offers_the_smallest_slices_that_fit_the_smallest_first(server, workload):
    proposal = outcome(server.held(**SMALL), workload())
    assert proposal.step is Step.FIT
    assert [each.name for each in proposal.alternatives] == ["slice 1g.10gb", "slice 1g.20gb", "slice 2g.20gb"]
    first = proposal.alternatives[0]
    assert first.demand == Demand(0.0, "1g.10gb", 1, 4.0, 16.0)
    assert first.before == Demand(1.0, None, 1, 4.0, 16.0)
    assert (first.pool, first.container, first.disrupted_pods) == ("c/p", "main", 1)


@pytest.mark.parametrize(
    ("memory_gib", "smallest"),
    [
        (8.7, "1g.10gb"),  # x 1.1 = 9.57 GiB; the slice holds 9.62
        (8.8, "1g.20gb"),  # x 1.1 = 9.68 GiB: under the 10 of its name, over what it holds
        (17.7, "1g.20gb"),  # x 1.1 = 19.47 of 19.5
        (17.8, "3g.40gb"),  # x 1.1 = 19.58
    ],
)
def test_memory_with_headroom_is_held_against_what_a_slice_holds_not_what_its_name_says(
    server, workload, memory_gib, smallest
):
    assert profiles(server.held(**SMALL | {"memory_used_gib_max": memory_gib}), workload())[0] == smallest


@pytest.mark.parametrize(
    ("sm_active_ratio", "smallest"),
    [
        (0.108, "1g.10gb"),  # x 108 x 1.2 = 13.997 of 14 SMs
        (0.109, "2g.20gb"),  # 14.13
        (0.217, "3g.40gb"),  # 28.12: over the 28 of 2g
    ],
)
def test_sms_with_headroom_are_held_against_the_sms_of_a_slice(server, workload, sm_active_ratio, smallest):
    assert profiles(server.held(**SMALL | {"sm_active_ratio_max": sm_active_ratio}), workload())[0] == smallest


def test_compute_is_judged_at_the_99th_percentile_of_the_hours(server, workload):
    # 7 of 720 hours at 0.9 are 0.97 % of them, 9 are 1.25 %; the hours between begin 30 days back
    server.held(days=30, until_days=7 / 24, **SMALL).held(days=7 / 24, **SMALL | {"sm_active_ratio_max": 0.9})
    assert profiles(server, workload())[0] == "1g.10gb"
    server.rows["holder_gpu_by_hour"][0]["sm_active_ratio_max"] = 0.9
    server.rows["holder_gpu_by_hour"][1]["sm_active_ratio_max"] = 0.9
    assert code(server, workload()) == "needs_whole_gpu"


def test_memory_is_judged_at_the_most_it_ever_was_even_while_it_started(server, workload):
    server.held(days=30, until_days=29.9, **SMALL | {"memory_used_gib_max": 74.0}).held(days=29.9, **SMALL)
    assert code(server, workload()) == "needs_whole_gpu"


def test_memory_counts_in_hours_without_activity_too(server, workload, kinds_of_hours):
    loading = kinds_of_hours["stuck"] | {"memory_used_gib_max": 30.0}
    server.held(days=30, until_days=29.5, **SMALL | loading).held(days=29.5, **SMALL)
    assert profiles(server, workload())[0] == "3g.40gb"


def test_more_headroom_asks_for_more(server, workload):
    server.held(**SMALL)
    assert profiles(server, workload(), memory_headroom_ratio=1.0)[0] == "1g.20gb"  # 12 GiB
    assert profiles(server, workload(), sm_headroom_ratio=4.0)[0] == "2g.20gb"  # 0.05 x 108 x 5 = 27 SMs
    assert profiles(server, workload(), max_alternatives=1) == ["1g.10gb"]


def test_slices_with_extra_engines_and_whole_gpus_are_not_offered(server, workload):
    names = profiles(server.held(**SMALL), workload(), max_alternatives=20)
    assert names == ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb"]


def test_a_service_of_one_replica_is_away_while_its_pod_restarts(server, workload):
    assert outcome(server.held(**SMALL), workload()).alternatives[0].risk is Risk.OUTAGE
    server.pod("w-1").held("gpu-1", pod="w-1", **SMALL)
    first = outcome(server, workload()).alternatives[0]
    assert (first.risk, first.disrupted_pods, first.demand.replicas) == (Risk.SLOWER, 2, 2)


@pytest.mark.parametrize(
    ("workload_class", "reason"),
    [
        (None, "class_unknown"), ("training", "not_inference"), ("batch", "not_inference"),
        ("notebook", "not_production"), ("dev", "not_production"),
    ],
)  # fmt: skip
def test_only_inference_is_cut(marts, workload, workload_class, reason):
    marts.node().pod().described(workload_class=workload_class).held(**SMALL)
    assert code(marts, workload()) == reason


def test_a_workload_no_inventory_describes_keeps_its_gpu(marts, workload):
    assert code(marts.node().pod().held(**SMALL), workload()) == "class_unknown"


def test_two_gpus_per_pod_are_not_two_slices(marts, workload):
    marts.node(gpu_count=2).pod(devices=2.0).described(workload_class="inference")
    rejection = outcome(marts.held(**SMALL), workload())
    assert rejection.code == "several_gpus_per_pod"
    assert "asks for 2 GPUs" in rejection.reason


def test_slices_are_not_cut_again(marts, workload):
    marts.node().pod(devices=1 / 7, mig_profile="1g.10gb", resource="nvidia.com/mig-1g.10gb", requested_gpus=1.0)
    assert code(marts.described(workload_class="inference").held(**SMALL), workload()) == "already_sliced"


@pytest.mark.parametrize("held", [{"devices": 0.25, "requested_gpus": 1.0}, {"resource": "nvidia.com/gpu.shared"}])
def test_a_share_of_a_gpu_is_not_a_gpu(marts, workload, held):
    assert code(marts.node().pod(**held).described(workload_class="inference").held(**SMALL), workload()) == (
        "not_a_whole_gpu"
    )


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("NVIDIA L4", "no_mig"), ("NVIDIA Z9000", "gpu_model_unknown"), (None, "gpu_model_unclear"),
        ("NVIDIA H100 PCIe", "slices_unmeasured"),  # 114 SMs; the slices were measured on 132
        ("NVIDIA H800", "slices_unmeasured"),
    ],
)  # fmt: skip
def test_a_board_whose_slices_nobody_measured_is_not_cut(marts, workload, model, reason):
    marts.node(gpu_model=model).pod().described(workload_class="inference").held(**SMALL)
    assert code(marts, workload()) == reason


def test_replicas_on_two_gpu_models_are_not_cut(marts, workload):
    marts.node("n1").node("n2", gpu_model="NVIDIA H100 80GB HBM3").pod("w-0").pod("w-1", "n2")
    marts.described(workload_class="inference").held(**SMALL)
    rejection = outcome(marts, workload())
    assert rejection.code == "gpu_model_unclear"
    assert "NVIDIA A100-SXM4-80GB, NVIDIA H100 80GB HBM3" in rejection.reason


def test_a_node_no_inventory_names_has_no_known_model(marts, workload):
    marts.pod().described(workload_class="inference").held(**SMALL)
    assert code(marts, workload()) == "gpu_model_unclear"


def test_a_share_of_another_board_says_nothing(server, workload):
    server.held(days=30, until_days=10, **SMALL | {"memory_total_gib": 22.5}).held(days=10, **SMALL)
    assert code(server, workload()) == "gpu_model_changed"


def test_drivers_may_differ_a_little_about_one_board(server, workload):
    server.held(days=30, until_days=10, **SMALL | {"memory_total_gib": 80.0}).held(days=10, **SMALL)
    assert isinstance(outcome(server, workload()), Proposal)


def test_without_sm_active_the_need_is_unknown(server, workload):
    server.held(**SMALL | {"sm_active_ratio_max": None, "telemetry_level": 2})
    rejection = outcome(server, workload())
    assert rejection.code == "no_sm_active"
    assert "DCGM_FI_PROF_SM_ACTIVE" in rejection.reason


def test_zero_profiling_counters_on_a_working_gpu_are_a_fault(server, workload):
    server.held(**SMALL | {"sm_active_ratio_max": 0.0, "activity_max": 1.0})
    assert code(server, workload()) == "sm_active_stuck"


def test_a_server_without_traffic_may_have_used_no_sm_at_all(server, workload):
    assert (
        profiles(server.held(**SMALL | {"sm_active_ratio_max": 0.0, "activity_max": 0.0}), workload())[0] == "1g.10gb"
    )


@pytest.mark.parametrize("days", [30, 2])  # 2 of 30 days: 7 %
def test_without_memory_telemetry_the_need_is_unknown(server, workload, days):
    server.held(days=30, until_days=days, **SMALL).held(days=days, **SMALL | {"memory_used_gib_max": None})
    assert code(server, workload()) == "memory_unknown"


@pytest.mark.parametrize(
    ("hours", "reason"), [("stuck", "stuck_telemetry"), ("unseen", "telemetry_missing"), ("unnamed", "device_unknown")]
)
def test_unknown_hours_block_a_structural_change(server, workload, kinds_of_hours, hours, reason):
    server.held(days=2, **SMALL | kinds_of_hours[hours]).held(days=30, until_days=2, **SMALL)
    assert code(server, workload()) == reason


def test_one_replica_that_nobody_saw_may_be_the_large_one(server, workload, kinds_of_hours):
    for number in range(1, 25):
        server.pod(f"w-{number}").held(f"gpu-{number}", pod=f"w-{number}", **SMALL)
    server.held(days=30, until_days=20, **SMALL).held(days=20, **SMALL | kinds_of_hours["unseen"])
    assert code(server, workload()) == "telemetry_missing"  # 20 of 25 x 30 days: 3 %


def test_one_replica_whose_device_nobody_names_may_be_the_large_one(server, workload, kinds_of_hours):
    for number in range(1, 25):
        server.pod(f"w-{number}").held(f"gpu-{number}", pod=f"w-{number}", **SMALL)
    assert code(server.held(days=30, **SMALL | kinds_of_hours["unnamed"]), workload()) == "device_unknown"


def test_an_inventory_that_ended_long_ago_says_nothing_of_now(marts, workload):
    until = datetime(2026, 11, 30, 5)  # noqa: DTZ001, naive UTC: 7 h before the end
    marts.node().pod(inventory_until=until).described(workload_class="inference").held(**SMALL)
    assert code(marts, workload()) == "inventory_stale"
    assert profiles(marts, workload(), max_inventory_age_hours=7.0)[0] == "1g.10gb"


def test_what_held_gpus_and_ended_gets_a_reason(marts, workload):
    ended = datetime(2026, 11, 30, 9)  # noqa: DTZ001, naive UTC
    marts.described(workload_class="inference", last_held=ended).held(**SMALL)
    assert [each.subject.key for each in find(marts.facts(), Settings())] == ["c/ns/Deployment/w"]
    assert code(marts, workload()) == "no_longer_running"


def test_what_the_cluster_itself_runs_is_left_alone(marts):
    marts.node().pod(namespace="kube-system").held(namespace="kube-system", **SMALL)
    (candidate,) = find(marts.facts(), Settings())
    assert code(marts, candidate) == "system_pod"


def test_needs_28_days_of_history(server, workload):
    assert code(server.held(days=27.9, **SMALL), workload()) == "too_young"


def test_four_hours_a_month_apart_are_no_history(server, workload):
    server.held(days=30, until_days=29.9, **SMALL).held(days=0.1, **SMALL)
    assert code(server, workload()) == "rarely_held"


def test_what_a_person_keeps_is_kept(marts, workload):
    marts.node().pod().described(workload_class="inference", annotations=json.dumps({"earnkeep.dev/keep": "licence"}))
    assert code(marts.held(**SMALL), workload()) == "kept_on_purpose"


def test_says_what_it_needs_where_no_slice_is_large_enough(server, workload):
    rejection = outcome(server.held(**SMALL | {"memory_used_gib_max": 62.0}), workload(), sm_quantile=0.95)
    assert rejection.code == "needs_whole_gpu"
    assert rejection.reason.startswith("62.0 GiB at most and 5% of the SMs at p95, with headroom, fit no slice")


def test_every_holder_gets_one_outcome(marts):
    marts.node().pod("a-0", workload="a").pod("a-1", workload="a").pod("b-0", workload="b", kind="Job")
    assert [each.subject.key for each in find(marts.facts(), Settings())] == ["c/ns/Deployment/a", "c/ns/Job/b"]


def test_no_rows_give_no_candidates(marts):
    assert list(find(marts.facts(), Settings())) == []


@pytest.mark.parametrize("cluster", ["c", "o'clock/arn:aws:eks:x/prod"])
def test_each_query_shows_its_value_again(new_marts, workload, read_evidence, cluster):
    marts = new_marts(cluster=cluster).node().pod().described(workload_class="inference")
    for day in range(30):
        marts.held(days=day + 1, until_days=day, **SMALL | {"sm_active_ratio_max": 0.03 + day * day / 30_000})
    marts.held("gpu-9", workload="other", **SMALL | {"memory_used_gib_max": 70.0, "sm_active_ratio_max": 0.9})
    memory, compute = outcome(marts, workload(cluster=cluster)).alternatives[0].evidence
    assert (memory.value, memory.unit, memory.mart) == (6.0, "GiB", "holder_gpu_by_hour")
    assert memory.threshold == pytest.approx(9.62 / 1.1)
    # 24 of 720 hours at 0.03 + 841/30,000: more than 1 %
    assert compute.value == pytest.approx(0.058033, abs=1e-6)
    assert compute.threshold == pytest.approx(14 / 108 / 1.2)
    for evidence in (memory, compute):
        assert f"from {evidence.mart} " in evidence.query
        assert read_evidence(evidence, marts) == pytest.approx(evidence.value, abs=1e-12)


def test_a_quantile_between_two_hours_is_the_one_the_warehouse_gives(server, workload, read_evidence):
    server.held(days=30, until_days=8 / 24, **SMALL).held(days=8 / 24, **SMALL | {"sm_active_ratio_max": 0.06})
    compute = outcome(server, workload()).alternatives[0].evidence[1]
    assert compute.value == pytest.approx(0.0581)  # rank 719 x 0.99 = 711.81: 0.05 + 0.81 x 0.01
    assert read_evidence(compute, server) == pytest.approx(compute.value, abs=1e-12)


@pytest.mark.parametrize("mart", ["holder_now", "holder_gpu_by_hour", "workload", "node_now"])
@pytest.mark.parametrize("kind", [None, pl.Null])
def test_nulls_in_any_column_crash_nothing(server, mart, kind):
    frames = server.held(**SMALL).frames()
    keys = ("cluster_id", "namespace", "workload_kind", "workload_name", "node", "hour_start", "held_gpu_hours")
    for column in frames[mart].columns:
        if column in keys:
            continue  # without these there is no holder, no node, no hour
        blank = pl.lit(None, dtype=kind or frames[mart].schema[column]).alias(column)
        facts = Facts(server.facts().window, frames | {mart: frames[mart].with_columns(blank)})
        (answer,) = [evaluate(each, facts, Settings()) for each in find(facts, Settings())]
        assert type(answer) in {Proposal, Rejection}, column


NEEDS = st.tuples(st.floats(0.0, 60.0), st.floats(0.001, 0.6))


@settings(max_examples=40, deadline=None)
@given(need=NEEDS, more=NEEDS)
def test_a_larger_need_never_gets_a_smaller_slice(new_marts, workload, need, more):
    def size(memory_gib, sm_active_ratio):
        marts = new_marts().node().pod().described(workload_class="inference")
        marts.held(days=28, memory_used_gib_max=memory_gib, sm_active_ratio_max=sm_active_ratio, activity_max=0.9)
        answer = outcome(marts, workload())
        if isinstance(answer, Rejection):
            return (80, 7)  # the whole GPU
        slices, gigabytes = re.match(r"(\d)g\.(\d+)gb", answer.alternatives[0].demand.slice_profile).groups()
        return (int(gigabytes), int(slices))

    assert size(*(max(pair) for pair in zip(need, more, strict=True))) >= size(*need)


def decision(kind="Deployment", container="main", cluster="c"):
    demand = Demand(0.0, "1g.10gb", 1, 4.0, 16.0)
    alternative = _alternative(demand, container, f"{cluster}/p")
    chosen = Chosen(Subject(Kind.WORKLOAD, f"{cluster}/ns/{kind}/w"), alternative)
    layouts = (NodeLayout(f"{cluster}/n1", (("1g.10gb",), ())),)
    return Decision(
        "mig_consolidation", Step.FIT, Subject(Kind.POOL, f"{cluster}/p"), (chosen,), SavingsRange(1.0, 2.0, 3.0),
        4.0, 2.0, 7.0, (f"{cluster}/n2",), layouts,
    )  # fmt: skip


def _alternative(demand, container, pool):
    return Alternative("slice 1g.10gb", demand, pool, 1, Risk.OUTAGE, (), Demand(1.0), container)


def test_writes_the_layouts_the_requests_and_the_steps_in_order():
    change = write(decision(), TargetVersions())
    assert [each.target for each in change.manifests] == [
        "ConfigMap gpu-operator/earnkeep-mig-parted-config", "Deployment ns/w",
    ]  # fmt: skip
    limits = change.manifests[1].apply["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits == {"nvidia.com/gpu": None, "nvidia.com/mig-1g.10gb": "1"}
    words = " | ".join(change.runbook.steps)
    assert words.index("label node n1") < words.index("Merge the changed requests") < words.index("cordon n2")


@pytest.mark.parametrize(("kind", "container"), [("InferenceService", "main"), ("Deployment", "")])
def test_what_it_cannot_edit_is_a_step_for_a_person(kind, container):
    change = write(decision(kind, container), TargetVersions())
    assert [each.target.split()[0] for each in change.manifests] == ["ConfigMap"]
    wanted = f"Let each pod of {kind} ns/w ask for nvidia.com/mig-1g.10gb: 1, not nvidia.com/gpu: 1."
    assert wanted in change.runbook.steps
    assert f"Let each pod of {kind} ns/w ask for nvidia.com/gpu: 1 again." in change.runbook.undo_steps


def test_writes_for_a_cluster_with_a_slash_in_its_name():
    change = write(decision(cluster="arn:x/prod"), TargetVersions())
    assert change.manifests[1].target == "Deployment ns/w"
    assert any("--context arn:x/prod cordon n1" in step for step in change.runbook.steps)
