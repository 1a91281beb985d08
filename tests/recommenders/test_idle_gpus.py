"""Which held GPUs count as idle, and why most do not."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.domain.recommendation import Demand, Proposal, Rejection, Risk, Step
from models.domain.window import Window
from optimizer.facts import Facts
from optimizer.recommenders.idle_gpus import Settings, evaluate, find


def outcome(marts, candidate, **chosen):
    return evaluate(candidate, marts.facts(), Settings(**chosen))


END = datetime(2026, 11, 30, 12)  # noqa: DTZ001, naive UTC as the marts have it


def code(marts, candidate, **chosen):
    answer = outcome(marts, candidate, **chosen)
    assert isinstance(answer, Rejection), answer
    return answer.code


@pytest.fixture
def idle(marts):
    """Give a workload whose only GPU nobody used for 30 days."""
    return marts.node().pod().held()


def test_an_idle_workload_can_stop(idle, workload):
    proposal = outcome(idle, workload())
    assert isinstance(proposal, Proposal)
    assert proposal.step is Step.WASTE
    (only,) = proposal.alternatives
    assert (only.name, only.demand, only.disrupted_pods, only.pool) == ("stop", Demand(0.0, replicas=0), 1, "c/p")
    assert only.before == Demand(1.0, replicas=1, vcpu=4.0, memory_gib=16.0)


def test_nothing_is_at_risk_where_nothing_was_loaded(idle, workload):
    assert outcome(idle, workload()).alternatives[0].risk is Risk.NONE
    assert "truly idle" in outcome(idle, workload()).alternatives[0].evidence[0].claim


@pytest.mark.parametrize(("workload_class", "risk"), [("training", Risk.SLOWER), (None, Risk.OUTAGE)])
def test_what_is_loaded_is_held_idle_and_at_risk(marts, workload, workload_class, risk):
    marts.node().pod().described(workload_class=workload_class).held(memory_used_gib_max=0.5)  # the limit itself
    (only,) = outcome(marts, workload()).alternatives
    assert only.risk is risk
    assert "held idle" in only.evidence[0].claim


def test_a_loaded_inference_server_without_traffic_telemetry_may_be_in_use(marts, workload):
    marts.node().pod().described(workload_class="inference").held(memory_used_gib_max=18.5)
    assert code(marts, workload()) == "traffic_unknown"


def test_an_inference_server_whose_memory_nobody_saw_may_be_loaded(marts, workload):
    marts.node().pod().described(workload_class="inference").held(memory_used_gib_max=None)
    assert code(marts, workload()) == "traffic_unknown"


def test_an_inference_server_with_nothing_loaded_serves_nobody(marts, workload):
    marts.node().pod().described(workload_class="inference").held(memory_used_gib_max=0.49)
    assert outcome(marts, workload()).alternatives[0].risk is Risk.NONE


def test_unknown_memory_is_not_taken_for_no_memory(marts, workload):
    marts.node().pod().described(workload_class="batch").held(memory_used_gib_max=None)
    (only,) = outcome(marts, workload()).alternatives
    assert only.risk is Risk.SLOWER
    assert [each.unit for each in only.evidence] == ["ratio", "ratio"]


@pytest.mark.parametrize(
    ("hours", "reason"), [("stuck", "stuck_telemetry"), ("unseen", "telemetry_missing"), ("unnamed", "device_unknown")]
)
def test_unknown_counts_as_active(marts, workload, kinds_of_hours, hours, reason):
    # 1 of 14 days is 7 % of the span; 5 % may be unknown
    marts.node().pod().held(days=1, **kinds_of_hours[hours]).held(days=30, until_days=1)
    assert code(marts, workload()) == reason


def test_a_short_gap_does_not_hide_waste(marts, workload, kinds_of_hours):
    # 16 of 336 hours: 4.8 %
    marts.node().pod().held(days=16 / 24, **kinds_of_hours["unseen"]).held(days=30, until_days=16 / 24)
    assert isinstance(outcome(marts, workload()), Proposal)


def test_a_device_that_nobody_saw_is_not_idle_because_its_neighbours_were_seen(marts, workload, kinds_of_hours):
    marts.node(gpu_count=32).pod(devices=32.0)
    for number in range(31):
        marts.held(f"gpu-{number:02}", days=14)
    marts.held("gpu-31", days=30, until_days=9).held("gpu-31", days=9, **kinds_of_hours["unseen"])
    rejection = outcome(marts, workload())  # 9 of 14 days of 1 of 32 GPUs unknown: 2 %
    assert rejection.code == "telemetry_missing"
    assert "1 of the 32 devices it held, such as gpu-31 on n1, went unseen" in rejection.reason


def test_twenty_replicas_are_not_stopped_when_nobody_names_the_device_of_one(marts, workload, kinds_of_hours):
    for number in range(20):
        name = f"w-{number:02}"
        marts.node(f"n{number:02}").pod(name, f"n{number:02}")
        hours = kinds_of_hours["unnamed"] if number == 19 else {}
        marts.held(f"gpu-{number}", days=15, pod=name, node=f"n{number:02}", **hours)
    rejection = outcome(marts, workload())  # 1 of 20 is 5 %
    assert rejection.code == "device_unknown"
    assert "1 of its 20 pods hold, such as w-19" in rejection.reason


def test_a_pod_whose_device_is_unknown_now_is_not_idle(marts, workload):
    marts.node(gpu_count=2).pod("w-0").pod("w-1", attribution="unknown").held("gpu-0").held("gpu-1", pod="w-1")
    assert code(marts, workload()) == "device_unknown"


def test_a_device_that_a_pod_asked_for_and_nobody_names_may_be_the_busy_one(marts, workload):
    marts.node(gpu_count=2).pod(devices=2.0).held("gpu-0")
    assert code(marts, workload()) == "device_unknown"


def test_a_pod_without_an_hour_in_the_span_is_unknown(marts, workload):
    marts.node(gpu_count=2).pod("w-0").pod("w-1").held("gpu-0")
    assert code(marts, workload()) == "device_unknown"


def test_a_slice_of_unknown_share_is_not_idle(marts, workload):
    marts.node().pod(devices=None, requested_gpus=1.0, resource="nvidia.com/mig-1g.99gb").held()
    assert code(marts, workload()) == "device_unknown"


def test_an_unnamed_hour_of_a_pod_that_is_gone_does_not_matter(marts, workload, kinds_of_hours):
    marts.node().pod("w-1").held(days=13, until_days=12.9, pod="w-0", **kinds_of_hours["unnamed"])
    marts.held(days=30, until_days=13, pod="w-0").held(days=12.9, pod="w-1")
    assert isinstance(outcome(marts, workload()), Proposal)


def test_a_busy_workload_is_busy_although_one_device_went_unseen(marts, workload, kinds_of_hours):
    marts.node(gpu_count=32).pod(devices=32.0)
    for number in range(31):
        marts.held(f"gpu-{number:02}", days=15, activity_max=0.9)
    marts.held("gpu-31", days=15, until_days=9).held("gpu-31", days=9, **kinds_of_hours["unseen"])
    rejection = outcome(marts, workload())
    assert rejection.code == "busy"
    assert rejection.reason.startswith("31 of 32 devices it held worked within 14 days, peak 90%; some went unseen")


def test_work_in_one_hour_of_fourteen_days_is_work(marts, workload):
    marts.node().pod().held(days=30, until_days=13).held(days=13, until_days=13 - 1 / 24, activity_max=0.01)
    marts.held(days=13 - 1 / 24)
    rejection = outcome(marts, workload())
    assert rejection.code == "busy"
    assert rejection.reason == "1 of 1 devices it held worked within 14 days, peak 1%"


def test_work_before_the_span_does_not_count(marts, workload):
    marts.node().pod().held(days=30, until_days=14, activity_max=1.0).held(days=14)
    assert isinstance(outcome(marts, workload()), Proposal)


def test_zero_profiling_counters_do_not_make_a_full_gpu_idle(marts, workload):
    marts.node().pod().held(activity_max=1.0, sm_active_ratio_max=0.0)  # GPU_UTIL says 100 %
    assert code(marts, workload()) == "busy"


def test_needs_fourteen_days_of_history(marts, workload):
    marts.node().pod().held(days=13.9)
    rejection = outcome(marts, workload())
    assert rejection.code == "too_young"
    assert rejection.reason == "holds GPUs for 13.9 days; needs 14 to be judged"


def test_what_was_started_again_yesterday_is_not_judged_by_last_month(marts, workload):
    marts.node().pod().held(days=30, until_days=15).held(days=1)
    assert code(marts, workload()) == "rarely_held"


@pytest.mark.parametrize(("hours", "reason"), [(1, "too_young"), (23, "too_young"), (24, None)])
def test_a_pod_of_today_is_not_stopped_for_what_its_predecessors_did(marts, workload, hours, reason):
    since = END - timedelta(hours=hours)
    marts.node().pod("w-1", held_since=since).held(days=30, until_days=3).held(days=hours / 24, pod="w-1")
    answer = outcome(marts, workload())
    assert getattr(answer, "code", None) == reason
    if reason:
        assert answer.reason == f"pod w-1 holds its GPUs for {hours}.0 hours; needs 24 to be judged"


def test_one_new_replica_among_old_ones_makes_the_workload_too_young(marts, workload):
    marts.node(gpu_count=2).pod("w-0").pod("w-1", held_since=END - timedelta(hours=2))
    marts.held("gpu-0").held("gpu-1", days=2 / 24, pod="w-1")
    assert code(marts, workload()) == "too_young"
    assert isinstance(outcome(marts, workload(), min_pod_age_hours=2.0), Proposal)


def test_a_gap_in_the_inventory_makes_no_pod_younger(marts, workload):
    marts.node().pod(held_since=END - timedelta(minutes=25)).held()
    assert isinstance(outcome(marts, workload()), Proposal)


def test_a_pod_of_unknown_age_is_too_young(marts, workload):
    marts.node(gpu_count=2).pod("w-0").pod("w-1", held_since=None).held("gpu-0")
    assert outcome(marts, workload()).reason == "nobody knows since when pod w-1 holds its GPUs"


@pytest.mark.parametrize(("hours", "reason"), [(6, None), (6.1, "inventory_stale"), (None, "inventory_stale")])
def test_an_inventory_that_ended_long_ago_says_nothing_of_now(marts, workload, hours, reason):
    until = None if hours is None else END - timedelta(hours=hours)
    marts.node().pod(inventory_until=until).held()
    assert getattr(outcome(marts, workload()), "code", None) == reason
    assert isinstance(outcome(marts, workload(), max_inventory_age_hours=7.0), Rejection if hours is None else Proposal)


def test_says_when_the_inventory_ended(marts, workload):
    marts.node().pod(inventory_until=END - timedelta(days=2)).held()
    assert outcome(marts, workload()).reason == (
        "the inventory of its cluster ended at 2026-11-28 12:00 UTC, 48 hours before the run's end: nobody knows what "
        "runs now; load a newer dump"
    )


def test_a_node_of_a_cluster_whose_inventory_ended_is_not_released(marts, node):
    marts.node("n1").node("n2").pod(inventory_until=END - timedelta(days=2)).held().seen("gpu-9", node="n2")
    assert code(marts, node("n2")) == "inventory_stale"


def test_what_held_gpus_and_ended_gets_a_reason(marts, workload):
    marts.node().described(last_held=END - timedelta(hours=3), devices_now=0.0).held(until_days=3 / 24)
    assert [each.subject.key for each in find(marts.facts(), Settings())] == ["c/ns/Deployment/w", "c/n1"]
    rejection = outcome(marts, workload())
    assert rejection.code == "no_longer_running"
    assert rejection.reason == "held GPUs until 2026-11-30 09:00 UTC and holds none now"


def test_a_workload_that_never_held_a_gpu_is_no_candidate(marts):
    assert list(find(marts.described(last_held=None).facts(), Settings())) == []


@pytest.mark.parametrize(("namespace", "kind"), [("kube-system", "Deployment"), ("gpu-operator", "DaemonSet")])
def test_what_the_cluster_itself_runs_is_left_alone(marts, namespace, kind):
    marts.node().pod(kind=kind, namespace=namespace).held(kind=kind, namespace=namespace)
    (candidate,) = find(marts.facts(), Settings())
    assert code(marts, candidate) == "system_pod"


def test_zeros_without_power_and_memory_may_be_those_of_a_frozen_exporter(marts, workload):
    marts.node().pod().described(workload_class="batch").held(power_watts_mean=None, memory_used_gib_max=None)
    rejection = outcome(marts, workload())
    assert rejection.code == "telemetry_missing"
    assert "DCGM_FI_DEV_POWER_USAGE" in rejection.reason


def test_without_power_an_empty_gpu_is_not_surely_empty(marts, workload):
    marts.node().pod().described(workload_class="batch").held(power_watts_mean=None)
    (only,) = outcome(marts, workload()).alternatives
    assert only.risk is Risk.SLOWER
    assert "no power reading shows that the exporter was not frozen" in only.evidence[0].claim


def test_power_read_before_the_span_says_nothing_of_the_exporter_now(marts, workload):
    marts.node().pod().described(workload_class="batch").held(power_watts_mean=None)
    marts.seen(days=30, until_days=14)
    assert outcome(marts, workload()).alternatives[0].risk is Risk.SLOWER


def test_what_rests_at_weekends_can_be_judged(marts, workload):
    marts.node().pod().held(days=16, until_days=14)
    for first in (14, 7):  # 10 of 14 days
        marts.held(days=first, until_days=first - 5)
    assert isinstance(outcome(marts, workload()), Proposal)


def test_the_idle_devices_of_one_pod_are_given_back(marts, workload):
    marts.node(gpu_count=4).pod(devices=4.0, kind="StatefulSet")
    for number in range(4):
        marts.held(f"gpu-{number}", kind="StatefulSet", activity_max=0.6 if number == 2 else 0.0)
    (only,) = outcome(marts, workload(kind="StatefulSet")).alternatives
    assert (only.name, only.container, only.risk) == ("shrink", "main", Risk.OUTAGE)
    assert only.demand == Demand(1.0, replicas=1, vcpu=4.0, memory_gib=16.0)
    assert only.before == Demand(4.0, replicas=1, vcpu=4.0, memory_gib=16.0)
    assert " 3 " in only.evidence[0].claim


def test_idle_replicas_beside_busy_ones_are_left_to_the_autoscaler(marts, workload):
    marts.node(gpu_count=2).pod("w-0").pod("w-1")
    marts.held("gpu-0", activity_max=0.6).held("gpu-1", pod="w-1")
    assert code(marts, workload()) == "partly_idle"


def test_slices_of_one_pod_are_not_given_back_one_by_one(marts, workload):
    marts.node(gpu_count=2).pod(devices=4 / 7 * 2, requested_gpus=4.0, resource="nvidia.com/mig-2g.20gb")
    for number in range(4):
        marts.held(f"gpu-{number % 2}", mig_instance_id=str(number), activity_max=0.0 if number else 0.6)
    rejection = outcome(marts, workload())
    assert rejection.code == "partly_idle"
    assert "nvidia.com/mig-2g.20gb" in rejection.reason


def test_idle_slices_stop_all_together(marts, workload):
    marts.node().pod(devices=1 / 7, requested_gpus=1.0, resource="nvidia.com/mig-1g.10gb", mig_profile="1g.10gb")
    marts.held(mig_instance_id="3", held_gpu_hours=1 / 7)
    (only,) = outcome(marts, workload()).alternatives
    assert (only.name, only.before.devices) == ("stop", 1 / 7)


def test_a_device_of_a_pod_that_is_gone_frees_nothing(marts, workload):
    marts.node(gpu_count=2).pod()
    marts.held("gpu-old", days=30, until_days=7).held("gpu-new", days=7, activity_max=0.8)
    rejection = outcome(marts, workload())
    assert rejection.code == "busy"
    assert rejection.reason == "1 of 2 devices it held worked within 14 days, peak 80%"


def test_work_on_a_device_it_no_longer_holds_is_work(marts, workload):
    marts.node(gpu_count=2).pod()
    marts.held("gpu-old", days=30, until_days=3, activity_max=0.8).held("gpu-new", days=3)
    assert code(marts, workload()) == "busy"


def test_comes_back_with_the_replicas_it_declares_not_with_those_of_a_rollout(marts, workload):
    marts.node(gpu_count=2).pod("w-0").pod("w-1").described(replicas=1, workload_class="batch")
    marts.held("gpu-0").held("gpu-1", pod="w-1")
    assert outcome(marts, workload()).alternatives[0].before.replicas == 1


@pytest.mark.parametrize("value", ["true", "True", "until the audit"])
def test_what_a_person_keeps_is_kept(idle, workload, value):
    idle.described(annotations=json.dumps({"earnkeep.dev/keep": value}))
    assert code(idle, workload()) == "kept_on_purpose"


@pytest.mark.parametrize("annotations", ['{"earnkeep.dev/keep": "false"}', '{"other": "x"}', "{}", None, ""])
def test_what_nobody_keeps_is_judged(idle, workload, annotations):
    idle.described(annotations=annotations)
    assert isinstance(outcome(idle, workload()), Proposal)


@pytest.mark.parametrize("annotations", ["{", "[]", "null", '"keep"', "\x00"])
def test_annotations_nobody_can_read_may_say_keep(idle, workload, annotations):
    idle.described(annotations=annotations)
    assert code(idle, workload()) == "annotations_unreadable"


def test_a_node_nobody_uses_can_go(marts, node):
    marts.node(gpu_count=2, pool=None).seen("gpu-0").seen("gpu-1", activity_max=0.002)
    (only,) = outcome(marts, node()).alternatives
    assert (only.name, only.demand.devices, only.pool, only.disrupted_pods) == ("release", 0.0, "c/unpooled", 0)
    assert only.risk is Risk.NONE
    assert only.evidence[0].value == 0.002


def test_a_node_used_outside_kubernetes_stays(marts, node):
    marts.node().seen(days=30, until_days=2).seen(days=2, activity_max=0.4)
    assert code(marts, node()) == "used_without_request"


@pytest.mark.parametrize(("memory_gib", "reason"), [(20.0, "used_without_request"), (0.49, None), (None, None)])
def test_a_node_with_something_loaded_outside_kubernetes_stays(marts, node, memory_gib, reason):
    marts.node(gpu_count=2).seen("gpu-0").seen("gpu-1", memory_used_gib_max=memory_gib)
    answer = outcome(marts, node())
    assert getattr(answer, "code", None) == reason
    if reason:
        assert answer.reason == "20.0 GiB loaded by something outside Kubernetes"


def test_a_node_whose_exporter_may_be_frozen_stays(marts, node):
    marts.node(gpu_count=2).seen("gpu-0").seen("gpu-1", memory_used_gib_max=None, power_watts_mean=None)
    assert code(marts, node()) == "telemetry_missing"


def test_a_gpu_that_went_unseen_is_not_idle_because_fifteen_others_were_seen(marts, node):
    marts.node(gpu_count=16)
    for number in range(16):
        marts.seen(f"gpu-{number:02}", days=14, until_days=7 if number == 0 else 0)  # 7 of 16 x 14 days: 3 %
    assert code(marts, node()) == "telemetry_missing"


def test_a_young_node_stays(marts, node):
    marts.node(alive_days=13).seen()
    assert code(marts, node()) == "too_young"


def test_a_node_that_runs_other_pods_stays(marts, node):
    marts.node(other_pods=2).seen()
    assert code(marts, node()) == "holds_other_pods"


def test_a_node_without_other_pods_can_go(marts, node):
    marts.node(other_pods=0).seen()
    assert isinstance(outcome(marts, node()), Proposal)


def test_a_node_that_a_person_keeps_is_kept(marts, node):
    marts.node(labels=json.dumps({"earnkeep.dev/keep": "failover"})).seen()
    assert code(marts, node()) == "kept_on_purpose"


def test_labels_that_ask_for_nothing_keep_no_node(marts, node):
    marts.node(labels=json.dumps({"topology.kubernetes.io/zone": "a"})).seen()
    assert isinstance(outcome(marts, node()), Proposal)


def test_a_node_that_a_pod_held_within_the_span_stays(marts, node):
    marts.node().seen().held(days=30, until_days=13)
    rejection = outcome(marts, node())
    assert rejection.code == "used_lately"
    assert rejection.reason == "a pod held its GPUs until 2026-11-17 11:00 UTC"  # the last hour of the 13th day back


def test_a_node_with_an_unseen_gpu_stays(marts, node):
    marts.node(gpu_count=2).seen("gpu-0")
    rejection = outcome(marts, node())
    assert rejection.code == "telemetry_missing"
    assert "50%" in rejection.reason


def test_slices_of_one_gpu_do_not_stand_for_another(marts, node):
    marts.node(gpu_count=2)
    for instance in ("1", "2"):
        marts.seen("gpu-0", mig_instance_id=instance)  # 2 slices of 1 GPU; nobody saw gpu-1
    assert code(marts, node()) == "telemetry_missing"


def test_a_node_without_any_telemetry_stays_whatever_the_settings(marts, node):
    assert code(marts.node(), node(), min_coverage_ratio=0.0) == "telemetry_missing"
    assert code(marts.seen(activity_max=None), node(), min_coverage_ratio=0.0) == "telemetry_missing"


def test_every_holder_and_every_unheld_node_gets_one_outcome(marts):
    marts.node("n1", 8).node("n2").node("n3").pod("a-0", workload="a").pod("a-1", workload="a")
    marts.pod("b-0", workload="b", kind="Job", node="n2")
    keys = [each.subject.key for each in find(marts.facts(), Settings())]
    assert keys == ["c/ns/Deployment/a", "c/ns/Job/b", "c/n3"]


def test_no_rows_give_no_candidates(marts):
    assert list(find(marts.facts(), Settings())) == []


def test_a_cluster_may_have_a_slash_in_its_name(new_marts, workload, node):
    cluster = "arn:aws:eks:eu-west-1:1:cluster/prod"
    marts = new_marts(cluster=cluster).node("n1").node("n2").pod().held().seen("gpu-9", node="n2")
    assert outcome(marts, workload(cluster=cluster)).alternatives[0].pool == f"{cluster}/p"
    assert outcome(marts, node("n2", cluster)).alternatives[0].name == "release"


def test_each_piece_of_evidence_names_its_mart_and_its_query_shows_the_value(marts, workload, read_evidence):
    marts.cluster = "it's/prod"
    marts.node(gpu_count=3).pod(devices=3.0)
    marts.held("gpu-0", activity_max=0.004, memory_used_gib_max=2.5).held("gpu-1", memory_used_gib_max=1.5)
    marts.held("gpu-2", activity_max=0.7, memory_used_gib_max=60.0)
    marts.held("gpu-3", workload="other", activity_max=0.009, memory_used_gib_max=9.0)
    (only,) = outcome(marts, workload(cluster="it's/prod")).alternatives
    assert [(each.value, each.threshold) for each in only.evidence] == [(0.004, 0.01), (1.0, 0.95), (2.5, 0.5)]
    for evidence in only.evidence:
        assert f"from {evidence.mart} " in evidence.query
        assert read_evidence(evidence, marts) == pytest.approx(evidence.value, abs=1e-12)


def test_the_evidence_of_a_node_can_be_read_again(marts, node, read_evidence):
    marts.node().seen(days=30, until_days=14, activity_max=0.9).seen(days=14, activity_max=0.003)
    (evidence,) = outcome(marts, node()).alternatives[0].evidence
    assert evidence.mart == "gpu_by_hour"
    assert read_evidence(evidence, marts) == evidence.value == 0.003


def test_evidence_tells_how_much_was_observed(marts, workload, kinds_of_hours, read_evidence):
    marts.node().pod().held(days=0.5, **kinds_of_hours["unseen"]).held(days=30, until_days=0.5)
    evidence = outcome(marts, workload()).alternatives[0].evidence[1]
    assert evidence.value == pytest.approx(324 / 336)  # 12 of 336 hours unseen
    assert read_evidence(evidence, marts) == pytest.approx(evidence.value)


@pytest.mark.parametrize("column", ["activity_max", "unknown_gpu_hours", "observed_buckets", "telemetry_level"])
def test_a_column_full_of_nulls_is_never_idle(marts, workload, column):
    marts.node().pod().held(**{column: None})
    answer = outcome(marts, workload())
    if column in {"activity_max", "unknown_gpu_hours"}:
        assert isinstance(answer, Rejection)
    else:
        assert isinstance(answer, Proposal)  # these only repeat what other columns say


@pytest.mark.parametrize("mart", ["holder_now", "holder_gpu_by_hour", "workload", "node_now"])
@pytest.mark.parametrize("kind", [None, pl.Null])
def test_nulls_in_any_column_crash_nothing(marts, mart, kind):
    marts.node("n1").node("n2").pod().held(days=15).described(workload_class="batch").seen(node="n2")
    frames = marts.frames()
    keys = ("cluster_id", "namespace", "workload_kind", "workload_name", "node", "hour_start", "alive_since")
    for column in frames[mart].columns:
        if column in {*keys, "devices", "gpu_count", "held_gpu_hours"}:
            continue  # without these there is no holder, no node, no hour
        blank = pl.lit(None, dtype=kind or frames[mart].schema[column]).alias(column)
        facts = Facts(marts.facts().window, frames | {mart: frames[mart].with_columns(blank)})
        answers = [evaluate(each, facts, Settings()) for each in find(facts, Settings())]
        assert [type(answer) in {Proposal, Rejection} for answer in answers] == [True, True], column


def test_the_zone_of_as_of_does_not_matter(idle, workload):
    east = idle.facts().window
    moved = Window(*(each.astimezone(datetime.fromisoformat("2026-01-01T00:00+05:30").tzinfo) for each in
                     (east.start, east.end)))  # fmt: skip
    answers = [evaluate(workload(), idle.facts(window), Settings()) for window in (east, moved)]
    assert answers[0] == answers[1]


def test_an_as_of_within_an_hour_still_sees_fourteen_days(idle, workload):
    end = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)
    facts = idle.facts(Window(end - timedelta(days=30), end))
    assert isinstance(evaluate(workload(), facts, Settings()), Proposal)


def test_shared_devices_are_idle_only_when_nobody_works_on_them(marts, workload):
    marts.node().pod("a-0", workload="a", devices=0.5, requested_gpus=1.0)
    marts.pod("b-0", workload="b", devices=0.5, requested_gpus=1.0)
    for name in ("a", "b"):
        marts.held(workload=name, held_gpu_hours=0.5, activity_max=0.3)  # telemetry of the one device under both
    assert [code(marts, workload(name)) for name in ("a", "b")] == ["busy", "busy"]


@settings(max_examples=40, deadline=None)
@given(
    peaks=st.lists(st.one_of(st.none(), st.floats(0.0, 1.0)), min_size=1, max_size=6),
    more=st.floats(0.0, 1.0),
)
def test_more_activity_never_gives_back_more(new_marts, workload, peaks, more):
    def given_back(activities):
        marts = new_marts().node(gpu_count=8).pod(devices=float(len(activities)))
        for number, activity in enumerate(activities):
            marts.held(f"gpu-{number}", days=14, activity_max=activity)
        answer = outcome(marts, workload())
        if isinstance(answer, Rejection):
            return 0.0
        (only,) = answer.alternatives
        assert 0.0 <= only.demand.devices < only.before.devices
        return only.before.devices - only.demand.devices

    busier = [None if peak is None else max(peak, more) for peak in peaks]
    assert given_back(busier) <= given_back(peaks)


def test_settings_move_the_limits(marts, workload):
    marts.node().pod().held(activity_max=0.04)
    assert code(marts, workload()) == "busy"
    assert isinstance(outcome(marts, workload(), idle_activity_ratio=0.05), Proposal)
    assert replace(Settings(), idle_activity_ratio=0.05) != Settings()
