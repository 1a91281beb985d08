"""
What every format shows, as plain values: no formatting, no clock, no run number.

Money from the bill is `Decimal` in the currency it was billed in; estimated savings are floats, US dollars per
month of 730 h. None means unknown, in every field that allows it, and is shown as such.
"""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from models.domain.money import SavingsRange
from models.domain.window import Window
from reports.advice import Recommendation, RejectionGroup, WaterfallStep

HALF_A_CENT = Decimal("0.005")


@dataclass(frozen=True, slots=True)
class GpuHours:
    """Hours of whole GPUs by what they did; a part is None where the data cannot say."""

    used: float | None
    idle: float | None  # held, observed, and below the activity threshold
    unallocated: float | None  # observed, held by nobody
    unknown: float | None  # no believable telemetry, held or not

    @property
    def total(self) -> float | None:
        """Return the sum; None when a part is unknown."""
        parts = (self.used, self.idle, self.unallocated, self.unknown)
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None


@dataclass(frozen=True, slots=True)
class GpuDay:
    """One day of the fleet."""

    day: date
    gpu_hours: GpuHours


@dataclass(frozen=True, slots=True)
class Headline:
    """What a reader should remember."""

    savings: SavingsRange  # cash
    list_usd_per_month: float  # the same changes at list price
    effective_usd_per_month: float  # the same changes at amortised price
    billed_usd_per_month: float | None  # the bill, amortised, scaled to 730 h; None without US dollars
    share_of_bill_ratio: float | None  # expected cash savings over the bill
    best_possible_usd_per_month: float | None  # bound the solver proved; None without a proof
    gpus: int | None  # alive at the end of the window
    gpu_hours: GpuHours
    released_nodes: int
    released_devices: float
    recommendations: int
    rejections: int


@dataclass(frozen=True, slots=True)
class ScopeLine:
    """One part of the bill; every charge row falls in exactly one scope."""

    scope: str
    charge_days: int  # a charge over several days counts once a day
    billed_amount: Decimal
    effective_amount: Decimal
    list_amount: Decimal | None  # None when the provider gave no list price for a part of it


@dataclass(frozen=True, slots=True)
class SplitLine:
    """One part of what nodes cost."""

    part: str
    effective_amount: Decimal


@dataclass(frozen=True, slots=True)
class ControlTotal:
    """What the loads brought in one currency, counted before the warehouse saw it."""

    currency: str
    charge_rows: int
    billed_amount: Decimal
    effective_amount: Decimal


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The bill in one currency, its parts, and whether they add up. Currencies are never added."""

    currency: str
    scopes: tuple[ScopeLine, ...]
    total: ScopeLine
    node_split: tuple[SplitLine, ...]  # empty when nodes are not billed in this currency
    node_difference_amount: Decimal | None  # node scope minus its parts; None without a node split
    control: ControlTotal | None
    billed_difference_amount: Decimal | None  # control minus total; None without a control total
    effective_difference_amount: Decimal | None

    @property
    def adds_up(self) -> bool:
        """Return whether no known difference reaches half a cent."""
        differences = (self.node_difference_amount, self.billed_difference_amount, self.effective_difference_amount)
        return all(abs(difference) < HALF_A_CENT for difference in differences if difference is not None)


@dataclass(frozen=True, slots=True)
class DayCoverage:
    """What one source brought on one day."""

    day: date
    rows: int
    observed_ratio: float | None  # GPU hours observed over expected; None for a source without GPU hours


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """What one source brought over the window."""

    source_id: str
    source_kind: str
    rows: int
    observed_ratio: float | None
    days_with_rows: int
    days: tuple[DayCoverage, ...]


@dataclass(frozen=True, slots=True)
class TelemetryReach:
    """How much the telemetry of some GPUs can prove (0 nothing, 3 everything), and what would prove more."""

    cluster_id: str
    gpu_model: str
    gpus: int
    observed_ratio: float | None  # GPU hours observed over those that existed; None without a day
    telemetry_level: int
    to_reach_next_level: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a load did not believe, or had to assume."""

    source_id: str
    code: str
    subject: str
    message: str
    occurrences: int
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """A source that could not be read in this run; what it loaded before still stands."""

    source_id: str
    message: str


@dataclass(frozen=True, slots=True)
class DataHealth:
    """How far the numbers can be trusted."""

    sources: tuple[SourceCoverage, ...]
    telemetry: tuple[TelemetryReach, ...]
    failures: tuple[SourceFailure, ...]
    findings: tuple[Finding, ...]  # unreadable files first, then by dollars and number
    unattributed_ratio: float | None  # share of node cost that no holder or telemetry covers
    unknown_ratio: float | None  # share of all GPU hours without believable telemetry


@dataclass(frozen=True, slots=True)
class TeamCost:
    """What one team's workloads cost over the window; `team` is None for workloads without one."""

    team: str | None
    effective_usd: Decimal | None  # of the priced GPU hours; None when none is priced
    idle_usd: Decimal | None
    gpu_hours: float | None
    idle_gpu_hours: float | None
    unpriced_gpu_hours: float | None  # held, and no bill names the node yet
    idle_ratio: float | None  # idle over all GPU hours; None without GPU hours


@dataclass(frozen=True, slots=True)
class WorkloadCost:
    """What one workload costs over the window, and what was said about it."""

    workload_key: str
    team: str | None
    workload_class: str | None
    effective_usd: Decimal | None  # of the priced GPU hours; None when none is priced
    billed_usd: Decimal | None
    list_usd: Decimal | None
    idle_usd: Decimal | None
    gpu_hours: float | None
    idle_gpu_hours: float | None
    unknown_gpu_hours: float | None
    unpriced_gpu_hours: float | None
    idle_ratio: float | None
    advice_ids: tuple[str, ...]
    rejection_codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Basis:
    """A choice or price date the numbers rest on."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Report:
    """One report."""

    title: str
    window: Window  # its end is as_of
    as_of: datetime
    version: str
    config_fingerprint: str
    cost_currency: str  # of node, workload and team costs
    headline: Headline
    reconciliations: tuple[Reconciliation, ...]
    health: DataHealth
    waterfall: tuple[WaterfallStep, ...]
    recommendations: tuple[Recommendation, ...]  # largest expected saving first
    rejections: tuple[RejectionGroup, ...]
    teams: tuple[TeamCost, ...]
    workloads: tuple[WorkloadCost, ...]
    gpu_days: tuple[GpuDay, ...]
    basis: tuple[Basis, ...]
