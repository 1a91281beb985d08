"""What a workload held, and when that is too little to act on."""

from datetime import datetime, timedelta

import polars as pl
import pytest

from models.holding import (
    doubt_about,
    holding_of,
    keep_doubt,
    observed_devices,
    rarely_held,
    too_young,
    unobserved_device,
)

START = datetime(2026, 11, 1)  # noqa: DTZ001, naive UTC as the marts have it
SCHEMA = {
    "node": pl.String, "gpu_uuid": pl.String, "mig_instance_id": pl.String, "hour_start": pl.Datetime("us"),
    "held_gpu_hours": pl.Float64, "unknown_gpu_hours": pl.Float64, "is_stuck": pl.Boolean, "telemetry_level": pl.Int32,
    "activity_max": pl.Float64, "memory_used_gib_max": pl.Float64,
}  # fmt: skip
HOUR = {
    "node": "n1", "gpu_uuid": "gpu-0", "mig_instance_id": "", "held_gpu_hours": 1.0, "unknown_gpu_hours": 0.0,
    "is_stuck": False, "telemetry_level": 3, "activity_max": 0.0, "memory_used_gib_max": 0.1,
}  # fmt: skip
UNSEEN = {"unknown_gpu_hours": 1.0, "is_stuck": None, "activity_max": None, "memory_used_gib_max": None}
STUCK = {"unknown_gpu_hours": 1.0, "is_stuck": True}
UNNAMED = UNSEEN | {"gpu_uuid": None, "mig_instance_id": None}


def hours(count, first=0, **more):
    return [HOUR | more | {"hour_start": START + timedelta(hours=first + number)} for number in range(count)]


def holding(*parts):
    return holding_of(pl.DataFrame([row for part in parts for row in part], schema=SCHEMA))


def code(doubt):
    return None if doubt is None else doubt.code


def test_adds_up_what_was_held_seen_stuck_and_unnamed():
    # 100 hours of one GPU, 6 of them unseen and 3 stuck; 2 hours of a device nobody names
    held = holding(hours(91), hours(6, 91, **UNSEEN), hours(3, 97, **STUCK), hours(2, 100, **UNNAMED))
    assert (held.held_hours, held.observed_hours, held.stuck_hours, held.unnamed_hours) == (102.0, 91.0, 3.0, 2.0)
    assert held.first_held == START


def test_gives_one_row_for_each_device_with_its_peaks():
    held = holding(
        hours(2, activity_max=0.2, memory_used_gib_max=5.0), hours(1, 2, activity_max=0.7, memory_used_gib_max=1.0),
        hours(3, mig_instance_id="1", held_gpu_hours=0.25, activity_max=None),
        hours(1, **UNNAMED),
    )  # fmt: skip
    columns = ("gpu_uuid", "mig_instance_id", "held_hours", "observed_hours", "activity_max")
    assert held.devices.select(columns).rows() == [
        ("gpu-0", "", 3.0, 3.0, 0.7), ("gpu-0", "1", 0.75, 0.75, None),
    ]  # fmt: skip
    assert held.devices.get_column("memory_used_gib_max").to_list() == [5.0, 0.1]


def test_counts_days_not_hours():
    assert holding(hours(1), hours(1, 23), hours(1, 24), hours(1, 24 * 9)).held_days == 3


def test_nothing_held_is_a_holding_of_nothing():
    empty = holding()
    assert (empty.first_held, empty.held_hours, empty.held_days, empty.devices.height) == (None, 0.0, 0, 0)
    assert code(doubt_about(empty, 0.95)) == "holds_nothing"
    assert code(too_young(empty, START, 14)) == "holds_nothing"


def test_the_order_of_rows_does_not_matter():
    rows = hours(30) + hours(30, gpu_uuid="gpu-1", activity_max=0.5)
    first, again = holding(rows), holding(rows[::-1])
    assert first.devices.equals(again.devices)
    assert (first.held_hours, first.first_held) == (again.held_hours, again.first_held)


@pytest.mark.parametrize(("unseen", "doubt"), [(0, None), (5, None), (6, "telemetry_missing")])
def test_five_hours_of_a_hundred_may_be_unknown(unseen, doubt):
    assert code(doubt_about(holding(hours(100 - unseen), hours(unseen, 100, **UNSEEN)), 0.95)) == doubt


@pytest.mark.parametrize(
    ("parts", "doubt"),
    [
        ((6, 4, 0), "stuck_telemetry"), ((4, 6, 0), "telemetry_missing"), ((0, 4, 6), "device_unknown"),
        ((4, 3, 3), "telemetry_missing"),
    ],
)  # fmt: skip
def test_names_the_main_reason_why_hours_are_unknown(parts, doubt):
    stuck, unseen, unnamed = parts
    held = holding(hours(20), hours(stuck, 20, **STUCK), hours(unseen, 20, **UNSEEN), hours(unnamed, 20, **UNNAMED))
    assert code(doubt_about(held, 0.95)) == doubt


def test_full_coverage_is_reached_in_spite_of_rounding():
    thirds = [HOUR | {"held_gpu_hours": 1 / 3, "hour_start": START + timedelta(hours=number)} for number in range(700)]
    assert doubt_about(holding(thirds), 1.0) is None


def test_hours_nobody_can_tell_from_are_unknown_not_observed():
    assert holding(hours(10, unknown_gpu_hours=None)).observed_hours == 0.0


def test_a_device_is_observed_by_its_own_hours():
    held = holding(
        hours(95), hours(5, 95, **UNSEEN), hours(94, gpu_uuid="gpu-1"), hours(6, 94, gpu_uuid="gpu-1", **UNSEEN)
    )
    assert observed_devices(held, 0.95).get_column("gpu_uuid").to_list() == ["gpu-0"]


@pytest.mark.parametrize(
    ("hour", "doubt"),
    [({}, None), (UNSEEN, "telemetry_missing"), ({"activity_max": None}, "telemetry_missing")],
)
def test_one_unobserved_device_among_many_is_named(hour, doubt):
    many = [hours(100, gpu_uuid=f"gpu-{number:02}") for number in range(40)]
    found = unobserved_device(holding(*many, hours(100, gpu_uuid="gpu-dark", **hour)), 0.95)  # 1 of 41 devices: 2 %
    assert code(found) == doubt
    assert found is None or "1 of the 41 devices it held, such as gpu-dark on n1," in found.reason


@pytest.mark.parametrize(("days", "doubt"), [(14, None), (13.99, "too_young"), (100, None)])
def test_is_old_enough_after_so_many_days(days, doubt):
    assert code(too_young(holding(hours(1)), START + timedelta(days=days), 14)) == doubt


@pytest.mark.parametrize(("days", "doubt"), [(10, None), (9, "rarely_held")])
def test_five_days_of_seven_are_enough(days, doubt):
    held = holding([hour for day in range(days) for hour in hours(1, 24 * day)])
    assert code(rarely_held(held, 14)) == doubt


@pytest.mark.parametrize("annotations", [None, "", "{}", '{"earnkeep.dev/keep": "False"}', '{"a": "b"}'])
def test_nobody_asked_to_keep_it(annotations):
    assert keep_doubt(annotations) is None


def test_quotes_what_a_person_wrote():
    doubt = keep_doubt('{"earnkeep.dev/keep": "licence"}')
    assert (doubt.code, "'licence'" in doubt.reason) == ("kept_on_purpose", True)


@pytest.mark.parametrize("annotations", ["{", "[1]", "3", "null", "nonsense"])
def test_annotations_that_are_no_object_are_in_doubt(annotations):
    doubt = keep_doubt(annotations)
    assert doubt.code == "annotations_unreadable"
    assert annotations in doubt.reason
