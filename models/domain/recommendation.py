"""From a suspicion to advice: Candidate -> Proposal or Rejection -> (plan) -> Decision."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from models.domain.money import SavingsRange


class Step(StrEnum):
    """When the plan prices a change; each step works on the state the former ones leave."""

    WASTE = "waste"
    FIT = "fit"
    CONSOLIDATE = "consolidate"
    SPOT = "spot"
    COMMIT = "commit"
    ADVISE = "advise"


class Risk(StrEnum):
    """How bad it is to be wrong."""

    NONE = "none"  # nothing runs there
    SLOWER = "slower"  # work still finishes
    OUTAGE = "outage"  # a request may fail


class SubjectKind(StrEnum):
    """What a recommendation is about."""

    WORKLOAD = "workload"
    NODE = "node"
    POOL = "pool"
    ENDPOINT = "endpoint"
    FLEET = "fleet"


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """The resource advice is about; `key` names it for good, e.g. "prod-aws/research/Notebook/ada"."""

    kind: SubjectKind
    key: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something a recommender thinks is worth a closer look."""

    subject: Subject


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observed fact, with the query that shows it again."""

    claim: str
    value: float
    unit: str
    mart: str
    query: str  # SQL over marts; anybody with the warehouse can run it
    threshold: float | None = None  # the limit it was held against, same unit


@dataclass(frozen=True, slots=True)
class Demand:
    """What one workload still needs after the change, all replicas together."""

    devices: float  # whole GPUs; 0 with a slice
    slice_profile: str | None = None  # MIG profile of each replica, e.g. "1g.10gb"
    replicas: int = 1
    vcpu: float = 0.0
    memory_gib: float = 0.0
    active_hours_ratio: float = 1.0  # share of hours it is up


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to change the subject. It carries no dollars: only the plan knows what else happens."""

    name: str
    demand: Demand
    pool: str  # where it would run; the pool it is in when it stays
    disrupted_pods: int
    risk: Risk
    evidence: tuple[Evidence, ...]
    before: Demand | None = None  # what it holds today, for the way back
    container: str = ""  # whose resource request changes; empty when none does


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that survived evaluation, best alternative first."""

    recommender: str
    step: Step
    subject: Subject
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a candidate was let go; reported, never dropped."""

    recommender: str
    subject: Subject
    code: str  # stable word for filters, e.g. "too_young"
    reason: str  # one sentence a person can act on


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """How one node is cut: the profiles of each GPU by index, empty for a GPU left without slices."""

    node: str
    gpu_profiles: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One workload's part in a decision."""

    subject: Subject
    alternative: Alternative


@dataclass(frozen=True, slots=True)
class Decision:
    """
    What the plan decided to recommend, priced.

    `savings` is cash; `list_usd_per_month` and `effective_usd_per_month` are the same change seen in the
    other two prices. `released_nodes` are whole nodes that may go; only these carry dollars.
    """

    recommender: str
    step: Step
    subject: Subject
    chosen: tuple[Chosen, ...]
    savings: SavingsRange
    list_usd_per_month: float
    effective_usd_per_month: float
    released_devices: float
    released_nodes: tuple[str, ...]
    layouts: tuple[NodeLayout, ...] = ()
    formula: str = ""  # how the expected saving came about, with its numbers
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Return the stable id: the same kind of advice on the same resource has it in every run."""
        return stable_id(self.recommender, self.subject)


def stable_id(recommender: str, subject: Subject) -> str:
    """Return a short id that depends on the kind of advice and the resource alone."""
    text = f"{recommender}\n{subject.kind}\n{subject.key}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]
