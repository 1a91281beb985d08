"""A fleet on paper: marts, decisions and findings as a run would hand them to the report."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest

from models.domain.money import SavingsRange
from models.domain.recommendation import (
    Alternative,
    Chosen,
    Decision,
    Demand,
    Evidence,
    NodeLayout,
    Rejection,
    Risk,
    Step,
    Subject,
    SubjectKind,
)
from models.domain.window import Window
from reports.advice import ManifestText
from reports.build_report import build_report
from reports.report import Basis, ControlTotal, SourceFailure
from reports.report_inputs import Advice, PlanTotals, ReportInputs

START = datetime(2026, 10, 1)  # noqa: DTZ001 - marts hold UTC without a zone
DAYS = 30
IDLE = 24  # the first so many workloads hold GPUs and use none
WINDOW = Window(START.replace(tzinfo=UTC), (START + timedelta(days=DAYS)).replace(tzinfo=UTC))
MONEY = pl.Decimal(38, 15)
TEAMS = ("research", "search", "vision", "platform")
NAMES = ("ada", "reranker", "finetune-7b")
KINDS = ("Notebook", "Deployment", "PyTorchJob")
HOSTILE = "<script>alert(1)</script>\"'><img src=//evil.example/x onerror=alert(1)>|a`b``c\n# @root [x](//evil.example)"
MIG_CONFIG = """apiVersion: v1
kind: ConfigMap
metadata:
  name: earnkeep-mig
  namespace: gpu-operator
data:
  config.yaml: |
    version: v1
    mig-configs:
      earnkeep-a100-dense:
        - devices: [0, 1, 2, 3]
          mig-enabled: true
          mig-devices:
            1g.10gb: 4
            3g.40gb: 1
        - devices: [4, 5, 6, 7]
          mig-enabled: false
"""
POD_PATCH = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: reranker
  namespace: search
spec:
  template:
    spec:
      containers:
        - name: server
          resources:
            limits:
              nvidia.com/mig-1g.10gb: 1
"""


def usd(text):
    return Decimal(text)


def money(*texts):
    return pl.Series([None if text is None else Decimal(text) for text in texts], dtype=MONEY)


def day(index):
    return START + timedelta(days=index)


def hours():
    return [START + timedelta(hours=index) for index in range(DAYS * 24)]


def bill_frame(rows):
    """Rows: (currency, day, scope, charge rows, billed, effective, list or None)."""
    return pl.DataFrame(
        {
            "account": ["123456789012"] * len(rows),
            "billing_currency": [row[0] for row in rows],
            "day_start": [row[1] for row in rows],
            "scope": [row[2] for row in rows],
            "charge_rows": [row[3] for row in rows],
            "billed_usd": money(*[row[4] for row in rows]),
            "effective_usd": money(*[row[5] for row in rows]),
            "list_usd": money(*[row[6] for row in rows]),
        },
        schema_overrides={"day_start": pl.Datetime("us"), "charge_rows": pl.Int64},
    )


def node_cost_frame(rows):
    """Rows: (hour, workload, shared, idle, unattributed, rounding)."""
    parts = ("workload", "shared", "idle", "unattributed", "rounding")
    columns = {f"{part}_usd": money(*[row[1 + index] for row in rows]) for index, part in enumerate(parts)}
    return pl.DataFrame(
        {"cluster_id": ["prod-aws"] * len(rows), "node": ["gpu-1"] * len(rows), "hour_start": [row[0] for row in rows]}
        | columns,
        schema_overrides={"hour_start": pl.Datetime("us")},
    )


def workload_names(count):
    return [
        ("prod-aws", TEAMS[i % 4], KINDS[i % 3], f"{('ada', 'reranker', 'finetune-7b')[i % 3]}-{i}")
        for i in range(count)
    ]


def sample_bill():
    scopes = (
        ("node", 412, "9480.113000000000007", "8210.402311200000001", "12950.4"),
        ("cluster_shared", 40, "212.4", "212.4", "212.4"),
        ("commitment_unused", 2, "0", "318.77", "0"),
        ("commitment_purchase", 1, "1021.5", "0", None),
        ("tax_credit_support", 3, "-148.02", "-148.02", None),
        ("outside", 133, "1904.335", "1880.335", "2101"),
    )
    rows = [
        ("USD", day(index), scope, count, billed, effective, list_usd)
        for index in range(DAYS)
        for scope, count, billed, effective, list_usd in scopes
    ]
    return bill_frame([*rows, ("EUR", day(3), "outside", 7, "812.4", "812.4", None)])


def sample_node_cost():
    # by hand: 5010.10 + 402.20 + 2690.05 + 108.052311 + 0.0000002 = 8210.4023112, a day's node scope
    parts = ("5010.10", "402.20", "2690.05", "108.052311", "0.000000200000001")
    return node_cost_frame([(day(index), *parts) for index in range(DAYS)])


def sample_activity(count):
    keys = {"cluster_id": [], "namespace": [], "workload_kind": [], "workload_name": []}
    held, used, idle, unknown, starts = [], [], [], [], []
    for index, names in enumerate(workload_names(count)):
        gpus = 1 + index % 4
        for position, start in enumerate(hours()):
            for column, name in zip(keys, names, strict=True):
                keys[column].append(name)
            is_dark = position // 24 == 11 and index % 2 == 0
            is_busy = index >= IDLE and (9 <= position % 24 <= 19 or index % 3 == 2)
            share = 0.0 if is_dark or not is_busy else round(0.55 + 0.4 * math.sin(position / 17 + index) ** 2, 4)
            starts.append(start)
            held.append(float(gpus))
            used.append(gpus * share)
            unknown.append(float(gpus) if is_dark else 0.0)
            idle.append(gpus - used[-1] - unknown[-1])
    return pl.DataFrame(
        keys
        | {
            "hour_start": starts,
            "allocated_gpu_hours": held,
            "used_gpu_hours": used,
            "idle_gpu_hours": idle,
            "unknown_gpu_hours": unknown,
            "sm_active_ratio_max": [
                None if dark == gpus else 0.3 * use / gpus for gpus, use, dark in zip(held, used, unknown, strict=True)
            ],
        },
        schema_overrides={"hour_start": pl.Datetime("us")},
    )


def sample_states(by_workload, free_gpu_hours):
    """Used, idle and unknown of the workloads, and so many free GPU hours a day."""
    return (
        by_workload.group_by("cluster_id", day_start=pl.col("hour_start").dt.truncate("1d"))
        .agg(pl.col("used_gpu_hours", "idle_gpu_hours", "unknown_gpu_hours").sum())
        .sort("day_start")
        .with_columns(unallocated_gpu_hours=pl.lit(free_gpu_hours))
    )


def sample_workload_days(count):
    rows = []
    for index, names in enumerate(workload_names(count)):
        cost = Decimal(30 + 5 * ((index * 7) % count)) + Decimal("0.371")
        idle = (cost * Decimal(index % 5) / 5).quantize(Decimal("0.0001"))
        gpu_hours = 24.0 * (1 + index % 4)
        team = TEAMS[index % 4] if index % 9 else None
        rows.extend(
            (*names, team, ("notebook", "inference", "training")[index % 3], day(d), cost, idle, gpu_hours, index % 5)
            for d in range(DAYS)
        )
    names = ("cluster_id", "namespace", "workload_kind", "workload_name", "team", "workload_class", "day_start")
    frame = pl.DataFrame({name: [row[i] for row in rows] for i, name in enumerate(names)})
    return frame.with_columns(
        effective_usd=money(*[row[7] for row in rows]),
        billed_usd=money(*[row[7] * 2 for row in rows]),
        list_usd=money(*[row[7] * 3 for row in rows]),
        idle_usd=money(*[row[8] for row in rows]),
        gpu_hours=pl.Series([row[9] for row in rows]),
        idle_gpu_hours=pl.Series([row[9] * row[10] / 5 for row in rows]),
        unknown_gpu_hours=pl.Series([row[9] / 30 for row in rows]),
        unpriced_gpu_hours=pl.Series([0.0 for _ in rows]),
    )


def sample_coverage():
    rows = [("bill-aws", "billing", day(d), 591, None, None) for d in range(DAYS)]
    rows += [("cluster-prod", "cluster", day(d), 0 if d == 17 else 212, None, None) for d in range(DAYS)]
    rows += [
        ("dcgm-prod", "metrics", day(d), 55_000, 1344.0, 1344.0 * (0.52 if d == 11 else 0.99)) for d in range(DAYS)
    ]
    columns = ("source_id", "source_kind", "day_start", "source_rows", "gpu_hours_expected", "gpu_hours_observed")
    return pl.DataFrame(
        {name: [row[i] for row in rows] for i, name in enumerate(columns)},
        schema_overrides={"day_start": pl.Datetime("us"), "gpu_hours_expected": pl.Float64},
    )


def sample_nodes():
    models = ("NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA L4", "NVIDIA L4")
    nodes = pl.DataFrame(
        {
            "cluster_id": ["prod-aws"] * 4,
            "node": ["gpu-1", "gpu-2", "gpu-3", "gpu-4"],
            "gpu_model": models,
            "gpu_count": [32, 16, 8, 8],
        }
    )
    seen = pl.DataFrame(
        {
            "cluster_id": ["prod-aws"] * 6,
            "node": ["gpu-1", "gpu-1", "gpu-2", "gpu-2", "gpu-3", "gpu-3"],
            "day_start": [day(28), day(29)] * 3,
            "gpu_hours": [768.0, 768.0, 384.0, 384.0, 192.0, 192.0],
            "observed_gpu_hours": [768.0, 752.64, 384.0, 384.0, 96.0, 192.0],
            "telemetry_level": [1, 2, 3, 3, 1, 1],
        },
        schema_overrides={"day_start": pl.Datetime("us")},
    )
    return nodes, seen


def sample_gpu_hours(node="gpu-idle", gpus=8):
    """A node nobody uses: every device observed, every bucket idle."""
    starts = hours()
    return pl.DataFrame(
        {
            "cluster_id": ["prod-aws"] * len(starts) * gpus,
            "node": [node] * len(starts) * gpus,
            "gpu_uuid": [f"GPU-{i}" for i in range(gpus) for _ in starts],
            "mig_instance_id": [""] * len(starts) * gpus,
            "hour_start": starts * gpus,
            "observed_buckets": [12] * len(starts) * gpus,
            "idle_buckets": [12] * len(starts) * gpus,
        },
        schema_overrides={"hour_start": pl.Datetime("us")},
    )


def sample_findings():
    return pl.DataFrame(
        {
            "source_id": ["dcgm-prod", "bill-aws", "dcgm-prod", "bill-aws"],
            "code": ["dropped_blank", "unreadable_file", "unit_unclear", "unknown_charge"],
            "subject": [
                "DCGM_FI_DEV_POWER_USAGE",
                "2026-10/part-7.csv.gz",
                "DCGM_FI_PROF_SM_ACTIVE",
                "SavingsPlanTrueUp",
            ],
            "message": [
                "blank readings such as 9223372036854775794 were left out",
                "the gzip stream ends early at line 48,113; ask for the file again, the other files were read",
                "values above 1.5 although the metric is a ratio; the series was not used",
                "a line type this version does not know; it is in scope outside",
            ],
            "occurrences": [1841, 1, 220, 14],
            "usd": money(None, None, None, "311.20"),
        }
    )


def evidence(claim, value, unit, threshold=None):
    query = "select max(sm_active_ratio_max)\nfrom workload_gpu_by_hour\nwhere workload_name = 'reranker-1'"
    return Evidence(claim, value, unit, "workload_gpu_by_hour", query, threshold)


def idle_advice(names, expected, pods=1):
    subject = Subject(SubjectKind.WORKLOAD, "/".join(names))
    facts = (
        evidence("Highest activity of any signal in the window", 0.0031, "ratio", 0.01),
        evidence("Hours observed", 712.0, "hours", 336.0),
        evidence("GPU memory held at most", 0.43, "GiB", 0.5),
    )
    alternative = Alternative("stop", Demand(0.0), "research-a100", pods, Risk.NONE, facts)
    decision = Decision(
        recommender="idle_gpus",
        step=Step.WASTE,
        subject=subject,
        chosen=(Chosen(subject, alternative),),
        savings=SavingsRange(expected * 0.6, expected, expected * 1.1),
        list_usd_per_month=expected * 1.6,
        effective_usd_per_month=expected * 1.1,
        released_devices=1.0,
        released_nodes=(f"gpu-{names[3]}",) if expected > 3000 else (),
        formula=f"1 GPU x 730 h x {expected / 730:,.2f} USD/h on demand = {expected:,.2f} USD a month",
        notes=("Held memory never changed: no process has attached since 4 October.",),
    )
    return Advice(
        decision,
        action=f"Stop {names[2]} {names[1]}/{names[3]}: it holds 1 GPU and uses none",
        manifests=(ManifestText(f"{names[2]} {names[1]}/{names[3]}", POD_PATCH, POD_PATCH, "kubernetes 1.34"),),
        runbook_steps=("Tell the owner, and wait one working day.", "Scale the workload to zero."),
        undo_steps=("Scale the workload back to one.",),
    )


def node_advice(node="gpu-idle", expected=4_120.0):
    subject = Subject(SubjectKind.NODE, f"prod-aws/{node}")
    facts = (evidence("Busiest five minutes of any of its 8 GPUs, held by no pod", 0.0, "ratio", 0.01),)
    alternative = Alternative("release", Demand(0.0, replicas=0), "prod-aws/vision-l4", 0, Risk.NONE, facts)
    decision = Decision(
        recommender="idle_gpus",
        step=Step.WASTE,
        subject=subject,
        chosen=(Chosen(subject, alternative),),
        savings=SavingsRange(expected, expected, expected),
        list_usd_per_month=expected * 1.4,
        effective_usd_per_month=expected,
        released_devices=8.0,
        released_nodes=(node,),
        formula=f"1 node x 730 h x {expected / 730:,.4f} USD/h on demand = {expected:,.2f} USD a month",
    )
    return Advice(decision, runbook_steps=(f"Cordon {node}, then delete it.",), undo_steps=("Scale the pool up by 1.",))


def mig_advice(expected=9_874.2, count=14):
    subject = Subject(SubjectKind.POOL, "prod-aws/search-a100")
    chosen = tuple(
        Chosen(
            Subject(SubjectKind.WORKLOAD, "/".join(names)),
            Alternative(
                "mig_slice",
                Demand(0.0, slice_profile="1g.10gb" if index % 3 else "3g.40gb", replicas=1 + index % 2),
                "search-a100",
                1 + index % 2,
                Risk.SLOWER,
                (
                    evidence("GPU memory used at most", 6.2 + index / 10, "GiB", 9.5),
                    evidence("SM activity, 99th percentile", 0.08, "ratio", 0.125),
                ),
                before=Demand(1.0 + index % 2),
            ),
        )
        for index, names in enumerate(workload_names(IDLE + count)[IDLE:])
    )
    decision = Decision(
        recommender="mig_consolidation",
        step=Step.FIT,
        subject=subject,
        chosen=chosen,
        savings=SavingsRange(expected * 0.7, expected, expected * 1.15),
        list_usd_per_month=expected * 1.5,
        effective_usd_per_month=expected * 1.05,
        released_devices=11.0,
        released_nodes=("gpu-node-b", "gpu-node-a"),
        layouts=(
            NodeLayout("gpu-node-c", (("1g.10gb",) * 4 + ("3g.40gb",), ("3g.40gb", "3g.40gb"), ())),
            NodeLayout("gpu-node-d", (("1g.10gb",) * 7, ("7g.80gb",))),
        ),
        formula="2 nodes x 730 h x 6.763151 USD/h on demand = 9,874.20 USD a month",
        notes=("The packing is proved optimal: 5 GPUs, bound 5.",),
    )
    return Advice(
        decision,
        action=f"Cut 5 A100 GPUs of pool search-a100 into MIG slices for {count} workloads, and let 2 nodes go",
        manifests=(
            ManifestText("ConfigMap gpu-operator/earnkeep-mig", MIG_CONFIG, MIG_CONFIG, "gpu-operator 26.7"),
            ManifestText("Deployment search/reranker", POD_PATCH, POD_PATCH, "kubernetes 1.34"),
        ),
        runbook_steps=(
            "Cordon gpu-node-c and drain it.",
            "Apply the ConfigMap, then label the node nvidia.com/mig.config=earnkeep-a100-dense.",
            "Wait until nvidia.com/mig.config.state is success, then uncordon.",
        ),
        undo_steps=("Drain the node, and label it nvidia.com/mig.config=all-disabled.",),
    )


def sample_rejections(count):
    reasons = {
        "too_young": "seen for 9 days, 14 are needed; look again on 6 November",
        "busy": "SM activity reached 71.4% on 12 October, the limit is 1.0%",
        "telemetry_missing": "48% of its hours have no believable telemetry, at least 80% are needed",
        "no_whole_node": "frees 2 GPUs, but no whole node could go",
    }
    codes = list(reasons)
    return tuple(
        Rejection(
            ("idle_gpus", "mig_consolidation")[index % 2],
            Subject(SubjectKind.WORKLOAD, f"prod-aws/{TEAMS[index % 4]}/Deployment/service-{index}"),
            codes[(index // 3) % 4],
            reasons[codes[(index // 3) % 4]],
        )
        for index in range(count)
    )


def sample_marts(count=40):
    by_workload = sample_activity(count)
    nodes, seen = sample_nodes()
    days = sample_workload_days(count)
    return {
        "bill_reconciliation_by_day": sample_bill(),
        "cost_by_node_hour": sample_node_cost(),
        "cost_by_workload_day": days,
        "cost_by_team_day": days.group_by("team", "day_start", maintain_order=True).agg(
            pl.col("effective_usd", "idle_usd", "gpu_hours", "idle_gpu_hours", "unpriced_gpu_hours").sum()
        ),
        "coverage_by_source_day": sample_coverage(),
        "finding": sample_findings(),
        "gpu_by_hour": sample_gpu_hours(),
        "gpu_state_by_day": sample_states(by_workload, 24.0 * 18),
        "telemetry_by_node_day": seen,
        "node_now": nodes,
        "price_now": pl.DataFrame(
            {
                "state": ["known", "known", "unknown"],
                "priced_at": [day(2), day(20), day(20)],
                "price_source": ["aws price list", "embedded snapshot", "embedded snapshot"],
            }
        ),
        "workload_gpu_by_hour": by_workload,
    }


def sample_inputs():
    advice = [mig_advice(), node_advice()]
    advice += [idle_advice(names, 5_400.0 / (1 + i * 0.6)) for i, names in enumerate(workload_names(IDLE - 1))]
    expected = sum(one.decision.savings.expected_usd_per_month for one in advice)
    return ReportInputs(
        window=WINDOW,
        version="0.1.0",
        config_fingerprint="3f9a1c0b77de",
        marts=sample_marts(),
        advice=tuple(advice),
        rejections=sample_rejections(120),
        plan_totals=PlanTotals(
            SavingsRange(round(expected * 0.65, 2), round(expected, 2), round(expected * 1.12, 2)),
            best_possible_usd_per_month=round(expected / 0.973, 2),
        ),
        control_totals=(
            ControlTotal("USD", 591 * DAYS, usd("12470.328000000000007") * DAYS, usd("10473.887311200000001") * DAYS),
            ControlTotal("EUR", 7, usd("812.4"), usd("812.4")),
        ),
        failures=(
            SourceFailure("dcgm-staging", "no answer from metrics.example.com in 30 s; data until 28 October stand"),
        ),
        basis=(
            Basis("idle_activity_ratio", "0.01"),
            Basis("held_memory_gib", "0.5"),
            Basis("node cost split", "GPU : CPU : memory by list price of the components"),
        ),
    )


def small_inputs():
    """Few enough parts for a golden file: three recommendations, drawn over the last two days."""
    full = sample_inputs()
    return replace(
        full,
        window=Window((START + timedelta(days=DAYS - 2)).replace(tzinfo=UTC), WINDOW.end),
        advice=full.advice[:3],
        rejections=sample_rejections(12),
        plan_totals=None,
    )


def many_inputs(recommendations=1_000, rejections=5_000):
    """As much as a report must hold: long names, and a reason of its own for every rejection."""
    names = [
        ("prod-eu-west-1", f"team-{i % 37}-namespace", "Deployment", f"long-workload-name-{i:04}")
        for i in range(recommendations)
    ]
    advice = [idle_advice(one, 50_000.0 / (1 + i)) for i, one in enumerate(names)]
    rejected = [
        Rejection(
            "idle_gpus",
            Subject(SubjectKind.WORKLOAD, f"prod-eu-west-1/team-{i % 37}-namespace/Deployment/another-name-{i:05}"),
            ("busy", "too_young", "no_whole_node")[i % 3],
            f"SM activity reached {i % 97}.{i % 10}% on 12 October, the limit is 1.0%; hour {i} of the window",
        )
        for i in range(rejections)
    ]
    return replace(sample_inputs(), advice=(mig_advice(count=40), *advice), rejections=tuple(rejected))


def empty_inputs():
    """The same shapes without a single row or recommendation."""
    full = sample_inputs()
    return replace(
        full,
        marts={name: frame.clear() for name, frame in full.marts.items()},
        advice=(),
        rejections=(),
        plan_totals=None,
        control_totals=(),
        failures=(),
        basis=(),
    )


@pytest.fixture(scope="session")
def inputs():
    return sample_inputs()


@pytest.fixture(scope="session")
def report(inputs):
    return build_report(inputs)


@pytest.fixture(scope="session")
def small_report():
    return build_report(small_inputs())


@pytest.fixture(scope="session")
def empty_report():
    return build_report(empty_inputs())


@pytest.fixture(scope="session")
def many_report():
    return build_report(many_inputs())


@pytest.fixture
def hostile_report():
    """A fleet whose names try to break out."""
    name = HOSTILE
    inputs = sample_inputs()
    advice = idle_advice((name, name, name, name), 900.0)
    loud = replace(
        advice,
        action=f"Stop {name}",
        manifests=(ManifestText(name, name, name, name),),
        runbook_steps=(name,),
        undo_steps=(name,),
    )
    finding = sample_findings().with_columns(pl.lit(name).alias("subject"), pl.lit(name).alias("message"))
    subject = Subject(SubjectKind.WORKLOAD, name)
    return build_report(
        replace(
            inputs,
            title=name,
            advice=(loud,),
            rejections=(Rejection(name, subject, name, name),),
            failures=(SourceFailure(name, name),),
            basis=(Basis(name, name),),
            marts={**inputs.marts, "finding": finding},
        )
    )
