"""Write the configuration by which the product reads the fleet's files."""

from pathlib import Path

from optimizer.demo_fleet.nouns import Fleet

HEADER = """# Configuration of the demo: a simulated fleet, read through the same connectors as a real one.
# Paths are relative to this file.

[run]
lookback_days = {days}

[sources.aws_bill]
connector = "focus_files"
location = "bills/aws"

[sources.gcp_bill]
connector = "focus_files"
location = "bills/gcp"

[sources.prices]
connector = "embedded"
"""
CLUSTER = """
[sources.{id}_metrics]
connector = "metric_files"
location = "metrics/{cluster}"
cluster_id = "{cluster}"

[sources.{id}_objects]
connector = "object_files"
location = "clusters/{cluster}"
cluster_id = "{cluster}"
"""


def write_config(fleet: Fleet, folder: Path) -> None:
    """Write `earnkeep.toml`."""
    text = HEADER.format(days=fleet.spec.days)
    for cluster in fleet.clusters:
        text += CLUSTER.format(id=cluster.cluster_id.replace("-", "_"), cluster=cluster.cluster_id)
    (folder / "earnkeep.toml").write_text(text, encoding="utf-8")
