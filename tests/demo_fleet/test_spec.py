from datetime import UTC, datetime, timedelta, timezone

import pytest

from optimizer.demo_fleet import FleetSpec

MIDNIGHT = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "as_of",
    [MIDNIGHT.replace(tzinfo=None), MIDNIGHT + timedelta(hours=1), MIDNIGHT.astimezone(timezone(timedelta(hours=7)))],
)
def test_refuses_an_instant_that_is_not_midnight_utc(as_of):
    with pytest.raises(ValueError, match="midnight UTC"):
        FleetSpec(seed=1, as_of=as_of)


def test_refuses_a_fleet_too_small_to_hold_anything():
    with pytest.raises(ValueError, match="at least 24 GPUs"):
        FleetSpec(seed=1, as_of=MIDNIGHT, gpus=23)


def test_refuses_a_step_that_does_not_divide_an_hour():
    with pytest.raises(ValueError, match="must divide an hour, got 700 s"):
        FleetSpec(seed=1, as_of=MIDNIGHT, telemetry_step_seconds=700)
