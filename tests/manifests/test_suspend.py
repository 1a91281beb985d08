import pytest

from optimizer.manifests.suspend import KINDS, suspend_job

DEFINITIONS = {
    "PyTorchJob": "kubeflow.org_pytorchjobs__trainer-v1.9.4.json",
    "TFJob": "kubeflow.org_tfjobs__trainer-v1.9.4.json",
    "XGBoostJob": "kubeflow.org_xgboostjobs__trainer-v1.9.4.json",
    "PaddleJob": "kubeflow.org_paddlejobs__trainer-v1.9.4.json",
    "JAXJob": "kubeflow.org_jaxjobs__trainer-v1.9.4.json",
}


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_suspends_jobs_of_kubernetes_in_their_spec(kind):
    assert suspend_job(kind, "ns", "train").apply["spec"] == {"suspend": True}


@pytest.mark.parametrize("kind", sorted(DEFINITIONS))
def test_suspends_jobs_of_the_training_operator_by_their_run_policy(kind, merged):
    before = {"spec": {"runPolicy": {"cleanPodPolicy": "None"}, "replicaSpecs": {}}}
    after = merged(before, suspend_job(kind, "ns", "train").apply)
    assert after["spec"] == {"runPolicy": {"cleanPodPolicy": "None", "suspend": True}, "replicaSpecs": {}}


@pytest.mark.parametrize("kind", KINDS)
def test_undo_lets_it_go_on(kind, merged):
    manifest = suspend_job(kind, "ns", "train")
    running = merged({}, manifest.undo)
    assert merged(merged(running, manifest.apply), manifest.undo) == running
    assert "True" not in str(running)


def test_refuses_what_cannot_be_suspended():
    with pytest.raises(ValueError, match=r"Deployment cannot be suspended; it can be one of CronJob, JAXJob"):
        suspend_job("Deployment", "ns", "web")


def test_names_are_safe_in_yaml(hostile_name, round_trip):
    manifest = suspend_job("PyTorchJob", hostile_name, hostile_name)
    assert (round_trip(manifest.apply), round_trip(manifest.undo)) == (manifest.apply, manifest.undo)


@pytest.mark.shared_data
@pytest.mark.parametrize("kind", sorted(DEFINITIONS))
def test_the_definition_knows_its_fields(kind, unknown_fields):
    assert unknown_fields(suspend_job(kind, "ns", "train").apply, DEFINITIONS[kind]) == []


def test_every_kind_of_the_training_operator_is_checked():
    assert set(KINDS) - {"Job", "CronJob"} == set(DEFINITIONS)
