"""
What the machines of a fleet cost, hour by hour, with the Savings Plans applied.

All amounts are ticks (see `ticks`). Arrays have shape (machines, hours), hours being the window's last `hours`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optimizer.demo_fleet.nouns import Change, Cloud, Commitment, Fleet, Market, Node, Shape
from optimizer.demo_fleet.shapes import COMPUTE_PLAN_PER_MILLE, CONTRACTED_PERCENT, INSTANCE_PLAN_PER_MILLE
from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.ticks import Ticks, share_of

UNCHANGED = Change()


@dataclass(frozen=True, slots=True)
class Machine:
    """A node as it is billed: with the shape, market and hours that apply."""

    node: Node
    shape: Shape
    market: Market
    is_on: npt.NDArray[np.bool_]

    @property
    def contracted_ticks(self) -> int:
        """Return what an hour costs on demand, after the private rate."""
        return self.shape.list_ticks_per_hour * CONTRACTED_PERCENT[self.shape.cloud] // 100


@dataclass(frozen=True, slots=True)
class Ledger:
    """Costs of all machines; `covered` is what each commitment pays for each machine, at its own rate."""

    machines: tuple[Machine, ...]
    commitments: tuple[Commitment, ...]
    covered: tuple[Ticks, ...]  # by commitment; effective dollars
    covered_list: tuple[Ticks, ...]  # the same usage at list price
    covered_contracted: tuple[Ticks, ...]
    list_cost: Ticks  # of all usage, covered or not
    paid: Ticks  # on demand and Spot: what the invoice asks for the usage itself

    @property
    def effective(self) -> Ticks:
        """Return the amortised cost of each machine and hour."""
        return np.asarray(sum(self.covered, self.paid), dtype=np.int64)

    def unused(self, position: int) -> Ticks:
        """Return what a commitment pays for nothing, by hour."""
        return np.asarray(
            self.commitments[position].ticks_per_hour - self.covered[position].sum(axis=0), dtype=np.int64
        )

    @property
    def cash(self) -> int:
        """Return what is paid in all: usage on demand and Spot, and the fees of the commitments."""
        hours = int(self.paid.shape[1])
        return int(self.paid.sum()) + hours * sum(one.ticks_per_hour for one in self.commitments)


def ledger(fleet: Fleet, from_hour: int = 0, change: Change = UNCHANGED) -> Ledger:
    """Return what the fleet costs from an hour of the window to its end, as it is or changed."""
    machines = tuple(_machines(fleet, from_hour, change))
    held = [one for one in fleet.commitments if one not in change.expired]
    commitments = (*held, *change.bought)
    shape = (len(machines), fleet.spec.hours - from_hour)
    is_on = np.array([machine.is_on for machine in machines], dtype=np.int64).reshape(shape)
    covered, list_parts, contracted_parts = [], [], []
    list_left = is_on * _column([machine.shape.list_ticks_per_hour for machine in machines])
    list_cost = list_left.copy()
    contracted_left = is_on * _column([machine.contracted_ticks for machine in machines])
    for commitment in commitments:
        used, list_part, contracted_part = _apply(commitment, machines, list_left, contracted_left)
        list_left -= list_part
        contracted_left -= contracted_part
        covered.append(used)
        list_parts.append(list_part)
        contracted_parts.append(contracted_part)
    is_spot = _column([machine.market is Market.SPOT for machine in machines])
    spot = is_on * _spot_prices(fleet.spec, machines, from_hour)
    return Ledger(
        machines=machines,
        commitments=commitments,
        covered=tuple(covered),
        covered_list=tuple(list_parts),
        covered_contracted=tuple(contracted_parts),
        list_cost=list_cost,
        paid=np.where(is_spot, spot, contracted_left),
    )


def _machines(fleet: Fleet, from_hour: int, change: Change) -> list[Machine]:
    removed = {node.number for node in change.removed}
    replaced = {node.number: shape for node, shape in change.replaced}
    to_spot = {node.number for node in change.to_spot}
    gates = {node.number: curve for node, curve in change.off_outside}
    hours = np.arange(from_hour, fleet.spec.hours)
    machines = []
    for node in fleet.nodes:
        if node.number in removed:
            continue
        is_on = hours >= node.start_hour
        if node.end_hour is not None:
            is_on &= hours < node.end_hour
        if node.number in gates:
            is_on &= gates[node.number].is_at_work(hours, fleet.spec.window_start)
        market = Market.SPOT if node.number in to_spot else node.market
        machines.append(Machine(node, replaced.get(node.number, node.shape), market, is_on))
    return machines


def plan_rate_ticks(commitment: Commitment, machine: Machine) -> int | None:
    """Return what an hour of the machine costs under the plan; None where the plan does not cover it."""
    if machine.shape.cloud is not Cloud.AWS or machine.market is Market.SPOT:
        return None
    family = machine.shape.family
    if commitment.family is not None:
        per_mille = INSTANCE_PLAN_PER_MILLE.get(family) if family == commitment.family else None
    else:
        per_mille = COMPUTE_PLAN_PER_MILLE.get(family)
    return None if per_mille is None else machine.shape.list_ticks_per_hour * per_mille // 1000


def _apply(
    commitment: Commitment, machines: Sequence[Machine], list_left: Ticks, contracted_left: Ticks
) -> tuple[Ticks, Ticks, Ticks]:
    """Let a plan pay for what is left: largest discount first, then the lowest rate, then the machine's name."""
    used, list_part, contracted_part = (np.zeros_like(list_left) for _ in range(3))
    money_left = np.full(list_left.shape[1], commitment.ticks_per_hour, dtype=np.int64)
    order = []
    for row, machine in enumerate(machines):
        rate = plan_rate_ticks(commitment, machine)
        if rate is not None:
            price = machine.shape.list_ticks_per_hour
            order.append((rate * 10**6 // price, rate, machine.node.resource_name, row))
    for _, rate, _, row in sorted(order):
        price = machines[row].shape.list_ticks_per_hour
        # What an earlier plan left of the hour, at this plan's rate.
        want = share_of(rate, list_left[row], price)
        take = np.minimum(want, money_left)
        is_whole = take == want
        used[row] = take
        list_part[row] = np.where(is_whole, list_left[row], share_of(price, take, rate))
        contracted = share_of(machines[row].contracted_ticks, take, rate)
        contracted_part[row] = np.where(is_whole, contracted_left[row], contracted)
        money_left -= take
    return used, list_part, contracted_part


def _spot_prices(spec: FleetSpec, machines: Sequence[Machine], from_hour: int) -> Ticks:
    """Return the Spot price by machine and hour: it moves a little every six hours."""
    hours = np.arange(from_hour, spec.hours)
    wave = (np.sin((hours // 6) * 0.7 + spec.seed % 97) * 30).astype(np.int64)  # thousandths
    base = _column([machine.shape.spot_ticks_per_hour for machine in machines])
    return np.asarray(base * (1000 + wave) // 1000, dtype=np.int64)


def _column(values: Sequence[int | bool]) -> Ticks:
    return np.asarray(values, dtype=np.int64).reshape(-1, 1)
