"""The part of a report that says what to do: the plan by step, each recommendation, and what was let go."""

from dataclasses import dataclass
from datetime import datetime

from models.domain.money import SavingsRange
from models.domain.recommendation import NodeLayout, Risk, Step, Subject


@dataclass(frozen=True, slots=True)
class WaterfallStep:
    """One step of the plan, priced on the state the former steps leave."""

    step: Step
    recommendations: int
    savings: SavingsRange
    billed_after_usd_per_month: float | None


@dataclass(frozen=True, slots=True)
class Choice:
    """What becomes of one workload."""

    subject: Subject
    alternative: str
    holds: str | None  # what it holds today; None when the alternative does not say
    becomes: str  # "3 times 1g.10gb", "no GPU"
    pool: str


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One observed fact about one subject, with the query that shows it again."""

    subject: Subject
    claim: str
    value: float
    threshold: float | None  # the limit it was held against, same unit
    unit: str
    mart: str
    query: str


@dataclass(frozen=True, slots=True)
class ManifestText:
    """One change to one object, as YAML, with the way back."""

    target: str
    apply_yaml: str
    undo_yaml: str
    written_for: str  # API and version it was validated against


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line of a chart; None where nothing was observed."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """What the subject did over the window; every line has one value per instant, the peak until the next one."""

    title: str
    unit: str
    instants: tuple[datetime, ...]  # aware UTC, evenly spaced
    lines: tuple[ChartLine, ...]


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One decision of the plan with all that is needed to check it, do it and take it back."""

    id: str
    kind: str  # the recommender's name
    step: Step
    subject: Subject
    action: str  # what to do, one sentence
    savings: SavingsRange
    list_usd_per_month: float
    effective_usd_per_month: float
    released_devices: float
    released_nodes: tuple[str, ...]
    risk: Risk
    disrupted_pods: int
    choices: tuple[Choice, ...]
    layouts: tuple[NodeLayout, ...]
    evidence: tuple[EvidenceLine, ...]
    formula: str
    manifests: tuple[ManifestText, ...]
    runbook_steps: tuple[str, ...]
    undo_steps: tuple[str, ...]
    notes: tuple[str, ...]
    chart: ChartSeries | None  # the first ten
    sparkline: tuple[ChartLine, ...]  # the first 200, at most 48 points a line; empty without data


@dataclass(frozen=True, slots=True)
class RejectedSubject:
    """One subject that got no advice."""

    subject: Subject
    reason: str


@dataclass(frozen=True, slots=True)
class RejectionGroup:
    """Everything one recommender let go for one reason."""

    recommender: str
    code: str
    rejected: tuple[RejectedSubject, ...]
