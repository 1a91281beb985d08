"""Build the marts from what is loaded, and check that they add up to the bill."""

import click

from optimizer.cli_context import CliContext


@click.command()
@click.pass_obj
def _build(cli: CliContext) -> None:
    """Build the marts from what is loaded, and check that they add up to the bill."""
    from optimizer.run import build, check
    from optimizer.session import open_run

    with open_run(cli) as context:
        build(context)
        check(context)


COMMAND = _build
