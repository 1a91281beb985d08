"""The catalogue becomes rows of raw.price."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from connectors.connector import Extent, find
from connectors.prices.embedded import CONNECTOR, CataloguePage, Settings
from connectors.raw_tables import RAW_TABLES
from models.catalog.prices import prices
from models.domain.window import Window

WEEK = Window(datetime(2026, 11, 23, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC))


@pytest.fixture
def rows():
    (page,) = CONNECTOR.fetch(Settings(), WEEK)
    return CONNECTOR.normalise(Settings(), page)["price"]


def test_is_found_by_its_name():
    assert find("embedded") is CONNECTOR


def test_brings_prices_older_than_the_window_since_they_still_hold(rows):
    assert rows.num_rows == len(prices())
    assert CONNECTOR.extent is Extent.EVERYTHING


def test_has_the_agreed_columns(rows):
    assert rows.schema == RAW_TABLES["price"].columns


def test_money_stays_decimal_to_the_last_digit(rows):
    by_key = {(row["item"], row["priced_at"]): row["usd_per_hour"] for row in rows.to_pylist()}
    assert by_key["p4d.24xlarge", datetime(2026, 7, 20)] == Decimal("21.957642")  # noqa: DTZ001, as stored


def test_a_price_nobody_knows_is_null(rows):
    unknown = [row for row in rows.to_pylist() if row["state"] != "known"]
    assert unknown
    assert {row["usd_per_hour"] for row in unknown} == {None}


def test_says_where_each_price_is_from(rows):
    assert all(source.startswith("catalogue: ") for source in rows["price_source"].to_pylist())


def test_an_empty_catalogue_is_no_rows():
    assert CONNECTOR.normalise(Settings(), CataloguePage("nothing", ()))["price"].num_rows == 0
