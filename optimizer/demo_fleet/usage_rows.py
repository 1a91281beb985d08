"""The usage of machines as rows of a bill, provider by provider alike: one frame a day."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from optimizer.demo_fleet.ledger import Ledger
from optimizer.demo_fleet.nouns import Cloud, Market
from optimizer.demo_fleet.ticks import TICKS_PER_USD, Ticks

MONEY = ("ListCost", "ContractedCost", "BilledCost", "EffectiveCost")
NO_COMMITMENT = -1


def usage_rows(book: Ledger, cloud: Cloud, hours: range) -> pl.DataFrame:
    """
    Return one row per machine, hour and way of paying, sorted by these three.

    Columns: machine (its position in the ledger), hour, commitment (-1: none), quantity (hours, in ticks) and money
    in ticks.
    """
    rows = [row for row, machine in enumerate(book.machines) if machine.node.cluster.cloud is cloud]
    if not rows:
        return _frame(rows, hours, NO_COMMITMENT, [np.zeros((0, len(hours)), dtype=np.int64)] * len(MONEY))
    columns = slice(hours.start, hours.stop)
    list_left = book.list_cost[rows, columns]
    frames = []
    for position, used in enumerate(book.covered):
        covered_list = book.covered_list[position][rows, columns]
        contracted = book.covered_contracted[position][rows, columns]
        nothing = np.zeros_like(covered_list)
        frames.append(_frame(rows, hours, position, [covered_list, contracted, nothing, used[rows, columns]]))
        list_left = list_left - covered_list
    paid = book.paid[rows, columns]
    frames.append(_frame(rows, hours, NO_COMMITMENT, [list_left, paid, paid, paid]))
    together = pl.concat(frames).sort("hour", "machine", "commitment")
    prices = np.array([machine.shape.list_ticks_per_hour for machine in book.machines], dtype=np.int64)
    return together.with_columns(quantity=_quantity(together["ListCost"], prices[together["machine"].to_numpy()]))


def _frame(rows: Sequence[int], hours: range, commitment: int, money: Sequence[Ticks]) -> pl.DataFrame:
    at, hour = np.nonzero(money[0])
    return pl.DataFrame(
        {
            "machine": np.asarray(rows, dtype=np.int64)[at],
            "hour": hour.astype(np.int64) + hours.start,
            "commitment": np.full(len(at), commitment, dtype=np.int64),
            **{name: amounts[at, hour] for name, amounts in zip(MONEY, money, strict=True)},
        }
    )


def _quantity(list_cost: pl.Series, prices: Ticks) -> pl.Series:
    cost = list_cost.to_numpy()
    return pl.Series(np.where(cost == prices, TICKS_PER_USD, np.floor(cost / prices * TICKS_PER_USD).astype(np.int64)))


def machine_columns(book: Ledger) -> pl.DataFrame:
    """Return what bills say about each machine, one row each in the order of the ledger."""
    machines = book.machines
    return pl.DataFrame(
        {
            "resource_name": [machine.node.resource_name for machine in machines],
            "instance_type": [machine.shape.instance_type for machine in machines],
            "series": [machine.shape.family for machine in machines],
            "zone": [machine.node.zone for machine in machines],
            "pool": [machine.node.pool for machine in machines],
            "cluster_id": [machine.node.cluster.cluster_id for machine in machines],
            "is_spot": [machine.market is Market.SPOT for machine in machines],
            "vcpu": [machine.shape.vcpu for machine in machines],
            "memory_gib": [machine.shape.memory_gib for machine in machines],
            "gpu_count": [machine.shape.gpu_count for machine in machines],
            "gpu_model": [machine.shape.gpu_model for machine in machines],
            "list_ticks_per_hour": [machine.shape.list_ticks_per_hour for machine in machines],
        }
    )
