"""From the state and the marts to files: what the report shows, and where it is written."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import orjson
import polars as pl
import yaml
from pydantic import TypeAdapter

from models.domain.money import SavingsRange
from models.domain.recommendation import Step
from optimizer.manifest import Document
from optimizer.state import Advice, RunRecord, State
from reports.advice import ManifestText
from reports.build_report import build_report
from reports.formats import html, json, markdown
from reports.report import ControlTotal, SourceFailure
from reports.report_inputs import MARTS as REPORT_MARTS
from reports.report_inputs import Advice as ShownAdvice
from reports.report_inputs import PlanTotals, ReportInputs

__all__ = [
    "CONTROL_MART",
    "REPORT_MARTS",
    "plan_savings",
    "report_inputs",
    "without_folder",
    "write_report",
    "yaml_text",
]

CONTROL_MART = "control_total"

_RENDERERS = {"report.html": html.render, "report.json": json.render, "report.md": markdown.render}
_SAVINGS = TypeAdapter(SavingsRange)


def report_inputs(state: State, run: RunRecord, marts: Mapping[str, pl.DataFrame]) -> ReportInputs:
    """Return everything the report of a run needs."""
    plan = orjson.loads(state.plan(run.run_id))
    totals = plan["totals"]
    return ReportInputs(
        window=run.window,
        version=run.version,
        config_fingerprint=run.config_fingerprint,
        marts=marts,
        advice=tuple(_shown(advice) for advice in state.advice(run.run_id)),
        rejections=state.rejections(run.run_id),
        plan_totals=PlanTotals(
            _SAVINGS.validate_python(totals["savings"]),
            totals["list_usd_per_month"],
            totals["effective_usd_per_month"],
            totals["released_devices"],
            savings_by_step={
                Step(step["step"]): _SAVINGS.validate_python(step["savings"]) for step in plan["waterfall"]
            },
        ),
        control_totals=tuple(
            ControlTotal(row["billing_currency"], row["charge_rows"], row["billed_usd"], row["effective_usd"])
            for row in marts[CONTROL_MART].sort("billing_currency").iter_rows(named=True)
        ),
        failures=tuple(
            SourceFailure(
                failure.source_id, f"{failure.origin}: {failure.reason}" if failure.origin else failure.reason
            )
            for failure in state.failures(run.run_id)
        ),
    )


def plan_savings(state: State, run_id: int) -> SavingsRange:
    """Return what the plan of a run saves as a whole: its low end is not the sum of its decisions' low ends."""
    return _SAVINGS.validate_python(orjson.loads(state.plan(run_id))["totals"]["savings"])


def without_folder(inputs: ReportInputs, folder: Path) -> ReportInputs:
    """Return the inputs with paths written as seen from the configuration's folder: no report names a machine."""
    prefix = f"{folder}/"
    findings = inputs.marts["finding"].with_columns(
        pl.col(pl.String).str.replace_all(prefix, "", literal=True),
    )
    return replace(
        inputs,
        marts={**inputs.marts, "finding": findings},
        failures=tuple(
            SourceFailure(failure.source_id, failure.message.replace(prefix, "")) for failure in inputs.failures
        ),
    )


def write_report(inputs: ReportInputs, folder: Path) -> tuple[Path, ...]:
    """Write every format, each whole or not at all."""
    shown = build_report(inputs)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, render in sorted(_RENDERERS.items()):
        path = folder / name
        unfinished = path.with_suffix(path.suffix + ".part")
        unfinished.write_text(render(shown), encoding="utf-8", newline="\n")
        unfinished.replace(path)
        paths.append(path)
    return tuple(paths)


def yaml_text(document: Document) -> str:
    """Return one object as YAML, keys in the order given."""
    return yaml.safe_dump(_plain(document), sort_keys=False, allow_unicode=True)


def _shown(advice: Advice) -> ShownAdvice:
    return ShownAdvice(
        decision=advice.decision,
        manifests=tuple(
            ManifestText(each.target, yaml_text(each.apply), yaml_text(each.undo), each.written_for)
            for each in advice.change.manifests
        ),
        runbook_steps=advice.change.runbook.steps,
        undo_steps=advice.change.runbook.undo_steps,
    )


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
