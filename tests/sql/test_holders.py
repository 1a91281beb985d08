"""Who held which GPU when: labels are hints, requests are the allocation."""

import polars as pl
import pytest

from tests.sql.raw_rows import at, charge, node, observed, request


def hint(pod, uuid, start, end, **columns):
    return {
        "cluster_id": "prod",
        "gpu_uuid": uuid,
        "mig_instance_id": "",
        "namespace": "search",
        "pod": pod,
        "container": "main",
        "valid_from": at(start),
        "valid_to": at(end),
    } | columns


def two_gpus():
    return [*observed(0, 24, 0.5, gpu_uuid="GPU-a"), *observed(0, 24, 0.0, gpu_uuid="GPU-b")]


def holders(warehouse):
    return pl.from_arrow(warehouse.engine.arrow("select * from gpu_holder order by all"))


def test_a_label_says_which_device_and_the_request_says_how_long(warehouse):
    warehouse.load(
        node=[node(gpu_count=2)],
        container_request=[request("a", 0, 24)],
        gpu_pod_hint=[hint("a", "GPU-b", 1, 2)],
        gpu_5m=two_gpus(),
    ).build()
    held = holders(warehouse).row(0, named=True)
    assert (held["gpu_uuid"], held["attribution"], held["held_from"], held["held_to"]) == (
        "GPU-b", "direct", at(0).replace(tzinfo=None), at(24).replace(tzinfo=None),
    )  # fmt: skip


def test_the_only_free_device_is_held_by_the_only_unlabelled_pod(warehouse):
    warehouse.load(
        node=[node(gpu_count=2)],
        container_request=[request("a", 0, 24), request("b", 0, 24)],
        gpu_pod_hint=[hint("a", "GPU-b", 0, 24)],
        gpu_5m=two_gpus(),
    ).build()
    held = holders(warehouse).filter(pl.col("pod") == "b").row(0, named=True)
    assert (held["gpu_uuid"], held["attribution"]) == ("GPU-a", "estimated")


def test_two_unlabelled_pods_on_two_devices_stay_unknown_and_still_cost(warehouse):
    warehouse.load(
        node=[node(gpu_count=2)],
        container_request=[request("a", 0, 24), request("b", 0, 24)],
        gpu_5m=two_gpus(),
    ).build()
    held = holders(warehouse)
    assert held.get_column("attribution").unique().to_list() == ["unknown"]
    hours = warehouse.mart("workload_gpu_by_hour").select(pl.col("^.*_gpu_hours$").sum()).row(0, named=True)
    assert hours["allocated_gpu_hours"] == pytest.approx(48.0)
    assert hours["unknown_gpu_hours"] == pytest.approx(48.0)


def test_pods_that_overlap_by_a_scrape_hold_together_what_there_is(warehouse):
    warehouse.load(
        node=[node()],
        container_request=[request("a", 0, 12.25), request("b", 12, 24)],
        gpu_pod_hint=[hint("a", "GPU-a", 0, 12), hint("b", "GPU-a", 12, 24)],
        gpu_5m=observed(0, 24, 0.5),
        cost=[charge(hour, "1.0") for hour in range(24)],
    ).build()
    hours = warehouse.mart("workload_gpu_by_hour").group_by("workload_name").agg(pl.col("allocated_gpu_hours").sum())
    # in hour 12 a claims a quarter and b all of one GPU-hour: 0.2 and 0.8 of it
    assert dict(hours.iter_rows()) == pytest.approx({"a": 12.2, "b": 11.8})
    assert warehouse.broken() == []


def test_a_pod_that_is_dealt_another_device_holds_one_after_the_other(warehouse):
    warehouse.load(
        node=[node(gpu_count=2)],
        container_request=[request("a", 0, 24), request("b", 10, 24)],
        gpu_pod_hint=[
            hint("a", "GPU-a", 0, 10), hint("a", "GPU-b", 10, 24), hint("b", "GPU-a", 10, 24),
        ],
        gpu_5m=two_gpus(),
    ).build()  # fmt: skip
    held = holders(warehouse).sort("pod", "held_from").select("pod", "gpu_uuid", "held_from", "held_to")
    assert held.rows() == [
        ("a", "GPU-a", at(0), at(10)),
        ("a", "GPU-b", at(10), at(24)),
        ("b", "GPU-a", at(10), at(24)),
    ]
    assert warehouse.broken() == []


def test_two_containers_of_a_pod_are_dealt_its_devices_once(warehouse):
    warehouse.load(
        node=[node(gpu_count=2)],
        container_request=[request("a", 0, 24), request("a", 0, 24, container="side")],
        gpu_pod_hint=[hint("a", "GPU-a", 0, 24, container=None), hint("a", "GPU-b", 0, 24, container=None)],
        gpu_5m=two_gpus(),
    ).build()
    assert sorted(holders(warehouse).get_column("gpu_uuid").to_list()) == ["GPU-a", "GPU-b"]
    assert warehouse.broken() == []


def test_what_is_held_now_is_what_the_last_inventory_saw(warehouse):
    warehouse.load(
        node=[node(hours=20, gpu_count=2)],
        container_request=[request("ended", 0, 19), request("running", 0, 20)],
        gpu_pod_hint=[hint("ended", "GPU-a", 0, 19), hint("running", "GPU-b", 0, 20)],
        gpu_5m=two_gpus(),
    ).build()
    now = warehouse.mart("holder_now")
    assert now.select("pod", "devices", "inventory_until").rows() == [("running", 1.0, at(20))]


def test_sightings_of_one_pod_by_two_sources_are_one_span(warehouse):
    warehouse.load("live", container_request=[request("a", 6, 24)])
    warehouse.load("history", container_request=[request("a", 0, 20)])
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.5)).build()
    assert holders(warehouse).select("held_from", "held_to").rows() == [(at(0), at(24))]
