"""Boards and slices for packing tests."""

import pytest

from models.catalog.mig import board_of


@pytest.fixture(scope="session")
def h100():
    return board_of("NVIDIA H100 80GB HBM3")


@pytest.fixture(scope="session")
def rtx_pro():
    return board_of("NVIDIA RTX PRO 6000 Blackwell Server Edition")
