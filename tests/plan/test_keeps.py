"""Nodes that stay, whatever their GPU pods do."""

import pytest


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"labels": '{"earnkeep.dev/keep": "true"}'}, "labelled earnkeep.dev/keep"),
        ({"other_pods": 2, "other_vcpu": 4.0}, "2 pods that ask for no GPU"),
        ({"unheld": (100.0, 1.0, 0.9, 0.0)}, "used outside Kubernetes"),
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
