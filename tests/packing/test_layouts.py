"""Slices fit where placements say, not where sums do."""

import json
from itertools import permutations

import pytest

from models.catalog.mig import board_of, mig_boards
from optimizer.packing.layouts import geometry
from optimizer.packing.mig import place


@pytest.mark.parametrize(
    "profiles",
    [
        ("3g.40gb", "3g.40gb", "1g.10gb"),  # 7 of 7 compute slices, but 3g takes 4 of 8 memory units
        ("4g.40gb", "2g.20gb", "2g.20gb"),  # 8 of 8 memory units, but 2g may start at 0, 2, 4 only
        ("4g.40gb", *["1g.10gb"] * 4),  # a 1g cannot use the eighth unit
        ("7g.80gb", "1g.10gb"),
        ("1g.10gb",) * 8,
        ("1g.20gb",) * 3 + ("1g.10gb",) * 3,
        ("1g.10gb+me", "1g.10gb+me"),  # one set of media engines
    ],
)
def test_sums_that_add_up_may_not_fit(h100, profiles):
    assert place(h100, profiles) is None


@pytest.mark.parametrize(
    ("profiles", "starts"),
    [
        (("4g.40gb", "3g.40gb"), (0, 4)),
        (("3g.40gb", "2g.20gb", "2g.20gb"), (4, 0, 2)),
        (("2g.20gb", "2g.20gb", "2g.20gb", "1g.20gb"), (0, 2, 4, 6)),
        (("7g.80gb",), (0,)),
        ((), ()),
    ],
)
def test_what_fits_has_a_place(h100, profiles, starts):
    assert place(h100, profiles) == starts


def test_the_eighth_memory_unit_takes_a_double_slice(h100):
    starts = place(h100, ("1g.20gb",) * 3 + ("1g.10gb",) * 2)
    units = [unit for start, size in zip(starts, (2, 2, 2, 1, 1), strict=True) for unit in range(start, start + size)]
    assert sorted(units) == list(range(8))


def test_media_engines_are_a_budget_of_their_own(rtx_pro):
    assert place(rtx_pro, ("2g.48gb+me.all", "2g.48gb")) is None
    assert place(rtx_pro, ("2g.48gb+me.all", "2g.48gb-me")) == (0, 6)


def test_leaves_the_most_room_for_others(h100):
    # A 2g at 0 or 2 would block the only 4g; at 4 it still leaves it.
    assert place(h100, ("2g.20gb",)) == (4,)


def test_order_changes_which_slice_is_where_but_not_where_slices_are(h100):
    profiles = ("2g.20gb", "3g.40gb", "1g.10gb")
    placed = {frozenset(zip(order, place(h100, order), strict=True)) for order in permutations(profiles)}
    assert len(placed) == 1


def test_an_unknown_profile_is_named_beside_the_known_ones(h100):
    with pytest.raises(ValueError, match=r"H100-80GB has no MIG profile 1g\.5gb; it has: 1g\.10gb, "):
        place(h100, ("1g.5gb",))


def test_layouts_on_every_board_lie_side_by_side():
    for board in mig_boards():
        size = {profile.name: profile.memory_units for profile in board.profiles}
        starts = {profile.name: profile.starts for profile in board.profiles}
        for layout in geometry(board, frozenset(size)).layout_by_counts.values():
            assert all(placed.start in starts[placed.profile] for placed in layout)
            ends = [placed.start + size[placed.profile] for placed in layout]
            assert all(end <= placed.start for end, placed in zip(ends, layout[1:], strict=False))


@pytest.mark.shared_data
def test_agrees_with_the_published_combinations(shared):
    boards = {board.name: board for board in mig_boards()}
    for vector in json.loads((shared / "data/kubernetes/mig/combo_test_vectors.json").read_text()):
        profiles = [name for name, count in vector["config"].items() for _ in range(count)]
        assert (place(boards[vector["board"]], profiles) is not None) is vector["valid"], vector


@pytest.mark.shared_data
def test_agrees_with_all_maximal_layouts(shared):
    expected = json.loads((shared / "data/kubernetes/mig/valid_layouts.json").read_text())
    for board in mig_boards():
        maximal = {frozenset(layout.items()) for layout in expected[board.name]["maximal"]}
        cut = geometry(board, frozenset(name for layout in maximal for name, _ in layout))
        ours = {
            frozenset((name, count) for name, count in zip(cut.names, counts, strict=True) if count)
            for counts in cut.maximal_counts
        }
        assert ours == maximal, board.name
        assert len(cut.layout_by_counts) - 1 == expected[board.name]["total_valid_multisets"]  # less the empty one


@pytest.mark.shared_data
def test_every_default_configuration_of_the_operator_fits(shared):
    configs = json.loads((shared / "data/kubernetes/mig/operator_default_mig_parted_config.json").read_text())
    layouts = [
        rule["mig-devices"] for rules in configs["mig-configs"].values() for rule in rules if rule.get("mig-devices")
    ]
    boards = mig_boards()
    for layout in layouts:
        names = [name for name, count in layout.items() for _ in range(count)]
        able = [board for board in boards if set(layout) <= {profile.name for profile in board.profiles}]
        variant = any(
            name in other for board in boards for one in board.profiles for other in one.name_variants for name in names
        )
        assert variant or any(place(board, names) is not None for board in able), layout


def test_the_h20_is_cut_like_its_family():
    assert place(board_of("NVIDIA H20"), ("3g.48gb", "3g.48gb")) == (0, 4)
