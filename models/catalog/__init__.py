"""Immutable, dated facts: GPUs, MIG geometry, instances, prices."""
