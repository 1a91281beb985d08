"""Every quantity that is stored has names, and every name is usable as the catalogue has it."""

import pytest

from connectors.raw_tables import GPU_QUANTITIES
from models.catalog.csv_rows import csv_rows
from models.catalog.metric_names import Unit, parse_extra, quantities, resolve
from models.domain.errors import ConfigError

ROWS = list(csv_rows("metric_names.csv"))
STORED = [row for row in ROWS if row["quantity"]]


def test_every_stored_quantity_has_names():
    assert quantities() == {*GPU_QUANTITIES, "memory_free_gib", "memory_reserved_gib"}


def test_a_name_is_listed_once():
    names = [row["name"] for row in ROWS]
    assert len(names) == len(set(names))


def test_every_name_has_a_source():
    assert [row["name"] for row in ROWS if not row["source"].strip()] == []


@pytest.mark.parametrize("row", STORED, ids=lambda row: row["name"])
def test_the_units_of_a_name_measure_its_quantity(row):
    allowed = {
        "ratio": {Unit.RATIO, Unit.PERCENT},
        "gib": {Unit.MIB, Unit.BYTE},
        "watts": {Unit.WATT, Unit.MILLIWATT},
    }[row["quantity"].rpartition("_")[2]]
    metric = resolve(row["name"], {})
    assert metric.units
    assert set(metric.units) <= allowed
    assert metric.valid_max > 0


@pytest.mark.parametrize(
    ("names", "quantity"),
    [
        (("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "dcgm_gpu_utilization"), "gpu_util_ratio"),
        (("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_USED_BYTES", "dcgm_fb_used", "gpu_used_vram"), "memory_used_gib"),
        (("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS", "gpu_package_power"), "power_watts"),
        (("DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO", "gpu_prof_sm_active"), "sm_active_ratio"),
    ],
)
def test_every_era_and_vendor_is_known(names, quantity):
    assert {resolve(name, {}).quantity for name in names} == {quantity}


def test_a_prefix_of_amds_exporter_is_looked_through():
    assert resolve("amd_gpu_package_power", {}) == resolve("gpu_package_power", {})


def test_what_is_known_and_not_stored_has_no_quantity():
    assert resolve("DCGM_FI_DEV_XID_ERRORS", {}).quantity is None
    assert resolve("nobody_knows_it", {}) is None


def test_a_users_name_comes_before_ours():
    extra = parse_extra({"DCGM_FI_DEV_GPU_UTIL": "gr_engine_active_ratio ratio"})
    assert resolve("DCGM_FI_DEV_GPU_UTIL", extra).quantity == "gr_engine_active_ratio"


def test_a_users_name_with_an_unknown_quantity_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"power_watts milliwatt\|watt"):
        parse_extra({"mine": "heat watt"})


@pytest.mark.parametrize(
    ("unit", "value", "canonical"),
    [
        (Unit.PERCENT, 50.0, 0.5),
        (Unit.RATIO, 0.5, 0.5),
        (Unit.MIB, 2048.0, 2.0),
        (Unit.BYTE, 2**31, 2.0),
        (Unit.WATT, 7.0, 7.0),
        (Unit.MILLIWATT, 7000.0, 7.0),
    ],
)
def test_units_become_canonical(unit, value, canonical):
    assert value * unit.canonical_factor == pytest.approx(canonical)
