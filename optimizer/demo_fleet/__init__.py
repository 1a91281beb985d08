"""A simulated fleet in the providers' own file formats, with the truth beside it; the demo and tests run on it."""

from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.truth import Truth
from optimizer.demo_fleet.write import write_fleet

__all__ = ["FleetSpec", "Truth", "write_fleet"]
