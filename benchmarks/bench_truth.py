"""Twenty fleets nobody looked at while developing, each with twenty decoys a kind, against their truth."""

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.truth import KINDS, Score, score
from models.domain.units import SECONDS_PER_HOUR
from optimizer.demo_fleet import FleetSpec

FIRST_SEED = 2_026_001
AS_OF = datetime(2026, 11, 30, tzinfo=UTC)
LEAST_GPUS = 110  # room for what is planted and 20 decoys of each of the two kinds


def main() -> int:
    """Print one line a fleet, then the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fleets", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    arguments = parser.parse_args()
    scores = []
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.fleets):
        with tempfile.TemporaryDirectory() as folder:
            scores.append(score(spec_of(seed), Path(folder)))
        _print(scores[-1])
    return _bars(scores)


def spec_of(seed: int) -> FleetSpec:
    """Return a fleet whose size and waste differ from its neighbours', not only its dice."""
    return FleetSpec(
        seed=seed,
        as_of=AS_OF,
        gpus=LEAST_GPUS + seed * 37 % 90,
        decoys_per_kind=20,
        waste_per_kind=2 + seed % 4,
        parquet_metrics=True,
        ksm_step_seconds=SECONDS_PER_HOUR,
        kinds=KINDS,
    )


def _print(one: Score) -> None:
    print(
        f"seed {one.seed}: {one.gpus} GPUs, found {one.found_usd:,.2f} of {one.planted_usd:,.2f} USD, advised "
        f"{one.advised_usd:,.2f} of true {one.true_usd:,.2f} ({one.savings_error_ratio:.4%} off), "
        f"{len(one.decoys_advised)} of {one.decoys} decoys advised {one.decoys_advised}, parts within "
        f"{one.worst_part_difference_usd:.9f} USD, unattributed {one.unattributed_ratio:.4%}",
        flush=True,
    )


def _bars(scores: list[Score]) -> int:
    found = min(one.found_usd / one.planted_usd for one in scores)
    error = max(one.savings_error_ratio for one in scores)
    decoys = sum(len(one.decoys_advised) for one in scores)
    parts = max(one.worst_part_difference_usd for one in scores)
    unattributed = max(one.unattributed_ratio for one in scores)
    bars = (
        ("truth_found_ratio", found, 0.95, found >= 0.95),
        ("truth_savings_error_ratio", error, 0.05, error <= 0.05),
        ("truth_decoys_advised", decoys, 0, decoys == 0),
        ("truth_parts_difference_usd", parts, 0.00001, parts <= 0.00001),
        ("truth_unattributed_ratio", unattributed, 0.01, unattributed <= 0.01),
    )
    for name, value, target, is_met in bars:
        print(f"BAR {name} {value:.9g} {target} {'met' if is_met else 'missed'}")
    return int(not all(is_met for *_, is_met in bars))


if __name__ == "__main__":
    sys.exit(main())
