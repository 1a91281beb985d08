"""MIG packing for callers: what fits, the fewest GPUs, and the way there from what runs now."""

from optimizer.packing.layouts import Layout, PlacedSlice, place
from optimizer.packing.patterns import LayoutCount, Packing, first_fit_decreasing, pack
from optimizer.packing.transition import GpuState, Target, Transition, TransitionPolicy, transition

__all__ = [
    "GpuState",
    "Layout",
    "LayoutCount",
    "Packing",
    "PlacedSlice",
    "Target",
    "Transition",
    "TransitionPolicy",
    "first_fit_decreasing",
    "pack",
    "place",
    "transition",
]
