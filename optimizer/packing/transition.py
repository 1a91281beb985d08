"""From how GPUs are cut and used now to fewer GPUs, moving few instances: an integer program over GPU states."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.catalog.mig import MigBoard
from optimizer.packing.layouts import Geometry, Layout, geometry
from optimizer.packing.patterns import pack
from optimizer.solver import Columns, Limits, Rows, Solution, minimise

Floats = npt.NDArray[np.float64]

# A few hundred GPUs to the optimum; 10,000 to within 5. Asking for more costs minutes and frees no more.
_LIMITS = Limits(gap_ratio=5e-4, max_nodes=500, guard_seconds=60.0)


@dataclass(frozen=True, slots=True, order=True)
class GpuState:
    """How one GPU is cut now. Slices that overlap or stick out are an error of the caller's."""

    used: Layout = ()  # slices whose instance stays on that profile; one that is to change it is spare here
    spare: Layout = ()  # slices that exist and hold nothing that counts


@dataclass(frozen=True, slots=True)
class TransitionPolicy:
    """What a change is worth."""

    gpus_per_move: float = 0.02  # moving 50 instances must free a GPU
    gpus_per_reconfiguration: float = 0.001  # between equals, leave GPUs as they are cut
    max_moves: int | None = None
    is_gpu_cleared: bool = False  # any change of a GPU's layout empties it first, as mig-manager does
    limits: Limits = _LIMITS


@dataclass(frozen=True, slots=True)
class Target:
    """What becomes of some GPUs that are in the same state."""

    state: GpuState
    layout: Layout  # how each is cut then; empty for a GPU that is freed
    moves: int  # instances that leave their slice, per GPU
    gpu_count: int

    @property
    def is_reconfigured(self) -> bool:
        """Return whether the GPU stays in service under another layout."""
        return bool(self.layout) and self.layout != _present(self.state)


@dataclass(frozen=True, slots=True)
class Transition:
    """A way from the present layouts to slices for the whole demand."""

    targets: tuple[Target, ...]  # every GPU once, by state
    gpus_before: int  # with at least one used slice
    gpus_after: int  # still cut
    moves: int
    reconfigurations: int
    fewest_gpus: int  # bound: no layout serves the demand on fewer, whatever is moved
    cost_gpus: float  # GPUs kept + moves + reconfigurations at the policy's rates
    cost_bound_gpus: float  # no transition under this policy costs less
    is_guard_used: bool

    @property
    def gpus_freed(self) -> int:
        """Return by how many GPUs the use shrinks."""
        return self.gpus_before - self.gpus_after


@dataclass(frozen=True, slots=True)
class _Task:
    """What is asked, states merged and sorted so that the order of the GPUs cannot matter."""

    cut: Geometry
    states: tuple[GpuState, ...]
    gpu_counts: tuple[int, ...]  # of each state
    wanted: tuple[int, ...]  # slices, in the order of cut.names
    policy: TransitionPolicy


@dataclass(frozen=True, slots=True)
class _Column:
    """One choice for the GPUs of one state."""

    state: int
    layout: Layout
    moves: int
    is_reconfigured: bool


def transition(
    board: MigBoard, states: Sequence[GpuState], demand: Mapping[str, int], policy: TransitionPolicy | None = None
) -> Transition | None:
    """
    Return the cheapest way to serve the demand on these GPUs, or None when they cannot hold it.

    Args:
        board: The geometry of the GPUs, all alike.
        states: One per GPU, uncut ones included; their order does not matter.
        demand: Slices wanted by profile name, those in use included.
        policy: Prices of a move and a reconfiguration in GPUs, and a limit on moves.

    Raises:
        ValueError: a slice stands where the board allows none, or more of a profile is in use than demanded.

    Source: state-to-layout program, one column per present state and target layout. A freed GPU costs nothing; slices
    that keep profile and place do not move. Doing nothing is the fallback, so the answer never costs more than that.
    """
    gpus_by_state = Counter(GpuState(tuple(sorted(one.used)), tuple(sorted(one.spare))) for one in states)
    _check(board, gpus_by_state, demand)
    cut = geometry(board, frozenset(name for name, count in demand.items() if count))
    distinct = tuple(sorted(gpus_by_state))
    gpu_counts = tuple(gpus_by_state[state] for state in distinct)
    wanted = tuple(demand[name] for name in cut.names)
    task = _Task(cut, distinct, gpu_counts, wanted, policy or TransitionPolicy())
    columns = _columns(task)
    solution = _solve(task, columns)
    values = _best_answer(task, columns, solution)
    if values is None:
        return None
    targets = tuple(
        Target(distinct[column.state], column.layout, column.moves, int(gpu_count))
        for column, gpu_count in zip(columns, values, strict=True)
        if gpu_count
    )
    return _transition(task, targets, pack(board, demand).bound, solution)


def _check(board: MigBoard, gpus_by_state: Mapping[GpuState, int], demand: Mapping[str, int]) -> None:
    in_use: Counter[str] = Counter()
    for state, gpu_count in sorted(gpus_by_state.items()):
        slices = _present(state)
        cut = geometry(board, frozenset(placed.profile for placed in slices))
        if len(set(slices)) < len(slices) or not any(set(slices) <= set(layout) for layout in cut.maximal_layouts):
            message = f"{board.name} cannot be cut as {slices}; expected slices that the board places side by side"
            raise ValueError(message)
        for placed in state.used:
            in_use[placed.profile] += gpu_count
    wanted = Counter(demand)
    for name, count in sorted(in_use.items()):
        if count > wanted[name]:
            message = f"{board.name}: {count} {name} in use, {wanted[name]} demanded; expected at least as many"
            raise ValueError(message)


def _present(state: GpuState) -> Layout:
    """Return all slices the GPU is cut into now, by start."""
    return tuple(sorted((*state.used, *state.spare)))


def _columns(task: _Task) -> list[_Column]:
    """Return for each state: free the GPU, leave it as it is, and every other layout that could be best."""
    layouts = task.cut.maximal_layouts
    contents = np.array([task.cut.counts_of(layout) for layout in layouts])
    # covers[i, j]: layout j has at least the slices of layout i, so that i is no better at as many moves.
    covers = (contents[None, :, :] >= contents[:, None, :]).all(axis=2)
    is_twin = covers & covers.T
    is_later = np.tri(len(layouts), k=-1, dtype=np.bool_)  # [i, j]: i comes after j; of twins the first stays
    columns: list[_Column] = []
    for index, state in enumerate(task.states):
        present = _present(state)
        columns.append(_Column(index, (), len(state.used), is_reconfigured=False))
        if present:
            columns.append(_Column(index, present, 0, is_reconfigured=False))
        moves = _moves(task, state)
        is_fewer = moves[None, :] < moves[:, None]
        is_as_few = moves[None, :] <= moves[:, None]
        is_beaten = (covers & is_as_few & (~is_twin | is_fewer | is_later)).any(axis=1)
        columns.extend(
            _Column(index, layouts[position], int(moves[position]), is_reconfigured=True)
            for position in np.flatnonzero(~is_beaten).tolist()
            if layouts[position] not in {(), present}
        )
    return columns


def _moves(task: _Task, state: GpuState) -> npt.NDArray[np.int64]:
    """Return how many instances each of the maximal layouts makes leave their slice."""
    layouts = task.cut.maximal_layouts
    if task.policy.is_gpu_cleared:
        return np.full(len(layouts), len(state.used), dtype=np.int64)
    used = set(state.used)
    return np.array([len(used.difference(layout)) for layout in layouts], dtype=np.int64)


def _solve(task: _Task, columns: Sequence[_Column]) -> Solution:
    program = Columns(
        cost=_costs(task, columns),
        lower=np.zeros(len(columns)),
        upper=np.array([task.gpu_counts[column.state] for column in columns], dtype=np.float64),
        is_integer=np.ones(len(columns), dtype=np.bool_),
    )
    return minimise(program, _rows(task, columns), task.policy.limits)


def _costs(task: _Task, columns: Sequence[_Column]) -> Floats:
    policy = task.policy
    return np.array(
        [
            bool(column.layout)
            + policy.gpus_per_move * column.moves
            + policy.gpus_per_reconfiguration * column.is_reconfigured
            for column in columns
        ],
        dtype=np.float64,
    )


def _rows(task: _Task, columns: Sequence[_Column]) -> Rows:
    """Return the constraints: every GPU once, enough slices of each profile, and the limit on moves."""
    shared = _shared_rows(task, columns)
    shared_rows, shared_indices = np.nonzero(shared)
    states = np.array([column.state for column in columns])  # ascending: a state's columns lie together
    most_moves = np.inf if task.policy.max_moves is None else task.policy.max_moves
    starts_of_shared = len(columns) + np.searchsorted(shared_rows, np.arange(len(shared)))
    return Rows(
        lower=np.array([*task.gpu_counts, *task.wanted, 0], dtype=np.float64),
        upper=np.array([*task.gpu_counts, *(np.inf for _ in task.wanted), most_moves], dtype=np.float64),
        starts=np.concatenate([np.searchsorted(states, np.arange(len(task.states))), starts_of_shared]).astype(
            np.int32
        ),
        column_indices=np.concatenate([np.arange(len(columns)), shared_indices]).astype(np.int32),
        coefficients=np.concatenate([np.ones(len(columns)), shared[shared_rows, shared_indices]]),
    )


def _shared_rows(task: _Task, columns: Sequence[_Column]) -> Floats:
    """Return slices by profile and, last, moves: shape (profiles + 1, columns)."""
    rows = [(*task.cut.counts_of(column.layout), column.moves) for column in columns]
    return np.array(rows, dtype=np.float64).reshape(len(columns), len(task.wanted) + 1).T


def _best_answer(task: _Task, columns: Sequence[_Column], solution: Solution) -> Floats | None:
    """Return the cheaper of the solver's answer and leaving every GPU as it is; None when neither serves."""
    stay = np.array(
        [
            task.gpu_counts[column.state]
            if column.layout == (_present(task.states[column.state]) if task.states[column.state].used else ())
            else 0
            for column in columns
        ],
        dtype=np.float64,
    )
    serves = bool((_shared_rows(task, columns)[:-1] @ stay >= task.wanted).all())
    if not solution.has_answer:
        return stay if serves else None
    return stay if serves and float(_costs(task, columns) @ stay) < solution.objective else solution.values


def _transition(task: _Task, targets: tuple[Target, ...], fewest_gpus: int, solution: Solution) -> Transition:
    gpus_after = sum(target.gpu_count for target in targets if target.layout)
    moves = sum(target.moves * target.gpu_count for target in targets)
    reconfigurations = sum(target.gpu_count for target in targets if target.is_reconfigured)
    policy = task.policy
    return Transition(
        targets=targets,
        gpus_before=sum(count for state, count in zip(task.states, task.gpu_counts, strict=True) if state.used),
        gpus_after=gpus_after,
        moves=moves,
        reconfigurations=reconfigurations,
        fewest_gpus=fewest_gpus,
        cost_gpus=gpus_after + policy.gpus_per_move * moves + policy.gpus_per_reconfiguration * reconfigurations,
        cost_bound_gpus=solution.bound,
        is_guard_used=solution.is_guard_used,
    )
