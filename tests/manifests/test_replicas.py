import pytest

from optimizer.manifests.replicas import KINDS, set_replicas


@pytest.mark.parametrize("kind", KINDS)
def test_sets_the_replicas_and_leaves_the_rest(kind, merged):
    before = {"kind": kind, "spec": {"replicas": 3, "serviceName": "web"}}
    manifest = set_replicas(kind, "ns", "web", 0, 3)
    after = merged(before, manifest.apply)
    assert after["spec"] == {"replicas": 0, "serviceName": "web"}
    assert after["apiVersion"] == "apps/v1"


def test_undo_brings_back_what_was(merged):
    manifest = set_replicas("Deployment", "ns", "web", 0, 3)
    before = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "ns"},
        "spec": {"replicas": 3, "paused": True},
    }  # fmt: skip
    assert merged(merged(before, manifest.apply), manifest.undo) == before


@pytest.mark.parametrize("kind", ["DaemonSet", "Job", "Notebook", "Pod", ""])
def test_refuses_what_has_no_replicas(kind):
    with pytest.raises(ValueError, match=r"it can be one of Deployment, StatefulSet"):
        set_replicas(kind, "ns", "web", 0, 1)


def test_names_are_safe_in_yaml(hostile_name, round_trip):
    manifest = set_replicas("Deployment", hostile_name, hostile_name, 0, 1)
    assert round_trip(manifest.apply) == manifest.apply
    assert round_trip(manifest.apply)["metadata"] == {"name": hostile_name, "namespace": hostile_name}


@pytest.mark.shared_data
def test_webhooks_have_nothing_against_it(rules):
    manifest = set_replicas("Deployment", "ns", "web", 0, 1)
    assert rules([manifest.apply, manifest.undo]) == []
