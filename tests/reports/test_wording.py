"""Numbers as people read them."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from models.domain.recommendation import Risk, Step
from models.domain.window import Window
from reports import wording


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (1234567.4, "$1,234,567"),
        (Decimal("12.5"), "$12"),
        (3.456, "$3.46"),
        (0, "$0"),
        (-250.2, "\u2212$250"),
        (None, "unknown"),
    ],
)
def test_dollars_are_whole_where_cents_say_nothing(amount, text):
    assert wording.usd(amount) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Decimal("1234567.891"), "1,234,567.89"),
        (Decimal("0.000001"), "under 0.01"),
        (Decimal("-0.000001"), "under 0.01"),
        (Decimal("-148.02"), "\u2212148.02"),
        (Decimal("0E-15"), "0.00"),
        (None, "unknown"),
    ],
)
def test_the_reconciliation_shows_cents(amount, text):
    assert wording.cents(amount) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.1234, "12.3%"), (0.0002, "under 0.1%"), (0.0, "0.0%"), (None, "unknown")]
)
def test_ratios_are_percent(ratio, text):
    assert wording.percent(ratio) == text


@pytest.mark.parametrize(("value", "text"), [(54092.3, "54,092"), (2.5, "2.5"), (2.0, "2"), (None, "unknown")])
def test_counts_have_thousands_separators(value, text):
    assert wording.number(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(0.0031, "ratio", "0.3%"), (9.5, "GiB", "9.5 GiB"), (712.0, "hours", "712 hours"), (7.4, "USD_per_hour", None)],
)
def test_evidence_has_its_unit(value, unit, text):
    assert wording.quantity(value, unit) == (text or "$7.40 per hour")


def test_a_window_ends_on_its_last_day():
    october = Window(datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC))
    assert wording.days(october) == "1 Oct 2026 to 31 Oct 2026"


def test_one_is_not_plural():
    assert (wording.plural(1, "node"), wording.plural(2, "node")) == ("1 node", "2 nodes")


def test_every_step_and_risk_has_words():
    assert set(wording.STEPS) == set(Step)
    assert set(wording.RISKS) == set(Risk)


def test_acronyms_stay_acronyms():
    assert wording.heading("idle_gpus") == "Idle GPUs"
    assert wording.heading("mig_consolidation") == "MIG consolidation"
