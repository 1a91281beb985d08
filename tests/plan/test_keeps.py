"""Nodes that stay, whatever their GPU pods do."""

import pytest


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"labels": '{"earnkeep.dev/keep": "true"}'}, "labelled earnkeep.dev/keep"),
        ({"other_pods": 2, "other_vcpu": 4.0}, "2 pods that ask for no GPU"),
        ({"unheld": (100.0, 1.0, 0.9, 0.0)}, "used outside Kubernetes"),
        ({"unheld": (0.0, None, 0.9, 0.0)}, "reached 90% while no pod held them"),  # a device no inventory counts
        ({"unheld": (100.0, 1.0, 0.0, 20.0)}, "20.0 GiB were loaded"),
        ({"unheld": (100.0, 0.2, 0.0, 0.0)}, "unknown counts as active"),
        ({"unheld": (100.0, None, None, None)}, "unknown counts as active"),
    ],
)
def test_a_node_with_a_reason_to_stay_is_not_released(marts, stop, more, reason):
    plan = marts.node("n1", **more).hold("idle", "n1", devices=8.0).plan(stop("idle"))
    assert plan.decisions == ()
    assert reason in plan.rejections[0].reason


def test_a_node_whose_free_devices_were_seen_idle_is_released(marts, stop):
    plan = marts.node("n1", unheld=(100.0, 1.0, 0.0, 0.1)).hold("idle", "n1", devices=4.0).plan(stop("idle"))
    assert plan.totals.released_nodes == ("c/n1",)


@pytest.mark.parametrize("more", [{"labels": '{"earnkeep.dev/keep": "false"}'}, {"unheld": (0.5, 0.0, None, None)}])
def test_a_label_that_says_false_or_the_time_between_two_pods_keeps_no_node(marts, stop, more):
    assert marts.node("n1", **more).hold("idle", "n1", devices=8.0).plan(stop("idle")).totals.released_nodes


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"labels": "{not json"}, "nobody can say whether it is to be kept"),
        ({"unheld": (None, None, None, None)}, "nobody can say what its devices did"),
    ],
)
def test_what_nobody_knows_about_a_node_keeps_it(marts, stop, more, reason):
    plan = marts.node("n1", **more).hold("idle", "n1", devices=8.0).plan(stop("idle"))
    assert reason in plan.rejections[0].reason


def test_a_node_called_idle_is_kept_for_the_same_reasons(marts, idle_node):
    plan = marts.node("n1", other_pods=1).plan(idle_node("n1"))
    assert [(one.code, one.reason) for one in plan.rejections] == [
        ("no_whole_node", "node c/n1 stays: 1 pod that asks for no GPU on it would need another node")
    ]


def test_prices_only_those_nodes_of_a_workload_that_may_go(marts, stop):
    marts.node("n1", other_pods=1).node("n2").hold("nb", "n1", 8).hold("nb", "n2", 8)
    plan = marts.plan(stop("nb"))
    assert plan.totals.released_nodes == ("c/n2",)
    assert plan.totals.savings.expected_usd_per_month == pytest.approx(7_300.0)


def test_a_hold_of_unknown_share_keeps_its_node_and_ends_no_run(marts, stop):
    marts.node("n1").node("n2").hold("odd", "n1", devices=None).hold("idle", "n1", 4).hold("idle", "n2", 8)
    plan = marts.plan(stop("idle"), stop("odd"))
    assert plan.totals.released_nodes == ("c/n2",)
    assert [(one.subject.key, one.code, one.reason) for one in plan.rejections] == [
        (
            "c/ns/Deployment/odd",
            "slice_share_unknown",
            "nobody knows which share of c/n1 it holds, so nobody can say what is left of the node",
        )
    ]


def test_never_cuts_a_node_with_a_hold_of_unknown_share(marts, slices):
    marts.node("n1").node("n2").hold("odd", "n1", devices=None).hold("a", "n1", pods=7).hold("b", "n2", pods=8)
    plan = marts.plan(slices("a"), slices("b"))
    assert plan.decisions == ()
    assert "holds a share of it that nobody knows" in next(
        one.reason for one in plan.rejections if one.subject.key.endswith("/a")
    )


@pytest.mark.parametrize("more", [{"labels": '{"earnkeep.dev/keep": ""}'}, {"unheld": (100.0, 1.0, 0.9, 0.0)}])
def test_never_cuts_a_node_that_must_stay_as_it_is(marts, slices, more):
    marts.node("n1", **more).node("n2").hold("a", "n1", pods=8).hold("b", "n2", pods=8)
    assert marts.plan(slices("a"), slices("b")).decisions == ()


def test_cuts_but_never_releases_a_node_with_pods_that_ask_for_no_gpu(marts, slices):
    # Without its other pods n2 would go: as many pods on each, and the first by name stays.
    marts.node("n1").node("n2", other_pods=3, other_vcpu=1.0).hold("a", "n1", pods=8).hold("b", "n2", pods=8)
    (decision,) = marts.plan(slices("a"), slices("b")).decisions
    assert decision.released_nodes == ("c/n1",)
    assert {layout.node for layout in decision.layouts} == {"c/n2"}
    assert "3 pods that ask for no GPU are drained from them too" in decision.notes[1]


def test_leaves_room_for_pods_that_ask_for_no_gpu(marts, slices):
    # 96 vCPU less 10 % less 40 are 46.4: eleven pods of 4 vCPU, not the 16 of both nodes.
    marts.node("n1").node("n2", other_pods=1, other_vcpu=40.0).hold("a", "n1", pods=8).hold("b", "n2", pods=8)
    plan = marts.plan(slices("a"), slices("b"))
    assert plan.decisions == ()
    assert {one.code for one in plan.rejections} == {"no_whole_node"}


def test_says_that_all_nodes_of_a_cut_must_stay(marts, slices):
    marts.node("n1", other_pods=1).node("n2", other_pods=2).hold("a", "n1", pods=4).hold("b", "n2", pods=4)
    reasons = [one.reason for one in marts.plan(slices("a"), slices("b")).rejections]
    assert reasons[0] == "node c/n1 stays: 1 pod that asks for no GPU on it would need another node"
    assert reasons[1] == "node c/n2 stays: 2 pods that ask for no GPU on it would need another node"
