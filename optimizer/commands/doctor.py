"""Say whether the configuration, the sources and the warehouse are fit for a run."""

import click

from optimizer.cli_context import CliContext


@click.command()
@click.pass_obj
def _doctor(cli: CliContext) -> int:
    """Say whether the configuration, the sources and the warehouse are fit for a run; exit 30 when one is not."""
    from optimizer.diagnosis import diagnose

    complaints = 0
    for item in diagnose(cli):
        mark = "ok  " if item.is_fine else "FAIL"
        click.echo(f"{mark} {item.subject}: {item.message}")
        complaints += not item.is_fine
    return 30 if complaints else 0


COMMAND = _doctor
