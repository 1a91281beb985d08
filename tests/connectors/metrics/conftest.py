"""Builders for telemetry: a series is labels with readings, a page is some of them."""

from dataclasses import dataclass

import numpy as np
import pytest

from connectors.metrics.metric_files import Settings, normalise
from connectors.metrics.telemetry.series import SamplePage

START_MS = 1_790_812_800_000  # 2026-10-01T00:00:00Z, a bucket and a day begin
MINUTE_MS = 60_000


@dataclass
class Series:
    labels: dict
    at_ms: list
    values: list

    def but(self, **labels):
        """The same readings under other labels; None takes a label away."""
        changed = {key: value for key, value in {**self.labels, **labels}.items() if value is not None}
        return Series(changed, self.at_ms, self.values)


@dataclass
class Normalised:
    rows: list
    hints: list
    findings: dict  # (code, subject) -> row


@pytest.fixture(scope="session")
def series():
    def build(name, *values, minute=0.0, step_minutes=1.0, **labels):
        given = {"__name__": name, "UUID": "GPU-a", "gpu": "0", "Hostname": "node-a", "instance": "10.0.0.1:9400"}
        given |= {"modelName": "NVIDIA H100 80GB HBM3"} | labels
        at_ms = [START_MS + round((minute + step_minutes * number) * MINUTE_MS) for number in range(len(values))]
        return Series({key: value for key, value in given.items() if value is not None}, at_ms, list(values))

    return build


@pytest.fixture(scope="session")
def page():
    def build(*series):
        return SamplePage(
            "page",
            tuple(one.labels for one in series),
            np.concatenate([np.full(len(one.values), number, np.int32) for number, one in enumerate(series)]),
            np.array([at for one in series for at in one.at_ms], np.int64),
            np.array([value for one in series for value in one.values], np.float64),
        )

    return build


@pytest.fixture(scope="session")
def normalised(page):
    def run(*series, **settings):
        tables = normalise(Settings("unused", "c1", **settings), page(*series))
        findings = {(row["code"], row["subject"]): row for row in tables["finding"].to_pylist()}
        return Normalised(tables["gpu_5m"].to_pylist(), tables["gpu_pod_hint"].to_pylist(), findings)

    return run
