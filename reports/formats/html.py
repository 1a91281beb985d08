"""One self-contained page: works offline, in light and dark, on a phone and on paper. Under 1 MB."""

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from reports import wording
from reports.advice import Recommendation, WaterfallStep
from reports.budget import (
    CARD_BYTES,
    CARDS_BYTES,
    FINDING_ROWS,
    PAGE_BYTES,
    RECOMMENDATION_ROWS,
    WORKLOAD_ROWS,
    RejectionTable,
    rejection_tables,
)
from reports.charts import activity_chart, sparkline
from reports.report import GpuHours, Reconciliation, Report

EVIDENCE_ROWS = 8
CHOICE_ROWS = 40
MANIFESTS = 12
STEPS_SHOWN = 60
YAML_LENGTH = 6_000


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar."""

    key: str  # its colour
    label: str
    value: float | Decimal | None
    share_ratio: float | None  # of the whole bar; None where the value is unknown or negative


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the waterfall, as shares of the whole width."""

    step: WaterfallStep
    starts_at_ratio: float
    width_ratio: float


@dataclass(frozen=True, slots=True)
class Card:
    """One recommendation in full."""

    recommendation: Recommendation
    rank: int
    html: Markup


def render(report: Report) -> str:
    """Return the page. Names from outside are escaped, and the page's own policy lets nothing load or run."""
    page = _environment()
    script = page.get_template("filter.js.j2").render()
    cards = _cards(page, report)
    sparklines = [Markup(sparkline(one.sparkline)) for one in report.recommendations]  # noqa: S704 - our own SVG

    def whole(rejected: list[RejectionTable]) -> str:
        return page.get_template("report.html.j2").render(
            report=report,
            cards=cards,
            card_ids={card.recommendation.id for card in cards},
            sparklines=sparklines,
            rejection_tables=rejected,
            gpu_segments=gpu_segments(report.headline.gpu_hours),
            waterfall=waterfall_bars(report),
            script=Markup(script),  # noqa: S704 - our own script; the policy holds its hash
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            rows={"finding": FINDING_ROWS, "workload": WORKLOAD_ROWS, "recommendation": RECOMMENDATION_ROWS},
        )

    left_bytes = PAGE_BYTES - len(whole([]).encode())
    return whole(rejection_tables(report.rejections, left_bytes))


def _environment() -> Environment:
    page = Environment(
        loader=PackageLoader("reports.formats", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for word in (
        wording.cents,
        wording.days,
        wording.heading,
        wording.instant,
        wording.number,
        wording.percent,
        wording.plural,
        wording.quantity,
        wording.released,
        wording.sentence,
        wording.usd,
        wording.usd_range,
        wording.words,
    ):
        page.filters[word.__name__] = word
    page.globals.update(
        SCOPES=wording.SCOPES,
        NODE_PARTS=wording.NODE_PARTS,
        GPU_STATES=wording.GPU_STATES,
        STEPS=wording.STEPS,
        RISKS=wording.RISKS,
        TELEMETRY_LEVELS=wording.TELEMETRY_LEVELS,
        scope_segments=scope_segments,
        node_segments=node_segments,
        limits={
            "evidence": EVIDENCE_ROWS,
            "choices": CHOICE_ROWS,
            "manifests": MANIFESTS,
            "steps": STEPS_SHOWN,
            "yaml": YAML_LENGTH,
        },
    )
    return page


def _cards(page: Environment, report: Report) -> list[Card]:
    """Return the first ten in full, and as many of the next as the page has room for."""
    template = page.get_template("card.html.j2")
    cards: list[Card] = []
    spent_bytes = 0
    for rank, one in enumerate(report.recommendations, start=1):
        chart = Markup(activity_chart(one.chart)) if one.chart else None  # noqa: S704 - our own SVG
        html = template.render(one=one, rank=rank, chart=chart, has_manifests=True)
        if len(html.encode()) > CARD_BYTES:
            html = template.render(one=one, rank=rank, chart=chart, has_manifests=False)
        spent_bytes += len(html.encode())
        if one.chart is None and spent_bytes > CARDS_BYTES:
            break
        cards.append(Card(one, rank, Markup(html)))  # noqa: S704 - the template escaped it
    return cards


def segments(parts: Iterable[tuple[str, str, float | Decimal | None]]) -> list[Segment]:
    """Return the parts of a stacked bar with their shares; what is negative or unknown has no length."""
    listed = list(parts)
    whole = sum(float(value) for _, _, value in listed if value is not None and value > 0)
    return [
        Segment(key, label, value, float(value) / whole if value is not None and value > 0 else None)
        for key, label, value in listed
    ]


def gpu_segments(hours: GpuHours) -> list[Segment]:
    """Return where GPU time went."""
    return segments((state, label, getattr(hours, state)) for state, label in wording.GPU_STATES.items())


def scope_segments(one: Reconciliation) -> list[Segment]:
    """Return the bill by scope, at amortised price."""
    return segments(
        (line.scope, wording.SCOPES.get(line.scope, wording.words(line.scope)), line.effective_amount)
        for line in one.scopes
    )


def node_segments(one: Reconciliation) -> list[Segment]:
    """Return node cost by part."""
    return segments((line.part, wording.NODE_PARTS[line.part], line.effective_amount) for line in one.node_split)


def waterfall_bars(report: Report) -> list[Bar]:
    """Return one bar a step; each hangs where the former one ended."""
    billed = report.headline.billed_usd_per_month
    whole = billed or sum(step.savings.expected_usd_per_month for step in report.waterfall) or 1.0
    bars: list[Bar] = []
    left = whole
    for step in report.waterfall:
        left -= step.savings.expected_usd_per_month
        bars.append(Bar(step, max(0.0, left / whole), min(1.0, step.savings.expected_usd_per_month / whole)))
    return bars
