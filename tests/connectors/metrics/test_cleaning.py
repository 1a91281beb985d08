import math

import pytest

UTIL, SM, USED, POWER = (
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_POWER_USAGE",
)


@pytest.mark.parametrize(
    "case",  # name, good value, bad value, finding
    [
        (UTIL, 50.0, 2147483632.0, "dropped_blank"),
        (UTIL, 50.0, 9223372036854775794.0, "dropped_blank"),
        (UTIL, 50.0, 4294967295.0, "dropped_unsigned_minus_one"),
        (UTIL, 50.0, 18446744073709551615.0, "dropped_unsigned_minus_one"),
        (UTIL, 50.0, 808334905.0, "dropped_out_of_range"),
        (UTIL, 50.0, 2619.0, "dropped_out_of_range"),
        (UTIL, 50.0, 101.0, "dropped_out_of_range"),
        (UTIL, 50.0, math.nan, "dropped_nan"),
        (UTIL, 50.0, math.inf, "dropped_infinite"),
        (UTIL, 50.0, -1.0, "dropped_negative"),
        (SM, 0.5, 140737488355328.0, "dropped_blank"),
        (SM, 0.5, 14073748835532800.0, "dropped_blank"),
        (USED, 40960.0, 2147483635.0, "dropped_blank"),
        (POWER, 300.0, 9223372036854776000.0, "dropped_blank"),
        (POWER, 300.0, 5000.0, "dropped_out_of_range"),
    ],
)
def test_drops_and_counts_what_is_no_reading(normalised, series, case):
    name, good, bad, code = case
    with_bad = normalised(series(name, *[good] * 200, bad, step_minutes=0.01))
    assert with_bad.rows == normalised(series(name, *[good] * 200, step_minutes=0.01)).rows
    assert with_bad.findings[code, name]["occurrences"] == 1
    assert with_bad.findings[code, name]["observed_from"] == with_bad.findings[code, name]["observed_to"]


def test_two_gib_in_bytes_is_no_blank(normalised, series):
    # 2147483648 bytes are 2 GiB, one byte over DCGM's largest 32-bit blank
    row = normalised(series("DCGM_FI_DEV_FB_USED_BYTES", 2147483648.0, 2147483632.0)).rows[0]
    assert row["memory_used_gib_max"] == 2.0
    assert row["memory_used_gib_samples"] == 2


def test_more_than_a_percent_dropped_is_a_finding_of_its_own(normalised, series):
    assert ("much_dropped", UTIL) not in normalised(series(UTIL, *[50.0] * 99, 50.0, 4294967295.0)).findings
    few = normalised(series(UTIL, *[50.0] * 50, 4294967295.0))
    assert few.findings["much_dropped", UTIL]["message"].startswith("2.0 %")  # 1 of 51


@pytest.mark.parametrize(("value", "is_counted"), [(1.0003, False), (1.05, False), (1.2, True), (1.5, True)])
def test_a_ratio_a_little_over_one_is_one(normalised, series, value, is_counted):
    outcome = normalised(series(SM, 0.5, value))
    assert outcome.rows[0]["sm_active_ratio_max"] == 1.0
    assert (("clamped_over_one", SM) in outcome.findings) == is_counted


def test_a_stray_ratio_over_one_and_a_half_is_dropped_and_not_taken_for_percent(normalised, series):
    outcome = normalised(series(SM, *[0.5] * 200, 1.6))
    assert outcome.rows[0]["sm_active_ratio_max"] == 0.5
    assert ("dropped_out_of_range", SM) in outcome.findings


def test_blanks_of_metrics_that_are_not_stored_are_counted_too(normalised, series):
    outcome = normalised(series("DCGM_FI_DEV_MEMORY_TEMP", 9223372036854775794.0))
    assert outcome.rows == []
    assert outcome.findings["dropped_blank", "DCGM_FI_DEV_MEMORY_TEMP"]["occurrences"] == 1


def test_a_bucket_of_blanks_only_is_unknown_and_not_zero(normalised, series):
    outcome = normalised(series(POWER, 300.0), series(UTIL, 4294967295.0))
    assert outcome.rows[0]["gpu_util_ratio_mean"] is None
    assert outcome.rows[0]["gpu_util_ratio_samples"] == 0
