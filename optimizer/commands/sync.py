"""Load the configured sources into the warehouse."""

import click

from optimizer.cli_context import CliContext


@click.command()
@click.argument("source_id", nargs=-1)
@click.pass_obj
def _sync(cli: CliContext, source_id: tuple[str, ...]) -> int:
    """Load every configured source, or only SOURCE_ID."""
    from models.domain.errors import ConfigError
    from optimizer.console import show_failures
    from optimizer.run import PARTIAL_DATA_EXIT_CODE, sources, sync
    from optimizer.session import open_run

    with open_run(cli) as context:
        known = [source.id for source in sources(context.config)]
        unknown = sorted(set(source_id) - set(known))
        if unknown:
            message = f"no source is called {', '.join(unknown)}; configured: {', '.join(known)}"
            raise ConfigError(message)
        failures = sync(context, source_id)
    show_failures(failures)
    return PARTIAL_DATA_EXIT_CODE if failures else 0


COMMAND = _sync
