"""Every sample of real exporter output goes through, and its quirk is recognised as its source describes."""

import datetime as dt

import pytest

from connectors.connector import Unreadable
from connectors.metrics.metric_files import Settings, fetch, normalise
from models.domain.window import EVERYTHING

pytestmark = pytest.mark.shared_data
SCRAPED = dt.datetime(2026, 11, 30, 12, 1, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def samples(shared):
    """Return, per number of the sample, its tables as lists of rows, or why it could not be read."""
    settings = Settings(str(shared / "data/telemetry/exposition/*.prom"), "c1", SCRAPED)
    answers = {}
    for answer in fetch(settings, EVERYTHING):
        number = answer.origin.rpartition("/")[2][:2]
        if isinstance(answer, Unreadable):
            answers[number] = answer.reason
        else:
            answers[number] = {name: table.to_pylist() for name, table in normalise(settings, answer).items()}
    return answers


def columns(rows, *names):
    return [tuple(row[name] for name in names) for row in rows]


def codes(sample):
    return columns(sample["finding"], "code", "subject", "occurrences")


def test_all_are_read_but_the_one_with_a_word_for_a_value(samples):
    assert sorted(samples) == [f"{number:02}" for number in (*range(1, 11), 12, 13, *range(15, 23))]
    assert [number for number, answer in samples.items() if isinstance(answer, str)] == ["22"]
    assert "line 7 expected a number" in samples["22"]
    assert "ERROR - FAILED TO CONVERT TO STRING" in samples["22"]


def test_01_an_instance_hides_its_gpu_but_for_the_power(samples):
    assert columns(samples["01"]["gpu_5m"], "mig_instance_id", "gr_engine_active_ratio_max", "power_watts_max") == [
        ("13", 0.995687, 409.692)
    ]


def test_02_memory_of_a_t4_is_its_used_and_free(samples):
    total = {row["node"]: row["memory_total_gib_max"] for row in samples["02"]["gpu_5m"]}
    assert total == {"424773df46e0": 15109 / 1024, "551bdf382151": 15109 / 1024, "ip-11111": None}


def test_03_memory_that_mig_does_not_tell_is_unknown(samples):
    assert {row["memory_used_gib_max"] for row in samples["03"]["gpu_5m"]} == {None}


def test_04_one_instance_under_two_exporter_pods_is_one_row_the_labelled_one(samples):
    assert columns(samples["04"]["gpu_5m"], "node", "gr_engine_active_ratio_max") == [(None, 0.959228)]
    assert columns(samples["04"]["gpu_pod_hint"], "namespace", "pod") == [("gi-user1-giops-ai", "testest-9sxmd")]


def test_05_power_repeated_on_four_instances_is_told_once(samples):
    watts = [
        row["power_watts_mean"]
        for row in samples["05"]["gpu_5m"]
        if row["gpu_uuid"].startswith("GPU-265c") and row["power_watts_mean"] is not None
    ]
    assert watts == [pytest.approx(52.7, abs=0.05)]


def test_06_copies_without_uuid_and_host_belong_to_no_gpu(samples):
    assert samples["06"]["gpu_5m"] == []
    assert codes(samples["06"]) == [("gpu_without_identity", "no target", 7)]


def test_07_a_claim_on_the_parent_is_no_hint_for_the_whole_gpu(samples):
    assert samples["07"]["gpu_pod_hint"] == []
    assert [code for code, _, _ in codes(samples["07"])] == ["claim_on_parent_gpu"]


def test_08_a_claim_on_the_instance_is_a_hint(samples):
    assert columns(samples["08"]["gpu_pod_hint"], "mig_instance_id", "pod") == [("3", "pod-c98945f5d-dnjs6")]


def test_09_an_exporter_pod_as_host_name_is_no_node(samples):
    assert {row["node"] for row in samples["09"]["gpu_5m"]} <= {None}
    assert columns(samples["09"]["gpu_pod_hint"], "mig_instance_id", "pod") == [("3", "triton-server-f7cb5d77-95xcf")]


def test_10_exported_pods_are_the_workloads(samples):
    assert columns(samples["10"]["gpu_pod_hint"], "namespace", "pod", "container") == [
        ("default", "pod1", "ai-artifactory-control"),
        ("default", "pod2", "somecontainer"),
    ]


def test_12_a_workload_in_the_exporters_namespace_is_a_workload(samples):
    assert columns(samples["12"]["gpu_pod_hint"], "namespace", "pod") == [("dcgm-exporter", "cuda-workload")]


def test_13_a_blank_temperature_is_dropped_and_counted(samples):
    assert codes(samples["13"]) == [("dropped_blank", "DCGM_FI_DEV_MEMORY_TEMP", 1)]


def test_15_names_of_exporter_1_are_understood(samples):
    assert columns(samples["15"]["gpu_5m"], "mig_instance_id", "mig_profile", "gr_engine_active_ratio_max") == [
        ("", None, 0.008246),
        ("1", "4g.40gb", 0.0),
    ]
    assert columns(samples["15"]["gpu_pod_hint"], "namespace", "pod", "container") == [
        ("ai-1", "d85np-t6mdg", "-grpc-pod")
    ]


def test_16_counters_at_zero_on_a_busy_gpu_are_unknown(samples):
    assert columns(samples["16"]["gpu_5m"], "gpu_util_ratio_max", "gr_engine_active_ratio_max") == [(1.0, None)]
    assert [code for code, _, _ in codes(samples["16"])] == ["prof_stuck_at_zero"]


def test_17_the_profile_is_the_one_the_board_has(samples):
    assert {row["mig_profile"] for row in samples["17"]["gpu_5m"]} == {"1g.12gb"}


def test_18_a_free_gpu_has_a_row_and_no_hint(samples):
    assert len(samples["18"]["gpu_5m"]) == 3
    assert len(samples["18"]["gpu_pod_hint"]) == 2


def test_19_instances_sort_by_number(samples):
    assert [row["mig_instance_id"] for row in samples["19"]["gpu_5m"]] == ["8", "9", "10"]
    assert samples["19"]["gpu_pod_hint"] == []


@pytest.mark.parametrize("number", ["20", "21"])
def test_what_is_known_and_not_stored_is_silent(samples, number):
    assert (samples[number]["gpu_5m"], samples[number]["finding"]) == ([], [])
