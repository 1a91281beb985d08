"""What fits into a page of 1 MB: the important part whole, the rest shorter, and nothing lost without a word."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.advice import RejectedSubject, RejectionGroup

PAGE_BYTES = 960_000  # what is left of it goes to the rejections, which come last
CARDS_BYTES = 200_000  # all cards together, beyond the first ten
CARD_BYTES = 40_000  # a card over it shows its manifests by name only
ROW_MARKUP_BYTES = 11
GROUP_MARKUP_BYTES = 900
WORKLOAD_ROWS = 300
FINDING_ROWS = 60
RECOMMENDATION_ROWS = 1_200


@dataclass(frozen=True, slots=True)
class RejectionTable:
    """One group of rejections as it is shown."""

    group: RejectionGroup
    rows: tuple[RejectedSubject, ...]
    has_reasons: bool  # False: one example stands for all
    hidden_rows: int


def _size(text: str) -> int:
    return len(text.encode()) + 4 * sum(character in "<>&'\"" for character in text)  # as escaped


def rejection_tables(groups: Sequence[RejectionGroup], budget_bytes: int) -> list[RejectionTable]:
    """
    Return every rejection with its reason if that fits, else every subject under one example, else as many as fit.

    Groups are cut in proportion to what they need, so that no reason disappears behind a frequent one.
    """
    names = [sum(_size(one.subject.key) + ROW_MARKUP_BYTES for one in group.rejected) for group in groups]
    reasons = [sum(_size(one.reason) for one in group.rejected) for group in groups]
    budget_bytes -= GROUP_MARKUP_BYTES * len(groups)
    has_reasons = sum(names) + sum(reasons) <= budget_bytes
    share = min(1.0, max(0, budget_bytes) / max(1, sum(names)))
    tables: list[RejectionTable] = []
    for group in groups:
        count = len(group.rejected) if has_reasons else max(1, int(len(group.rejected) * share))
        tables.append(RejectionTable(group, group.rejected[:count], has_reasons, len(group.rejected) - count))
    return tables
