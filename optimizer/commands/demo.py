"""Make a demo fleet, run everything on it, and say where the report is."""

from datetime import UTC, datetime
from pathlib import Path

import click

from optimizer.cli_context import CliContext

_AS_OF = datetime(2026, 11, 30, tzinfo=UTC)  # fixed: the demo gives the same report everywhere


@click.command()
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default="out/demo", show_default=True)
@click.option("--gpus", type=click.IntRange(24, 100_000), default=96, show_default=True, help="Size of the fleet.")
@click.option("--seed", type=int, default=7, show_default=True, help="Another seed, another fleet.")
@click.pass_obj
def _demo(cli: CliContext, folder: Path, gpus: int, seed: int) -> int:
    """Make a demo fleet, run everything on it through the real connectors, and say where the report is."""
    from dataclasses import replace

    from optimizer.console import show_failures, show_result
    from optimizer.demo_fleet import FleetSpec, write_fleet
    from optimizer.run import PARTIAL_DATA_EXIT_CODE, build, check, recommend, report, sync
    from optimizer.session import open_run

    as_of = cli.as_of if cli.is_as_of_given else _AS_OF
    click.echo(f"Writing the bills, metrics and inventory of {gpus} GPUs to {folder} ...", err=True)
    write_fleet(FleetSpec(seed=seed, as_of=as_of, gpus=gpus), folder)
    with open_run(replace(cli, config_path=folder / "earnkeep.toml", as_of=as_of)) as context:
        failures = sync(context)
        build(context)
        check(context)
        recommend(context, failures)
        show_result(context, report(context))
    show_failures(failures)
    return PARTIAL_DATA_EXIT_CODE if failures else 0


COMMAND = _demo
