"""Numbers as Kubernetes writes them: "500m", "16Gi", "1e3"."""

import re
from decimal import Decimal

from models.domain.errors import InputError
from models.domain.units import BINARY_PREFIX_STEP, BYTES_PER_GIB, DECIMAL_PREFIX_STEP

_QUANTITY = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d{1,3})|([KMGTPE]i)|([numkMGTPE]))?$")
_DECIMAL_POWERS = {"n": -3, "u": -2, "m": -1, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY_PREFIXES = "KMGTPE"


def quantity(value: object) -> float:
    """
    Return a Kubernetes quantity in its base unit: cores, bytes or devices.

    Raises:
        InputError: the value is not in the syntax of resource.Quantity.

    Source: Kubernetes apimachinery, pkg/api/resource/quantity.go (grammar).
    """
    text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else repr(value)
    match = _QUANTITY.match(text)
    if not match:
        message = f"quantity {text[:60]!r} is not Kubernetes syntax; expected a number such as 2, 500m, 16Gi or 1e3"
        raise InputError(message)
    number, exponent, binary, decimal = match.groups()
    scaled = Decimal(number + (exponent or ""))
    if binary:
        scaled *= BINARY_PREFIX_STEP ** (_BINARY_PREFIXES.index(binary[0]) + 1)
    elif decimal:
        scaled *= Decimal(DECIMAL_PREFIX_STEP) ** _DECIMAL_POWERS[decimal]
    return float(scaled)


def gib(size_bytes: float) -> float:
    """Return bytes as GiB."""
    return size_bytes / BYTES_PER_GIB
