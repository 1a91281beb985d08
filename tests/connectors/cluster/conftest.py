"""Builders of Kubernetes objects and series, and a reader that brings a folder through the connector."""

import json
from datetime import datetime

import pytest

from connectors.cluster import object_files
from connectors.connector import Unreadable
from connectors.raw_tables import RAW_TABLES
from models.domain.window import EVERYTHING


def owner(api_version, kind, name):
    return [{"apiVersion": api_version, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}]


def as_bytes(content):
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    return json.dumps({"apiVersion": "v1", "items": content, "kind": "List"}, indent=1).encode()


class Objects:
    """Kubernetes objects as the API gives them."""

    def __init__(self):
        self.owner = owner

    def thing(self, api_version, kind, name, namespace="ml", **metadata):
        spec = metadata.pop("spec", {})
        created = {"creationTimestamp": "2026-11-01T00:00:00Z"}
        return {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", **created, **metadata},
            "spec": spec,
        }

    def pod(self, name="p", requests=None, node="n1", status=None, containers=None, **metadata):
        pod = self.thing("v1", "Pod", name, **metadata)
        main = [{"name": "main", "image": "app:1", "resources": {"requests": requests or {}}}]
        pod["spec"] = {"nodeName": node, "containers": containers or main}
        pod["status"] = {"phase": "Running", "startTime": "2026-11-02T00:00:00Z", **(status or {})}
        return pod

    def node(self, name="n1", **labels):
        node = self.thing("v1", "Node", name, labels={key.replace("__", "/"): word for key, word in labels.items()})
        node["spec"] = {"providerID": f"aws:///us-east-1a/i-{name:0>17}"}
        node["status"] = {"capacity": {"cpu": "8", "memory": "32Gi"}}
        return node


class Inventory:
    """All rows the connector gives, by table."""

    def __init__(self, settings):
        self.rows = {}
        self.unreadable = []
        for page in object_files.fetch(settings, EVERYTHING):
            if isinstance(page, Unreadable):
                self.unreadable.append(page)
                continue
            for table, rows in object_files.normalise(settings, page).items():
                assert rows.schema.equals(RAW_TABLES[table].columns)  # or `load` refuses them
                self.rows.setdefault(table, []).extend(rows.to_pylist())

    def column(self, table, *names):
        return [
            tuple(row[name] for name in names) if len(names) > 1 else row[names[0]] for row in self.rows.get(table, [])
        ]

    def one(self, table):
        (row,) = self.rows[table]
        return row

    @property
    def findings(self):
        return {row["code"]: row for row in self.rows.get("finding", [])}


@pytest.fixture
def objects():
    return Objects()


@pytest.fixture
def read(tmp_path):
    """Read files given by name: a list is written as a kubectl List, text and bytes as they are."""

    def _read(files, **settings):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(as_bytes(content))
        return Inventory(object_files.Settings(str(tmp_path), "prod", **settings))

    return _read


@pytest.fixture
def dump(read):
    """Read objects as one dump taken on 2026-11-30 at 12:00 UTC."""

    def _dump(*things, **settings):
        return read({"objects-20261130T1200Z.json": list(things)}, **settings)

    return _dump


@pytest.fixture
def noon():
    return datetime(2026, 11, 30, 12)  # noqa: DTZ001, naive UTC as stored
