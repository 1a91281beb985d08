"""A cell that could not be read, to be placed in its file by whoever knows the lines."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnreadableCell:
    """The first cell of a column that could not be read."""

    row: int  # index in the page
    found: str
    reason: str  # what was expected and what to do
    occurrences: int  # rows with such a cell in the page
