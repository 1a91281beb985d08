"""Every connector keeps the same promises; a new module in a family is held to them without an edit here."""

import importlib
import inspect
import json
import re
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors import connector
from connectors.connector import Connector, Extent, Unreadable
from connectors.load import load
from connectors.raw_tables import RAW_TABLES
from models.domain.errors import InputError
from models.domain.secret import SecretText
from models.domain.window import Window
from optimizer.engines.duckdb import DuckdbEngine

ROOT = Path(__file__).parents[2]
WEEK = Window(datetime(2026, 11, 23, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC))
UNITS = ("_seconds", "_minutes", "_hours", "_days", "_ratio", "_gib", "_mib", "_bytes", "_watts", "_usd_per_hour")
COUNT = re.compile(r"(min|max)_\w+")
SAMPLES = {
    "focus_files": {
        "bill.csv": (
            "BilledCost,EffectiveCost,BillingCurrency,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,"
            "ChargePeriodStart,ChargePeriodEnd,ChargeCategory\n"
            "1.5,1.5,USD,123,2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,2026-11-05T07:00:00Z,2026-11-05T08:00:00Z,Usage\n"
        )
    },
    "metric_files": {
        "scrape.prom": (
            "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
            'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",modelName="NVIDIA L4",Hostname="n1"} 50 1795608000000\n'
        )
    },
    "object_files": {
        "objects-20261130T1200Z.json": json.dumps(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "u"}, "status": {}}
        )
    },
}

each_connector = pytest.mark.parametrize("name", connector.names())
with_location = pytest.mark.parametrize(
    "name", [name for name in connector.names() if hasattr(connector.find(name).settings, "location")]
)


def settings_for(name, folder=""):
    """Give the settings of a connector with every required text filled in."""
    required = [
        field.name
        for field in fields(connector.find(name).settings)
        if field.default is MISSING and field.default_factory is MISSING
    ]
    words = {"location": str(folder), "cluster_id": "prod"}
    return connector.find(name).settings(**{field: words.get(field, "x") for field in required})


def pages_of(name, settings):
    """Give the pages, and what could not be read; a fault of the whole source counts as that."""
    read, unreadable = [], []
    try:
        for page in connector.find(name).fetch(settings, WEEK):
            (unreadable if isinstance(page, Unreadable) else read).append(page)
    except InputError as error:
        unreadable.append(Unreadable("the whole source", str(error)))
    return read, unreadable


def sample(name, folder):
    if name == "embedded":
        return settings_for(name)
    if name not in SAMPLES:
        pytest.skip("no small page of it here; its own test has recorded pages")
    for file, text in SAMPLES[name].items():
        (folder / file).write_text(text, encoding="utf-8")
    return settings_for(name, folder)


@pytest.fixture
def engine(tmp_path):
    with DuckdbEngine(tmp_path / "warehouse" / "w.duckdb", memory_limit_gib=1) as opened:
        yield opened


@each_connector
def test_is_named_after_its_module_in_one_family(name):
    homes = [family for family in connector.FAMILIES if (ROOT / "connectors" / family / f"{name}.py").is_file()]
    assert len(homes) == 1
    module = importlib.import_module(f"connectors.{homes[0]}.{name}")
    assert isinstance(module.CONNECTOR, Connector)
    assert module.CONNECTOR.name == name
    assert connector.find(name) is module.CONNECTOR
    assert inspect.getdoc(module)


@each_connector
def test_has_a_page_and_a_test(name):
    assert (ROOT / "docs" / "connectors" / f"{name}.md").is_file()
    assert list((ROOT / "tests" / "connectors").rglob(f"test_{name}.py"))


@each_connector
def test_fills_known_tables_each_once(name):
    tables = connector.find(name).tables
    assert tables
    assert set(tables) <= set(RAW_TABLES)
    assert len(set(tables)) == len(tables)
    assert connector.find(name).extent in Extent


@each_connector
def test_settings_cannot_change_and_carry_their_units(name):
    kind = connector.find(name).settings
    assert is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    for field in fields(kind):
        if isinstance(field.default, (int, float)) and not isinstance(field.default, bool):
            assert field.name.endswith(UNITS) or COUNT.fullmatch(field.name), field.name


@each_connector
def test_secrets_are_of_the_type_that_never_shows(name):
    for field in fields(connector.find(name).settings):
        if re.search(r"token$|password|secret", field.name):
            assert field.type in {SecretText, SecretText | None}, field.name


@with_location
def test_an_empty_folder_is_reported_and_brings_nothing(name, tmp_path):
    read, unreadable = pages_of(name, settings_for(name, tmp_path))
    assert read == []
    for part in unreadable:
        assert str(tmp_path) in part.reason


@with_location
def test_a_folder_that_is_gone_is_reported(name, tmp_path):
    read, (part, *_) = pages_of(name, settings_for(name, tmp_path / "gone"))
    assert read == []
    assert str(tmp_path / "gone") in part.reason


@with_location
def test_an_empty_folder_loses_nothing_that_was_loaded(name, tmp_path, engine):
    folder = tmp_path / "source"
    folder.mkdir()
    settings = sample(name, folder)
    first = load(engine, "s", connector.find(name), settings, WEEK)
    (table, rows) = max(first.rows_by_table.items(), key=lambda pair: pair[1])
    assert rows > 0
    for file in folder.iterdir():
        file.unlink()
    try:
        again = load(engine, "s", connector.find(name), settings, WEEK)
        assert not again.is_complete
    except InputError:
        pass
    assert engine.run(f"select count(*) from raw.{table} where source_id = 's'") == [(rows,)]


@with_location
def test_a_file_that_broke_keeps_its_rows_once(name, tmp_path, engine):
    folder = tmp_path / "source"
    folder.mkdir()
    settings = sample(name, folder)
    (file,) = folder.iterdir()
    broken = folder / f"also-{file.name}"
    broken.write_bytes(file.read_bytes())
    counts = []
    for _ in range(3):
        load(engine, "s", connector.find(name), settings, WEEK)
        tables = sorted({*connector.find(name).tables, "finding"})
        counts.append({table: engine.run(f"select count(*) from raw.{table}") for table in tables})
        broken.write_bytes(b"\x1f\x8b broken gzip")
    assert counts[0] == counts[1] == counts[2]


@each_connector
def test_rows_have_exactly_the_agreed_columns(name, tmp_path):
    settings = sample(name, tmp_path)
    read, unreadable = pages_of(name, settings)
    assert unreadable == []
    assert read
    seen = set()
    for page in read:
        assert page.origin
        for table, rows in connector.find(name).normalise(settings, page).items():
            assert rows.schema.equals(RAW_TABLES[table].columns), table
            seen |= {table} if rows.num_rows else set()
    assert seen
    assert seen <= {*connector.find(name).tables, "finding"}


@each_connector
def test_the_same_files_give_the_same_rows(name, tmp_path):
    settings = sample(name, tmp_path)
    first, again = (
        [connector.find(name).normalise(settings, page) for page in pages_of(name, settings)[0]] for _ in range(2)
    )
    assert first == again


def test_there_are_connectors():
    assert {"embedded", "focus_files", "metric_files", "object_files"} <= set(connector.names())
