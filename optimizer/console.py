"""What commands print at the end: the total, the top five, where the report is, what could not be read."""

from collections.abc import Sequence
from pathlib import Path

import click
import polars as pl

from optimizer.run import RunContext
from optimizer.state import Advice, SourceFailure

_TOP = 5


def show_result(context: RunContext, paths: Sequence[Path]) -> None:
    """Print what was billed, what can be saved, the top five and the report's paths."""
    run = context.state.latest_run()
    advice = () if run is None else context.state.advice(run.run_id)
    bill = pl.from_arrow(context.engine.read("bill_reconciliation_by_day"))
    assert isinstance(bill, pl.DataFrame)  # noqa: S101 - a table gives a frame
    for currency, rows in sorted(bill.group_by("billing_currency")):
        billed, effective = rows.get_column("billed_usd").sum(), rows.get_column("effective_usd").sum()
        click.echo(f"Bill     {billed:,.2f} {currency[0]} billed, {effective:,.2f} effective, all of it accounted for")
    show_top(advice)
    for path in paths:
        click.echo(f"Report   {path}")


def show_top(advice: Sequence[Advice]) -> None:
    """Print the total and the five largest recommendations."""
    expected = sum(each.decision.savings.expected_usd_per_month for each in advice)
    low = sum(each.decision.savings.low_usd_per_month for each in advice)
    high = sum(each.decision.savings.high_usd_per_month for each in advice)
    click.echo(
        f"Savings  {expected:,.0f} USD a month in cash ({low:,.0f} to {high:,.0f}), {len(advice)} recommendations"
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
