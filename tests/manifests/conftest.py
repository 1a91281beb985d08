"""How Kubernetes applies a patch, and what shared knowledge says about documents."""

import copy
import importlib.util
import json
import sys
import warnings

import pytest
import yaml

_HOSTILE = (
    'it\'s "quoted"', "a: b", "- list", "{curly}", "yes", "null", "1e3", "0o17", "2026-11-30", "# no comment", "a\nb",
    "!!python.name:os.system", "&anchor", "*alias", "$(reboot)", "; reboot", "é", "\u2028",
)  # fmt: skip


def merge_patch(document, patch):
    """Return the document after a JSON merge patch (RFC 7386): null takes away, a list is replaced whole."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def strategic_merge(document, patch):
    """Return the document after a strategic merge patch: as above, but containers are merged by their names."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif key == "containers":
            wanted = {one["name"]: one for one in value}
            kept = [strategic_merge(one, wanted.pop(one["name"], {})) for one in merged.get(key, [])]
            merged[key] = kept + list(wanted.values())
        else:
            merged[key] = strategic_merge(merged.get(key), value)
    return merged


@pytest.fixture(scope="session")
def merged():
    return merge_patch


@pytest.fixture(scope="session")
def strategically_merged():
    return strategic_merge


@pytest.fixture(params=_HOSTILE)
def hostile_name(request):
    return request.param


@pytest.fixture(scope="session")
def round_trip():
    """Give a document as a reader of its YAML sees it."""
    return lambda document: yaml.safe_load(yaml.safe_dump(document))


@pytest.fixture(scope="session")
def rules(shared):
    """Give the checker of what webhooks and NVIDIA's parsers refuse: documents -> findings."""
    spec = importlib.util.spec_from_file_location("semcheck", shared / "tools" / "semcheck.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["semcheck"] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its own table open
        spec.loader.exec_module(module)
    return module.check


@pytest.fixture(scope="session")
def unknown_fields(shared):
    """Give the fields of a document that its custom resource definition would prune."""

    def find(document, file):
        definition = json.loads((shared / "data" / "kubernetes" / "crds" / file).read_text(encoding="utf-8"))
        version = document["apiVersion"].partition("/")[2]
        (schema,) = [one["schema"] for one in definition["spec"]["versions"] if one["name"] == version]
        assert definition["spec"]["names"]["kind"] == document["kind"]
        parts = {key: value for key, value in document.items() if key not in {"apiVersion", "kind", "metadata"}}
        return list(_unknown(parts, schema["openAPIV3Schema"], ""))

    return find


def _unknown(value, schema, path):
    if schema.get("x-kubernetes-preserve-unknown-fields") or not isinstance(value, dict):
        return
    for key, inner in value.items():
        known = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
        if known is None:
            yield f"{path}/{key}"
        else:
            yield from _unknown(inner, known, f"{path}/{key}")
