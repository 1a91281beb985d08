import pytest

from models.domain.errors import ConfigError

UTIL, UTIL_RATIO = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO"
USED = "DCGM_FI_DEV_FB_USED"


def test_percent_becomes_a_ratio(normalised, series):
    (row,) = normalised(series(UTIL, 40.0, 60.0)).rows
    assert (row["gpu_util_ratio_mean"], row["gpu_util_ratio_max"], row["gpu_util_ratio_samples"]) == (0.5, 0.6, 2)


def test_a_name_that_says_ratio_is_percent_when_its_values_are(normalised, series):
    assert normalised(series(UTIL_RATIO, 0.0, 80.0)).rows[0]["gpu_util_ratio_max"] == 0.8


def test_a_name_that_means_percent_is_a_ratio_when_its_values_have_fractions(normalised, series):
    assert normalised(series(UTIL, 0.0, 0.25)).rows[0]["gpu_util_ratio_max"] == 0.25


def test_unit_is_judged_over_all_gpus_of_a_target(normalised, series):
    idle, busy = series(UTIL_RATIO, 1.0, 0.0), series(UTIL_RATIO, 90.0, 95.0, UUID="GPU-b")
    outcome = normalised(idle, busy)
    assert outcome.rows[0]["gpu_util_ratio_max"] == 0.01
    assert outcome.findings == {}


def test_another_target_may_have_another_unit(normalised, series):
    old = series(UTIL_RATIO, 50.0, instance="10.0.0.1:9400")
    new = series(UTIL_RATIO, 0.5, instance="10.0.0.2:9400", UUID="GPU-b")
    assert [row["gpu_util_ratio_max"] for row in normalised(old, new).rows] == [0.5, 0.5]


def test_another_day_may_have_another_unit(normalised, series):
    old, new = series(UTIL_RATIO, 50.0), series(UTIL_RATIO, 0.5, minute=24 * 60)
    assert [row["gpu_util_ratio_max"] for row in normalised(old, new).rows] == [0.5, 0.5]


def test_zeros_and_ones_take_the_unit_of_the_catalogue_and_are_marked_assumed(normalised, series):
    outcome = normalised(series(UTIL, 0.0, 1.0))
    assert outcome.rows[0]["gpu_util_ratio_max"] == 0.01
    assert outcome.findings["unit_assumed", UTIL]["occurrences"] == 2


def test_zeros_alone_need_no_unit(normalised, series):
    outcome = normalised(series(UTIL, 0.0, 0.0))
    assert outcome.rows[0]["gpu_util_ratio_max"] == 0.0
    assert outcome.findings == {}


def test_percent_where_a_ratio_is_due_is_not_used_and_said(normalised, series):
    outcome = normalised(series("DCGM_FI_PROF_SM_ACTIVE", 35.5, 80.25), series(UTIL, 50.0))
    assert outcome.rows[0]["sm_active_ratio_max"] is None
    assert outcome.findings["unit_unclear", "DCGM_FI_PROF_SM_ACTIVE"]["occurrences"] == 2


def test_percents_and_ratios_of_one_target_and_day_are_unclear(normalised, series):
    outcome = normalised(series(UTIL, 0.3, 0.4, 55.0, 60.0))
    assert outcome.rows == []
    assert ("unit_unclear", UTIL) in outcome.findings


def test_memory_in_mib_and_in_bytes_gives_the_same_gib(normalised, series):
    mib, byte = series(USED, 40960.0), series(USED, 40960.0 * 2**20, instance="10.0.0.2:9400", UUID="GPU-b")
    assert [row["memory_used_gib_max"] for row in normalised(mib, byte).rows] == [40.0, 40.0]


def test_memory_in_both_units_is_unclear(normalised, series):
    assert ("unit_unclear", USED) in normalised(series(USED, 40960.0, 40960.0 * 2**20)).findings


def test_milliwatts_become_watts(normalised, series):
    row = normalised(series("nvidia_gpu_power_usage_milliwatts", 65_000.0)).rows[0]
    assert row["power_watts_mean"] == 65.0


def test_a_users_own_name_is_understood(normalised, series):
    outcome = normalised(series("site:gpu_busy", 30.0), extra_metric_names={"site:gpu_busy": "gpu_util_ratio percent"})
    assert outcome.rows[0]["gpu_util_ratio_max"] == 0.3


@pytest.mark.parametrize("meaning", ["gpu_util_ratio", "gpu_busy percent", "gpu_util_ratio watt"])
def test_a_users_own_name_with_a_wrong_meaning_is_refused_with_the_known_ones(normalised, series, meaning):
    with pytest.raises(ConfigError, match=r"site_busy.*gpu_util_ratio percent\|ratio"):
        normalised(series("site_busy", 1.0), extra_metric_names={"site_busy": meaning})


def test_an_unknown_gpu_metric_is_reported_once_and_other_metrics_are_counted(normalised, series):
    outcome = normalised(
        series("DCGM_FI_DEV_NEW_THING", 1.0, 2.0),
        series("go_goroutines", 9.0, UUID=None),
        series("up", 1.0, UUID=None),
        series("DCGM_FI_DEV_SM_CLOCK", 1410.0),
    )
    counts = {key: finding["occurrences"] for key, finding in outcome.findings.items()}
    assert counts == {("unknown_metric", "DCGM_FI_DEV_NEW_THING"): 2, ("ignored_metrics", "other metrics"): 2}
