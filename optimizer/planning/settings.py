"""What the user lets the plan do."""

from dataclasses import dataclass, field

from models.commitment_book import ReapplySettings
from models.domain.recommendation import Risk


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """
    What the plan may recommend, and what is too little to ask for.

    Raises:
        ValueError: a ratio is outside 0..1, or an amount is negative.
    """

    max_risk: Risk = Risk.OUTAGE  # none, slower or outage; alternatives above it are not chosen
    min_usd_per_month: float = 50.0  # cash; a decision that saves less is not worth a reader's time
    min_usd_per_month_per_disruption: float = 5.0  # cash for each pod that is restarted or stopped
    comeback_ratio: float = 0.1  # share of the saving that comes back because somebody needs the devices again
    node_headroom_ratio: float = 0.1  # CPU and memory of a kept node that stay free of requests, for system pods
    min_unheld_observed_ratio: float = 0.95  # of the time no pod held a node's devices; less seen, and the node stays
    brief_unheld_gpu_hours: float = 1.0  # up to it, time between two pods need not be seen
    idle_activity_ratio: float = 0.01  # devices that reach it while no pod holds them work outside Kubernetes
    held_memory_gib: float = 0.5  # devices with so much loaded while no pod holds them are used outside Kubernetes
    commitments: ReapplySettings = field(default_factory=ReapplySettings)

    def __post_init__(self) -> None:
        for name in ("comeback_ratio", "node_headroom_ratio", "min_unheld_observed_ratio", "idle_activity_ratio"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                message = f"{name} = {getattr(self, name)}: expected a share in 0..1"
                raise ValueError(message)
        for name in (
            "min_usd_per_month",
            "min_usd_per_month_per_disruption",
            "brief_unheld_gpu_hours",
            "held_memory_gib",
        ):
            if getattr(self, name) < 0.0:
                message = f"{name} = {getattr(self, name)}: expected 0 or more"
                raise ValueError(message)
