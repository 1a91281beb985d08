"""What a workload declares decides its class, the most certain sign first."""

import pytest

from models.catalog.csv_rows import csv_rows
from models.catalog.workload_kinds import Declaration, ObjectKind, WorkloadClass, classify, label_keys

DEPLOYMENT = ObjectKind("apps", "Deployment")
JOB = ObjectKind("batch", "Job")


def declared(*kinds, labels=None, images=()):
    return Declaration(kinds or (DEPLOYMENT,), labels or {}, tuple(images))


def class_and_evidence(declaration):
    found = classify(declaration)
    return (found.workload_class, found.evidence) if found else None


def test_says_nothing_about_a_plain_deployment():
    assert classify(declared(labels={"app": "x"}, images=["registry/app:1"])) is None


def test_the_declared_label_beats_every_rule():
    notebook = declared(ObjectKind("kubeflow.org", "Notebook"), labels={"earnkeep.dev/workload-class": "dev"})
    assert class_and_evidence(notebook) == ("dev", "label earnkeep.dev/workload-class=dev")


def test_a_declared_label_that_is_no_class_is_passed_over():
    notebook = declared(ObjectKind("kubeflow.org", "Notebook"), labels={"earnkeep.dev/workload-class": "prod"})
    assert class_and_evidence(notebook) == ("notebook", "kind Notebook (kubeflow.org)")


@pytest.mark.parametrize(
    ("group", "kind", "workload_class"),
    [
        ("kubeflow.org", "Notebook", "notebook"),
        ("kubeflow.org", "PyTorchJob", "training"),
        ("jobset.x-k8s.io", "JobSet", "training"),
        ("batch.volcano.sh", "Job", "training"),
        ("ray.io", "RayService", "inference"),
        ("serving.kserve.io", "InferenceService", "inference"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "inference"),
        ("batch", "CronJob", "batch"),
        ("batch", "Job", "batch"),
    ],
)
def test_knows_kinds_by_their_group(group, kind, workload_class):
    assert class_and_evidence(declared(ObjectKind(group, kind))) == (workload_class, f"kind {kind} ({group})")


@pytest.mark.parametrize("kind", [ObjectKind("kaito.sh", "Workspace"), ObjectKind("", "Service")])
def test_the_same_kind_in_another_group_says_nothing(kind):
    assert classify(declared(kind)) is None


def test_a_kind_without_group_counts_where_its_name_is_unmistakable():
    assert class_and_evidence(declared(ObjectKind(None, "PyTorchJob"))) == (
        "training",
        "kind PyTorchJob (group not known)",
    )
    assert classify(declared(ObjectKind(None, "Job"))) is None
    assert classify(declared(ObjectKind(None, "Service"))) is None


def test_any_owner_in_the_chain_counts():
    assert class_and_evidence(declared(ObjectKind("x.example", "Pipeline"), ObjectKind("ray.io", "RayJob"))) == (
        "training",
        "kind RayJob (ray.io)",
    )


def test_labels_count_with_their_value_where_the_rule_has_one():
    assert class_and_evidence(declared(labels={"ray.io/originated-from-crd": "RayService"})) == (
        "inference",
        "label ray.io/originated-from-crd=RayService",
    )
    assert classify(declared(labels={"ray.io/originated-from-crd": "RayCluster"})) is None


def test_a_label_beats_an_image_and_an_image_beats_a_plain_job():
    serving = {"serving.kserve.io/inferenceservice": "m"}
    assert class_and_evidence(declared(labels=serving, images=["quay.io/jupyter/base-notebook"]))[0] == "inference"
    assert class_and_evidence(declared(JOB, images=["axolotlai/axolotl:main"])) == (
        "training",
        "image axolotlai/axolotl",
    )


@pytest.mark.parametrize(
    ("image", "workload_class"),
    [
        ("vllm/vllm-openai:v0.11", "inference"),
        ("nvcr.io/nvidia/tritonserver:25.10-py3", "inference"),
        ("nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8", "inference"),
        ("registry:5000/ml/SGLang@sha256:0123456789abcdef", "inference"),
        ("quay.io/jupyter/scipy-notebook", "notebook"),
        ("kubeflownotebookswg/jupyter-pytorch-cuda-full", "notebook"),
    ],
)
def test_knows_images_by_a_part_of_their_name(image, workload_class):
    assert class_and_evidence(declared(images=[image]))[0] == workload_class


@pytest.mark.parametrize("image", ["acme/myvllm:1", "acme/dynamo-db", "jupyterhub/k8s-hub", "acme/infinityscroll"])
def test_words_inside_other_words_are_no_sign(image):
    assert classify(declared(images=[image])) is None


def test_evidence_names_the_image_without_tag_and_digest():
    found = classify(declared(images=["host:5000/vllm/vllm-openai:v1@sha256:00ff"]))
    assert found.evidence == "image host:5000/vllm/vllm-openai"


def test_the_rules_are_well_formed():
    rows = list(csv_rows("workload_kinds.csv"))
    assert {row["signal"] for row in rows} == {"kind", "label", "image", "weak_kind"}
    assert {row["workload_class"] for row in rows} == set(WorkloadClass)
    assert len({(row["signal"], row["group"], row["key"], row["value"]) for row in rows}) == len(rows)
    assert all(row["source"] and row["key"] for row in rows)
    assert all(row["key"] == row["key"].lower() for row in rows if row["signal"] == "image")


def test_lists_the_labels_it_looks_at():
    assert {"notebook-name", "earnkeep.dev/workload-class"} <= label_keys()
