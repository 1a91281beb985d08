"""Text to DECIMAL(38,15), never through a float."""

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.billing.focus.cells import UnreadableCell
from connectors.raw_tables import MONEY

_SMALLEST = Decimal(1).scaleb(-MONEY.scale)
_MAX_EXPONENT = MONEY.precision - MONEY.scale - 1  # of the leading digit
_WIDE = Context(prec=400)
_FITS_AS_IT_IS = r"^[+-]?[0-9]{1,23}(\.[0-9]{1,15})?$"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+")  # without a point "1,234" could be 1.234
_GROUPED_DOLLARS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]+)?")  # "$1,234": the sign says which
_DECIMAL_COMMA = re.compile(r"[+-]?(?:[0-9]{1,3}(?:[. '\u00a0\u202f\u2019][0-9]{3})+|[0-9]+)(?:,[0-9]+)?")
_GROUP_MARKS = re.compile(r"[. '\u00a0\u202f\u2019]")

_SAY_DECIMAL_COMMA = (
    "expected a decimal point; if 1.234,56 means one thousand two hundred thirty-four and 56 hundredths here, set "
    "`decimal_comma = true` for this source, else export without local formats"
)
_SAY_DECIMAL_POINT = (
    "expected a decimal comma, since `decimal_comma = true` is set for this source; take it off, or export again"
)
_SAY_NUMBER = "expected an amount; correct the export, or add it to `null_tokens` if it means that nothing is known"
_SAY_RANGE = f"expected an amount below 1e{_MAX_EXPONENT + 1}; correct the export"


@dataclass(frozen=True, slots=True)
class Amounts:
    """A column of amounts."""

    values: pa.Array  # decimal128(38, 15); null where absent or unreadable
    unreadable: UnreadableCell | None
    rounded: int  # rows with more than 15 decimals, rounded half to even
    rounding: Decimal  # what rounding added in all


def parse_amounts(texts: pa.Array, *, decimal_comma: bool) -> Amounts:
    """
    Return the amounts of a column of text; exact, unless a text has more than 15 decimals.

    Args:
        texts: Trimmed text, null where nothing is known.
        decimal_comma: Read "1.234,56"; else "1234.56", "1.2E-7", "1,234.56" and "$1,234.56".
    """
    is_plain = pc.match_substring_regex(texts, _FITS_AS_IT_IS)
    if not decimal_comma and pc.all(is_plain).as_py() is not False:
        return Amounts(pc.cast(texts, MONEY), None, 0, Decimal(0))
    return _parse_one_by_one(texts, is_plain, decimal_comma=decimal_comma)


def _parse_one_by_one(texts: pa.Array, is_plain: pa.Array, *, decimal_comma: bool) -> Amounts:
    nothing = pa.scalar(None, pa.string())
    plain = pa.nulls(len(texts), pa.string()) if decimal_comma else pc.if_else(is_plain, texts, nothing)
    odd = (texts if decimal_comma else pc.if_else(is_plain, nothing, texts)).dictionary_encode()
    rows_by_index = np.bincount(pc.drop_null(odd.indices).to_numpy(), minlength=len(odd.dictionary))
    values: list[Decimal | None] = []
    unreadable, rounded, rounding = None, 0, Decimal(0)
    occurrences = 0
    for index, text in enumerate(odd.dictionary.to_pylist()):
        exact = read_amount(text, decimal_comma=decimal_comma)
        if isinstance(exact, str):
            values.append(None)
            occurrences += int(rows_by_index[index])
            unreadable = unreadable or (index, text, exact)  # the dictionary is in order of first appearance
            continue
        value = rounded_amount(exact)
        values.append(value)
        if value != exact:
            rounded += int(rows_by_index[index])
            rounding += (value - exact) * int(rows_by_index[index])
    amounts = pc.coalesce(pc.cast(plain, MONEY), pa.array(values, MONEY).take(odd.indices))
    if unreadable is None:
        return Amounts(amounts, None, rounded, rounding)
    index, text, reason = unreadable
    row = pc.index(odd.indices, pa.scalar(index, odd.indices.type)).as_py()
    return Amounts(amounts, UnreadableCell(row, text, reason, occurrences), rounded, rounding)


def read_amount(text: str, *, decimal_comma: bool) -> Decimal | str:
    """Return the exact amount a text stands for, or why it stands for none that can be kept."""
    bare = text.strip().replace("\u2212", "-")
    dollars = bare.replace("$", "", 1) if bare.lstrip("+-").startswith("$") or bare.startswith("$") else None
    if decimal_comma:
        if not _DECIMAL_COMMA.fullmatch(bare):
            return _SAY_DECIMAL_POINT if _NUMBER.fullmatch(bare) or _GROUPED.fullmatch(bare) else _SAY_NUMBER
        bare = _GROUP_MARKS.sub("", bare).replace(",", ".")
    elif _GROUPED.fullmatch(bare) or (dollars is not None and _GROUPED_DOLLARS.fullmatch(dollars)):
        bare = (dollars or bare).replace(",", "")
    elif not _NUMBER.fullmatch(bare):
        return _SAY_DECIMAL_COMMA if _DECIMAL_COMMA.fullmatch(bare) else _SAY_NUMBER
    exact = Decimal(bare)
    is_kept = exact.adjusted() <= _MAX_EXPONENT and rounded_amount(exact).adjusted() <= _MAX_EXPONENT
    return exact if is_kept or not exact else _SAY_RANGE


def rounded_amount(exact: Decimal) -> Decimal:
    """Return the amount as it is stored: 15 decimals, half to even."""
    return exact.quantize(_SMALLEST, ROUND_HALF_EVEN, _WIDE)
