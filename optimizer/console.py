"""What commands print at the end: the total, the top five, where the report is, what could not be read."""

from collections.abc import Sequence
from pathlib import Path

import click
import polars as pl

from optimizer.reporting import plan_savings
from optimizer.run import RunContext
from optimizer.state import SourceFailure, State
from reports.sections.bill import NO_CURRENCY

_TOP = 5


def show_result(context: RunContext, paths: Sequence[Path]) -> None:
    """Print what was billed, what can be saved, the top five and the report's paths."""
    run = context.state.latest_run()
    bill = pl.from_arrow(context.engine.read("bill_reconciliation_by_day"))
    assert isinstance(bill, pl.DataFrame)  # noqa: S101 - a table gives a frame
    sums = bill.group_by(pl.col("billing_currency").fill_null(NO_CURRENCY)).agg(
        pl.col("billed_usd", "effective_usd").sum()
    )
    for currency, billed, effective in sums.sort("billing_currency").iter_rows():
        click.echo(f"Bill     {billed:,.2f} {currency} billed, {effective:,.2f} effective, all of it accounted for")
    if run is not None:
        show_top(context.state, run.run_id)
    for path in paths:
        click.echo(f"Report   {path}")


def show_top(state: State, run_id: int) -> None:
    """Print what the plan of a run saves and its five largest recommendations."""
    advice, savings = state.advice(run_id), plan_savings(state, run_id)
    click.echo(
        f"Savings  {savings.expected_usd_per_month:,.0f} USD a month in cash ({savings.low_usd_per_month:,.0f} to "
        f"{savings.high_usd_per_month:,.0f}), {len(advice)} recommendations"
    )
    for each in advice[:_TOP]:
        decision = each.decision
        click.echo(
            f"  {decision.savings.expected_usd_per_month:>10,.0f}  {decision.recommender:<18} {decision.subject.key}"
            f"  [{decision.id}]"
        )


def show_failures(failures: Sequence[SourceFailure]) -> None:
    """Print what could not be read, on standard error."""
    for failure in failures:
        where = f" {failure.origin}" if failure.origin else ""
        click.echo(f"earnkeep: {failure.source_id}{where}: {failure.reason}", err=True)
