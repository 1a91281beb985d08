"""Fewer GPUs by few moves, from where things stand."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.catalog.mig import board_of
from optimizer.packing.layouts import geometry
from optimizer.packing.mig import GpuState, PlacedSlice, TransitionPolicy, pack, transition

H100 = board_of("NVIDIA H100 80GB HBM3")
NAMES = ("1g.10gb", "2g.20gb", "3g.40gb")
LAYOUTS = sorted(geometry(H100, frozenset(NAMES)).layout_by_counts.values())
fleets = st.lists(st.sampled_from(LAYOUTS), max_size=12).map(lambda used: [GpuState(layout) for layout in used])
few = settings(max_examples=25, deadline=None, derandomize=True)


def placed(*slices):
    return tuple(PlacedSlice(start, profile) for profile, start in slices)


def in_use(states):
    return Counter(one.profile for state in states for one in state.used)


SPARE_AFTER_CHURN = [
    GpuState(used=placed(("3g.40gb", 0))),
    GpuState(used=placed(("3g.40gb", 4))),
    GpuState(used=placed(("1g.10gb", 0), ("1g.10gb", 1))),
]


def test_moves_the_smaller_half_onto_the_other():
    # Two 3g fit one GPU (one move) and the two 1g stay: 3 GPUs to 2 with 1 move. No layout holds all on one.
    change = transition(H100, SPARE_AFTER_CHURN, in_use(SPARE_AFTER_CHURN))
    assert (change.gpus_before, change.gpus_after, change.gpus_freed, change.moves) == (3, 2, 1, 1)
    assert change.fewest_gpus == 2


def test_a_move_dearer_than_a_gpu_is_not_made():
    change = transition(H100, SPARE_AFTER_CHURN, in_use(SPARE_AFTER_CHURN), TransitionPolicy(gpus_per_move=1.5))
    assert (change.gpus_freed, change.moves, change.reconfigurations) == (0, 0, 0)


def test_keeps_within_the_allowed_moves():
    change = transition(H100, SPARE_AFTER_CHURN, in_use(SPARE_AFTER_CHURN), TransitionPolicy(max_moves=0))
    assert (change.gpus_freed, change.moves) == (0, 0)


def test_an_instance_that_keeps_profile_and_place_does_not_move():
    full = [GpuState(used=placed(("3g.40gb", 0), ("3g.40gb", 4)))]
    change = transition(H100, full, {"3g.40gb": 2})
    assert [(target.layout, target.moves) for target in change.targets] == [(full[0].used, 0)]


def test_a_spare_slice_takes_an_instance_without_a_new_layout():
    states = [
        GpuState(used=placed(("3g.40gb", 0)), spare=placed(("3g.40gb", 4))),
        GpuState(used=placed(("3g.40gb", 0))),
    ]
    change = transition(H100, states, {"3g.40gb": 2})
    assert (change.gpus_freed, change.moves, change.reconfigurations) == (1, 1, 0)


def test_mig_manager_empties_a_gpu_before_it_cuts_it_anew():
    # GPU 1 must be cut anew to take the second 3g: its own 3g restarts too, so 2 moves instead of 1.
    states = [GpuState(used=placed(("3g.40gb", 0))), GpuState(used=placed(("3g.40gb", 4)))]
    in_place = transition(H100, states, {"3g.40gb": 2})
    cleared = transition(H100, states, {"3g.40gb": 2}, TransitionPolicy(is_gpu_cleared=True))
    assert (in_place.moves, cleared.moves) == (1, 2)
    assert in_place.gpus_freed == cleared.gpus_freed == 1


def test_serves_demand_that_is_not_placed_yet():
    change = transition(H100, [GpuState(), GpuState(used=placed(("3g.40gb", 0)))], {"3g.40gb": 2})
    assert (change.gpus_after, change.moves) == (1, 0)


def test_a_demand_too_large_for_the_gpus_has_no_transition():
    assert transition(H100, [GpuState()], {"7g.80gb": 2}) is None


def test_no_gpus_and_no_demand_is_no_change():
    change = transition(H100, [], {})
    assert (change.targets, change.gpus_freed, change.moves) == ((), 0, 0)


@pytest.mark.parametrize(
    "slices",
    [
        placed(("3g.40gb", 0), ("2g.20gb", 2)),  # overlap
        placed(("2g.20gb", 6)),  # a 2g never starts there
        placed(("1g.10gb", 0), ("1g.10gb", 0)),  # twice the same place
    ],
)
def test_an_impossible_layout_is_refused(slices):
    with pytest.raises(ValueError, match="cannot be cut as"):
        transition(H100, [GpuState(used=slices)], {"1g.10gb": 9, "2g.20gb": 9, "3g.40gb": 9})


def test_a_demand_below_what_is_in_use_is_refused():
    with pytest.raises(ValueError, match=r"1 3g\.40gb in use, 0 demanded"):
        transition(H100, [GpuState(used=placed(("3g.40gb", 0)))], {"1g.10gb": 1})


@few
@given(fleets)
def test_holds_all_that_runs_on_no_more_gpus_than_before(states):
    demand = in_use(states)
    change = transition(H100, states, demand)
    offered = Counter()
    for target in change.targets:
        for one in target.layout:
            offered[one.profile] += target.gpu_count
    assert all(offered[name] >= count for name, count in demand.items())
    assert sum(target.gpu_count for target in change.targets) == len(states)
    assert pack(H100, demand).gpus <= change.gpus_after <= change.gpus_before


@few
@given(fleets)
def test_counts_each_instance_that_leaves_its_slice(states):
    change = transition(H100, states, in_use(states))
    leaving = sum(len(set(target.state.used) - set(target.layout)) * target.gpu_count for target in change.targets)
    assert change.moves == leaving


@few
@given(fleets, st.randoms(use_true_random=False))
def test_the_order_of_the_gpus_does_not_matter(states, random):
    shuffled = random.sample(states, len(states))
    assert transition(H100, shuffled, in_use(states)) == transition(H100, states, in_use(states))


@few
@given(fleets, st.integers(0, 6))
def test_more_moves_never_free_fewer_gpus(states, most_moves):
    demand, policy = in_use(states), TransitionPolicy(gpus_per_move=0.001)
    limited = transition(H100, states, demand, TransitionPolicy(gpus_per_move=0.001, max_moves=most_moves))
    assert limited.moves <= most_moves
    assert limited.gpus_freed <= transition(H100, states, demand, policy).gpus_freed


@few
@given(fleets)
def test_free_moves_reach_the_fewest_gpus(states):
    change = transition(H100, states, in_use(states), TransitionPolicy(gpus_per_move=0.0, gpus_per_reconfiguration=0.0))
    assert change.gpus_after == change.fewest_gpus
