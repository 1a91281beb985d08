"""What the reviewer of a pull request reads: headline, reconciliation, the top recommendations, what was let go."""

import re
from collections.abc import Iterable, Iterator, Sequence

from reports import wording
from reports.advice import EvidenceLine, Recommendation
from reports.report import Reconciliation, Report

DETAILS = 10
TABLE_ROWS = 50
FINDINGS = 10
EVIDENCE_ROWS = 6
SUBJECTS = 3
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_RIGHT = "--:"
_LEFT = "---"


def render(report: Report) -> str:
    """Return Markdown for a pull request or a ticket; names from outside cannot break out of their place."""
    parts = (
        _headline(report),
        _reconciliations(report),
        _health(report),
        _plan(report),
        _recommendations(report),
        _details(report.recommendations[:DETAILS]),
        _rejections(report),
        _teams(report),
        _footer(report),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def prose(text: str) -> str:
    """Return text from outside so that it reads as plain text: one line, no markup, nobody mentioned."""
    line = _CONTROLS.sub(" ", text).strip()
    return _MARKUP.sub(r"\\\1", line).replace("@", "@\u200b")


def code(text: str) -> str:
    """Return a name from outside as code; safe inside a table too."""
    line = _CONTROLS.sub(" ", text).strip().replace("|", "\\|") or " "
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(name for name, _ in columns)} |"
    yield f"|{'|'.join(side for _, side in columns)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _headline(report: Report) -> Iterator[str]:
    head = report.headline
    yield f"# {prose(report.title)}, {wording.days(report.window)}"
    yield ""
    yield (
        f"**{wording.usd(head.savings.expected_usd_per_month)} a month** in cash "
        f"({wording.usd_range(head.savings)}), {wording.percent(head.share_of_bill_ratio)} of the bill. "
        f"At list price {wording.usd(head.list_usd_per_month)}, at effective price "
        f"{wording.usd(head.effective_usd_per_month)}."
    )
    yield ""
    hours = head.gpu_hours
    yield (
        f"{wording.plural(head.recommendations, 'recommendation')}, freeing "
        f"{wording.released(head.released_devices, head.released_nodes)} of {wording.number(head.gpus)} GPUs; "
        f"{wording.number(head.rejections)} candidates let go. GPU hours: {wording.number(hours.used)} used, "
        f"{wording.number(hours.idle)} held and idle, {wording.number(hours.unallocated)} unallocated, "
        f"{wording.number(hours.unknown)} unknown."
    )
    if head.best_possible_usd_per_month:
        share = head.savings.expected_usd_per_month / head.best_possible_usd_per_month
        yield f"\nThat is {wording.percent(share)} of the best any plan could reach."
    yield ""


def _reconciliations(report: Report) -> Iterator[str]:
    yield "## Reconciliation with the bill"
    yield ""
    if not report.reconciliations:
        yield "No bill was read, so nothing here has a price."
        yield ""
    for one in report.reconciliations:
        yield from _reconciliation(one)


def _reconciliation(one: Reconciliation) -> Iterator[str]:
    names = ("Charge days", "Billed", "Effective", "List")
    columns = [(f"{prose(one.currency)} by scope", _LEFT), *((name, _RIGHT) for name in names)]
    lines = [(wording.SCOPES.get(line.scope, prose(wording.words(line.scope))), line) for line in one.scopes]
    yield from _table(
        columns,
        [
            (
                name,
                wording.number(line.charge_days),
                wording.cents(line.billed_amount),
                wording.cents(line.effective_amount),
                wording.cents(line.list_amount),
            )
            for name, line in [*lines, ("**Total**", one.total)]
        ],
    )
    yield "It adds up." if one.adds_up else "**It does not add up.**"
    if one.control is None:
        yield "No control total came with this bill."
    else:
        yield (
            f"{wording.number(one.control.charge_rows)} charge rows read; difference to the table: "
            f"{wording.cents(one.billed_difference_amount)} billed, "
            f"{wording.cents(one.effective_difference_amount)} effective."
        )
    yield ""
    if one.node_split:
        rows = [(wording.NODE_PARTS[line.part], wording.cents(line.effective_amount)) for line in one.node_split]
        rows.append(("**Node scope minus its parts**", wording.cents(one.node_difference_amount)))
        yield from _table((("Node cost, effective", _LEFT), (prose(one.currency), _RIGHT)), rows)


def _health(report: Report) -> Iterator[str]:
    health = report.health
    yield "## Data health"
    yield ""
    yield (
        f"Unattributed node cost: {wording.percent(health.unattributed_ratio)}. GPU time without believable "
        f"telemetry: {wording.percent(health.unknown_ratio)}."
    )
    yield ""
    for failure in health.failures:
        yield f"- **Could not be read:** {code(failure.source_id)}, {prose(failure.message)}"
    for finding in health.findings[:FINDINGS]:
        yield (
            f"- {prose(wording.heading(finding.code))}, {wording.plural(finding.occurrences, 'time')}, "
            f"{code(finding.subject)}: {prose(finding.message)}"
        )
    if len(health.findings) > FINDINGS:
        yield f"- and {len(health.findings) - FINDINGS} more"
    if health.failures or health.findings:
        yield ""
    columns = (("GPU model", _LEFT), ("GPUs", _RIGHT), ("Telemetry level", _RIGHT), ("For the next level", _LEFT))
    rows = [
        (code(reach.gpu_model), wording.number(reach.gpus), f"{reach.telemetry_level} of 3", reach.to_reach_next_level)
        for reach in health.telemetry
    ]
    yield from _table(columns, [(*row[:3], prose(row[3])) for row in rows])


def _plan(report: Report) -> Iterator[str]:
    if not report.waterfall:
        return
    yield "## The plan, step by step"
    yield ""
    names = ("Recommendations", "Saves a month", "Range", "Bill after")
    rows = [
        (
            wording.STEPS[step.step],
            wording.number(step.recommendations),
            wording.usd(step.savings.expected_usd_per_month),
            wording.usd_range(step.savings),
            wording.usd(step.billed_after_usd_per_month),
        )
        for step in report.waterfall
    ]
    yield from _table((("Step", _LEFT), *((name, _RIGHT) for name in names)), rows)


def _recommendations(report: Report) -> Iterator[str]:
    yield "## Recommendations"
    yield ""
    if not report.recommendations:
        yield "None."
        yield ""
        return
    columns = (
        ("#", _RIGHT),
        ("What to do", _LEFT),
        ("Saves a month", _RIGHT),
        ("Frees", _LEFT),
        ("Risk", _LEFT),
        ("Id", _LEFT),
    )
    rows = [
        (
            str(rank),
            prose(one.action),
            f"{wording.usd(one.savings.expected_usd_per_month)} ({wording.usd_range(one.savings)})",
            wording.released(one.released_devices, len(one.released_nodes)),
            one.risk,
            code(one.id),
        )
        for rank, one in enumerate(report.recommendations[:TABLE_ROWS], start=1)
    ]
    yield from _table(columns, rows)
    if len(report.recommendations) > TABLE_ROWS:
        yield f"And {len(report.recommendations) - TABLE_ROWS} smaller ones."
        yield ""


def _details(shown: Sequence[Recommendation]) -> Iterator[str]:
    for rank, one in enumerate(shown, start=1):
        yield f"### {rank}. {prose(one.action)}"
        yield ""
        yield (
            f"{wording.usd(one.savings.expected_usd_per_month)} a month ({wording.usd_range(one.savings)}); "
            f"risk {wording.RISKS[one.risk]}; disrupts {wording.plural(one.disrupted_pods, 'pod')}; {code(one.id)}"
        )
        yield ""
        if one.formula:
            yield f"Saving: {prose(one.formula)}"
            yield ""
        yield from _evidence(one.evidence)
        yield from (f"- {prose(note)}" for note in one.notes)
        if one.notes and one.runbook_steps:
            yield ""  # a list of another kind begins
        yield from (f"{number}. {prose(step)}" for number, step in enumerate(one.runbook_steps, start=1))
        if one.undo_steps:
            yield "\nThe way back:\n"
            yield from (f"{number}. {prose(step)}" for number, step in enumerate(one.undo_steps, start=1))
        if one.manifests:
            yield f"\nManifests: {', '.join(code(manifest.target) for manifest in one.manifests[:SUBJECTS])}"
        yield ""


def _evidence(evidence: Sequence[EvidenceLine]) -> Iterator[str]:
    if not evidence:
        return
    rows = [
        (
            prose(wording.sentence(fact.claim)),
            code(fact.subject.key),
            wording.quantity(fact.value, prose(fact.unit)),
            "none" if fact.threshold is None else wording.quantity(fact.threshold, prose(fact.unit)),
        )
        for fact in evidence[:EVIDENCE_ROWS]
    ]
    yield from _table((("Observed", _LEFT), ("Subject", _LEFT), ("Value", _RIGHT), ("Limit", _RIGHT)), rows)
    if len(evidence) > EVIDENCE_ROWS:
        yield f"And {len(evidence) - EVIDENCE_ROWS} more facts."
        yield ""


def _rejections(report: Report) -> Iterator[str]:
    if not report.rejections:
        return
    yield "## Looked at and let go"
    yield ""
    rows = [
        (
            prose(wording.heading(group.code)),
            prose(wording.words(group.recommender)),
            wording.number(len(group.rejected)),
            ", ".join(code(one.subject.key) for one in group.rejected[:SUBJECTS]),
        )
        for group in report.rejections
    ]
    yield from _table((("Reason", _LEFT), ("By", _LEFT), ("Candidates", _RIGHT), ("For example", _LEFT)), rows)


def _teams(report: Report) -> Iterator[str]:
    if not report.teams:
        return
    yield "## Teams"
    yield ""
    money = prose(report.cost_currency)
    names = (f"Cost, {money}", f"Idle, {money}", "GPU hours", "Idle GPU hours", "Idle share")
    rows = [
        (
            "team unknown" if row.team is None else code(row.team),
            wording.cents(row.effective_usd),
            wording.cents(row.idle_usd),
            wording.number(row.gpu_hours),
            wording.number(row.idle_gpu_hours),
            wording.percent(row.idle_ratio),
        )
        for row in report.teams
    ]
    yield from _table((("Team", _LEFT), *((name, _RIGHT) for name in names)), rows)


def _footer(report: Report) -> Iterator[str]:
    yield (
        f"As of {wording.instant(report.as_of)}. Earnkeep {prose(report.version)}, configuration "
        f"{code(report.config_fingerprint)}. Amounts are rounded for reading; one month is 730 hours. "
        "Nothing here has been applied."
    )
