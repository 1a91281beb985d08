import pytest

from optimizer.manifests.gpu_request import KINDS, request_gpus

OWNER = ("Deployment", "search", "ner")
TO_SLICE = ({"nvidia.com/mig-1g.10gb": 1}, {"nvidia.com/gpu": 1})


def deployment():
    resources = {"limits": {"nvidia.com/gpu": "1", "cpu": "4"}, "requests": {"nvidia.com/gpu": "1", "cpu": "2"}}
    containers = [{"name": "proxy", "image": "envoy"}, {"name": "main", "image": "triton", "resources": resources}]
    labels = {"app": "ner"}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ner", "namespace": "search"},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }  # fmt: skip


def containers_of(document):
    return document["spec"]["template"]["spec"]["containers"]


def test_changes_the_request_of_one_container_and_nothing_else(strategically_merged):
    after = strategically_merged(deployment(), request_gpus(OWNER, "main", *TO_SLICE).apply)
    proxy, main = containers_of(after)
    assert proxy == containers_of(deployment())[0]
    assert main["image"] == "triton"
    assert main["resources"] == {
        "limits": {"cpu": "4", "nvidia.com/mig-1g.10gb": "1"}, "requests": {"cpu": "2", "nvidia.com/mig-1g.10gb": "1"},
    }  # fmt: skip


@pytest.mark.parametrize("change", [TO_SLICE, ({"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 4})])
def test_undo_brings_back_what_was(strategically_merged, change):
    before = deployment()
    for quantities in containers_of(before)[1]["resources"].values():
        quantities["nvidia.com/gpu"] = str(change[1]["nvidia.com/gpu"])
    manifest = request_gpus(OWNER, "main", *change)
    assert strategically_merged(strategically_merged(before, manifest.apply), manifest.undo) == before


@pytest.mark.parametrize("kind", ["Job", "Notebook", "PyTorchJob", "Pod", "InferenceService"])
def test_refuses_kinds_whose_template_cannot_be_patched(kind):
    # a Job's template is immutable; a patch of a custom resource would drop image and volumes of the container
    with pytest.raises(ValueError, match=r"no pod template to edit in place"):
        request_gpus((kind, "ns", "w"), "main", *TO_SLICE)
    assert kind not in KINDS


def test_refuses_a_container_without_a_name():
    with pytest.raises(ValueError, match=r"container ''"):
        request_gpus(OWNER, "", *TO_SLICE)


def test_names_are_safe_in_yaml(hostile_name, round_trip):
    manifest = request_gpus(("StatefulSet", hostile_name, hostile_name), hostile_name, *TO_SLICE)
    assert (round_trip(manifest.apply), round_trip(manifest.undo)) == (manifest.apply, manifest.undo)


@pytest.mark.shared_data
def test_webhooks_have_nothing_against_the_result(strategically_merged, rules):
    after = strategically_merged(deployment(), request_gpus(OWNER, "main", *TO_SLICE).apply)
    assert rules([after], mig_strategy="mixed") == []
