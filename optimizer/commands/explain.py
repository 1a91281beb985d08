"""Show how one recommendation came about: formula, inputs, the SQL that shows them again, limits hit."""

import click

from optimizer.cli_context import CliContext


@click.command()
@click.argument("recommendation_id", metavar="ID")
@click.pass_obj
def _explain(cli: CliContext, recommendation_id: str) -> None:
    """Show how the recommendation ID of the newest run came about."""
    from models.domain.errors import ConfigError
    from optimizer.explanation import explanation
    from optimizer.session import open_state

    with open_state(cli) as (_, state):
        run = state.latest_run()
        found = [] if run is None else state.advice(run.run_id)
        matching = [advice for advice in found if advice.decision.id.startswith(recommendation_id)]
        if run is None or len(matching) != 1:
            known = ", ".join(advice.decision.id for advice in found[:10]) or "none"
            message = f"{len(matching)} recommendations have the id {recommendation_id!r}; there are: {known}"
            raise ConfigError(message)
        click.echo(explanation(matching[0], run))


COMMAND = _explain
