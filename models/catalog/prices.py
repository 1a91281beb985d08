"""Dated list prices; what is not known stays unknown, and zero is never a price."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import cache

from models.catalog.csv_rows import csv_rows

ON_DEMAND = "on_demand"


class PriceState(StrEnum):
    """Whether there is a figure."""

    KNOWN = "known"
    UNKNOWN = "unknown"  # it has a price; we do not have it
    NOT_OFFERED = "not_offered"  # nobody can buy it that way


@dataclass(frozen=True, slots=True)
class Price:
    """
    One quote on one day.

    Raises:
        ValueError: a known price is absent or not above zero, or an unknown one carries a figure.
    """

    provider: str
    region: str
    item: str  # instance type, or component: "gpu:NVIDIA L4", "vcpu", "memory_gib"
    kind: str  # node | component
    purchase_option: str
    usd_per_hour: Decimal | None
    state: PriceState
    priced_on: date | None  # None: no quote at all
    source: str

    def __post_init__(self) -> None:
        is_right = (
            self.usd_per_hour is None
            if self.state is not PriceState.KNOWN
            else self.usd_per_hour is not None and self.usd_per_hour > 0
        )
        if not is_right:
            message = (
                f"{self.provider} {self.region} {self.item}: state {self.state} with {self.usd_per_hour} USD/h; "
                "a known price is above zero, any other has no figure"
            )
            raise ValueError(message)


@cache
def prices() -> tuple[Price, ...]:
    """Return every dated price of the catalogue."""
    return tuple(_price(row) for row in csv_rows("prices.csv"))


def price(provider: str, region: str, item: str, purchase_option: str = ON_DEMAND, as_of: date | None = None) -> Price:
    """
    Return the newest quote not after `as_of`; state unknown where there is none.

    A price of another region is never lent.
    """
    quotes = _quotes_by_key().get((provider, region, item, purchase_option), ())
    for quote in quotes:
        if as_of is None or (quote.priced_on is not None and quote.priced_on <= as_of):
            return quote
    kind = "component" if item.startswith("gpu:") or item in {"vcpu", "memory_gib"} else "node"
    return Price(provider, region, item, kind, purchase_option, None, PriceState.UNKNOWN, None, "not in the catalogue")


@cache
def _quotes_by_key() -> dict[tuple[str, str, str, str], tuple[Price, ...]]:
    quotes: dict[tuple[str, str, str, str], list[Price]] = {}
    for quote in prices():
        quotes.setdefault((quote.provider, quote.region, quote.item, quote.purchase_option), []).append(quote)
    return {
        key: tuple(sorted(found, key=lambda one: one.priced_on or date.min, reverse=True))
        for key, found in quotes.items()
    }


def _price(row: dict[str, str]) -> Price:
    return Price(
        provider=row["provider"],
        region=row["region"],
        item=row["item"],
        kind=row["kind"],
        purchase_option=row["purchase_option"],
        usd_per_hour=Decimal(row["usd_per_hour"]) if row["usd_per_hour"] else None,
        state=PriceState(row["state"]),
        priced_on=date.fromisoformat(row["priced_on"]),
        source=row["source"],
    )
