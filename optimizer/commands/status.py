"""Show how far each source is loaded, and what the newest run came to."""

import click

from optimizer.cli_context import CliContext


@click.command()
@click.pass_obj
def _status(cli: CliContext) -> None:
    """Show how far each source is loaded, and what the newest run came to."""
    from optimizer.console import show_top
    from optimizer.session import open_state

    with open_state(cli) as (config, state):
        loaded = state.watermarks()
        click.echo("Sources")
        for source in config.sources:
            until = f"{loaded[source.id]:%Y-%m-%d %H:%M} UTC" if source.id in loaded else "never loaded whole"
            click.echo(f"  {source.id:<24} {source.connector_name:<16} {until}")
        run = state.latest_run()
        if run is None:
            click.echo("No run has decided anything yet.")
            return
        click.echo(f"Newest run: as of {run.window.end:%Y-%m-%d %H:%M} UTC, version {run.version}")
        for failure in state.failures(run.run_id):
            click.echo(f"  not read: {failure.source_id} {failure.origin}: {failure.reason}")
        show_top(state, run.run_id)


COMMAND = _status
