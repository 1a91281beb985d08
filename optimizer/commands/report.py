"""Write the report of the newest run: HTML, Markdown, JSON."""

import click

from optimizer.cli_context import CliContext


@click.command()
@click.pass_obj
def _report(cli: CliContext) -> None:
    """Write the report of the newest run: HTML, Markdown, JSON."""
    from optimizer.console import show_result
    from optimizer.run import report
    from optimizer.session import open_run

    with open_run(cli) as context:
        show_result(context, report(context))


COMMAND = _report
