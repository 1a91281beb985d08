"""MIG profiles: what a slice is called, what it holds, and which board it is of."""

import json

import pytest

from models.catalog.gpus import gpu_models
from models.catalog.mig import (
    board_of,
    memory_floor_gib,
    mig_boards,
    mig_profile_frame,
    mig_resource,
    profile_of,
)

H100 = board_of("NVIDIA H100 80GB HBM3")
H100_NVL = board_of("NVIDIA H100 NVL")
H200 = board_of("NVIDIA H200")


def named(board, name):
    return next(profile for profile in board.profiles if profile.name == name)


def test_a_gpu_without_mig_has_no_board():
    assert board_of("NVIDIA L40S") is None


def test_placements_nobody_published_are_no_board():
    assert board_of("NVIDIA RTX PRO 4500 Blackwell Server Edition") is None


def test_a_slice_holds_less_than_its_name_says():
    assert named(H100_NVL, "1g.12gb").memory_gib == 10.75


def test_three_compute_slices_take_four_memory_units_at_two_places():
    profile = named(H100, "3g.40gb")
    assert (profile.compute_slices, profile.memory_units, profile.starts) == (3, 4, (0, 4))


def test_one_name_means_different_slices_on_different_boards():
    a100_40 = board_of("NVIDIA A100-SXM4-40GB")
    assert named(a100_40, "1g.10gb").max_instances == 4  # double memory
    assert named(H100, "1g.10gb").max_instances == 7


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1g.12gb", "1g.12gb"),
        ("1g.11gb", "1g.12gb"),  # what dcgm-exporter printed on an H100 NVL
        ("3g.48gb", "3g.47gb"),  # 1/47 off
        ("nvidia.com/mig-1g.12gb.me", "1g.12gb+me"),
        ("MIG 2g.24gb", "2g.24gb"),
    ],
)
def test_a_variant_of_a_name_means_the_nearest_profile(written, meant):
    assert profile_of(H100_NVL, written).name == meant


@pytest.mark.parametrize("written", ["1g.10gb", "2g.12gb", "5g.47gb", "1g.12gb+gfx", "whole", ""])
def test_a_name_with_other_slices_or_memory_means_nothing(written):
    assert profile_of(H100_NVL, written) is None


def test_older_drivers_name_the_gb200_slices_otherwise():
    assert profile_of(board_of("NVIDIA GB200"), "7g.189gb").name == "7g.186gb"


@pytest.mark.parametrize(
    ("profile", "resource"),
    [
        ("1g.10gb", "nvidia.com/mig-1g.10gb"),
        ("1g.10gb+me", "nvidia.com/mig-1g.10gb.me"),
        ("1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"),
        ("1g.24gb-me", "nvidia.com/mig-1g.24gb-me"),
    ],
)
def test_the_resource_of_a_profile(profile, resource):
    assert mig_resource(profile) == resource


def test_every_resource_names_its_profile_again():
    for board in mig_boards():
        for profile in board.profiles:
            assert profile_of(board, mig_resource(profile.name)) is profile


def test_memory_nobody_measured_has_a_floor_from_the_slices_that_were():
    # H200: 1g.18gb has 16 GiB on one unit, 2g.35gb 32.5 on two, 7g.141gb 140 on eight. The least is 16 a unit.
    assert named(H200, "3g.71gb").memory_gib is None
    assert memory_floor_gib(H200, named(H200, "3g.71gb")) == 64.0  # 4 units x 16


def test_a_board_nobody_measured_has_no_floor():
    b300 = board_of("NVIDIA B300 SXM6 AC")
    assert memory_floor_gib(b300, b300.profiles[0]) is None


def test_the_frame_has_one_row_per_gpu_name_and_profile_name():
    frame = mig_profile_frame()
    assert frame.columns == [
        "gpu_model", "mig_profile", "resource", "compute_slices", "max_compute_slices", "memory_gib", "sm_count",
    ]  # fmt: skip
    assert frame.select("gpu_model", "mig_profile").is_duplicated().sum() == 0
    one = frame.filter((frame["gpu_model"] == "NVIDIA H100 NVL") & (frame["mig_profile"] == "1g.11gb")).row(0)
    assert one == ("NVIDIA H100 NVL", "1g.11gb", "nvidia.com/mig-1g.11gb", 1, 7, 10.75, 16)


def test_sms_counted_on_another_gpu_are_not_lent():
    frame = mig_profile_frame()
    pcie = frame.filter(frame["gpu_model"] == "NVIDIA H100 PCIe")  # 114 SMs, the table is the 132-SM part's
    assert pcie["sm_count"].null_count() == pcie.height


def test_slices_lie_on_the_grid_and_do_not_exceed_the_board():
    for board in mig_boards():
        for profile in board.profiles:
            assert max(profile.starts) + profile.memory_units <= board.memory_units, (board.name, profile.name)
            assert profile.compute_slices <= board.max_compute_slices
            assert profile.max_instances <= len(profile.starts)


def test_a_slice_never_holds_more_than_the_gpu():
    for model in gpu_models():
        board = board_of(model.smi_name)
        if board is None or model.memory_total_gib is None:
            continue
        for profile in board.profiles:
            if profile.memory_gib is not None:
                assert profile.memory_gib <= model.memory_total_gib, (model.smi_name, profile.name)


@pytest.mark.shared_data
def test_profiles_agree_with_the_corrected_tables(shared):
    tables = json.loads((shared / "data/kubernetes/mig/mig_geometry.json").read_text())["boards"]
    expected = {
        (table["board"], row["profile"], tuple(row["placement_starts"]), row["memory_units"], row["memory_gib"])
        for table in tables
        if table["placement_grid_units"]
        for row in table["profiles"]
    }
    ours = {
        (board.name, profile.name, profile.starts, profile.memory_units, profile.memory_gib)
        for board in mig_boards()
        for profile in board.profiles
    }
    assert ours == expected
