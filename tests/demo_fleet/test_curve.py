from datetime import UTC, datetime

import numpy as np

from optimizer.demo_fleet.curve import IDLE, WORKDAYS, Curve

MONDAY = datetime(2026, 11, 30, tzinfo=UTC)


def test_office_hours_are_worked_on_workdays_only():
    curve = Curve(0.5, days=WORKDAYS, from_hour=9, to_hour=12)
    at_work = curve.is_at_work(np.arange(24 * 7), MONDAY)
    assert at_work.sum() == 15  # three hours on five days
    assert at_work[9:12].all()
    assert not at_work[24 * 5 :].any()


def test_an_idle_device_never_works():
    assert not IDLE.is_at_work(np.arange(48), MONDAY).any()
