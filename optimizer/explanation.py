"""One recommendation as text: what, why, from which numbers, and how to check them."""

from collections.abc import Iterator

from models.domain.recommendation import Chosen, Evidence
from optimizer.reporting import yaml_text
from optimizer.state import Advice, RunRecord


def explanation(advice: Advice, run: RunRecord) -> str:
    """Return formula, inputs with their times, the SQL that shows them again, and the limits they were held to."""
    return "\n".join(_lines(advice, run)) + "\n"


def _lines(advice: Advice, run: RunRecord) -> Iterator[str]:
    decision = advice.decision
    savings = decision.savings
    yield f"{decision.id}  {decision.recommender}  {decision.subject.key}"
    yield f"Window    {run.window.start:%Y-%m-%d %H:%M} to {run.window.end:%Y-%m-%d %H:%M} UTC"
    yield (
        f"Saves     {savings.expected_usd_per_month:,.2f} USD a month in cash "
        f"({savings.low_usd_per_month:,.2f} to {savings.high_usd_per_month:,.2f}); "
        f"list {decision.list_usd_per_month:,.2f}, effective {decision.effective_usd_per_month:,.2f}"
    )
    yield f"Formula   {decision.formula}"
    yield f"Releases  {decision.released_devices:g} GPUs; nodes: {', '.join(decision.released_nodes) or 'none'}"
    yield from (f"Note      {note}" for note in decision.notes)
    for chosen in decision.chosen:
        yield from _chosen_lines(chosen)
    for manifest in advice.change.manifests:
        yield f"\n# {manifest.target} ({manifest.written_for})\n{yaml_text(manifest.apply).rstrip()}"
        yield f"# undo\n{yaml_text(manifest.undo).rstrip()}"
    yield from _numbered("Steps", advice.change.runbook.steps)
    yield from _numbered("Undo", advice.change.runbook.undo_steps)


def _chosen_lines(chosen: Chosen) -> Iterator[str]:
    yield f"\n{chosen.subject.key}: {chosen.alternative.name}, risk {chosen.alternative.risk}"
    for evidence in chosen.alternative.evidence:
        yield f"  {evidence.claim}: {evidence.value:.4g} {evidence.unit}{_limit(evidence)}"
        yield f"    {evidence.query}"


def _limit(evidence: Evidence) -> str:
    return "" if evidence.threshold is None else f" (limit {evidence.threshold:.4g})"


def _numbered(title: str, steps: tuple[str, ...]) -> Iterator[str]:
    if steps:
        yield f"\n{title}"
    yield from (f"  {number}. {step}" for number, step in enumerate(steps, start=1))
