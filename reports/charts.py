"""Drawings as inline SVG that follow the page's colours, in light and dark."""

import re
from collections.abc import Iterator, Sequence

import altair as alt
import vl_convert
from markupsafe import escape

from reports.advice import ChartLine, ChartSeries

CHART_WIDTH = 940
CHART_HEIGHT = 150
PADDING = {"left": 40, "right": 14, "top": 6, "bottom": 24}  # room for the labels
SPARK_WIDTH = 112
SPARK_HEIGHT = 22
INK = "var(--used)"  # the page's custom properties; SVG attributes may refer to them
ACCENT = "var(--accent)"
LINE = "var(--line)"
LABEL = "var(--muted)"
_PATH = re.compile(r' d="((?:[ML]-?[\d.]+,-?[\d.]+|Z(?=M))+)(Z?)"')
_POINT = re.compile(r"([ML])(-?[\d.]+),(-?[\d.]+)")
_NAMESPACES = re.compile(r' xmlns(:xlink)?="[^"]*"| version="1\.1"')


def activity_chart(series: ChartSeries) -> str:
    """Return one SVG of at most some 20 KB: the first line as a quiet area, others over it in the accent."""
    # Nothing here may depend on the width of text: machines have different fonts, and reports are compared by byte.
    dates = alt.Axis(format="%-d %b", tickCount=8, grid=False, labelOverlap=False)
    amounts = alt.Axis(tickCount=4, tickMinStep=1, labelOverlap=False)
    x = alt.X("t:T", title=None, scale=alt.Scale(type="utc"), axis=dates)
    y = alt.Y("v:Q", title=None, scale=alt.Scale(zero=True, nice=True), axis=amounts)
    held, *others = [alt.Chart(alt.InlineData(values=list(_steps(series, line)))) for line in series.lines]
    layers = [
        held.mark_area(interpolate="step-after", color=INK, fillOpacity=0.22).encode(x=x, y=y),
        *(
            other.mark_line(interpolate="step-after", color=ACCENT, strokeWidth=1.5, strokeJoin="round").encode(
                x=x, y=y
            )
            for other in others
        ),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=CHART_WIDTH, height=CHART_HEIGHT, padding=PADDING, autosize="none")
        .configure(background="transparent", font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(gridColor=LINE, domainColor=LINE, tickColor=LINE, labelColor=LABEL, labelFontSize=11)
    )
    svg = vl_convert.vegalite_to_svg(chart.to_json(indent=None))
    svg = _PATH.sub(_shorter_path, _NAMESPACES.sub("", svg))  # inline SVG needs no namespaces
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(series.title)}" ', 1)


def _shorter_path(path: re.Match[str]) -> str:
    """Return a path of straight lines in whole pixels, without the points inside a straight stretch."""
    kept: list[tuple[str, int, int]] = []
    for command, x, y in _POINT.findall(path[1]):
        point = (command, round(float(x)), round(float(y)))
        while len(kept) > 1 and command == "L" and kept[-1][0] == "L" and _is_straight(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return f' d="{"".join(f"{command}{x} {y}" for command, x, y in kept)}{path[2]}"'


def _is_straight(first: tuple[str, int, int], middle: tuple[str, int, int], last: tuple[str, int, int]) -> bool:
    return first[1] == middle[1] == last[1] or first[2] == middle[2] == last[2]


def _steps(series: ChartSeries, line: ChartLine) -> Iterator[dict[str, str | float | None]]:
    """Yield only the points where a step changes or a run ends: the drawing is the same, and smaller."""
    values = line.values
    for index, value in enumerate(values):
        neighbours = (values[index - 1] if index else None, values[index + 1] if index + 1 < len(values) else None)
        if value != neighbours[0] or neighbours[1] is None:
            yield {"t": f"{series.instants[index]:%Y-%m-%dT%H:%M:%SZ}", "v": value}


def sparkline(lines: Sequence[ChartLine]) -> str:
    """Return an SVG of at most 2 KB; the first line as an area, the second over it. Empty text without data."""
    known = [value for line in lines for value in line.values if value is not None]
    if not known:
        return ""
    top = max(known) or 1.0
    paths = [
        f'<path class="{"held" if index == 0 else "used"}" d="{path}"/>'
        for index, line in enumerate(lines)
        if (path := _spark_path(line.values, top, is_closed=index == 0))
    ]
    return f'<svg class="spark" viewBox="0 0 {SPARK_WIDTH} {SPARK_HEIGHT}" aria-hidden="true">{"".join(paths)}</svg>'


def _spark_path(values: Sequence[float | None], top: float, *, is_closed: bool) -> str:
    """Return one sub-path per unbroken run, in whole pixels; points inside a flat stretch are left out."""
    stride = SPARK_WIDTH / max(1, len(values) - 1)
    parts: list[str] = []
    for run in _runs(values):
        points = [(round(i * stride), round((SPARK_HEIGHT - 2) * (1 - value / top)) + 1) for i, value in run]
        kept = [
            point
            for i, point in enumerate(points)
            if i in (0, len(points) - 1) or not points[i - 1][1] == point[1] == points[i + 1][1]
        ]
        drawn = "L".join(f"{x} {y}" for x, y in kept)
        ends = f"L{kept[-1][0]} {SPARK_HEIGHT}L{kept[0][0]} {SPARK_HEIGHT}Z" if is_closed else ""
        parts.append(f"M{drawn}{ends}")
    return "".join(parts)


def _runs(values: Sequence[float | None]) -> Iterator[list[tuple[int, float]]]:
    run: list[tuple[int, float]] = []
    for index, value in enumerate(values):
        if value is not None:
            run.append((index, value))
        elif run:
            yield run
            run = []
    if run:
        yield run
