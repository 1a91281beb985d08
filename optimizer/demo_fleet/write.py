"""Write a whole fleet: bills, cluster objects and series, telemetry, configuration, and the truth beside them."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import orjson
import polars as pl

from models.domain.units import HOURS_PER_WEEK, usd_per_month
from optimizer.demo_fleet.bill_aws import write_aws_bill
from optimizer.demo_fleet.bill_gcp import write_gcp_bill
from optimizer.demo_fleet.config_file import write_config
from optimizer.demo_fleet.cost_parts import component_prices, cost_by_node_day, total
from optimizer.demo_fleet.dcgm_file import write_dcgm
from optimizer.demo_fleet.ksm_file import write_ksm
from optimizer.demo_fleet.ledger import ledger
from optimizer.demo_fleet.nouns import Cloud, Fleet
from optimizer.demo_fleet.objects_file import write_objects
from optimizer.demo_fleet.planting import build_fleet
from optimizer.demo_fleet.spec import FleetSpec
from optimizer.demo_fleet.ticks import usd
from optimizer.demo_fleet.truth import TrueBill, Truth, idle_then_mig, savings_of, true_kinds, true_wastes

TRUTH_FOLDER = "truth"  # no source reads it; only tests do


def write_fleet(spec: FleetSpec, folder: Path) -> Truth:
    """
    Write the files of a simulated fleet and return the truth about it.

    Files: `bills/aws`, `bills/gcp`, `clusters/<cluster>` (objects and kube-state-metrics), `metrics/<cluster>` (DCGM),
    `earnkeep.toml`, `truth/truth.json` and `truth/cost_by_node_day.csv`. The same spec gives the same bytes.
    """
    fleet = build_fleet(spec)
    folder.mkdir(parents=True, exist_ok=True)
    for cluster in fleet.clusters:
        write_objects(fleet, cluster, folder / "clusters" / cluster.cluster_id)
        write_ksm(fleet, cluster, folder / "clusters" / cluster.cluster_id)
        write_dcgm(fleet, cluster, folder / "metrics" / cluster.cluster_id)
    write_config(fleet, folder)
    truth = _with_bills(fleet, folder)
    _write_truth(truth, folder / TRUTH_FOLDER)
    return truth


def _with_bills(fleet: Fleet, folder: Path) -> Truth:
    book = ledger(fleet)
    bills = tuple(
        (cloud.value, _totals(write(fleet, book, folder / "bills" / cloud.value)))
        for cloud, write in ((Cloud.AWS, write_aws_bill), (Cloud.GCP, write_gcp_bill))
    )
    pricer = savings_of(fleet)
    components = component_prices()
    by_node_day = cost_by_node_day(fleet, book, components)
    week_hours = min(HOURS_PER_WEEK, fleet.spec.hours)
    return Truth(
        seed=fleet.spec.seed,
        gpus=sum(node.shape.gpu_count for node in fleet.nodes),
        bills=bills,
        cash_usd_per_month=usd_per_month(usd(pricer.before.cash) / week_hours),
        wastes=true_wastes(pricer),
        by_kind=true_kinds(pricer),
        idle_then_mig=idle_then_mig(pricer),
        decoys=fleet.decoys,
        not_planted=tuple(fleet.not_planted.items()),
        components=components,
        cost=total(by_node_day),
        cost_by_node_day=by_node_day,
    )


def _totals(pieces: Iterable[pl.DataFrame]) -> TrueBill:
    rows, billed, effective, listed = 0, 0, 0, 0
    for piece in pieces:
        rows += piece.height
        billed += int(piece["BilledCost"].sum())
        effective += int(piece["EffectiveCost"].sum())
        listed += int(piece["ListCost"].sum())
    return TrueBill(billed, effective, listed, rows)


def _write_truth(truth: Truth, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    truth.cost_by_node_day.write_csv(folder / "cost_by_node_day.csv")
    document = {
        "seed": truth.seed,
        "gpus": truth.gpus,
        "bills": {cloud: asdict(bill) for cloud, bill in truth.bills},
        "cash_usd_per_month": truth.cash_usd_per_month,
        "wastes": [asdict(waste) for waste in truth.wastes],
        "by_kind": {kind.kind: asdict(kind.savings) for kind in truth.by_kind},
        "idle_then_mig": [asdict(step) for step in truth.idle_then_mig],
        "decoys": [asdict(decoy) for decoy in truth.decoys],
        "not_planted": dict(truth.not_planted),
        "components": {
            "gpu_usd_per_hour": dict(truth.components.gpu_usd_per_hour),
            "vcpu_usd_per_hour": truth.components.vcpu_usd_per_hour,
            "memory_gib_usd_per_hour": truth.components.memory_gib_usd_per_hour,
        },
        "cost": asdict(truth.cost),
    }
    (folder / "truth.json").write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
