"""Who held which GPU when: labels are hints, requests are the allocation."""

import polars as pl
import pytest

from tests.sql.raw_rows import at, node, observed, request


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


def test_overlapping_ends_on_one_device_are_cut(warehouse):
    warehouse.load(
        node=[node()],
        container_request=[request("a", 0, 12.25), request("b", 12, 24)],
        gpu_pod_hint=[hint("a", "GPU-a", 0, 12), hint("b", "GPU-a", 12, 24)],
        gpu_5m=observed(0, 24, 0.5),
    ).build()
    held = holders(warehouse).sort("pod")
    assert held.get_column("held_to").to_list() == [at(12), at(24)]
    assert warehouse.broken() == []


def test_sightings_of_one_pod_by_two_sources_are_one_span(warehouse):
    warehouse.load("live", container_request=[request("a", 6, 24)])
    warehouse.load("history", container_request=[request("a", 0, 20)])
    warehouse.load(node=[node()], gpu_5m=observed(0, 24, 0.5)).build()
    assert holders(warehouse).select("held_from", "held_to").rows() == [(at(0), at(24))]
