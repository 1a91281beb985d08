"""The catalogue's own dated list prices, for those who give no other price source."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from connectors.connector import Connector, Extent, Unreadable
from connectors.raw_tables import RAW_TABLES
from models.catalog.prices import Price, prices
from models.domain.window import Window, naive_utc


@dataclass(frozen=True, slots=True)
class Settings:
    """There is nothing to choose: the prices come with the program."""


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """All prices of the catalogue."""

    origin: str
    prices: tuple[Price, ...]


def fetch(_settings: Settings, _window: Window) -> Iterator[CataloguePage | Unreadable]:
    """Yield the catalogue as one page, whatever the window: a price holds until a newer one."""
    yield CataloguePage("models/catalog/prices.csv", prices())


def normalise(_settings: Settings, page: CataloguePage) -> Mapping[str, pa.Table]:
    """Return rows of raw.price; usd_per_hour is null unless the state is known."""
    quotes = [quote for quote in page.prices if quote.priced_on is not None]
    columns = {
        "provider": [quote.provider for quote in quotes],
        "region": [quote.region for quote in quotes],
        "item": [quote.item for quote in quotes],
        "kind": [quote.kind for quote in quotes],
        "purchase_option": [quote.purchase_option for quote in quotes],
        "usd_per_hour": [quote.usd_per_hour for quote in quotes],
        "state": [quote.state.value for quote in quotes],
        "priced_at": [_midnight(quote) for quote in quotes],
        "price_source": [f"catalogue: {quote.source}" for quote in quotes],
    }
    return {"price": pa.table(columns, schema=RAW_TABLES["price"].columns)}


def _midnight(quote: Price) -> datetime | None:
    if quote.priced_on is None:
        return None
    return naive_utc(datetime(quote.priced_on.year, quote.priced_on.month, quote.priced_on.day, tzinfo=UTC))


CONNECTOR = Connector(
    name="embedded",
    tables=("price",),
    extent=Extent.EVERYTHING,
    settings=Settings,
    fetch=fetch,
    normalise=normalise,
)
