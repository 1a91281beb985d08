"""Show why a workload, node or pool got no recommendation."""

import click

from optimizer.cli_context import CliContext


@click.command("why-not")
@click.argument("workload")
@click.pass_obj
def _why_not(cli: CliContext, workload: str) -> None:
    """Show why WORKLOAD (any part of cluster/namespace/Kind/name) got no recommendation."""
    from models.domain.errors import ConfigError
    from optimizer.session import open_state

    with open_state(cli) as (_, state):
        run = state.latest_run()
        advice = [] if run is None else state.advice(run.run_id)
        rejections = [] if run is None else state.rejections(run.run_id)
    lines = [
        f"{rejection.subject.key}\n  {rejection.recommender}: {rejection.code}\n  {rejection.reason}"
        for rejection in rejections
        if workload in rejection.subject.key
    ]
    for each in advice:
        keys = {each.decision.subject.key, *(chosen.subject.key for chosen in each.decision.chosen)}
        lines += [
            f"{key}\n  {each.decision.recommender}: recommended, see `earnkeep explain {each.decision.id}`"
            for key in sorted(keys)
            if workload in key
        ]
    if not lines:
        message = f"nothing is known of {workload!r}: it held no GPU at the end of the newest run's window"
        raise ConfigError(message)
    click.echo("\n".join(lines))


COMMAND = _why_not
