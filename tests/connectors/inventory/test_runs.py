"""Spans of constant value out of samples, seconds."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.inventory.runs import Run, cut, merged, runs_of, widened


def runs(samples):
    return runs_of(np.array([float(at) for at, _ in samples]), np.array([float(value) for _, value in samples]))


def test_equal_neighbours_make_one_run():
    assert runs([(0, 1), (60, 1), (120, 1), (180, 0)]) == ([Run(0, 120, 1), Run(180, 180, 0)], 60.0)


def test_a_missed_scrape_is_bridged_and_a_longer_gap_is_not():
    assert runs([(0, 1), (60, 1), (120, 1), (240, 1), (300, 1)])[0] == [Run(0, 300, 1)]
    assert runs([(0, 1), (60, 1), (120, 1), (300, 1), (360, 1)])[0] == [Run(0, 120, 1), Run(300, 360, 1)]


def test_order_repeats_and_stale_marks_do_not_matter():
    assert runs([(120, 1), (0, 1), (60, 1), (60, 0), (180, np.nan)])[0] == [Run(0, 120, 1)]


def test_a_series_without_samples_has_no_runs():
    assert runs([(0, np.nan)]) == ([], None)
    assert runs([]) == ([], None)


def test_two_samples_do_not_show_a_scrape_interval():
    assert runs([(0, 1), (7200, 1)]) == ([Run(0, 0, 1), Run(7200, 7200, 1)], None)


def test_copies_of_a_series_count_once():
    assert merged([Run(0, 300, 2), Run(15, 315, 2)], 150) == [Run(0, 315, 2)]


def test_the_larger_value_wins_where_two_claim_a_time():
    assert merged([Run(0, 300, 1), Run(100, 200, 2)], 0) == [Run(0, 100, 1), Run(100, 200, 2), Run(200, 300, 1)]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20), st.integers(1, 3)), max_size=8), st.integers(0, 5))
def test_merged_runs_never_overlap_and_cover_what_was_seen(spans, gap):
    given_runs = [Run(float(start), float(start + length), float(value)) for start, length, value in spans]
    found = merged(given_runs, float(gap))
    assert all(earlier.end <= later.start for earlier, later in pairwise(found))
    for run in given_runs:
        covered = sum(piece.end - piece.start for piece in cut(found, run.start, run.end))
        assert covered == pytest.approx(run.end - run.start)


def test_widened_runs_stop_at_their_neighbours():
    assert widened([Run(100, 200, 1), Run(220, 300, 2)], 50) == [Run(50, 220, 1), Run(220, 350, 2)]
    assert widened([Run(100, 200, 1), Run(260, 300, 2)], 50) == [Run(50, 250, 1), Run(250, 350, 2)]


def test_cutting_drops_what_has_no_length():
    assert cut([Run(0, 10, 1), Run(10, 20, 1)], 5, 10) == [Run(5, 10, 1)]
