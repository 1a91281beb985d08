import pytest

from models.domain.recommendation import Alternative, Demand, Risk, Subject, SubjectKind
from optimizer.manifest import TargetVersions
from optimizer.manifests.workload_size import resize


def subject(kind, name="w", cluster="prod"):
    return Subject(SubjectKind.WORKLOAD, f"{cluster}/ns/{kind}/{name}")


def to(devices, before, container="main"):
    return Alternative("change", devices, "prod/p", 1, Risk.NONE, (), before, container)


STOP = to(Demand(0.0, replicas=0), Demand(3.0, replicas=3))


@pytest.mark.parametrize(
    ("kind", "edit"),
    [
        ("Deployment", {"spec": {"replicas": 0}}), ("StatefulSet", {"spec": {"replicas": 0}}),
        ("Job", {"spec": {"suspend": True}}), ("PyTorchJob", {"spec": {"runPolicy": {"suspend": True}}}),
    ],
)  # fmt: skip
def test_stops_each_kind_in_its_own_way(kind, edit):
    change = resize(subject(kind), STOP, TargetVersions())
    (manifest,) = change.manifests
    assert {"spec": manifest.apply["spec"]} == edit
    assert manifest.target == f"{kind} ns/w"
    assert change.runbook.steps == ()


def test_stops_a_notebook_by_its_annotation():
    (manifest,) = resize(subject("Notebook"), STOP, TargetVersions()).manifests
    assert "annotations" in manifest.apply["metadata"]


def test_comes_back_with_as_many_replicas_as_before():
    (manifest,) = resize(subject("Deployment"), STOP, TargetVersions()).manifests
    assert manifest.undo["spec"] == {"replicas": 3}


def test_a_suspended_cron_job_still_has_running_jobs():
    change = resize(subject("CronJob"), STOP, TargetVersions())
    assert change.manifests[0].apply["spec"] == {"suspend": True}
    assert "kubectl --context prod -n ns get jobs" in change.runbook.steps[0]


def test_what_cannot_be_stopped_is_saved_and_then_deleted():
    change = resize(subject("RayCluster"), STOP, TargetVersions())
    assert change.manifests == ()
    save, delete = change.runbook.steps
    assert save == "kubectl --context prod -n ns get raycluster w -o yaml > raycluster-w.yaml  # the way back"
    assert "kubectl --context prod -n ns delete raycluster w" in delete
    assert change.runbook.undo_steps == ("kubectl --context prod -n ns apply -f raycluster-w.yaml",)


def test_a_name_cannot_smuggle_in_a_command():
    steps = resize(subject("RayCluster", "w$(reboot)"), STOP, TargetVersions()).runbook.steps
    assert "get raycluster 'w$(reboot)' -o yaml > 'raycluster-w$(reboot).yaml'" in steps[0]


def test_a_cluster_may_have_slashes_in_its_name():
    (manifest,) = resize(subject("Deployment", cluster="arn:x/prod"), STOP, TargetVersions()).manifests
    assert manifest.target == "Deployment ns/w"


def test_shrinks_the_request_of_the_container():
    change = resize(subject("StatefulSet"), to(Demand(1.0), Demand(4.0)), TargetVersions())
    (manifest,) = change.manifests
    assert _limits(manifest.apply) == {"nvidia.com/gpu": "1"}
    assert _limits(manifest.undo) == {"nvidia.com/gpu": "4"}


def test_asks_for_each_pod_not_for_all_together():
    change = resize(subject("Deployment"), to(Demand(4.0, replicas=2), Demand(8.0, replicas=2)), TargetVersions())
    assert _limits(change.manifests[0].apply) == {"nvidia.com/gpu": "2"}


@pytest.mark.parametrize(
    ("kind", "devices", "container"),
    [("PyTorchJob", 1.0, "main"), ("Notebook", 1.0, "main"), ("Deployment", 1.0, ""), ("Deployment", 0.5, "main")],
)
def test_what_it_cannot_edit_is_a_step_with_its_way_back(kind, devices, container):
    change = resize(subject(kind), to(Demand(devices), Demand(4.0), container), TargetVersions())
    assert change.manifests == ()
    assert change.runbook.steps == (
        f"Let the pods of {kind} ns/w on prod ask for {devices:g} GPUs together, in the manifest that creates it.",
    )
    assert change.runbook.undo_steps == ("Let them ask for 4 again.",)


def _limits(document):
    return document["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
