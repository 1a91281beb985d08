"""
The shape of a manifest change: what to apply, how to undo it, and what an edit alone cannot do.

Builders in `optimizer/manifests/` are pure functions, one module per API; recommenders call them and build no
YAML themselves. A builder refuses a target version it does not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Document = Mapping[str, object]  # one Kubernetes object, JSON-like


@dataclass(frozen=True, slots=True)
class TargetVersions:
    """Versions in force where a change would be merged; None where nobody said."""

    kubernetes: str | None = None  # "1.34"
    gpu_operator: str | None = None  # "26.7"
    by_api: Mapping[str, str] = field(default_factory=dict)  # "kueue" -> "0.19"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One change to one object."""

    target: str  # "ConfigMap gpu-operator/earnkeep-mig", for people
    apply: Document
    undo: Document
    written_for: str  # API and version it was validated against


@dataclass(frozen=True, slots=True)
class Runbook:
    """Ordered steps for what is not in Git, and the steps back."""

    steps: tuple[str, ...]
    undo_steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """All that is written for one decision."""

    manifests: tuple[Manifest, ...]
    runbook: Runbook


def join_runbooks(*runbooks: Runbook) -> Runbook:
    """Return one runbook: the steps in order, the undo steps from the last back to the first."""
    return Runbook(
        tuple(step for runbook in runbooks for step in runbook.steps),
        tuple(step for runbook in reversed(runbooks) for step in runbook.undo_steps),
    )
