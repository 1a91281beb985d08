import polars as pl
import pytest

from models.fleet import Hold, OtherPods, Release, Unheld, fleet_of, move_to_slices, release, release_nodes, restore

NODES = {
    "cluster_id": "c", "pool": "p", "gpu_model": "NVIDIA L4", "gpu_count": 8, "vcpu": 96.0, "memory_gib": 900.0,
    "labels": None, "other_pods": 0, "other_vcpu": 0.0, "other_memory_gib": 0.0, "unheld_gpu_hours": 0.0,
    "unheld_observed_ratio": None, "unheld_activity_max": None, "unheld_memory_gib": None,
}  # fmt: skip
HOLDER = {
    "cluster_id": "c", "namespace": "ns", "workload_kind": "Deployment", "workload_name": "web", "pod": "web-0",
    "node": "n1", "resource": "nvidia.com/gpu", "devices": 2.0, "mig_profile": None, "vcpu": 4.0, "memory_gib": 16.0,
}  # fmt: skip
TYPES = {"mig_profile": pl.String, "devices": pl.Float64, "vcpu": pl.Float64, "memory_gib": pl.Float64}


def fleet(*holders, nodes=("n1", "n2")):
    node_now = pl.DataFrame([NODES | {"node": name} for name in nodes])
    return fleet_of(node_now, pl.DataFrame([HOLDER | one for one in holders or ({},)], schema_overrides=TYPES))


def test_names_nodes_pools_pods_and_workloads_by_their_keys():
    read = fleet()
    assert read.nodes["c/n2"].pool == "c/p"
    assert read.holds["c/n1"] == (Hold("c/n1", "c/ns/web-0", "c/ns/Deployment/web", 2.0, None, 4.0, 16.0),)
    assert read.holds["c/n2"] == ()


def test_adds_the_resources_of_a_pod_and_counts_its_requests_once():
    read = fleet({}, {"resource": "nvidia.com/mig-1g.10gb", "devices": 0.5, "mig_profile": "1g.10gb"})
    assert [(one.devices, one.vcpu, one.mig_profile) for one in read.holds["c/n1"]] == [(2.5, 4.0, "1g.10gb")]


def test_reserves_nothing_for_a_pod_that_requests_nothing():
    assert fleet({"vcpu": None, "memory_gib": None}).holds["c/n1"][0].vcpu == 0.0


def test_keeps_a_pod_on_a_node_that_no_inventory_names():
    read = fleet({"node": "ghost"})
    assert read.nodes["c/ghost"].gpu_count == 0
    assert len(read.holds_by_workload()["c/ns/Deployment/web"]) == 1


def test_a_holder_of_an_unknown_share_is_named_on_its_node_and_holds_no_number():
    read = fleet({"devices": None})
    assert read.unsized["c/n1"] == ("c/ns/Deployment/web",)
    assert read.holds["c/n1"] == ()


def test_tells_what_else_is_on_a_node_and_what_nobody_knows():
    read = fleet({"node": "ghost"})
    assert read.nodes["c/n1"].others == OtherPods(0, 0.0, 0.0)
    assert read.nodes["c/n1"].unheld == Unheld(0.0, None, None, None)
    assert (read.nodes["c/ghost"].others, read.nodes["c/ghost"].unheld) == (None, None)


def test_a_pod_that_holds_one_known_and_one_unknown_share_is_of_unknown_share():
    read = fleet({}, {"resource": "nvidia.com/mig-1g.99gb", "devices": None})
    assert (read.holds["c/n1"], read.unsized["c/n1"]) == ((), ("c/ns/Deployment/web",))


def test_gives_back_a_part_of_a_hold():
    read = fleet()
    after = release(read, [Release(read.holds["c/n1"][0], 1.5)])
    assert [one.devices for one in after.holds["c/n1"]] == [0.5]
    assert [one.devices for one in read.holds["c/n1"]] == [2.0]


def test_refuses_to_give_a_hold_back_twice():
    read = fleet()
    given = Release(read.holds["c/n1"][0], 2.0)
    with pytest.raises(ValueError, match="cannot give back 2 devices on c/n1"):
        release(read, [given, given])


@pytest.mark.parametrize("devices", [0.5, 2.0])
def test_restores_what_was_given_back_however_often_it_is_asked(devices):
    read = fleet()
    given = [Release(read.holds["c/n1"][0], devices)]
    assert restore(restore(release(read, given), given), given) == read


def test_lets_go_only_of_nodes_that_nobody_holds():
    read = fleet()
    assert set(release_nodes(read, ["c/n2"]).nodes) == {"c/n1"}
    with pytest.raises(ValueError, match="nodes still held: c/n1"):
        release_nodes(read, ["c/n1"])


def test_moves_a_whole_gpu_holder_to_a_slice_elsewhere():
    read = fleet()
    old = read.holds["c/n1"][0]
    new = Hold("c/n2", old.pod, old.workload, 1 / 7, "1g.10gb", old.vcpu, old.memory_gib)
    after = move_to_slices(read, [old], [new])
    assert after.holds == {"c/n1": (), "c/n2": (new,)}


def test_refuses_more_slices_than_a_node_has_devices():
    read = fleet({}, {"pod": "web-1"})
    old = read.holds["c/n1"]
    with pytest.raises(ValueError, match="would hold 10 of 8 devices"):
        move_to_slices(read, old, [Hold("c/n2", one.pod, one.workload, 5.0, "7g", 0.0, 0.0) for one in old])
    with pytest.raises(ValueError, match="expected one slice for each pod"):
        move_to_slices(read, old, [])
