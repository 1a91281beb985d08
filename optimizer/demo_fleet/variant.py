"""One way to plant something, and what it needs."""

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.demo_fleet.builder import FleetBuilder

TEAMS = ("vision", "language", "ranking")


@dataclass(frozen=True, slots=True)
class Occasion:
    """The how-manieth planting of its kind this is; names and dice hang on it."""

    builder: FleetBuilder
    kind: str
    index: int

    @property
    def team(self) -> str:
        """Return whose it is."""
        return TEAMS[(self.index + self.builder.spec.seed) % len(TEAMS)]

    @property
    def dice(self) -> tuple[object, ...]:
        """Return what random numbers of this planting depend on."""
        return (self.builder.spec.seed, self.kind, self.index)

    @property
    def end(self) -> int:
        """Return the last hour of the window."""
        return self.builder.spec.hours


@dataclass(frozen=True, slots=True)
class Variant:
    """A planting function and the GPUs its nodes have."""

    gpus: int
    plant: Callable[[Occasion], None]
