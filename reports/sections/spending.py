"""What teams and workloads cost."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import polars as pl

from reports.report import TeamCost, WorkloadCost
from reports.sections.frames import known_sums, ratio, steady, workload_key

TEAM_SUMS = ("effective_usd", "idle_usd", "gpu_hours", "idle_gpu_hours", "unpriced_gpu_hours")
MONEY_SUMS = ("effective_usd", "billed_usd", "list_usd", "idle_usd")
HOUR_SUMS = ("gpu_hours", "idle_gpu_hours", "unknown_gpu_hours", "unpriced_gpu_hours")


def team_costs(team_days: pl.DataFrame) -> tuple[TeamCost, ...]:
    """Return the mart `cost_by_team_day` summed by team, most expensive first."""
    rows = [
        TeamCost(
            team=team,
            effective_usd=effective,
            idle_usd=idle,
            gpu_hours=steady(gpu_hours),
            idle_gpu_hours=steady(idle_hours),
            unpriced_gpu_hours=steady(unpriced),
            idle_ratio=ratio(steady(idle_hours), steady(gpu_hours)),
        )
        for team, effective, idle, gpu_hours, idle_hours, unpriced in known_sums(
            team_days, ("team",), TEAM_SUMS
        ).iter_rows()
    ]
    return tuple(sorted(rows, key=lambda row: (_dearest_first(row.effective_usd), row.team is None, row.team or "")))


def workload_costs(
    workload_days: pl.DataFrame, advice_ids: Mapping[str, Sequence[str]], rejection_codes: Mapping[str, Sequence[str]]
) -> tuple[WorkloadCost, ...]:
    """
    Return the mart `cost_by_workload_day` summed by workload, most expensive first.

    Args:
        workload_days: The mart.
        advice_ids: Ids of the recommendations about a workload, by its key.
        rejection_codes: Why it got none, by its key.
    """
    keyed = workload_days.with_columns(workload_key=workload_key())
    names = keyed.group_by("workload_key").agg(
        pl.col("team").drop_nulls().sort().first(), pl.col("workload_class").drop_nulls().sort().first()
    )
    summed = known_sums(keyed, ("workload_key",), (*MONEY_SUMS, *HOUR_SUMS))
    named = dict(zip(names.get_column("workload_key"), names.select("team", "workload_class").iter_rows(), strict=True))
    rows = [
        _workload(key, named[key], money_and_hours, (advice_ids.get(key, ()), rejection_codes.get(key, ())))
        for key, *money_and_hours in summed.iter_rows()
    ]
    return tuple(sorted(rows, key=lambda row: (_dearest_first(row.effective_usd), row.workload_key)))


def _workload(
    key: str,
    names: tuple[str | None, str | None],
    money_and_hours: Sequence[Decimal | float | None],
    said: tuple[Sequence[str], Sequence[str]],
) -> WorkloadCost:
    effective, billed, list_usd, idle = (_money(value) for value in money_and_hours[: len(MONEY_SUMS)])
    gpu_hours, idle_hours, unknown, unpriced = (_hours(value) for value in money_and_hours[len(MONEY_SUMS) :])
    return WorkloadCost(
        workload_key=key,
        team=names[0],
        workload_class=names[1],
        effective_usd=effective,
        billed_usd=billed,
        list_usd=list_usd,
        idle_usd=idle,
        gpu_hours=gpu_hours,
        idle_gpu_hours=idle_hours,
        unknown_gpu_hours=unknown,
        unpriced_gpu_hours=unpriced,
        idle_ratio=ratio(idle_hours, gpu_hours),
        advice_ids=tuple(sorted(said[0])),
        rejection_codes=tuple(sorted(said[1])),
    )


def _money(value: Decimal | float | None) -> Decimal | None:
    return value if isinstance(value, Decimal) else None


def _hours(value: Decimal | float | None) -> float | None:
    return None if value is None else steady(float(value))


def _dearest_first(amount: Decimal | None) -> tuple[bool, Decimal]:
    return amount is None, Decimal(0) if amount is None else -amount
