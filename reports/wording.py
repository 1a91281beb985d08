"""Numbers and closed words as people read them; an unknown one reads "unknown", never 0."""

from datetime import datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal

from models.domain.money import SavingsRange
from models.domain.recommendation import Risk, Step
from models.domain.window import Window

UNKNOWN = "unknown"
MINUS = "\u2212"
CENT = Decimal("0.01")
SMALL_USD = 10.0  # under it, whole dollars would hide the amount
SMALL_RATIO = 0.001

ACRONYMS = {"gpu": "GPU", "gpus": "GPUs", "mig": "MIG", "dra": "DRA", "api": "API", "sm": "SM"}
SCOPES = {
    "node": "GPU and other cluster nodes",
    "cluster_shared": "Shared by a cluster (control plane, load balancers, storage)",
    "commitment_unused": "Commitments paid for and not used",
    "commitment_purchase": "Commitment purchases",
    "tax_credit_support": "Tax, credits, support",
    "outside": "Outside the clusters",
}
NODE_PARTS = {
    "workload": "Held by workloads",
    "shared": "Shared by all workloads of a node",
    "idle": "Idle: seen by telemetry, held by nobody",
    "unattributed": "Unattributed: no holder or telemetry covers it",
    "rounding": "Rounding",
}
GPU_STATES = {
    "used": "Used",
    "idle": "Held and idle",
    "unallocated": "Unallocated",
    "unknown": "Unknown",
}
STEPS = {
    Step.WASTE: "Stop waste",
    Step.FIT: "Fit to need",
    Step.CONSOLIDATE: "Consolidate",
    Step.SPOT: "Move to Spot",
    Step.COMMIT: "Commit",
    Step.ADVISE: "Advise",
}
RISKS = {
    Risk.NONE: "none: nothing runs there",
    Risk.SLOWER: "slower: work still finishes",
    Risk.OUTAGE: "outage: a request may fail",
}
TELEMETRY_LEVELS = {
    0: "no telemetry",
    1: "utilisation and memory",
    2: "engine, tensor and memory activity",
    3: "SM activity",
}


def signed(text: str, *, negative: bool) -> str:
    """Put a true minus sign before a negative amount."""
    return MINUS + text if negative else text


def usd(amount: float | Decimal | None) -> str:
    """Return whole dollars, "$12,345"; cents where whole dollars would hide the amount."""
    if amount is None:
        return UNKNOWN
    size = abs(float(amount))
    digits = 2 if 0 < size < SMALL_USD else 0
    return signed(f"${size:,.{digits}f}", negative=amount < 0 and round(size, digits) != 0)


def cents(amount: Decimal | None) -> str:
    """Return an amount to the cent without its currency, "12,345.67"; "under 0.01" where a cent would hide it."""
    if amount is None:
        return UNKNOWN
    size = abs(amount)
    if 0 < size < CENT / 2:
        return "under 0.01"
    return signed(f"{size.quantize(CENT, ROUND_HALF_EVEN):,}", negative=amount < 0)


def usd_range(savings: SavingsRange) -> str:
    """Return "$900 to $1,400"."""
    return f"{usd(savings.low_usd_per_month)} to {usd(savings.high_usd_per_month)}"


def percent(ratio: float | None) -> str:
    """Return "12.3%"."""
    if ratio is None:
        return UNKNOWN
    if 0 < ratio < SMALL_RATIO:
        return "under 0.1%"
    return f"{ratio:.1%}"


def number(value: float | None) -> str:
    """Return a count or an amount of hours, "12,345"; one decimal under 100, if it has one."""
    if value is None:
        return UNKNOWN
    few = abs(value) < 100 and round(value, 1) != round(value)  # noqa: PLR2004 - three digits are enough to read
    return f"{value:,.1f}" if few else f"{value:,.0f}"


def quantity(value: float, unit: str) -> str:
    """Return a value of evidence with its unit; ratios as percent, dollars as dollars."""
    if unit == "ratio":
        return percent(value)
    if unit.upper().startswith("USD"):
        return f"{usd(value)}{unit[3:].replace('_', ' ')}"
    text = f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"
    return f"{text} {unit}".strip()


def plural(count: float, noun: str) -> str:
    """Return "1 node", "3 nodes"."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def released(devices: float, nodes: int) -> str:
    """Return what a change frees, "3 GPUs, 1 node"."""
    parts = [plural(devices, "GPU")] if devices else []
    parts += [plural(nodes, "node")] if nodes else []
    return ", ".join(parts) or "nothing"


def days(window: Window) -> str:
    """Return "1 Oct 2026 to 31 Oct 2026"; the last day is the last one inside the window."""
    last = window.end - timedelta(microseconds=1) if window.end > window.start else window.end
    return f"{window.start:%-d %b %Y} to {last:%-d %b %Y}"


def instant(moment: datetime) -> str:
    """Return "2026-11-01 00:00 UTC"."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def words(code: str) -> str:
    """Return a stable code as words, "idle_gpus" as "idle GPUs"."""
    return " ".join(ACRONYMS.get(word, word) for word in code.split("_"))


def heading(code: str) -> str:
    """Return a stable code as the start of a sentence, "Too young"."""
    return sentence(words(code))


def sentence(text: str) -> str:
    """Return text with its first letter in upper case, the others as they are."""
    return text[:1].upper() + text[1:]
