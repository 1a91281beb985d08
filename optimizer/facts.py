"""What a recommender may know: marts as of one instant. Nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from models.domain.recommendation import Subject, SubjectKind
from models.domain.window import Window

_KEY_COLUMNS = {
    SubjectKind.WORKLOAD: ("cluster_id", "namespace", "workload_kind", "workload_name"),
    SubjectKind.NODE: ("cluster_id", "node"),
    SubjectKind.POOL: ("cluster_id", "pool"),
}
_Rows = dict[tuple[object, ...], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Facts:
    """Marts by name, built over `window`; its end is the run's `as_of`."""

    window: Window
    marts: Mapping[str, pl.DataFrame]
    _rows_by_subject: dict[tuple[str, SubjectKind], _Rows] = field(default_factory=dict, repr=False, compare=False)

    def of(self, mart: str, subject: Subject) -> pl.DataFrame:
        """Return the rows of a mart that are about one workload, node or pool."""
        columns = _KEY_COLUMNS[subject.kind]
        lookup = (mart, subject.kind)
        if lookup not in self._rows_by_subject:
            self._rows_by_subject[lookup] = self.marts[mart].partition_by(columns, as_dict=True, maintain_order=True)
        # No Kubernetes name has a slash, but a cluster's may: arn:aws:eks:eu-west-1:1:cluster/prod.
        key = tuple(subject.key.rsplit("/", len(columns) - 1))
        return self._rows_by_subject[lookup].get(key, self.marts[mart].clear())


def subjects_of(rows: pl.DataFrame, kind: SubjectKind) -> list[Subject]:
    """Return the workloads, nodes or pools that rows are about, sorted, each once."""
    keys = rows.select(pl.concat_str(_KEY_COLUMNS[kind], separator="/")).to_series().drop_nulls().unique().sort()
    return [Subject(kind, key) for key in keys]


def gpu_workloads(facts: Facts) -> list[Subject]:
    """Return the workloads that hold GPUs now, or did in the window, sorted, each once."""
    workload = facts.marts["workload"]
    held = workload.filter(pl.col("last_held").is_not_null())
    return sorted(
        {
            subject
            for rows in (facts.marts["holder_now"], held)
            for subject in subjects_of(rows, SubjectKind.WORKLOAD)
        }
    )  # fmt: skip


def subject_condition(subject: Subject) -> str:
    """Return the SQL condition that finds the rows of one workload, node or pool in a mart."""
    key = " || '/' || ".join(_KEY_COLUMNS[subject.kind])
    return f"{key} = '" + subject.key.replace("'", "''") + "'"
