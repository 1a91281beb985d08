"""The whole report for machines: every field, nothing cut, keys sorted."""

import dataclasses
from decimal import Decimal

import orjson

from reports.report import Report

SCHEMA_VERSION = 1  # raised when a field goes or changes its meaning; new fields do not raise it


def render(report: Report) -> str:
    """
    Return JSON as docs/report.md describes it.

    Money from the bill is text with every digit, so that sums can be checked to the last one; estimates are
    numbers. Unknown is null. Instants are ISO 8601 in UTC.
    """
    fields = {field.name: getattr(report, field.name) for field in dataclasses.fields(report)}
    plain = orjson.dumps({"schema_version": SCHEMA_VERSION, **fields}, default=_text, option=orjson.OPT_UTC_Z)
    # Only mappings are sorted, not dataclasses: hence once through plain values.
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(orjson.loads(plain), option=options).decode()


def _text(value: object) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
    message = f"a report holds only plain values, got {type(value).__name__}: {value!r}"
    raise TypeError(message)
