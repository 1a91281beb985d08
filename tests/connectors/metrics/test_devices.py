import datetime as dt

import pytest

UTIL, GR, SM, DRAM = (
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE",
)
USED, FREE, RESERVED, TOTAL = (f"DCGM_FI_DEV_FB_{part}" for part in ("USED", "FREE", "RESERVED", "TOTAL"))
POWER = "DCGM_FI_DEV_POWER_USAGE"


@pytest.fixture
def fleet(series):
    """A GPU with a pod, one without, and a MIG instance, all at level 2."""

    def metrics(**labels):
        return [
            series(GR, 0.25, 0.5, 0.75, 1.0, 0.125, 0.5, 0.5, **labels),
            series(USED, *[20480.0] * 7, **labels),
            series(FREE, *[60416.0] * 7, **labels),
            series(POWER, *[300.0, 350.0] * 3, 325.0, **labels),
        ]

    pod = {"namespace": "ml", "pod": "train-0", "container": "main"}
    cut = {"UUID": "GPU-c", "GPU_I_ID": "7", "GPU_I_PROFILE": "1g.10gb"}
    whole = [series(UTIL, 10.0, 90.0, 50.0, 50.0, 50.0, 0.0, 100.0, **pod)]
    return [*whole, *metrics(**pod), *metrics(UUID="GPU-b"), *metrics(**cut, **pod)]


def test_a_row_per_gpu_and_five_minutes_with_mean_max_and_samples(normalised, series):
    first, second = normalised(series(GR, 0.2, 0.4, 0.6, 0.8, 1.0, 0.5, minute=0)).rows
    assert first["bucket_start"] == dt.datetime(2026, 10, 1, 0, 0)  # noqa: DTZ001, raw tables hold naive UTC
    assert second["bucket_start"] == dt.datetime(2026, 10, 1, 0, 5)  # noqa: DTZ001, as above
    assert first["gr_engine_active_ratio_mean"] == pytest.approx(0.6)  # (0.2 + 0.4 + 0.6 + 0.8 + 1.0) / 5
    assert (first["gr_engine_active_ratio_max"], first["gr_engine_active_ratio_samples"]) == (1.0, 5)
    assert (second["gr_engine_active_ratio_mean"], second["gr_engine_active_ratio_samples"]) == (0.5, 1)


def test_what_was_not_measured_is_null(normalised, series):
    (row,) = normalised(series(GR, 0.5)).rows
    assert row["sm_active_ratio_mean"] is None
    assert row["memory_total_gib_max"] is None
    assert row["power_watts_samples"] == 0


NEW_NAMES = {
    UTIL: "DCGM_FI_DEV_GPU_UTIL_RATIO",
    GR: "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO",
    USED: "DCGM_FI_DEV_FB_USED_BYTES",
    FREE: "DCGM_FI_DEV_FB_FREE_BYTES",
    POWER: "DCGM_FI_DEV_BOARD_POWER_WATTS",
}


def renamed(one):
    scale = {UTIL: 0.01, USED: 2.0**20, FREE: 2.0**20}.get(one.labels["__name__"], 1.0)
    new = one.but(__name__=NEW_NAMES[one.labels["__name__"]], Hostname=None, hostname=one.labels["Hostname"])
    new.values = [value * scale for value in one.values]
    return new


def test_names_and_units_of_exporter_4_9_give_the_same_rows(normalised, fleet):
    before, after = normalised(*fleet), normalised(*(renamed(one) for one in fleet))
    assert len(before.rows) == 6  # three devices, two buckets
    assert after.rows == before.rows
    assert after.hints == before.hints


def test_a_change_of_names_in_mid_window_is_said_with_its_time(normalised, series):
    old, new = series(GR, *[0.5] * 10), series(NEW_NAMES[GR], *[0.5] * 10, minute=10)
    outcome = normalised(old, new)
    assert [row["gr_engine_active_ratio_mean"] for row in outcome.rows] == [0.5] * 4
    change = outcome.findings["exporter_changed", GR]
    assert NEW_NAMES[GR] in change["message"]
    assert change["observed_to"] == dt.datetime(2026, 10, 1, 0, 10)  # noqa: DTZ001, raw tables hold naive UTC


def test_a_doubled_scrape_job_changes_nothing(normalised, fleet):
    doubled = [one.but(job="again") for one in fleet]
    assert normalised(*fleet, *doubled).rows == normalised(*fleet).rows
    assert normalised(*fleet, *doubled).hints == normalised(*fleet).hints


def test_the_order_of_series_changes_nothing(normalised, fleet):
    assert normalised(*reversed(fleet)).rows == normalised(*fleet).rows


def test_injected_blanks_change_nothing_but_counters(normalised, fleet, series):
    blanks = [series(one.labels["__name__"], 9223372036854775794.0, minute=0.5).but(**one.labels) for one in fleet]
    assert normalised(*fleet, *blanks).rows == normalised(*fleet).rows


def test_repeated_power_of_a_mig_instance_changes_no_sum(normalised, fleet):
    def watts(outcome):
        return sum(row["power_watts_mean"] for row in outcome.rows if row["power_watts_mean"] is not None)

    repeated = [one.but(GPU_I_ID="8") for one in fleet if one.labels.get("GPU_I_ID")]
    assert watts(normalised(*fleet, *repeated)) == watts(normalised(*fleet))


def test_an_exporter_that_knows_pods_wins_over_one_that_does_not(normalised, series):
    plain = series(GR, 0.1, 0.1, 0.1, job="plain")
    aware = series(GR, 0.3, 0.3, job="aware", namespace="ml", pod="train-0", container="main")
    (row,) = normalised(plain, aware).rows
    assert (row["gr_engine_active_ratio_mean"], row["gr_engine_active_ratio_samples"]) == (0.3, 2)


def test_label_churn_in_a_bucket_keeps_all_samples_of_the_scrape(normalised, series):
    first = series(GR, 0.2, 0.2, namespace="ml", pod="a-0", container="main")
    second = series(GR, 0.8, 0.8, minute=2, namespace="ml", pod="b-0", container="main")
    (row,) = normalised(first, second).rows
    assert row["gr_engine_active_ratio_mean"] == 0.5  # (0.2 + 0.2 + 0.8 + 0.8) / 4
    assert row["gr_engine_active_ratio_samples"] == 4


def test_time_slicing_copies_count_the_device_once(normalised, series):
    copies = [series(GR, 0.714, 0.714, namespace="ml", pod=f"w-{number}", vgpu=str(number)) for number in range(3)]
    outcome = normalised(*copies)
    (row,) = outcome.rows
    assert (row["gr_engine_active_ratio_mean"], row["gr_engine_active_ratio_samples"]) == (0.714, 2)
    assert [hint["pod"] for hint in outcome.hints] == ["w-0", "w-1", "w-2"]


def test_per_process_rows_leave_the_device_to_the_row_without_a_pod(normalised, series):
    pods = [series(UTIL, value, namespace="ml", pod=f"w-{value:g}", container="main") for value in (60.0, 30.0, 0.0)]
    (row,) = normalised(*pods, series(UTIL, 90.0)).rows
    assert (row["gpu_util_ratio_mean"], row["gpu_util_ratio_max"]) == (0.9, 0.9)


def test_the_same_labels_and_instant_with_two_values_keep_the_first(normalised, series):
    twice = series(GR, 0.3, 0.7)
    twice.at_ms[1] = twice.at_ms[0]
    outcome = normalised(twice)
    assert outcome.rows[0]["gr_engine_active_ratio_max"] == 0.3
    assert outcome.findings["told_twice", GR]["occurrences"] == 1


def test_gpu_util_of_a_mig_instance_is_ignored(normalised, series):
    instance = {"GPU_I_ID": "3", "GPU_I_PROFILE": "1g.10gb"}
    (row,) = normalised(series(UTIL, 0.0, **instance), series(GR, 0.6, **instance)).rows
    assert row["gpu_util_ratio_mean"] is None
    assert row["gr_engine_active_ratio_mean"] == 0.6


def test_the_whole_gpus_row_goes_while_it_has_instances(normalised, series):
    parent = [series(GR, *[0.9] * 10), series(USED, *[70000.0] * 10), series(UTIL, *[0.0] * 10)]
    instance = series(GR, *[0.2] * 5, GPU_I_ID="3", GPU_I_PROFILE="1g.10gb")
    rows = normalised(*parent, instance).rows
    assert [(row["mig_instance_id"], row["gr_engine_active_ratio_mean"]) for row in rows] == [
        ("", pytest.approx(0.9)),  # minutes 5 to 9: it is whole again
        ("3", pytest.approx(0.2)),
    ]


def test_power_repeated_per_instance_is_told_once_on_the_lowest_instance(normalised, series):
    values = {"10": 52.746, "3": 52.636, "4": 52.636, "9": 52.746}
    rows = normalised(*(series(POWER, value, GPU_I_ID=key) for key, value in values.items())).rows
    assert [row["mig_instance_id"] for row in rows] == ["3", "4", "9", "10"]
    assert [row["power_watts_mean"] for row in rows] == [pytest.approx(52.691), None, None, None]
    assert rows[0]["power_watts_max"] == 52.746


def test_power_of_the_whole_gpu_moves_to_its_lowest_instance(normalised, series):
    (row,) = normalised(series(POWER, 400.0), series(GR, 0.5, GPU_I_ID="3")).rows
    assert (row["mig_instance_id"], row["power_watts_mean"]) == ("3", 400.0)


def test_profiling_counters_at_zero_on_a_busy_gpu_are_unknown(normalised, series):
    outcome = normalised(series(UTIL, 100.0, 100.0), series(GR, 0.0, 0.0), series(SM, 0.0, 0.0), series(DRAM, 0.0, 0.0))
    (row,) = outcome.rows
    assert row["gpu_util_ratio_mean"] == 1.0
    assert (row["gr_engine_active_ratio_mean"], row["sm_active_ratio_max"], row["dram_active_ratio_samples"]) == (
        None,
        None,
        0,
    )
    assert outcome.findings["prof_stuck_at_zero", "GPU-a"]["occurrences"] == 1


def test_a_single_zero_between_high_counters_is_kept(normalised, series):
    outcome = normalised(series(UTIL, 100.0, 100.0, 100.0), series(GR, 0.9, 0.0, 0.9))
    assert outcome.rows[0]["gr_engine_active_ratio_max"] == 0.9
    assert outcome.findings == {}


def test_zero_counters_on_an_idle_gpu_stay_zero(normalised, series):
    assert normalised(series(UTIL, 0.0), series(GR, 0.0)).rows[0]["gr_engine_active_ratio_max"] == 0.0


def test_memory_total_is_measured_before_it_is_added_up(normalised, series):
    rows = normalised(series(USED, 10240.0), series(FREE, 71000.0), series(TOTAL, 81559.0)).rows
    assert rows[0]["memory_total_gib_max"] == 81559 / 1024


def test_memory_total_adds_up_used_free_and_reserved(normalised, series):
    rows = normalised(series(USED, 1024.0), series(FREE, 6604.0), series(RESERVED, 372.0)).rows
    assert rows[0]["memory_total_gib_mean"] == 7.8125  # (1024 + 6604 + 372) / 1024


def test_memory_total_falls_back_to_the_models_size(normalised, series):
    assert normalised(series(USED, 1024.0)).rows[0]["memory_total_gib_max"] == 81559 / 1024


def test_memory_total_of_a_model_nobody_knows_is_unknown(normalised, series):
    assert normalised(series(USED, 1024.0, modelName="NVIDIA Z9")).rows[0]["memory_total_gib_max"] is None


def test_memory_of_nothing_used_and_nothing_free_is_unknown(normalised, series):
    outcome = normalised(series(USED, 0.0), series(FREE, 0.0), series(GR, 0.5))
    assert outcome.rows[0]["memory_used_gib_max"] is None
    assert outcome.findings["memory_all_zero", "GPU-a"]["occurrences"] == 1


def test_zero_memory_of_a_mig_instance_is_unknown(normalised, series):
    outcome = normalised(series(USED, 0.0, GPU_I_ID="3"), series(GR, 0.5, GPU_I_ID="3"))
    assert outcome.rows[0]["memory_used_gib_max"] is None
    assert ("memory_all_zero", "GPU-a/3") in outcome.findings


def test_a_wrong_profile_name_is_the_boards_own(normalised, series):
    rows = normalised(series(GR, 0.5, GPU_I_ID="7", GPU_I_PROFILE="1g.11gb", modelName="NVIDIA H100 NVL")).rows
    assert rows[0]["mig_profile"] == "1g.12gb"


def test_the_profile_of_an_unknown_model_is_kept(normalised, series):
    rows = normalised(series(GR, 0.5, GPU_I_ID="7", GPU_I_PROFILE="1g.9gb", modelName="NVIDIA Z9")).rows
    assert (rows[0]["mig_profile"], rows[0]["gpu_model"]) == ("1g.9gb", "NVIDIA Z9")


def test_amd_partitions_take_activity_and_power_from_the_first_only(normalised, series):
    partitions = [
        {"UUID": None, "gpu_uuid": "amd-1", "gpu_compute_partition_type": "dpx", "gpu_partition_id": number}
        for number in ("0", "1")
    ]
    series_of_both = [
        one
        for labels, watts in zip(partitions, (500.0, 0.0), strict=True)
        for one in (series("amd_gpu_package_power", watts, **labels), series("amd_gpu_used_vram", 2048.0, **labels))
    ]
    rows = normalised(*series_of_both).rows
    assert [(row["mig_instance_id"], row["power_watts_mean"]) for row in rows] == [("0", 500.0), ("1", None)]
