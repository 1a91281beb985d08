"""Find what can be saved, plan it, and keep the result; the marts must be built."""

import click

from optimizer.cli_context import CliContext


@click.command()
@click.pass_obj
def _recommend(cli: CliContext) -> None:
    """Find what can be saved, plan it, and keep the result."""
    from optimizer.console import show_top
    from optimizer.run import check, recommend
    from optimizer.session import open_run

    with open_run(cli) as context:
        check(context)
        show_top(context.state, recommend(context))


COMMAND = _recommend
