"""Our one door to the integer-programming solver HiGHS: same program in, same answer out, nothing printed."""

from dataclasses import dataclass
from enum import StrEnum

import highspy
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Columns:
    """The variables: one entry per column in every array; an infinite bound is none."""

    cost: Floats
    lower: Floats
    upper: Floats
    is_integer: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rows:
    """
    The constraints lower <= A x <= upper, A stored by rows.

    `starts` has one entry per row: where its entries begin in `column_indices` and `coefficients`.
    """

    lower: Floats
    upper: Floats
    starts: Ints
    column_indices: Ints
    coefficients: Floats


@dataclass(frozen=True, slots=True)
class Limits:
    """
    When to stop. The gaps and the node limit are deterministic; the clock is only a guard against surprises.

    A gap is the distance between the best answer found and the bound no answer can pass; the search stops when
    either gap is reached.
    """

    gap_ratio: float = 0.0
    gap_absolute: float = 1e-6
    max_nodes: int = 20_000
    guard_seconds: float = 60.0


class Status(StrEnum):
    """What became of a program."""

    OPTIMAL = "optimal"  # within the gaps asked for
    FEASIBLE = "feasible"  # a limit came first; the answer holds, the gap says how good it is
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"  # the cost has no floor, or nothing satisfies the rows: presolve may not tell which
    UNSOLVED = "unsolved"  # neither an answer nor a proof that there is none


@dataclass(frozen=True, slots=True)
class Solution:
    """An answer. `values` is empty and `objective` infinite where there is none."""

    values: Floats  # one per column; integers are exact
    objective: float
    bound: float  # no answer can cost less
    status: Status
    is_guard_used: bool  # the clock stopped the search, so another machine may answer otherwise

    @property
    def gap(self) -> float:
        """Return objective less bound, in units of cost."""
        return self.objective - self.bound

    @property
    def has_answer(self) -> bool:
        """Return whether `values` satisfies the program."""
        return self.status in {Status.OPTIMAL, Status.FEASIBLE}


class _SilentHighs(highspy.Highs):
    def enableCallbacks(self) -> None:  # noqa: N802 - the library's name
        """Silence the solver before this first step of its constructor, which prints a banner otherwise."""
        self.setOptionValue("output_flag", False)  # noqa: FBT003 - the library's signature
        super().enableCallbacks()  # type: ignore[no-untyped-call]


def minimise(columns: Columns, rows: Rows, limits: Limits | None = None) -> Solution:
    """
    Return the cheapest x with lower <= x <= upper that meets every row, integer where asked.

    Raises:
        ValueError: the arrays do not describe a program.
    """
    solver = _SilentHighs()  # type: ignore[no-untyped-call]
    _set_options(solver, limits or Limits())
    if solver.passModel(_model(columns, rows)) == highspy.HighsStatus.kError:
        message = (
            f"not a program: {len(columns.cost)} columns, {len(rows.lower)} rows, {len(rows.coefficients)} "
            f"coefficients; expected arrays of matching length, column indices in range, lower <= upper"
        )
        raise ValueError(message)
    solver.run()
    return _solution(solver, columns)


def _set_options(solver: highspy.Highs, limits: Limits) -> None:
    for name, value in (
        ("threads", 1),
        ("random_seed", 0),
        ("mip_rel_gap", limits.gap_ratio),
        ("mip_abs_gap", limits.gap_absolute),
        ("mip_max_nodes", limits.max_nodes),
        ("time_limit", limits.guard_seconds),
    ):
        solver.setOptionValue(name, value)


def _model(columns: Columns, rows: Rows) -> highspy.HighsLp:
    """Return the program as HiGHS takes it in one call; column by column would cost more than the solve."""
    model = highspy.HighsLp()
    model.num_col_ = len(columns.cost)
    model.num_row_ = len(rows.lower)
    model.col_cost_ = columns.cost
    model.col_lower_ = columns.lower
    model.col_upper_ = columns.upper
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    model.integrality_ = [kinds[is_integer] for is_integer in columns.is_integer.tolist()]
    model.row_lower_ = rows.lower
    model.row_upper_ = rows.upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.append(rows.starts, len(rows.coefficients)).astype(np.int32)
    model.a_matrix_.index_ = rows.column_indices
    model.a_matrix_.value_ = rows.coefficients
    return model


def _solution(solver: highspy.Highs, columns: Columns) -> Solution:
    model_status = solver.getModelStatus()
    is_guard_used = model_status == highspy.HighsModelStatus.kTimeLimit
    info = solver.getInfo()
    is_integer_program = bool(columns.is_integer.any())
    bound = info.mip_dual_bound if is_integer_program else info.objective_function_value
    status = _status(
        model_status, has_answer=info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    )
    if status not in {Status.OPTIMAL, Status.FEASIBLE}:
        return Solution(np.empty(0), np.inf, bound, status, is_guard_used)
    values = np.array(solver.getSolution().col_value, dtype=np.float64)
    values = np.where(columns.is_integer, np.rint(values), values)
    return Solution(values, float(columns.cost @ values), bound, status, is_guard_used)


def _status(model_status: highspy.HighsModelStatus, *, has_answer: bool) -> Status:
    outcomes = {
        highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
        highspy.HighsModelStatus.kModelEmpty: Status.OPTIMAL,
        highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
        highspy.HighsModelStatus.kUnbounded: Status.UNBOUNDED,
        highspy.HighsModelStatus.kUnboundedOrInfeasible: Status.UNBOUNDED,
    }
    return outcomes.get(model_status, Status.FEASIBLE if has_answer else Status.UNSOLVED)
