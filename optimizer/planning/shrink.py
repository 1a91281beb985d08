"""Which pods give which devices back when a workload needs fewer."""

import math
from collections.abc import Sequence

from models.domain.recommendation import Demand
from models.fleet import Fleet, Hold, Release, held_devices

_DUST_DEVICES = 1e-9


def releases_for(holds: Sequence[Hold], demand: Demand, fleet: Fleet) -> tuple[Release, ...]:
    """
    Return what a workload's pods give back so that `demand.devices` remain; empty when it holds no more than that.

    Pods beyond `demand.replicas` stop, those first that are nearest to leaving their node empty; the others shrink.
    """
    largest = max((hold.devices for hold in holds), default=0.0)
    if largest <= 0.0:
        return ()
    needed = max(demand.devices, 0.0)
    least = math.ceil(needed / largest - _DUST_DEVICES)
    kept_pods = min(max(demand.replicas, least), len(holds)) if needed > 0.0 else 0
    stopping_first = sorted(holds, key=lambda hold: (_held_by_others(fleet, hold), hold.node, hold.pod))
    kept = stopping_first[len(holds) - kept_pods :]
    quota = _quota(kept, needed)
    given = [Release(hold, hold.devices - quota[hold] if hold in quota else hold.devices) for hold in holds]
    return tuple(sorted((one for one in given if one.devices > _DUST_DEVICES), key=lambda one: one.hold))


def _quota(kept: Sequence[Hold], needed: float) -> dict[Hold, float]:
    """Return the devices each pod keeps: whole ones as evenly as can be, then the rest from the front."""
    if not kept:
        return {}
    even = math.floor(needed / len(kept) + _DUST_DEVICES)
    quota = {hold: min(hold.devices, float(even)) for hold in kept}
    rest = needed - sum(quota.values())
    for at_most in (1.0, math.inf):
        for hold in kept:
            more = max(min(hold.devices - quota[hold], rest, at_most), 0.0)
            quota[hold] += more
            rest -= more
    return quota


def _held_by_others(fleet: Fleet, hold: Hold) -> float:
    return held_devices(other for other in fleet.holds[hold.node] if other.workload != hold.workload)
