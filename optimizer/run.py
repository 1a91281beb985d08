"""
One run, stage by stage: sync, build, check, recommend, report. Each can be run alone, and again.

`recommend` finds, evaluates, plans and writes; what it decided stays in the state file, from which `report` reads.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path

import orjson
import polars as pl
from pydantic import TypeAdapter

from connectors import connector as connectors
from connectors.load import LoadOutcome, load
from models.domain.errors import ConservationError, EarnkeepError
from models.domain.recommendation import Decision, Proposal, Rejection
from models.domain.window import Window
from optimizer import __version__
from optimizer.config import Config, SourceConfig
from optimizer.engine import Engine
from optimizer.facts import Facts
from optimizer.log import Progress
from optimizer.manifest import TargetVersions
from optimizer.plan import MARTS as PLAN_MARTS
from optimizer.plan import plan_from_marts
from optimizer.recommender import Recommender, SettingsT
from optimizer.recommenders import discover
from optimizer.reporting import CONTROL_MART, REPORT_MARTS, report_inputs, without_folder, write_report
from optimizer.state import Advice, SourceFailure, State
from reports.report import Basis

PARTIAL_DATA_EXIT_CODE = 20
_EMBEDDED_PRICES = "embedded"
_VIOLATIONS_SHOWN = 20


class Stage(StrEnum):
    """The parts of a run, in order."""

    SYNC = "sync"
    BUILD = "build"
    CHECK = "check"
    RECOMMEND = "recommend"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class RunContext:
    """What every stage works with."""

    config: Config
    window: Window
    engine: Engine
    state: State
    progress: Progress


def sync(context: RunContext, source_ids: Sequence[str] = ()) -> tuple[SourceFailure, ...]:
    """Load every configured source, or those named; one that fails does not stop the others."""
    wanted = [source for source in sources(context.config) if not source_ids or source.id in source_ids]
    failures: list[SourceFailure] = []
    with context.progress.step("sync", total=len(wanted)) as advance:
        for source in wanted:
            failures.extend(_sync_one(context, source))
            advance(1)
    return tuple(failures)


def sources(config: Config) -> tuple[SourceConfig, ...]:
    """Return the configured sources, and the embedded prices where no other source has prices."""
    if any("price" in connectors.find(source.connector_name).tables for source in config.sources):
        return config.sources
    settings = connectors.find(_EMBEDDED_PRICES).settings()
    return (*config.sources, SourceConfig("embedded_prices", _EMBEDDED_PRICES, settings))


def build(context: RunContext) -> None:
    """Build every model over the window."""
    with context.progress.step("build"):
        context.engine.build(context.window, context.config.build)


def check(context: RunContext) -> None:
    """
    Hold the marts to their promises.

    Raises:
        ConservationError: one is broken; the message names each, with node, day and difference.
    """
    with context.progress.step("check"):
        violations = context.engine.check()
    if violations:
        shown = "\n".join(f"  {violation.check}: {violation.message}" for violation in violations[:_VIOLATIONS_SHOWN])
        more = len(violations) - _VIOLATIONS_SHOWN
        rest = f"\n  and {more} more" if more > 0 else ""
        message = f"{len(violations)} promises are broken, so no advice is written:\n{shown}{rest}"
        raise ConservationError(message)


def recommend(context: RunContext, failures: Sequence[SourceFailure] = ()) -> int:
    """Find, evaluate, plan, write, and keep it all in the state; return the number of the run."""
    found = discover()
    with context.progress.step("recommend", total=len(found)) as advance:
        reads = {mart for recommender in found for mart in recommender.reads} | set(PLAN_MARTS)
        facts = Facts(_built_window(context.engine), read_marts(context.engine, reads))
        proposals: list[Proposal] = []
        rejections: list[Rejection] = []
        for recommender in found:
            for outcome in evaluate_all(recommender, facts, context.config.recommenders[recommender.name]):
                (proposals if isinstance(outcome, Proposal) else rejections).append(outcome)  # type: ignore[arg-type]
            advance(1)
    with context.progress.step("plan"):
        plan = plan_from_marts(proposals, facts.marts, context.config.plan)
    writers = {recommender.name: recommender for recommender in found}
    advice = [_advice(writers, decision) for decision in plan.decisions]
    run_id = context.state.start_run(facts.window, __version__, fingerprint(context.config))
    context.state.keep_failures(run_id, failures)
    context.state.keep_advice(run_id, proposals, (*rejections, *plan.rejections), advice)
    context.state.keep_plan(run_id, {"waterfall": plan.waterfall, "totals": plan.totals})
    return run_id


def evaluate_all(recommender: Recommender[SettingsT], facts: Facts, settings: SettingsT) -> list[Proposal | Rejection]:
    """Return the outcome of every candidate of one recommender."""
    return [recommender.evaluate(candidate, facts, settings) for candidate in recommender.find(facts, settings)]


def report(context: RunContext) -> tuple[Path, ...]:
    """
    Write the newest run's report in every format and return the paths; the last one is left in place on failure.

    Raises:
        EarnkeepError: no run has decided anything yet.
    """
    run = context.state.latest_run()
    if run is None:
        message = "no run has decided anything yet; run `earnkeep run` first"
        raise EarnkeepError(message)
    if _built_window(context.engine) != run.window:
        message = (
            f"the newest run decided over {run.window.start:%Y-%m-%d} to {run.window.end:%Y-%m-%d %H:%M} UTC, but the "
            "marts are built over another window; run `earnkeep recommend` first"
        )
        raise EarnkeepError(message)
    with context.progress.step("report"):
        marts = read_marts(context.engine, {*REPORT_MARTS, CONTROL_MART})
        inputs = report_inputs(context.state, run, marts)
        inputs = without_folder(replace(inputs, basis=basis(context.config)), context.config.folder)
        return write_report(inputs, context.config.run.out)


def _built_window(engine: Engine) -> Window:
    window = engine.window()
    if window is None:
        message = "no marts are built yet; run `earnkeep build` first"
        raise EarnkeepError(message)
    return window


def read_marts(engine: Engine, names: set[str]) -> Mapping[str, pl.DataFrame]:
    """Return marts as Polars frames."""
    frames = {name: pl.from_arrow(engine.read(name)) for name in sorted(names)}
    return {name: frame for name, frame in frames.items() if isinstance(frame, pl.DataFrame)}


def basis(config: Config) -> tuple[Basis, ...]:
    """Return the choices that the report's numbers rest on, as a reader would look them up in the configuration."""
    return tuple(
        Basis(f"{table}.{field.name}", str(getattr(settings, field.name)))
        for table, settings in (("build", config.build), ("plan", config.plan))
        for field in fields(settings)
        if isinstance(getattr(settings, field.name), int | float | str)
    )


def fingerprint(config: Config) -> str:
    """Return a short digest of every choice that changes advice; where files lie is none."""
    choices = {
        "build": config.build,
        "plan": config.plan,
        "recommenders": dict(config.recommenders),
        "lookback_days": config.run.lookback_days,
        "sources": [(source.id, source.connector_name) for source in config.sources],
    }
    text = TypeAdapter(dict[str, object]).dump_json(choices)
    canonical = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()[:12]


def _sync_one(context: RunContext, source: SourceConfig) -> list[SourceFailure]:
    try:
        outcome: LoadOutcome = load(
            context.engine, source.id, connectors.find(source.connector_name), source.settings, context.window
        )
    except EarnkeepError as error:
        return [SourceFailure(source.id, "", str(error))]
    if outcome.is_complete:
        context.state.advance(source.id, context.window.end)
    return [SourceFailure(source.id, part.origin, part.reason) for part in outcome.unreadable]


def _advice(writers: Mapping[str, Recommender[SettingsT]], decision: Decision) -> Advice:
    return Advice(decision, writers[decision.recommender].write(decision, TargetVersions()))
