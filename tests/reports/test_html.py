"""One page: safe, small, self-contained."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from reports.budget import rejection_tables
from reports.build_report import build_report
from reports.formats import html

GOLDEN = Path(__file__).parents[1] / "golden"
VOID = {"meta", "link", "br", "img", "input", "hr"}
MAY_STAY_OPEN = {"tr", "td", "th", "thead", "tbody", "tfoot", "li", "p"}  # HTML closes them itself


class Outline(HTMLParser):
    """Headings, landmarks and anchors in order, and every tag and attribute used."""

    def __init__(self):
        super().__init__()
        self.lines, self.tags, self.attributes, self.open = [], set(), [], []
        self.heading = None

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag in {"section", "nav", "main", "footer", "article"}:
            self.lines.append(f"<{tag}> {dict(attrs).get('id') or dict(attrs).get('aria-label') or ''}".rstrip())
        if re.fullmatch(r"h[1-4]", tag):
            self.heading = [tag]
        if tag not in VOID | MAY_STAY_OPEN:
            self.open.append(tag)

    def handle_data(self, data):
        if self.heading:
            self.heading.append(data)

    def handle_endtag(self, tag):
        if tag not in MAY_STAY_OPEN:
            assert self.open.pop() == tag
        if self.heading and tag == self.heading[0]:
            self.lines.append(f"{tag} {' '.join(' '.join(self.heading[1:]).split())}")
            self.heading = None


def outline(page):
    parser = Outline()
    parser.feed(page)
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def page(report):
    return html.render(report)


@pytest.fixture(scope="module")
def many_page(many_report):
    return html.render(many_report)


def test_the_outline_is_as_agreed(small_report):
    lines = "\n".join(outline(html.render(small_report)).lines) + "\n"
    assert lines == (GOLDEN / "report.outline.txt").read_text()


def test_the_same_report_gives_the_same_bytes(report, page):
    assert html.render(report) == page


def test_headings_do_not_skip_a_level(page):
    levels = [int(line[1]) for line in outline(page).lines if line.startswith("h")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_nothing_is_loaded_from_outside(page):
    loads = [one for one in outline(page).attributes if one[1] in {"src", "href", "action", "data", "xlink:href"}]
    assert all(value.startswith("#") for _, _, value in loads)
    assert "url(" not in page
    assert "@import" not in page


def test_every_link_has_its_target(page):
    attributes = outline(page).attributes
    ids = [value for _, name, value in attributes if name == "id"]
    assert {value[1:] for _, name, value in attributes if name == "href"} <= set(ids)
    assert len(ids) == len(set(ids))


def test_the_page_s_policy_runs_its_own_script_only(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src &#39;none&#39;" in policy or "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", policy)


def test_hostile_names_stay_text(hostile_report):
    page = html.render(hostile_report)
    parser = outline(page)
    assert "img" not in parser.tags
    assert page.count("<script") == 1
    assert not [one for one in parser.attributes if one[1].startswith("on")]
    assert "&lt;script&gt;alert(1)" in page


def test_a_thousand_recommendations_and_five_thousand_rejections_stay_under_a_megabyte(many_page):
    assert len(many_page.encode()) < 1_000_000


def test_all_recommendations_are_in_the_table(many_report, many_page):
    assert all(one.id in many_page for one in many_report.recommendations)


def test_every_rejected_name_is_there_even_when_its_reason_is_not(many_report, many_page):
    names = [one.subject.key for group in many_report.rejections for one in group.rejected]
    assert len(names) == 5_000
    assert all(name in many_page for name in names)


def test_reasons_are_shown_when_they_fit(report):
    assert all(table.has_reasons and not table.hidden_rows for table in rejection_tables(report.rejections, 100_000))


def test_every_reason_keeps_a_row_when_names_do_not_fit(many_report):
    tables = rejection_tables(many_report.rejections, budget_bytes=1_000)
    assert all(table.rows for table in tables)
    assert sum(len(table.rows) + table.hidden_rows for table in tables) == 5_000


def test_a_long_manifest_is_cut_with_a_word(inputs):
    long_yaml = "a: 1\n" * 4_000
    manifest = replace(inputs.advice[0].manifests[0], apply_yaml=long_yaml)
    page = html.render(build_report(replace(inputs, advice=(replace(inputs.advice[0], manifests=(manifest,)),))))
    assert long_yaml not in page
    assert "Cut here" in page


def test_the_bill_that_does_not_add_up_says_so(report):
    usd = report.reconciliations[0]
    off = replace(usd, billed_difference_amount=usd.total.billed_amount)
    assert "Does not add up" in html.render(replace(report, reconciliations=(off,)))


def test_unknown_is_never_zero(empty_report):
    page = html.render(empty_report)
    facts = re.search(r"Share of the bill</dt><dd>(\w+)", page)[1]
    assert facts == "unknown"
    assert "No bill was read" in page


def test_the_bars_of_the_waterfall_hang_where_the_former_ended(report):
    first, second = html.waterfall_bars(report)
    assert first.starts_at_ratio + first.width_ratio == pytest.approx(1.0)
    assert second.starts_at_ratio + second.width_ratio == pytest.approx(first.starts_at_ratio)


def test_a_negative_part_has_no_length():
    parts = html.segments([("a", "A", 3.0), ("b", "B", -1.0), ("c", "C", None), ("d", "D", 1.0)])
    assert [part.share_ratio for part in parts] == [0.75, None, None, 0.25]
