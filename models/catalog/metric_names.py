"""What a metric name measures and in what unit, from `metric_names.csv`: exporters rename and rescale, so as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import assert_never

from models.catalog.csv_rows import csv_rows, number
from models.domain.errors import ConfigError
from models.domain.units import BYTES_PER_GIB, MIB_PER_GIB, MILLIWATTS_PER_WATT, PERCENT_PER_ONE

_OPTIONAL_PREFIX = "amd_"  # device-metrics-exporter puts it before its names when asked to
_USER_RANK = 0  # a name the user gives is taken before ours


class Unit(StrEnum):
    """A unit that exporters use."""

    RATIO = "ratio"
    PERCENT = "percent"
    MIB = "mib"
    BYTE = "byte"
    WATT = "watt"
    MILLIWATT = "milliwatt"

    @property
    def canonical_factor(self) -> float:
        """Return what a value is multiplied with to become a ratio, GiB or W."""
        match self:
            case Unit.PERCENT:
                return 1.0 / PERCENT_PER_ONE
            case Unit.MIB:
                return 1.0 / MIB_PER_GIB
            case Unit.BYTE:
                return 1.0 / BYTES_PER_GIB
            case Unit.MILLIWATT:
                return 1.0 / MILLIWATTS_PER_WATT
            case Unit.RATIO | Unit.WATT:
                return 1.0
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True)
class MetricName:
    """One name; without a quantity it is known and not stored."""

    name: str
    quantity: str | None  # a quantity of raw.gpu_5m, or memory_free_gib, memory_reserved_gib
    units: tuple[Unit, ...]  # what is assumed where values leave a doubt, then what values may prove
    valid_max: float | None  # in the quantity's own unit
    is_whole_in_percent: bool  # percents of this name have no fraction, so a fraction proves a ratio
    rank: int  # the lowest is taken where a GPU has several names for one quantity


def resolve(name: str, extra: Mapping[str, MetricName]) -> MetricName | None:
    """Return what is known of a name, from the user's own names first; None if nobody knows it."""
    known = _names()
    return extra.get(name) or known.get(name) or known.get(name.removeprefix(_OPTIONAL_PREFIX))


def parse_extra(quantity_and_unit_by_name: Mapping[str, str]) -> dict[str, MetricName]:
    """
    Return the user's own names, given as "quantity unit", e.g. {"site_gpu_busy": "gpu_util_ratio percent"}.

    Raises:
        ConfigError: a quantity or unit is unknown, or they do not go together; the message lists those that do.
    """
    units_by_quantity = _units_by_quantity()
    extra = {}
    for name, text in quantity_and_unit_by_name.items():
        quantity, _, unit = text.partition(" ")
        allowed = units_by_quantity.get(quantity)
        if allowed is None or unit.strip() not in allowed:
            known = "; ".join(f"{key} {'|'.join(sorted(units))}" for key, units in sorted(units_by_quantity.items()))
            message = f"extra_metric_names: {name} = {text!r} is not 'quantity unit'; known: {known}"
            raise ConfigError(message)
        maximum = next(known.valid_max for known in _names().values() if known.quantity == quantity)
        extra[name] = MetricName(name, quantity, (Unit(unit.strip()),), maximum, False, _USER_RANK)  # noqa: FBT003, a field
    return extra


def quantities() -> frozenset[str]:
    """Return the quantities that names stand for."""
    return frozenset(_units_by_quantity())


@cache
def _units_by_quantity() -> dict[str, frozenset[Unit]]:
    units: dict[str, frozenset[Unit]] = {}
    for name in _names().values():
        if name.quantity is not None:
            units[name.quantity] = units.get(name.quantity, frozenset()) | set(name.units)
    return units


@cache
def _names() -> dict[str, MetricName]:
    return {row["name"]: _parse(row) for row in csv_rows("metric_names.csv")}


def _parse(row: Mapping[str, str]) -> MetricName:
    if not row["quantity"]:
        return MetricName(row["name"], None, (), None, False, _USER_RANK)  # noqa: FBT003, a field
    return MetricName(
        row["name"],
        row["quantity"],
        tuple(Unit(unit) for unit in row["units"].split("|")),
        number(row["valid_max"]),
        row["whole_numbers"] == "yes",
        int(row["rank"]),
    )
