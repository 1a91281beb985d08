"""What an inventory did not believe, or had to assume: counted by code, with the first case as an example."""

from dataclasses import dataclass, field, replace

import pyarrow as pa

from connectors.inventory.rows import Span
from connectors.raw_tables import RAW_TABLES


@dataclass(slots=True)
class _Finding:
    subject: str
    message: str
    occurrences: int = 0


@dataclass(slots=True)
class Findings:
    """Findings of one page; the same code counts up instead of repeating itself."""

    _by_code: dict[str, _Finding] = field(default_factory=dict)

    def note(self, code: str, subject: str, message: str) -> None:
        """Count a case; the first one of a code gives its subject and message."""
        self._by_code.setdefault(code, _Finding(subject, message)).occurrences += 1

    def copy(self) -> "Findings":
        """Return findings that count on from these without changing them."""
        return Findings({code: replace(finding) for code, finding in self._by_code.items()})

    def table(self, observed: Span) -> pa.Table:
        """Return rows of raw.finding, sorted by code."""
        found = [(code, self._by_code[code]) for code in sorted(self._by_code)]
        return pa.table(
            {
                "code": [code for code, _ in found],
                "subject": [finding.subject for _, finding in found],
                "message": [finding.message for _, finding in found],
                "occurrences": [finding.occurrences for _, finding in found],
                "usd": [None for _ in found],
                "observed_from": [observed.start for _ in found],
                "observed_to": [observed.end for _ in found],
            },
            schema=RAW_TABLES["finding"].columns,
        )
