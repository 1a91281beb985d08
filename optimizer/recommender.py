"""
The shape of a recommender: find candidates, evaluate each, write the change the plan chose.

A module in `optimizer/recommenders/` that defines `RECOMMENDER` is a recommender; there is no other list.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from models.domain.recommendation import Candidate, Decision, Proposal, Rejection, Step
from optimizer.facts import Facts
from optimizer.manifest import Change, TargetVersions

SettingsT = TypeVar("SettingsT")


@dataclass(frozen=True, slots=True)
class Recommender(Generic[SettingsT]):
    """
    Three functions under one name.

    `find` is cheap and generous; `evaluate` is careful and says no with a reason; `write` turns what the plan
    decided into manifests with their undo.
    """

    name: str  # module, configuration table, docs page and test carry this name
    step: Step
    reads: tuple[str, ...]  # marts it needs
    settings: type[SettingsT]
    find: Callable[[Facts, SettingsT], Iterator[Candidate]]
    evaluate: Callable[[Candidate, Facts, SettingsT], Proposal | Rejection]
    write: Callable[[Decision, TargetVersions], Change]
