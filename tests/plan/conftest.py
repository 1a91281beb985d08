from dataclasses import dataclass, field
from datetime import datetime, timedelta

import polars as pl
import pytest

from models.domain.recommendation import Alternative, Demand, Proposal, Risk, Step, Subject, SubjectKind
from optimizer.plan import PlanSettings, plan_from_marts

FIRST_HOUR = datetime(2026, 11, 1)  # noqa: DTZ001, the warehouse keeps UTC without a zone
HOURS = 168
A100 = "NVIDIA A100-SXM4-80GB"

_NODE = {
    "cluster_id": pl.String, "node": pl.String, "pool": pl.String, "gpu_model": pl.String, "gpu_count": pl.Int32,
    "vcpu": pl.Float64, "memory_gib": pl.Float64, "labels": pl.String, "other_pods": pl.Int64,
    "other_vcpu": pl.Float64, "other_memory_gib": pl.Float64, "unheld_gpu_hours": pl.Float64,
    "unheld_observed_ratio": pl.Float64, "unheld_activity_max": pl.Float64, "unheld_memory_gib": pl.Float64,
}  # fmt: skip
_HOLDER = {
    "cluster_id": pl.String, "namespace": pl.String, "workload_kind": pl.String, "workload_name": pl.String,
    "pod": pl.String, "node": pl.String, "resource": pl.String, "devices": pl.Float64, "mig_profile": pl.String,
    "vcpu": pl.Float64, "memory_gib": pl.Float64,
}  # fmt: skip
_MONEY = pl.Decimal(38, 15)
_USAGE = {
    "account": pl.String, "sku_key": pl.String, "hour_start": pl.Datetime("us"), "contracted_usd": _MONEY,
}  # fmt: skip
_NODE_USAGE = {
    "cluster_id": pl.String, "node": pl.String, "account": pl.String, "sku_key": pl.String, "market": pl.String,
    "hour_start": pl.Datetime("us"), "list_usd": _MONEY, "contracted_usd": _MONEY, "effective_usd": _MONEY,
    "billed_usd": _MONEY,
}  # fmt: skip
_COMMITMENT = {
    "account": pl.String, "commitment_id": pl.String, "commitment_type": pl.String, "commitment_category": pl.String,
    "hour_start": pl.Datetime("us"), "covered_usd": _MONEY, "stranded_usd": _MONEY,
}  # fmt: skip
_RATE = {"commitment_id": pl.String, "sku_key": pl.String, "covered_ratio": pl.Float64}


def frame(rows, schema):
    plain = {name: pl.Float64 if kind == _MONEY else kind for name, kind in schema.items()}
    return pl.DataFrame(rows, schema=plain, orient="row").cast(schema)


@dataclass
class Marts:
    """A small fleet in cluster c, pool p; every node costs the same in each of 168 hours."""

    nodes: list = field(default_factory=list)
    holders: list = field(default_factory=list)
    usage: dict = field(default_factory=dict)
    node_usage: list = field(default_factory=list)
    commitments: list = field(default_factory=list)
    rates: list = field(default_factory=list)

    def node(self, name, usd_per_hour=10.0, market="on_demand", sku="big|r", **more):
        model, vcpu = more.get("model", A100), more.get("vcpu", 96.0)
        others = (more.get("other_pods", 0), more.get("other_vcpu", 0.0), more.get("other_memory_gib", 0.0))
        unheld = more.get("unheld", (0.0, None, None, None))  # hours, observed ratio, activity, memory
        labels = more.get("labels")
        self.nodes.append(("c", name, more.get("pool", "p"), model, 8, vcpu, 1000.0, labels, *others, *unheld))
        account = more.get("account", "bill/a")
        effective = more.get("effective_usd", usd_per_hour)
        billed = 0.0 if market == "committed" else more.get("billed_usd", usd_per_hour)
        for hour in self.hours(more.get("priced_hours", HOURS), more.get("lag_hours", 0)):
            self.node_usage.append(
                ("c", name, account, sku, market, hour, usd_per_hour * 2, usd_per_hour, effective, billed)
            )
            if market in {"on_demand", "committed"}:
                key = (account, sku, hour)
                self.usage[key] = self.usage.get(key, 0.0) + usd_per_hour
        return self

    def hold(self, workload, node, devices=1.0, pods=1, vcpu=4.0):
        started = sum(row[3] == workload for row in self.holders)
        for number in range(started, started + pods):
            owner = ("c", "ns", "Deployment", workload, f"{workload}-{number}")
            self.holders.append((*owner, node, "nvidia.com/gpu", devices, None, vcpu, 16.0))
        return self

    def also_used(self, usd_per_hour, sku="cpu|r", account="bill/a"):
        for hour in self.hours():
            self.usage[(account, sku, hour)] = self.usage.get((account, sku, hour), 0.0) + usd_per_hour
        return self

    def committed(self, usd_per_hour, ratios, name="sp", category="Spend", account="bill/a"):
        self.commitments += [(account, name, "SP", category, hour, usd_per_hour, 0.0) for hour in self.hours()]
        self.rates += [(name, sku, ratio) for sku, ratio in ratios.items()]
        return self

    def hours(self, count=HOURS, lag_hours=0):
        return [FIRST_HOUR + timedelta(hours=HOURS - count + hour - lag_hours) for hour in range(count)]

    def tables(self):
        return {
            "node_now": frame(self.nodes, _NODE),
            "holder_now": frame(self.holders, _HOLDER),
            "node_usage_by_hour": frame(self.node_usage, _NODE_USAGE),
            "usage_by_hour": frame([(*key, usd) for key, usd in self.usage.items()], _USAGE),
            "commitment_by_hour": frame(self.commitments, _COMMITMENT),
            "commitment_rate": frame(self.rates, _RATE),
        }

    def plan(self, *proposals, **settings):
        return plan_from_marts(proposals, self.tables(), PlanSettings(**({"comeback_ratio": 0.0} | settings)))


@pytest.fixture(scope="session")
def new_marts():
    return Marts


@pytest.fixture
def marts():
    return Marts()


def key(workload):
    return f"c/ns/Deployment/{workload}"


def alternative(name, demand, risk=Risk.NONE, disrupted_pods=1):
    return Alternative(name, demand, "c/p", disrupted_pods, risk, ())


@pytest.fixture(scope="session")
def stop():
    def build(workload, recommender="idle_gpus", *, risk=Risk.NONE, pods=1):
        subject = Subject(SubjectKind.WORKLOAD, key(workload))
        alternatives = (alternative("stop", Demand(0.0, replicas=0), risk, pods),)
        return Proposal(recommender, Step.WASTE, subject, alternatives)

    return build


@pytest.fixture(scope="session")
def shrink():
    def build(workload, devices, replicas=1, recommender="idle_gpus", step=Step.WASTE):
        subject = Subject(SubjectKind.WORKLOAD, key(workload))
        return Proposal(recommender, step, subject, (alternative("shrink", Demand(devices, replicas=replicas)),))

    return build


@pytest.fixture(scope="session")
def slices():
    def build(workload, *profiles, risk=Risk.SLOWER, recommender="mig_consolidation"):
        subject = Subject(SubjectKind.WORKLOAD, key(workload))
        choices = tuple(alternative(f"slice {name}", Demand(0.0, name), risk) for name in profiles or ("1g.10gb",))
        return Proposal(recommender, Step.FIT, subject, choices)

    return build


@pytest.fixture(scope="session")
def idle_node():
    def build(node):
        subject = Subject(SubjectKind.NODE, f"c/{node}")
        return Proposal(
            "idle_gpus", Step.WASTE, subject, (alternative("release", Demand(0.0, replicas=0), disrupted_pods=0),)
        )

    return build
