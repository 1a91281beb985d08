"""The fewest GPUs, proved; exactly the slices asked for; never worse than the naive rule."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.catalog.mig import board_of
from optimizer.packing.mig import first_fit_decreasing, pack, place

H100 = board_of("NVIDIA H100 80GB HBM3")
NAMES = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
demands = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 300))
few = settings(max_examples=40, deadline=None, derandomize=True)


def slices(packing):
    tally = Counter()
    for layout in packing.layouts:
        tally.update({name: count * layout.gpu_count for name, count in Counter(layout.profiles).items()})
    return tally


def test_two_3g_and_a_1g_need_two_gpus():
    packing = pack(H100, {"3g.40gb": 2, "1g.10gb": 1})
    assert (packing.gpus, packing.bound, packing.is_optimal) == (2, 2, True)


def test_seven_small_slices_need_one_gpu():
    packing = pack(H100, {"1g.10gb": 7})
    assert [(layout.profiles, layout.gpu_count) for layout in packing.layouts] == [(("1g.10gb",) * 7, 1)]


def test_beats_first_fit_decreasing_where_that_rule_wastes():
    # Decreasing puts both 3g on one GPU, then three 2g on the next and the fourth alone; 3g + 2g + 2g fits twice.
    demand = {"3g.40gb": 2, "2g.20gb": 4}
    assert (pack(H100, demand).gpus, first_fit_decreasing(H100, demand).gpus) == (2, 3)


def test_first_fit_decreasing_by_hand():
    # 4g opens GPU 1; 3g fills it; each 2g goes to GPU 2 (three), the 1g beside them.
    packing = first_fit_decreasing(H100, {"1g.10gb": 1, "2g.20gb": 3, "3g.40gb": 1, "4g.40gb": 1})
    assert [(layout.profiles, layout.gpu_count) for layout in packing.layouts] == [
        (("1g.10gb", "2g.20gb", "2g.20gb", "2g.20gb"), 1),
        (("3g.40gb", "4g.40gb"), 1),
    ]


def test_nothing_wanted_is_no_gpu():
    assert pack(H100, {"1g.10gb": 0}).gpus == pack(H100, {}).gpus == 0


def test_a_negative_demand_is_refused():
    with pytest.raises(ValueError, match=r"1g\.10gb is negative"):
        pack(H100, {"1g.10gb": -1})


def test_an_unknown_profile_is_refused():
    with pytest.raises(ValueError, match="has no MIG profile"):
        pack(H100, {"1g.5gb": 1})


def test_fifty_thousand_slices_are_packed_to_the_proved_optimum():
    shares = (0.35, 0.15, 0.20, 0.15, 0.10, 0.05)
    packing = pack(H100, {name: int(50_000 * share) for name, share in zip(NAMES, shares, strict=True)})
    # Memory: 17,500 + 7,500 x 2 + 10,000 x 2 + 7,500 x 4 + 5,000 x 4 + 2,500 x 8 = 122,500 units, 8 a GPU.
    assert packing.gpus == packing.bound
    assert packing.bound >= 15_313  # 122,500 / 8 = 15,312.5


@few
@given(demands)
def test_gives_exactly_the_slices_asked_for(demand):
    assert slices(pack(H100, demand)) == Counter({name: count for name, count in demand.items() if count})


@few
@given(demands)
def test_every_layout_can_be_placed(demand):
    assert all(place(H100, layout.profiles) is not None for layout in pack(H100, demand).layouts)


@few
@given(demands)
def test_is_never_worse_than_first_fit_decreasing_and_never_better_than_its_bound(demand):
    packing, greedy = pack(H100, demand), first_fit_decreasing(H100, demand)
    assert greedy.bound <= packing.bound <= packing.gpus <= greedy.gpus
    assert packing.is_optimal


@few
@given(demands, st.randoms(use_true_random=False))
def test_the_order_of_the_demand_does_not_matter(demand, random):
    items = list(demand.items())
    random.shuffle(items)
    assert pack(H100, dict(items)) == pack(H100, demand)


@few
@given(demands, st.sampled_from(NAMES))
def test_one_slice_more_never_needs_fewer_gpus(demand, name):
    more = {**demand, name: demand.get(name, 0) + 1}
    assert pack(H100, demand).gpus <= pack(H100, more).gpus <= pack(H100, demand).gpus + 1
