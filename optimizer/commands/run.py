"""Run all stages: load the sources, build, check, recommend and write the report."""

import click

from optimizer.cli_context import CliContext

_STAGES = ("sync", "build", "check", "recommend", "report")


@click.command()
@click.option("--stage", type=click.Choice(_STAGES), help="Run this stage alone.")
@click.pass_obj
def _run(cli: CliContext, stage: str | None) -> int:
    """
    Load the sources, build, check, recommend and write the report.

    Exit codes: 0 done, 20 a report is written but some data could not be read, 40 a conservation check failed and
    no advice was written.
    """
    from optimizer.console import show_failures, show_result
    from optimizer.run import PARTIAL_DATA_EXIT_CODE, build, check, recommend, report, sync
    from optimizer.session import open_run

    wanted = _STAGES if stage is None else (stage,)
    with open_run(cli) as context:
        failures = sync(context) if "sync" in wanted else ()
        if "build" in wanted:
            build(context)
        if "check" in wanted or "recommend" in wanted:
            check(context)  # no advice without it
        if "recommend" in wanted:
            recommend(context, failures)
        if "report" in wanted:
            show_result(context, report(context))
    show_failures(failures)
    return PARTIAL_DATA_EXIT_CODE if failures else 0


COMMAND = _run
