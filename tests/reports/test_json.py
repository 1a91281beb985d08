"""The report for machines."""

import re
from decimal import Decimal
from pathlib import Path

import orjson

from reports.formats import json

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "report.json"


def test_the_report_is_as_agreed(small_report):
    assert json.render(small_report) == GOLDEN.read_text()


def test_money_from_the_bill_keeps_every_digit(report):
    usd = orjson.loads(json.render(report))["reconciliations"][0]
    # 12470.328000000000007 a day x 30
    assert Decimal(usd["total"]["billed_amount"]) == Decimal("374109.840000000000210")
    assert sum(Decimal(line["billed_amount"]) for line in usd["scopes"]) == Decimal(usd["total"]["billed_amount"])


def test_keys_are_sorted_at_every_depth(report):
    def check(value):
        if isinstance(value, dict):
            assert list(value) == sorted(value)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    check(orjson.loads(json.render(report)))


def test_nothing_is_cut(many_report):
    shown = orjson.loads(json.render(many_report))
    assert len(shown["recommendations"]) == 1_001
    assert sum(len(group["rejected"]) for group in shown["rejections"]) == 5_000


def test_unknown_is_null(empty_report):
    assert orjson.loads(json.render(empty_report))["headline"]["share_of_bill_ratio"] is None


def test_the_docs_name_every_part(report):
    shown = orjson.loads(json.render(report))
    documented = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "report.md").read_text(), re.MULTILINE))
    assert documented == set(shown)
