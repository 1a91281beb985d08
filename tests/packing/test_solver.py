"""One program has one answer, and nothing is printed."""

import math

import numpy as np
import pytest

from optimizer.solver import Columns, Limits, Rows, Status, minimise


def columns(cost, upper=math.inf, *, is_integer=True):
    size = len(cost)
    return Columns(np.array(cost, float), np.zeros(size), np.full(size, upper), np.full(size, is_integer))


def rows(*constraints):
    """Build rows from (lower, {column: coefficient}, upper)."""
    entries = [sorted(coefficients.items()) for _, coefficients, _ in constraints]
    return Rows(
        lower=np.array([lower for lower, _, _ in constraints], float),
        upper=np.array([upper for _, _, upper in constraints], float),
        starts=np.cumsum([0, *map(len, entries)])[:-1].astype(np.int32),
        column_indices=np.array([column for row in entries for column, _ in row], np.int32),
        coefficients=np.array([value for row in entries for _, value in row], float),
    )


def test_whole_numbers_cost_more_than_fractions():
    # 2x + y >= 3.5 at cost x + y: 1.75 as a fraction, x = 2 in whole numbers.
    cover = rows((3.5, {0: 2.0, 1: 1.0}, math.inf))
    whole, fraction = minimise(columns([1, 1]), cover), minimise(columns([1, 1], is_integer=False), cover)
    assert (whole.objective, whole.values.tolist(), whole.bound) == (2.0, [2.0, 0.0], 2.0)
    assert (fraction.objective, fraction.bound) == (1.75, 1.75)


def test_an_optimum_is_proved_by_its_bound():
    solution = minimise(columns([3, 2]), rows((4, {0: 1.0, 1: 1.0}, math.inf), (1, {0: 1.0}, math.inf)))
    assert solution.status is Status.OPTIMAL
    assert (solution.objective, solution.gap) == (9.0, 0.0)  # 1 x 3 + 3 x 2


def test_what_cannot_be_is_infeasible_and_has_no_values():
    solution = minimise(columns([1, 1], upper=1), rows((9, {0: 2.0, 1: 1.0}, math.inf)))
    assert solution.status is Status.INFEASIBLE
    assert not solution.has_answer
    assert solution.values.size == 0


def test_a_cost_without_floor_is_unbounded():
    assert minimise(columns([-1, 1]), rows((1, {0: 1.0, 1: 1.0}, math.inf))).status is Status.UNBOUNDED


def test_arrays_that_are_no_program_are_refused_with_their_sizes():
    with pytest.raises(ValueError, match="2 columns, 1 rows, 2 coefficients"):
        minimise(columns([1, 1]), rows((1, {0: 1.0, 7: 1.0}, math.inf)))


def test_a_node_limit_of_zero_still_says_what_it_knows():
    weights = {column: float(weight) for column, weight in enumerate([31, 37, 41, 43, 47, 53, 59, 61])}
    program = columns([-weight for weight in weights.values()], upper=1)
    solution = minimise(program, rows((-math.inf, weights, 170)), Limits(max_nodes=0))
    assert not solution.is_guard_used
    if solution.has_answer:
        assert solution.bound <= solution.objective


def test_the_same_program_has_the_same_answer():
    weights = {column: float(weight) for column, weight in enumerate([31, 37, 41, 43, 47, 53, 59, 61])}
    program = columns([-1] * 8, upper=1)
    answers = {tuple(minimise(program, rows((-math.inf, weights, 170))).values.tolist()) for _ in range(3)}
    assert len(answers) == 1


def test_prints_nothing(capfd):
    minimise(columns([1, 1]), rows((3.5, {0: 2.0, 1: 1.0}, math.inf)))
    assert capfd.readouterr() == ("", "")
