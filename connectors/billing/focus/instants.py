"""Text, dates and zoned timestamps to instants in UTC."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pyarrow.compute as pc

from connectors.billing.focus.cells import UnreadableCell
from connectors.raw_tables import INSTANT
from models.domain.window import EVERYTHING, naive_utc

_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
_US = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?(?: ?([AP]M))?)?", re.ASCII)
_EARLIEST = naive_utc(EVERYTHING.start)
_LATEST = naive_utc(EVERYTHING.end)
_EXPECTED = (
    "expected an instant between 1970 and 9998 such as 2026-11-01T00:00:00Z, 2026-11-01 00:00:00 or, month first, "
    "11/1/26; export dates in ISO 8601"
)


@dataclass(frozen=True, slots=True)
class Instants:
    """A column of instants."""

    values: pa.Array  # timestamp[us], UTC; null where absent or unreadable
    unreadable: UnreadableCell | None


def parse_instants(column: pa.Array) -> Instants:
    """Return the instants of a column of text, dates or timestamps; those without a zone are in UTC."""
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        return Instants(_naive(column), None)
    encoded = column.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    instants = [read_instant(text) for text in texts]
    values = pa.array(instants, INSTANT).take(encoded.indices)
    bad = [index for index, instant in enumerate(instants) if instant is None]
    if not bad:
        return Instants(values, None)
    occurrences = pc.sum(pc.is_in(encoded.indices, pa.array(bad, encoded.indices.type))).as_py()
    row = pc.index(encoded.indices, pa.scalar(bad[0], encoded.indices.type)).as_py()
    return Instants(values, UnreadableCell(row, texts[bad[0]], _EXPECTED, occurrences))


def read_instant(text: str) -> datetime | None:
    """Return the instant in UTC, without a zone, to the microsecond; None for a text that is none."""
    instant = _read_iso(text.strip()) or _read_us(text.strip())
    return instant if instant is not None and _EARLIEST <= instant < _LATEST else None


def _naive(column: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    return column.cast(INSTANT, safe=False)  # Arrow keeps zoned instants in UTC; nanoseconds are cut


def _read_iso(text: str) -> datetime | None:
    match = _ISO.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(part or "0") for part in match.groups()[:6])
    microsecond = int((match[7] or "").ljust(6, "0")[:6])  # Azure writes seven digits
    try:
        instant = datetime(year, month, day, hour, minute, second, microsecond, _zone(match[8]))
        return naive_utc(instant)
    except (ValueError, OverflowError):
        return None


def _zone(offset: str | None) -> timezone:
    if offset in {None, "Z", "UTC"}:
        return UTC
    sign, hours, minutes = (offset or "")[0], (offset or "")[1:3], (offset or "")[-2:]
    behind = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-behind if sign == "-" else behind)


def _read_us(text: str) -> datetime | None:
    match = _US.fullmatch(text)
    if not match:
        return None
    month, day, year = int(match[1]), int(match[2]), int(match[3].rjust(4, "x").replace("xx", "20"))
    hour = int(match[4] or "0")
    if match[7]:
        hour = hour % 12 + (12 if match[7] == "PM" else 0)
    try:
        return datetime(year, month, day, hour, int(match[5] or "0"), int(match[6] or "0"))  # noqa: DTZ001, naive UTC
    except ValueError:
        return None
