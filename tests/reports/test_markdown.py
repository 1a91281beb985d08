"""What the reviewer of a pull request reads."""

from pathlib import Path

import pytest

from reports.formats import markdown

GOLDEN = Path(__file__).parents[1] / "golden" / "report.md"


def test_the_report_is_as_agreed(small_report):
    assert markdown.render(small_report) == GOLDEN.read_text()


def test_every_row_of_a_table_has_as_many_cells_as_its_head(hostile_report):
    cells = None
    for line in markdown.render(hostile_report).splitlines():
        if not line.startswith("|"):
            cells = None
            continue
        found = line.replace("\\|", "").count("|")
        assert cells in {None, found}, line
        cells = found


def test_hostile_names_stay_in_their_place(hostile_report):
    text = markdown.render(hostile_report)
    outside_code = [line for line in text.splitlines() if "`" not in line]
    assert not [line for line in outside_code if "<script" in line.replace("\\<", "")]
    assert "@root" not in "\n".join(outside_code)
    assert not [
        line for line in text.splitlines() if line.startswith("# ") and "GPU" not in line and "alert" not in line
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"),
        ("two\nlines", "two lines"),
        ("<b>", "\\<b\\>"),
        ("@team", "@\u200bteam"),
        ("*x* [y](z)", "\\*x\\* \\[y\\](z)"),
    ],
)
def test_prose_has_no_markup(text, shown):
    assert markdown.prose(text) == shown


@pytest.mark.parametrize(("text", "shown"), [("a`b", "`` a`b ``"), ("a|b", "`a\\|b`"), ("", "` `"), ("x\ny", "`x y`")])
def test_a_name_is_code(text, shown):
    assert markdown.code(text) == shown


def test_nothing_is_said_without_data(empty_report):
    text = markdown.render(empty_report)
    assert "No bill was read" in text
    assert "unknown of the bill" in text
