"""Exact packing: demand onto GPUs, GPUs onto nodes. Pure."""
