"""Read the catalogue's own CSV files, which lie beside this module."""

import csv
from collections.abc import Iterator
from importlib.resources import files


def csv_rows(name: str) -> Iterator[dict[str, str]]:
    """Return the rows of a catalogue file by column name, all text; lines that start with # are its sources."""
    text = (files("models.catalog") / name).read_text(encoding="utf-8")
    return csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))


def number(text: str) -> float | None:
    """Return the number, or None where the catalogue does not know it."""
    return float(text) if text else None


def count(text: str) -> int | None:
    """Return the whole number, or None where the catalogue does not know it."""
    return int(text) if text else None
