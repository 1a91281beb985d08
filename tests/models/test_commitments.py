from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.commitment_book import ReapplySettings, Sharing, open_book
from models.commitments import reapply, residual_on_demand
from models.domain.errors import InputError

HOUR = datetime(2026, 11, 2)  # noqa: DTZ001, the warehouse keeps UTC without a zone
ON = ReapplySettings()


def usage(*rows):
    """Rows of account, sku_key, dollars, hour of the day."""
    return pl.DataFrame(
        {
            "account": [row[0] for row in rows],
            "sku_key": [row[1] for row in rows],
            "hour_start": [HOUR + timedelta(hours=row[3] if len(row) > 3 else 0) for row in rows],
            "contracted_usd": [row[2] for row in rows],
        },
        schema_overrides={"contracted_usd": pl.Float64, "hour_start": pl.Datetime("us")},
    )


def commitments(*rows):
    """Rows of account, commitment, category, dollars committed, hour of the day."""
    return pl.DataFrame(
        {
            "account": [row[0] for row in rows],
            "commitment_id": [row[1] for row in rows],
            "commitment_category": [row[2] for row in rows],
            "hour_start": [HOUR + timedelta(hours=row[4] if len(row) > 4 else 0) for row in rows],
            "covered_usd": [row[3] for row in rows],
            "stranded_usd": [0.0 for _ in rows],
        },
        schema={
            "account": pl.String,
            "commitment_id": pl.String,
            "commitment_category": pl.String,
            "hour_start": pl.Datetime("us"),
            "covered_usd": pl.Float64,
            "stranded_usd": pl.Float64,
        },
    )


def rates(*rows):
    schema = {"commitment_id": pl.String, "sku_key": pl.String, "covered_ratio": pl.Float64}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def on_demand(tables):
    return {(row[0], row[1]): row[3] for row in tables.on_demand.rows()}


def test_agrees_with_the_worked_week_of_a_490_usd_plan():
    # 60 h x 1000 + 60 h x 700 + 48 h x 600 on demand; 490 USD/h at 30 % off cover 700 USD/h
    week = [1000.0] * 60 + [700.0] * 60 + [600.0] * 48
    tables = residual_on_demand(
        usage(*(("a", "gpu", usd, hour) for hour, usd in enumerate(week))),
        commitments(*(("a", "sp", "Spend", 490.0, hour) for hour in range(168))),
        rates(("sp", "gpu", 0.7)),
        ON,
    )
    left = tables.on_demand.get_column("on_demand_usd").sum()
    assert left == pytest.approx(60 * 300.0)
    assert left + 490.0 * 168 == pytest.approx(100_320.0)
    assert tables.stranded.get_column("stranded_usd").sum() == pytest.approx(48 * 70.0)  # 600 x 0.7 = 420 of 490


def test_applies_reserved_instances_before_plans_however_good_the_plan():
    tables = residual_on_demand(
        usage(("a", "gpu", 100.0)),
        commitments(("a", "plan", "Spend", 30.0), ("a", "reserved", "Usage", 60.0)),
        rates(("plan", "gpu", 0.5), ("reserved", "gpu", 0.6)),
        ON,
    )
    assert on_demand(tables) == {("a", "gpu"): pytest.approx(0.0)}
    stranded = dict(tables.stranded.select("commitment_id", "stranded_usd").rows())
    assert stranded == {"plan": pytest.approx(30.0), "reserved": pytest.approx(0.0)}  # 60 / 0.6 = all 100


def test_spends_a_plan_on_the_highest_discount_first():
    tables = residual_on_demand(
        usage(("a", "deep", 100.0), ("a", "flat", 100.0)),
        commitments(("a", "sp", "Spend", 58.0)),
        rates(("sp", "flat", 0.9), ("sp", "deep", 0.4)),
        ON,
    )
    # 100 x 0.4 = 40 go to deep; the other 18 cover 18 / 0.9 = 20 of flat
    assert on_demand(tables) == {("a", "deep"): pytest.approx(0.0), ("a", "flat"): pytest.approx(80.0)}


def test_covers_its_own_account_before_others_of_the_same_bill():
    tables = residual_on_demand(
        usage(("bill/other", "gpu", 100.0), ("bill/owner", "gpu", 100.0), ("else/x", "gpu", 100.0)),
        commitments(("bill/owner", "sp", "Spend", 60.0)),
        rates(("sp", "gpu", 0.5)),
        ON,
    )
    # 60 / 0.5 = 120 on demand: 100 of the owner, 20 of the other account, nothing under another bill
    assert on_demand(tables) == {
        ("bill/other", "gpu"): pytest.approx(80.0),
        ("bill/owner", "gpu"): pytest.approx(0.0),
        ("else/x", "gpu"): 100.0,
    }


def test_shares_between_accounts_that_one_commitment_was_seen_in():
    tables = residual_on_demand(
        usage(("111", "gpu", 100.0), ("222", "gpu", 100.0), ("333", "gpu", 100.0)),
        commitments(("111", "sp", "Spend", 20.0), ("222", "sp", "Spend", 40.0)),
        rates(("sp", "gpu", 0.5)),
        ON,
    )
    # 60 / 0.5 = 120 over both accounts, in order of their names
    assert list(on_demand(tables).values()) == [pytest.approx(0.0), pytest.approx(80.0), 100.0]


def test_keeps_every_account_to_its_own_where_sharing_is_off():
    tables = residual_on_demand(
        usage(("bill/a", "gpu", 100.0), ("bill/b", "gpu", 10.0)),
        commitments(("bill/b", "sp", "Spend", 50.0)),
        rates(("sp", "gpu", 0.5)),
        ReapplySettings(sharing=Sharing.ACCOUNT),
    )
    assert on_demand(tables) == {("bill/a", "gpu"): 100.0, ("bill/b", "gpu"): pytest.approx(0.0)}


@pytest.mark.parametrize(("unseen_ratio", "left_usd"), [(None, 100.0), (0.8, 60.0)])  # 32 / 0.8 = 40 covered
def test_covers_a_sku_it_never_covered_only_where_the_settings_say_so(unseen_ratio, left_usd):
    tables = residual_on_demand(
        usage(("a", "new", 100.0)),
        commitments(("a", "sp", "Spend", 32.0)),
        rates(("sp", "old", 0.6)),
        ReapplySettings(unseen_spend_ratio=unseen_ratio),
    )
    assert on_demand(tables) == {("a", "new"): pytest.approx(left_usd)}


def test_never_lets_a_reserved_instance_cover_another_sku():
    tables = residual_on_demand(
        usage(("a", "new", 100.0)),
        commitments(("a", "ri", "Usage", 32.0)),
        rates(("ri", "old", 0.6)),
        ReapplySettings(unseen_spend_ratio=0.5),
    )
    assert on_demand(tables) == {("a", "new"): 100.0}


@pytest.mark.parametrize("ratio", [None, 0.0])
def test_claims_nothing_on_demand_where_the_price_of_the_cover_is_unknown(ratio):
    tables = residual_on_demand(
        usage(("a", "gpu", 100.0, 0), ("a", "gpu", 100.0, 1)),
        commitments(("a", "sp", "Spend", 0.0, 0)),
        rates(("sp", "gpu", ratio)),
        ON,
    )
    left = tables.on_demand.sort("hour_start").get_column("on_demand_usd").to_list()
    assert left == [0.0, 100.0]  # in the second hour the commitment does not exist


def test_takes_usage_without_commitments_as_it_is():
    tables = residual_on_demand(usage(("a", "gpu", 7.5)), commitments(), rates(), ON)
    assert on_demand(tables) == {("a", "gpu"): 7.5}
    assert tables.stranded.is_empty()


def test_names_the_account_and_hour_of_a_missing_amount():
    with pytest.raises(InputError, match="eligible usage without contracted_usd in 1 rows, first a at 2026-11-02"):
        residual_on_demand(usage(("a", "gpu", None)), commitments(), rates(), ON)


DOLLARS = st.floats(0.0, 500.0).map(lambda usd: round(usd, 2))
ACCOUNTS = st.sampled_from(["bill/a", "bill/b", "lone"])
SKUS = st.sampled_from(["x", "y", "z"])
HOURS = st.integers(0, 1)
USAGE = st.lists(st.tuples(ACCOUNTS, SKUS, DOLLARS, HOURS), min_size=1, max_size=6)
HELD = st.lists(
    st.tuples(ACCOUNTS, st.sampled_from(["c1", "c2", "c3"]), st.sampled_from(["Spend", "Usage"]), DOLLARS, HOURS),
    max_size=5,
)
RATES = st.dictionaries(
    st.tuples(st.sampled_from(["c1", "c2", "c3"]), SKUS), st.floats(0.2, 1.0).map(lambda ratio: round(ratio, 2))
)
DUST = 1e-6


@settings(max_examples=80, deadline=None)
@given(used=USAGE, held=HELD, ratios=RATES, removed=st.data())
def test_never_covers_more_than_is_used_or_committed_and_removing_usage_never_raises_the_rest(
    used, held, ratios, removed
):
    hours = pl.Series("hour_start", [HOUR, HOUR + timedelta(hours=1)])
    table = rates(*((name, sku, ratio) for (name, sku), ratio in ratios.items()))
    book = open_book(usage(*used), commitments(*held), table, hours, ON)
    full = reapply(book, book.usage_usd)
    shares = removed.draw(
        st.lists(st.floats(0.0, 1.0), min_size=book.usage_usd.size, max_size=book.usage_usd.size), label="kept shares"
    )
    smaller = reapply(book, book.usage_usd * np.array(shares).reshape(book.usage_usd.shape))

    assert (full.left_usd <= book.usage_usd).all()
    assert (full.left_usd >= 0.0).all()
    assert (full.stranded_usd >= 0.0).all()
    assert (full.stranded_usd <= book.committed_usd).all()
    assert (smaller.left_usd <= full.left_usd + DUST).all()
    assert (smaller.stranded_usd >= full.stranded_usd - DUST).all()
    assert full.left_usd.sum() - smaller.left_usd.sum() <= full.left_usd.sum() + DUST


@settings(max_examples=30, deadline=None)
@given(used=USAGE, held=HELD, ratios=RATES, order=st.randoms(use_true_random=False))
def test_does_not_depend_on_the_order_of_rows(used, held, ratios, order):
    def left(rows, owned, priced):
        table = rates(*((name, sku, ratio) for (name, sku), ratio in priced))
        return residual_on_demand(usage(*rows), commitments(*owned), table, ON)

    shuffled = [order.sample(list(rows), len(rows)) for rows in (used, held, list(ratios.items()))]
    first, second = left(used, held, list(ratios.items())), left(*shuffled)
    assert first.on_demand.equals(second.on_demand)
    assert first.stranded.equals(second.stranded)
