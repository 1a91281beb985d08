"""A decision before it is priced, and the nodes that drafts release together."""

from collections.abc import Mapping
from dataclasses import dataclass

from models.domain.recommendation import (
    Alternative,
    Chosen,
    NodeLayout,
    Proposal,
    Rejection,
    Step,
    Subject,
    stable_id,
)
from models.fleet import Fleet, Release

STEPS = tuple(Step)  # in the order in which they are priced


@dataclass(frozen=True, slots=True)
class Option:
    """A proposal with the alternatives the user's settings allow, best first."""

    proposal: Proposal
    allowed: tuple[Alternative, ...]
    notes: tuple[str, ...] = ()  # alternatives left out, and why

    @property
    def rank(self) -> tuple[int, Subject, str]:
        """Return the place in the plan's own order, whatever the order of proposals."""
        return (STEPS.index(self.proposal.step), self.proposal.subject, self.proposal.recommender)

    @property
    def best(self) -> Alternative:
        """Return the alternative that is taken unless a pool's board says otherwise."""
        return self.allowed[0]


@dataclass(frozen=True, slots=True)
class Draft:
    """What would be done; `counted` are the holds it acts on, each with the devices it takes back or moves."""

    options: tuple[Option, ...]
    recommender: str
    step: Step
    subject: Subject
    chosen: tuple[Chosen, ...]
    counted: tuple[Release, ...]
    released_devices: float
    layouts: tuple[NodeLayout, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Return the id its decision will have."""
        return stable_id(self.recommender, self.subject)


@dataclass(frozen=True, slots=True)
class Freed:
    """Nodes that go together at one step, and who gave back how many devices for it, by draft id."""

    step: Step
    nodes: tuple[str, ...]
    devices_by_draft: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Miss:
    """An option that came to nothing in this round, and why."""

    option: Option
    rejection: Rejection


@dataclass(frozen=True, slots=True)
class Staged:
    """One round: every option done, before prices."""

    fleet: Fleet
    drafts: tuple[Draft, ...]
    freed: tuple[Freed, ...]
    misses: tuple[Miss, ...]
