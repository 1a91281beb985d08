"""
What kind of work a workload says it is: rules of `workload_kinds.csv` over owner kinds, labels and images.

Only what is declared counts; behaviour (utilisation, traffic) is judged elsewhere. Rules and their order come from
the projects' own labels and resource kinds as of 2026-11-30; the CSV names the project of each.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from models.catalog.csv_rows import csv_rows

DECLARED_LABEL = "earnkeep.dev/workload-class"  # on a pod or its controller; beats every rule


class WorkloadClass(StrEnum):
    """What a workload is for, which decides what may be advised for it."""

    TRAINING = "training"
    INFERENCE = "inference"
    NOTEBOOK = "notebook"
    BATCH = "batch"
    DEV = "dev"


@dataclass(frozen=True, slots=True, order=True)
class ObjectKind:
    """A Kubernetes kind; `group` is empty for core kinds and null where the source does not tell it."""

    group: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a workload declares about itself."""

    kinds: tuple[ObjectKind, ...]  # from the top of the owner chain down
    labels: Mapping[str, str]  # of the pods and of the controller
    images: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Classified:
    """A class and the words that led to it."""

    workload_class: WorkloadClass
    evidence: str


@dataclass(frozen=True, slots=True)
class _Rule:
    signal: str  # kind | label | image | weak_kind, in the order they are tried
    group: str
    key: str
    value: str  # empty: any
    workload_class: WorkloadClass


def classify(declaration: Declaration) -> Classified | None:
    """Return the class that is declared, or None where nothing says; the first of label, kind, label rule, image."""
    declared = declaration.labels.get(DECLARED_LABEL)
    if declared in set(WorkloadClass):
        return Classified(WorkloadClass(declared), f"label {DECLARED_LABEL}={declared}")
    return next(_matches(declaration), None)


def label_keys() -> frozenset[str]:
    """Return the label keys the rules look at."""
    return frozenset(rule.key for rule in _rules() if rule.signal == "label") | {DECLARED_LABEL}


def _matches(declaration: Declaration) -> Iterator[Classified]:
    for rule in _rules():
        match rule.signal:
            case "label":
                evidence = _label_evidence(rule, declaration.labels)
            case "image":
                evidence = _image_evidence(rule, declaration.images)
            case _:
                evidence = _kind_evidence(rule, declaration.kinds)
        if evidence:
            yield Classified(rule.workload_class, evidence)


def _kind_evidence(rule: _Rule, kinds: tuple[ObjectKind, ...]) -> str | None:
    for kind in kinds:
        if kind == ObjectKind(rule.group, rule.key):
            return f"kind {kind.kind} ({kind.group})"
        # Series name no group; a kind that two groups share (Job, Service, Workspace) then says nothing.
        if kind.group is None and kind.kind == rule.key and rule.key not in _shared_kinds():
            return f"kind {kind.kind} (group not known)"
    return None


def _label_evidence(rule: _Rule, labels: Mapping[str, str]) -> str | None:
    value = labels.get(rule.key)
    if value is None or (rule.value and value != rule.value):
        return None
    return f"label {rule.key}={value}" if value else f"label {rule.key}"


def _image_evidence(rule: _Rule, images: tuple[str, ...]) -> str | None:
    for image in images:
        # A word begins where a part of the reference begins, so that "sglang" is not found in "mysglang".
        if re.search(rf"(?:^|[/_.-]){re.escape(rule.key)}(?:$|[/:@_.-])", image.lower()):
            return f"image {_without_digest(image)}"
    return None


def _without_digest(image: str) -> str:
    return re.sub(r"(:[^/:@]*)?(@sha256:[0-9a-f]+)?$", "", image)


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(row["signal"], row["group"], row["key"], row["value"], WorkloadClass(row["workload_class"]))
        for row in csv_rows("workload_kinds.csv")
    )


@cache
def _shared_kinds() -> frozenset[str]:
    """Return the kinds that mean different things in different groups."""
    core_or_foreign = {"Service", "Workspace", "Configuration"}  # core v1, KAITO and Terraform, Crossplane
    groups_by_kind: dict[str, set[str]] = {}
    for rule in _rules():
        if rule.signal in {"kind", "weak_kind"}:
            groups_by_kind.setdefault(rule.key, set()).add(rule.group)
    return frozenset(kind for kind, groups in groups_by_kind.items() if len(groups) > 1) | core_or_foreign
