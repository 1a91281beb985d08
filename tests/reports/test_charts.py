"""Drawings are small, follow the page's colours and look the same on every machine."""

from datetime import UTC, datetime, timedelta

import pytest

from reports.advice import ChartLine, ChartSeries
from reports.charts import activity_chart, sparkline


def series(*values, name="GPUs used"):
    start = datetime(2026, 10, 1, tzinfo=UTC)
    instants = tuple(start + timedelta(hours=i) for i in range(len(values)))
    held = ChartLine("GPUs held", (4.0,) * len(values))
    return ChartSeries("<b>GPUs</b>", "GPUs", instants, (held, ChartLine(name, values)))


@pytest.fixture(scope="module")
def restless():
    return series(*[(i * 37 % 41) / 10 for i in range(400)])


def test_the_busiest_chart_stays_small(restless):
    assert len(activity_chart(restless)) < 20_000


def test_a_chart_takes_its_colours_from_the_page(restless):
    svg = activity_chart(restless)
    assert "var(--accent)" in svg
    assert "var(--used)" in svg


def test_a_chart_needs_nothing_from_outside(restless):
    assert "http" not in activity_chart(restless)


def test_the_same_series_gives_the_same_bytes(restless):
    assert activity_chart(restless) == activity_chart(restless)


def test_a_title_is_escaped(restless):
    assert '<svg role="img" aria-label="&lt;b&gt;GPUs&lt;/b&gt;"' in activity_chart(restless)


def test_a_gap_splits_the_line():
    gap = activity_chart(series(0.0, 0.0, None, None, 0.0, 0.0))
    whole = activity_chart(series(0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    line = 'stroke="var(--accent)"'
    assert gap.split(line)[0].rsplit("<path", 1)[1].count("M") == 2
    assert whole.split(line)[0].rsplit("<path", 1)[1].count("M") == 1


def test_a_sparkline_is_at_most_two_kilobytes():
    values = tuple((i * 37 % 41) / 10 for i in range(60))
    assert len(sparkline((ChartLine("a", values), ChartLine("b", values[::-1])))) <= 2_048


def test_a_sparkline_of_nothing_is_nothing():
    assert sparkline((ChartLine("a", (None, None)),)) == ""
    assert sparkline(()) == ""


def test_a_flat_sparkline_is_two_points():
    assert 'd="M0 21L112 21"' in sparkline((ChartLine("a", (1.0,) * 9), ChartLine("b", (0.0,) * 9)))
