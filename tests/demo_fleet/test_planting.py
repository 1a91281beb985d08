from collections import Counter
from itertools import pairwise

import pytest

from optimizer.demo_fleet.planting import DECOYS, WASTES

TWO_KINDS = ("idle_gpus", "mig_consolidation")


@pytest.mark.parametrize("gpus", [24, 31, 96, 500])
def test_the_fleet_has_as_many_gpus_as_asked_for(fleet_of, gpus):
    assert sum(node.shape.gpu_count for node in fleet_of(gpus=gpus).nodes) == gpus


def test_the_default_fleet_holds_every_kind_of_waste_and_a_decoy_of_each(fleet):
    assert {waste.kind for waste in fleet.wastes} == {*WASTES, "commitment_sizing"}
    assert {decoy.kind for decoy in fleet.decoys} == set(DECOYS)
    assert fleet.not_planted == {}


def test_a_small_fleet_names_what_it_does_not_hold(fleet_of):
    small = fleet_of(gpus=24)
    assert {waste.kind for waste in small.wastes} >= set(TWO_KINDS)
    assert small.not_planted["decoys of governance"] == 1


def test_a_test_fleet_of_360_gpus_or_so_holds_twenty_decoys_of_each_kind(fleet_of):
    decoys = Counter(decoy.kind for decoy in fleet_of(gpus=384, decoys_per_kind=20).decoys)
    assert set(decoys) == set(DECOYS)
    assert min(decoys.values()) >= 20


def test_two_kinds_alone_need_a_hundred_gpus_for_twenty_decoys_each(fleet_of):
    fleet = fleet_of(gpus=104, decoys_per_kind=20, waste_per_kind=4, kinds=TWO_KINDS)
    assert fleet.not_planted == {}
    assert {decoy.kind for decoy in fleet.decoys} == set(TWO_KINDS)


def test_refuses_a_kind_nobody_knows(fleet_of):
    with pytest.raises(ValueError, match="kinds idle_gpu are unknown; known: commitment_sizing,"):
        fleet_of(kinds=("idle_gpu",))


def test_no_device_is_held_by_two_pods_at_once(fleet):
    held = [
        (device.number, pod.start_hour, 10**6 if pod.end_hour is None else pod.end_hour)
        for pod in fleet.pods
        for device in pod.devices
        if device.node.sharing.replicas == 1
    ]
    held.sort()
    for one, other in pairwise(held):
        assert one[0] != other[0] or one[2] <= other[1]


def test_no_node_is_asked_for_more_than_it_has(fleet_of):
    fleet = fleet_of(gpus=384, decoys_per_kind=20)
    asked = Counter()
    for pod in fleet.pods:
        if pod.node is not None and pod.end_hour is None:
            asked[pod.node.number, "vcpu"] += pod.requests.vcpu
            asked[pod.node.number, "memory"] += pod.requests.memory_gib
    for node in fleet.nodes:
        assert asked[node.number, "vcpu"] <= node.shape.vcpu
        assert asked[node.number, "memory"] <= node.shape.memory_gib


def test_nothing_is_both_waste_and_decoy_of_one_kind(fleet_of):
    fleet = fleet_of(gpus=384, decoys_per_kind=20)
    wastes = {(waste.kind, key) for waste in fleet.wastes for key in waste.subject_keys}
    assert not wastes & {(decoy.kind, decoy.subject_key) for decoy in fleet.decoys}


def test_planted_slices_stay_clear_of_the_limits_of_their_profile(fleet_of):
    fleet = fleet_of(gpus=104, waste_per_kind=4, kinds=TWO_KINDS)
    keys = {key for waste in fleet.wastes if waste.kind == "mig_consolidation" for key in waste.subject_keys}
    curves = [curve for pod in fleet.pods if pod.workload.key in keys for curve in pod.curves]
    assert curves
    for curve in curves:
        # 2g.20gb has 19.5 GiB and 28 of an A100's 108 SMs, 26 %; 80 % and 70 % of these are 15.6 GiB and 18 %.
        # The highest sample is 1.25 (day swing) x 1.2 (noise) times the level.
        assert curve.memory_gib <= 15.6
        assert curve.sm_active_ratio * 1.5 <= 0.181
