"""What a report is built from: marts, what the plan decided, and what the run knows about itself."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from models.domain.errors import InputError
from models.domain.money import SavingsRange
from models.domain.recommendation import Decision, Rejection, Step
from models.domain.window import Window
from reports.advice import ManifestText
from reports.report import Basis, ControlTotal, SourceFailure

MARTS = (
    "bill_reconciliation_by_day",
    "cost_by_node_hour",
    "cost_by_team_day",
    "cost_by_workload_day",
    "coverage_by_source_day",
    "finding",
    "gpu_by_hour",
    "gpu_state_by_day",
    "node_now",
    "price_now",
    "telemetry_by_node_day",
    "workload_gpu_by_hour",
)


@dataclass(frozen=True, slots=True)
class Advice:
    """One decision with the text of its change."""

    decision: Decision
    action: str = ""  # what to do, one sentence; made from the decision when empty
    manifests: tuple[ManifestText, ...] = ()
    runbook_steps: tuple[str, ...] = ()
    undo_steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanTotals:
    """What the plan saves as a whole, where that is not the sum of its decisions; None takes the sum."""

    savings: SavingsRange
    list_usd_per_month: float | None = None
    effective_usd_per_month: float | None = None
    released_devices: float | None = None
    best_possible_usd_per_month: float | None = None  # bound the solver proved
    savings_by_step: Mapping[Step, SavingsRange] | None = None  # a step's low is not the sum of its decisions' lows


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """Everything a report needs; the end of `window` is its date."""

    window: Window
    version: str
    config_fingerprint: str
    marts: Mapping[str, pl.DataFrame]  # by the names in MARTS
    advice: tuple[Advice, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    plan_totals: PlanTotals | None = None
    control_totals: tuple[ControlTotal, ...] = ()  # one a currency, over the same window
    failures: tuple[SourceFailure, ...] = ()
    basis: tuple[Basis, ...] = ()
    title: str = "GPU savings"

    def mart(self, name: str) -> pl.DataFrame:
        """
        Return one mart.

        Raises:
            InputError: the run did not hand it over.
        """
        if name not in self.marts:
            message = f"the report needs the mart {name}, got {', '.join(sorted(self.marts)) or 'none'}; read it first"
            raise InputError(message)
        return self.marts[name]
