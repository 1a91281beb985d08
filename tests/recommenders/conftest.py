"""A builder of small marts with the columns and types of the real ones, and a reader of evidence."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl
import pytest

from models.domain.recommendation import Candidate, Subject, SubjectKind
from models.domain.window import Window
from optimizer.engine import BuildSettings
from optimizer.engines.duckdb import DuckdbEngine
from optimizer.facts import Facts
from optimizer.sql_models import LAYERS, sql_models

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
END = AS_OF.replace(tzinfo=None)
WINDOW = Window(AS_OF - timedelta(days=30), AS_OF)
A100 = "NVIDIA A100-SXM4-80GB"
UNSEEN = {
    "unknown_gpu_hours": 1.0, "observed_buckets": None, "idle_buckets": None, "is_stuck": None,
    "telemetry_level": None, "activity_max": None, "sm_active_ratio_max": None, "memory_used_gib_max": None,
    "memory_total_gib": None,
}  # fmt: skip
STUCK = {"unknown_gpu_hours": 1.0, "observed_buckets": 0, "idle_buckets": 0, "is_stuck": True}
UNNAMED = UNSEEN | {"gpu_uuid": None, "mig_instance_id": None, "attribution": "unknown"}


@dataclass
class Marts:
    """Cluster c, namespace ns, pool p; workload "w" of kind Deployment where a test says nothing else."""

    schemas: dict
    rows: dict = field(default_factory=dict)
    cluster: str = "c"

    def owner(self, workload="w", kind="Deployment", namespace="ns"):
        return {
            "cluster_id": self.cluster, "namespace": namespace, "workload_kind": kind, "workload_name": workload,
        }  # fmt: skip

    def add(self, mart, *rows):
        self.rows.setdefault(mart, []).extend(rows)
        return self

    def node(self, name="n1", gpu_count=1, alive_days=30, **more):
        alive_since = END - timedelta(days=alive_days)
        row = {"cluster_id": self.cluster, "node": name, "pool": "p", "gpu_model": A100, "gpu_count": gpu_count}
        return self.add("node_now", row | {"alive_since": alive_since} | more)

    def described(self, workload="w", kind="Deployment", **more):
        return self.add("workload", self.owner(workload, kind) | more)

    def pod(self, pod=None, node="n1", devices=1.0, workload="w", kind="Deployment", **more):
        """Hold devices now, since the window began."""
        pod = pod or f"{workload}-0"
        row = self.owner(workload, kind) | {
            "pod": pod, "pod_uid": f"uid-{pod}", "node": node, "pool": "p", "resource": "nvidia.com/gpu",
            "container": "main", "devices": devices, "requested_gpus": devices, "vcpu": 4.0, "memory_gib": 16.0,
            "attribution": "direct", "held_since": WINDOW.start.replace(tzinfo=None), "inventory_until": END,
        }  # fmt: skip
        return self.add("holder_now", row | more)

    def held(self, gpu="gpu-0", days=30.0, until_days=0.0, workload="w", kind="Deployment", **more):
        """
        Have held one device from `days` before the end of the window to `until_days` before it, hour by hour.

        Its power was read, unless `power_watts_mean` is None.
        """
        power_watts_mean = more.pop("power_watts_mean", 60.0)
        row = self.owner(workload, kind) | {
            "pod": f"{workload}-0", "node": "n1", "pool": "p", "resource": "nvidia.com/gpu",
            "gpu_uuid": gpu, "mig_instance_id": "", "attribution": "direct", "held_gpu_hours": 1.0,
            "unknown_gpu_hours": 0.0, "observed_buckets": 12, "idle_buckets": 12, "is_stuck": False,
            "telemetry_level": 3, "activity_max": 0.0, "sm_active_ratio_max": 0.0, "memory_used_gib_max": 0.1,
            "memory_total_gib": 79.3,
        }  # fmt: skip
        row |= more
        if row["gpu_uuid"] and row["observed_buckets"]:
            # one reading tells that its power is read
            self.add("gpu_by_hour", {
                "cluster_id": self.cluster, "node": row["node"], "gpu_uuid": row["gpu_uuid"], "mig_instance_id": "",
                "hour_start": END - timedelta(hours=1), "power_watts_mean": power_watts_mean,
            })  # fmt: skip
        row.setdefault("pod_uid", f"uid-{row['pod']}")
        return self.add("holder_gpu_by_hour", *_hourly(row, days, until_days))

    def seen(self, gpu="gpu-0", days=30.0, until_days=0.0, node="n1", **more):
        """Have telemetry of one device, whoever holds it."""
        row = {
            "cluster_id": self.cluster, "node": node, "gpu_uuid": gpu, "mig_instance_id": "", "gpu_model": A100,
            "observed_buckets": 12, "idle_buckets": 12, "is_stuck": False, "telemetry_level": 3, "activity_max": 0.0,
            "memory_used_gib_max": 0.1, "power_watts_mean": 60.0,
        }  # fmt: skip
        return self.add("gpu_by_hour", *_hourly(row | more, days, until_days))

    def frames(self):
        rows = self.rows | {"workload": self.rows.get("workload", []) + self._nameless()}
        return {mart: pl.DataFrame(rows.get(mart, []), schema=schema) for mart, schema in self.schemas.items()}

    def _nameless(self):
        """Return a row of `workload` for each holder no test described, but for those the cluster itself needs."""
        owners = [{key: row[key] for key in self.owner()} for row in self.rows.get("holder_now", [])]
        described = [{key: row[key] for key in self.owner()} for row in self.rows.get("workload", [])]
        known = {tuple(row.values()) for row in described}
        wanted = {
            tuple(row.values())
            for row in owners
            if row["namespace"] != "kube-system" and row["workload_kind"] != "DaemonSet"
        }
        return [dict(zip(self.owner(), values, strict=True)) for values in sorted(wanted - known)]

    def facts(self, window=WINDOW):
        return Facts(window, self.frames())


def _hourly(row, days, until_days):
    hours = range(round(until_days * 24), round(days * 24))
    return [row | {"hour_start": END - timedelta(hours=hour + 1)} for hour in reversed(hours)]


@pytest.fixture(scope="session")
def mart_schemas(tmp_path_factory):
    """Give the columns and types of every mart, as an engine without a row has them."""
    path = tmp_path_factory.mktemp("empty") / "warehouse.duckdb"
    with DuckdbEngine(path, memory_limit_gib=1) as engine:
        engine.build(WINDOW, BuildSettings())
        marts = [model.name for model in sql_models() if model.layer == LAYERS[-1]]
        return {mart: dict(pl.from_arrow(engine.read(mart)).schema) for mart in marts}


@pytest.fixture
def marts(mart_schemas):
    return Marts(mart_schemas)


@pytest.fixture(scope="session")
def new_marts(mart_schemas):
    return lambda **more: Marts(mart_schemas, **more)


@pytest.fixture(scope="session")
def kinds_of_hours():
    """Give what an hour looks like: no telemetry, frozen telemetry, a device nobody names."""
    return {"unseen": UNSEEN, "stuck": STUCK, "unnamed": UNNAMED}


@pytest.fixture(scope="session")
def workload():
    return lambda name="w", kind="Deployment", cluster="c": Candidate(
        Subject(SubjectKind.WORKLOAD, f"{cluster}/ns/{kind}/{name}")
    )


@pytest.fixture(scope="session")
def node():
    return lambda name="n1", cluster="c": Candidate(Subject(SubjectKind.NODE, f"{cluster}/{name}"))


@pytest.fixture(scope="session")
def read_evidence():
    """Run the query of a piece of evidence on marts in a database, and return its highest value."""

    def run(evidence, marts):
        with duckdb.connect() as database:
            database.execute("create macro percentile(x, p) as quantile_cont(x, p)")
            for mart, frame in marts.frames().items():
                database.register(mart, frame.to_arrow())
            return max(row[-1] for row in database.execute(evidence.query).fetchall())

    return run
