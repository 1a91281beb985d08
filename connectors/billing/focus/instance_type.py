"""The machine type a charge is for, as far as the bill names it; no guess at GPUs."""

import re

import pyarrow as pa
import pyarrow.compute as pc

from connectors.billing.focus.columns import map_texts
from connectors.billing.focus.json_text import read_object

_KEYS = ("InstanceType", "ServiceType", "compute.googleapis.com/machine_spec")  # FOCUS; Azure; Google Cloud
# One word with a digit and a part behind it: p5.48xlarge, a3-highgpu-8g, Standard_ND96isr_H100_v5, BM.GPU.H100.8
_SHAPE = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)+")
_AWS_SIZE = r"(?:nano|micro|small|medium|large|[0-9]*xlarge|metal(?:-[0-9]+xl)?)"
_AWS = rf"(?:[a-z]+\.)?[a-z]+[0-9][a-z0-9]*(?:-[a-z0-9]+)*\.{_AWS_SIZE}"  # p5.48xlarge, p6-b200.48xlarge, ml.g5.xlarge
_IN_USAGE_TYPE = re.compile(rf"(?:^|:)(?P<found>{_AWS})$")  # USE2-BoxUsage:p5.48xlarge
_FEES_BESIDE_THE_MACHINE = ("EBSOptimized",)  # named after it, but an hour of them is no hour of a machine
_IN_DESCRIPTION = re.compile(rf"(?:^|[\s,(])(?P<found>{_AWS})(?=$|[\s,)])")


def instance_types(
    details: tuple[pa.Array, ...], usage_types: tuple[pa.Array, ...], descriptions: pa.Array
) -> pa.Array:
    """
    Return the machine type of each charge, null where nothing says.

    Args:
        details: JSON objects that may hold it: SkuPriceDetails (Azure: x_SkuDetails), Tags.
        usage_types: SkuMeter, x_UsageType.
        descriptions: ChargeDescription; AWS Spot rows say it nowhere else.
    """
    return pc.coalesce(
        *(map_texts(column, _from_details) for column in details),
        *(map_texts(column, _from_usage_type) for column in usage_types),
        map_texts(descriptions, _from_description),
    )


def _from_details(details: str) -> str | None:
    said = read_object(details) or {}
    for key in _KEYS:
        named = said.get(key)
        if isinstance(named, str) and _SHAPE.fullmatch(named.strip()):
            return named.strip()
    return None


def _from_usage_type(usage_type: str) -> str | None:
    match = _IN_USAGE_TYPE.search(usage_type)
    return match["found"] if match and not any(fee in usage_type for fee in _FEES_BESIDE_THE_MACHINE) else None


def _from_description(description: str) -> str | None:
    """Return p4d.24xlarge of "p4d.24xlarge Linux/UNIX Spot Instance-hour in US East"."""
    match = _IN_DESCRIPTION.search(description)
    return match["found"] if match and "instance" in description.lower() else None
