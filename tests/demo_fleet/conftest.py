"""Fleets small enough to write in a second, and readers of what they wrote."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from optimizer.demo_fleet import FleetSpec, Truth, write_fleet
from optimizer.demo_fleet.nouns import Fleet
from optimizer.demo_fleet.planting import build_fleet

AS_OF = datetime(2026, 11, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Written:
    spec: FleetSpec
    folder: Path
    truth: Truth

    def aws_bill(self) -> pl.DataFrame:
        files = sorted(self.folder.glob("bills/aws/*.csv.gz"))
        return pl.concat([pl.read_csv(file, infer_schema=False) for file in files])

    def gcp_bill(self) -> pl.DataFrame:
        return pl.concat([pl.read_parquet(file) for file in sorted(self.folder.glob("bills/gcp/*.parquet"))])

    def objects(self, cluster: str) -> list[dict]:
        (file,) = self.folder.glob(f"clusters/{cluster}/objects-*.json.gz")
        return json.loads(gzip.decompress(file.read_bytes()))["items"]

    def series(self, pattern: str) -> list[dict]:
        files = sorted(self.folder.glob(pattern))
        return [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


@pytest.fixture(scope="session")
def spec() -> FleetSpec:
    return FleetSpec(seed=5, as_of=AS_OF)


@pytest.fixture(scope="session")
def fleet(spec: FleetSpec) -> Fleet:
    return build_fleet(spec)


@pytest.fixture(scope="session")
def fleet_of() -> Callable[..., Fleet]:
    def build(**changes: object) -> Fleet:
        return build_fleet(replace(FleetSpec(seed=5, as_of=AS_OF), **changes))

    return build


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Three days that cross a month; a whole fleet otherwise, in coarse steps."""
    spec = FleetSpec(
        seed=5, as_of=datetime(2026, 12, 2, tzinfo=UTC), days=3, telemetry_step_seconds=900, ksm_step_seconds=3600
    )
    folder = tmp_path_factory.mktemp("fleet")
    return Written(spec, folder, write_fleet(spec, folder))
