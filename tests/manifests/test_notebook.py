import pytest

from optimizer.manifests.notebook import stop_notebook

BEFORE = {
    "apiVersion": "kubeflow.org/v1", "kind": "Notebook",
    "metadata": {"name": "ada", "namespace": "research", "annotations": {"owner": "ada"}},
    "spec": {"template": {"spec": {"containers": [{"name": "ada", "image": "jupyter"}]}}},
}  # fmt: skip


def test_stops_by_an_annotation_and_touches_nothing_else(merged):
    after = merged(BEFORE, stop_notebook("research", "ada").apply)
    assert after["metadata"]["annotations"] == {"owner": "ada", "kubeflow-resource-stopped": "earnkeep"}
    assert after["spec"] == BEFORE["spec"]


def test_undo_takes_the_annotation_away(merged):
    manifest = stop_notebook("research", "ada")
    assert merged(merged(BEFORE, manifest.apply), manifest.undo) == BEFORE


def test_names_are_safe_in_yaml(hostile_name, round_trip):
    manifest = stop_notebook(hostile_name, hostile_name)
    assert (round_trip(manifest.apply), round_trip(manifest.undo)) == (manifest.apply, manifest.undo)


@pytest.mark.shared_data
def test_the_definition_knows_its_fields(merged, unknown_fields, rules):
    after = merged(BEFORE, stop_notebook("research", "ada").apply)
    assert unknown_fields(after, "kubeflow.org_notebooks__notebooks-v1.11.0.json") == []
    assert rules([after]) == []
