"""The page on settings says what the dataclasses say."""

import dataclasses
from pathlib import Path

from connectors import connector
from optimizer import recommenders
from optimizer.config import RunSettings
from optimizer.settings_reference import MARKER, main, settings_reference

PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8").partition(MARKER)[2].strip() == settings_reference().strip(), (
        "docs/configuration.md is stale; run `make reference`"
    )


def test_every_setting_of_every_plug_in_is_on_the_page():
    text = settings_reference()
    for settings in [each.settings for each in recommenders.discover()] + [
        connector.find(name).settings for name in connector.names()
    ]:
        for field in dataclasses.fields(settings):
            assert f"`{field.name}" in text


def test_a_setting_has_type_default_and_the_comment_behind_it():
    row = "| `lookback_days` | whole number | `30` | history a run looks at, ending at --as-of |"
    assert row in settings_reference()
    assert RunSettings().lookback_days == 30


def test_every_setting_has_a_meaning():
    rows = [line for line in settings_reference().splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.endswith("|  |")] == []


def test_rewriting_keeps_what_was_written_by_hand(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"By hand.\n{MARKER}stale\n", encoding="utf-8")
    main(page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"By hand.\n{MARKER}")
    assert "stale" not in text
    assert "lookback_days" in text
