"""kubectl dumps become nodes, pods, requests and workloads; what is doubtful is said."""

import gzip
import json
from datetime import UTC, datetime

import pytest

from connectors import connector
from connectors.raw_tables import RAW_TABLES
from models.domain.errors import ConfigError

GPU = {"nvidia.com/gpu": "1"}


def day(number, hour=0):
    return datetime(2026, 11, number, hour)  # noqa: DTZ001, naive UTC as stored


def test_is_found_by_its_name():
    found = connector.find("object_files")
    assert set(found.tables) | {"finding"} <= set(RAW_TABLES)


def test_a_node_holds_from_its_creation_to_the_dump(dump, objects, noon):
    node = dump(objects.node(**{"node.kubernetes.io__instance-type": "m7i.2xlarge"})).one("node")
    assert (node["cluster_id"], node["node"], node["valid_from"], node["valid_to"]) == ("prod", "n1", day(1), noon)
    assert (node["instance_type"], node["vcpu"], node["memory_gib"]) == ("m7i.2xlarge", 8.0, 32.0)
    assert json.loads(node["labels"]) == {"node.kubernetes.io/instance-type": "m7i.2xlarge"}


def test_a_running_pod_holds_from_its_start_to_the_dump(dump, objects, noon):
    found = dump(objects.pod(requests={"nvidia.com/gpu": "2", "cpu": "500m", "memory": "8Gi", "pods": "1"}))
    assert found.column("container_request", "resource", "quantity") == [
        ("cpu", 0.5),
        ("memory", 8.0),
        ("nvidia.com/gpu", 2.0),
    ]
    request = found.rows["container_request"][0]
    assert (request["pod_uid"], request["container"], request["node"]) == ("uid-p", "main", "n1")
    assert (request["valid_from"], request["valid_to"]) == (day(2), noon)


def test_slices_and_shared_gpus_keep_their_resource_names(dump, objects):
    found = dump(objects.pod(requests={"nvidia.com/mig-1g.10gb": 1, "nvidia.com/gpu.shared": "1"}))
    assert found.column("container_request", "resource") == ["nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb"]


def test_a_limit_stands_for_a_request_that_is_not_written(dump, objects):
    found = dump(objects.pod(containers=[{"name": "main", "resources": {"limits": GPU}}]))
    assert found.column("container_request", "quantity") == [1.0]


def test_a_finished_pod_held_until_its_last_container_ended(dump, objects):
    ended = [{"state": {"terminated": {"finishedAt": f"2026-11-03T0{hour}:00:00Z"}}} for hour in (5, 7)]
    pod = objects.pod(requests=GPU, status={"phase": "Succeeded", "containerStatuses": ended})
    found = dump(pod)
    assert found.column("container_request", "valid_to") == [day(3, 7)]
    assert found.column("pod", "valid_from", "valid_to") == [(day(2), day(3, 7))]


def test_a_finished_pod_without_an_end_is_said_and_not_counted(dump, objects):
    found = dump(objects.pod(requests=GPU, status={"phase": "Failed"}))
    assert "container_request" not in found.rows
    assert found.findings["pod_end_unknown"]["occurrences"] == 1


def test_a_pod_without_status_start_begins_with_its_first_container(dump, objects):
    states = [{"state": {"running": {"startedAt": "2026-11-05T00:00:00Z"}}}]
    pod = objects.pod(requests=GPU, status={"startTime": None, "containerStatuses": states})
    assert dump(pod).column("container_request", "valid_from") == [day(5)]


def test_pending_pods_and_pods_without_a_node_hold_nothing(dump, objects):
    found = dump(
        objects.pod("waits", requests=GPU, node=None, status={"phase": "Pending"}),
        objects.pod("pulls", requests=GPU, status={"phase": "Pending"}),
    )
    assert "container_request" not in found.rows
    assert sorted(found.column("pod", "pod")) == ["pulls", "waits"]
    finding = found.findings["pod_without_node"]
    assert (finding["occurrences"], finding["subject"]) == (1, "pod ml/waits")


def test_a_pod_of_a_lost_node_is_said_and_not_counted(dump, objects):
    found = dump(objects.pod(requests=GPU, status={"phase": "Unknown"}))
    assert "container_request" not in found.rows
    assert "pod_phase_unknown" in found.findings


def test_a_pod_that_starts_after_the_dump_is_said(dump, objects):
    found = dump(objects.pod(requests=GPU, status={"startTime": "2026-12-24T00:00:00Z"}))
    assert "container_request" not in found.rows
    assert "check observed_at" in found.findings["after_dump_time"]["message"]


def test_an_unreadable_quantity_drops_itself_only(dump, objects):
    found = dump(objects.pod(requests={"cpu": "4 cores", "nvidia.com/gpu": "1"}))
    assert found.column("container_request", "resource") == ["nvidia.com/gpu"]
    finding = found.findings["quantity_unreadable"]
    assert finding["subject"] == "pod ml/p, container main, cpu"
    assert "'4 cores' is not Kubernetes syntax" in finding["message"]


@pytest.mark.parametrize("reverse", [False, True])
def test_follows_the_owners_of_a_pod_to_the_top(dump, objects, reverse):
    things = [
        objects.thing("apps/v1", "Deployment", "web", labels={"team": "search"}, spec={"replicas": 3}),
        objects.thing("apps/v1", "ReplicaSet", "web-1", ownerReferences=objects.owner("apps/v1", "Deployment", "web")),
        objects.pod("web-1-x", ownerReferences=objects.owner("apps/v1", "ReplicaSet", "web-1")),
        objects.thing("batch/v1", "CronJob", "nightly"),
        objects.thing("batch/v1", "Job", "nightly-1", ownerReferences=objects.owner("batch/v1", "CronJob", "nightly")),
        objects.pod("nightly-1-x", ownerReferences=objects.owner("batch/v1", "Job", "nightly-1")),
        objects.thing("kubeflow.org/v1", "Notebook", "ada"),
        objects.thing(
            "apps/v1", "StatefulSet", "ada", ownerReferences=objects.owner("kubeflow.org/v1", "Notebook", "ada")
        ),
        objects.pod("ada-0", ownerReferences=objects.owner("apps/v1", "StatefulSet", "ada")),
        objects.pod("bare"),
    ]
    found = dump(*(reversed(things) if reverse else things))
    assert sorted(found.column("pod", "pod", "workload_kind", "workload_name")) == [
        ("ada-0", "Notebook", "ada"),
        ("bare", "Pod", "bare"),
        ("nightly-1-x", "CronJob", "nightly"),
        ("web-1-x", "Deployment", "web"),
    ]
    classes = {row["workload_name"]: (row["workload_class"], row["class_evidence"]) for row in found.rows["workload"]}
    assert classes == {
        "ada": ("notebook", "kind Notebook (kubeflow.org)"),
        "bare": (None, None),
        "nightly": ("batch", "kind CronJob (batch)"),
        "web": (None, None),
    }
    web = next(row for row in found.rows["workload"] if row["workload_name"] == "web")
    assert (web["team"], web["replicas"], web["api_version"]) == ("search", 3, "apps/v1")


def test_finds_owners_in_the_other_files_of_the_folder(read, objects):
    pod = objects.pod("ada-0", ownerReferences=objects.owner("apps/v1", "StatefulSet", "ada"))
    notebook = objects.owner("kubeflow.org/v1", "Notebook", "ada")
    files = {
        "a-pods-20261130T1200Z.json": [pod],
        "b-sets-20261130T1200Z.json": [objects.thing("apps/v1", "StatefulSet", "ada", ownerReferences=notebook)],
    }
    assert read(files).column("pod", "workload_kind") == ["Notebook"]


def test_ends_at_the_last_owner_that_is_named(dump, objects):
    found = dump(
        objects.pod(ownerReferences=objects.owner("kubeflow.org/v1", "PyTorchJob", "train"), labels={"team": "a"})
    )
    assert found.column("pod", "workload_kind", "workload_name") == [("PyTorchJob", "train")]
    workload = found.one("workload")
    assert (workload["workload_class"], workload["replicas"], workload["team"]) == ("training", None, "a")


def test_a_ring_of_owners_ends(dump, objects):
    found = dump(
        objects.thing("x/v1", "A", "a", ownerReferences=objects.owner("x/v1", "B", "b")),
        objects.thing("x/v1", "B", "b", ownerReferences=objects.owner("x/v1", "A", "a")),
        objects.pod(ownerReferences=objects.owner("x/v1", "A", "a")),
    )
    assert found.column("pod", "workload_kind") == ["B"]


def test_daemons_and_static_pods_are_shared_and_no_workload(dump, objects):
    policy = objects.owner("nvidia.com/v1", "ClusterPolicy", "gpu")
    found = dump(
        objects.thing("nvidia.com/v1", "ClusterPolicy", "gpu", namespace=None),
        objects.thing("apps/v1", "DaemonSet", "exporter", ownerReferences=policy),
        objects.pod("exporter-x", ownerReferences=objects.owner("apps/v1", "DaemonSet", "exporter")),
        objects.pod("kube-proxy-n1", ownerReferences=objects.owner("v1", "Node", "n1")),
    )
    assert found.column("pod", "workload_kind", "is_daemon") == [("DaemonSet", True), ("Node", True)]
    assert "workload" not in found.rows


def test_secrets_never_leave_the_file(dump, objects):
    secret = "hunter2"  # noqa: S105, the word that must not be found
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": secret,
        "meta.helm.sh/release-name": "web",
        "earnkeep.dev/note": secret * 100,
        "example.com/token": secret,
    }
    container = {"name": "main", "env": [{"name": "T", "value": secret}], "args": [secret], "image": "a"}
    found = dump(
        objects.thing("apps/v1", "StatefulSet", "s", annotations=annotations, spec={"template": {"x": secret}}),
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"token": secret}},
        objects.pod(
            containers=[container],
            annotations=annotations,
            ownerReferences=objects.owner("apps/v1", "StatefulSet", "s"),
        ),
    )
    assert secret not in str(found.rows)
    assert json.loads(found.one("workload")["annotations"]) == {"meta.helm.sh/release-name": "web"}


def test_finds_the_team_by_label_annotation_settings_namespace_label_and_name(dump, objects):
    found = dump(
        objects.thing("v1", "Namespace", "labelled", namespace=None, labels={"team": "from-namespace"}),
        objects.pod("1", labels={"app.kubernetes.io/part-of": "part", "team": "label"}),
        objects.pod("2", annotations={"team": "annotation"}),
        objects.pod("3", namespace="mapped"),
        objects.pod("4", namespace="labelled"),
        objects.pod("5", namespace="plain"),
        team_by_namespace={"mapped": "from-settings"},
    )
    teams = dict(found.column("workload", "workload_name", "team"))
    assert teams == {"1": "label", "2": "annotation", "3": "from-settings", "4": "from-namespace", "5": "plain"}


def test_settings_override_a_class_the_longest_pattern_first(dump, objects):
    overrides = {"ml/*": "batch", "ml/Pod/web*": "inference"}
    found = dump(objects.pod("web-1"), objects.pod("other"), class_overrides=overrides)
    assert dict(found.column("workload", "workload_name", "class_evidence")) == {
        "other": "setting class_overrides 'ml/*'",
        "web-1": "setting class_overrides 'ml/Pod/web*'",
    }


def test_refuses_an_override_to_a_class_that_does_not_exist(dump, objects):
    with pytest.raises(ConfigError, match="class 'prod' is unknown; known: training, inference, notebook, batch, dev"):
        dump(objects.pod(), class_overrides={"*": "prod"})


def test_says_that_a_declared_class_is_unknown(dump, objects):
    found = dump(objects.pod(labels={"earnkeep.dev/workload-class": "prod"}))
    assert found.one("workload")["workload_class"] is None
    assert found.findings["class_unknown"]["subject"] == "ml/Pod/p"


@pytest.mark.parametrize(
    ("metadata", "origin"),
    [
        ({"annotations": {"argocd.argoproj.io/tracking-id": "app:apps/Deployment:ml/web"}}, "argocd"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "app:x/Other:ml/other"}}, None),
        ({"labels": {"argocd.argoproj.io/instance": "app"}}, "argocd"),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}}, "flux"),
        ({"labels": {"helm.toolkit.fluxcd.io/name": "a", "app.kubernetes.io/managed-by": "Helm"}}, "flux"),
        ({"annotations": {"meta.helm.sh/release-name": "web"}}, "helm"),
        ({"annotations": {"config.kubernetes.io/origin": "path: web.yaml"}}, "kustomize"),
        ({}, None),
    ],
)
def test_says_what_put_a_workload_there(dump, objects, metadata, origin):
    found = dump(
        objects.thing("apps/v1", "Deployment", "web", **metadata),
        objects.pod(ownerReferences=objects.owner("apps/v1", "Deployment", "web")),
    )
    assert found.one("workload")["manifest_origin"] == origin


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "api"}}, False),
        ({}, True),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "api"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_matches_disruption_budgets_to_pods(dump, objects, selector, is_selected):
    budget = objects.thing("policy/v1", "PodDisruptionBudget", "b", spec={"selector": selector})
    found = dump(budget, objects.pod(labels={"app": "web"}))
    assert found.one("workload")["has_disruption_budget"] is is_selected


def test_a_dump_without_any_budget_does_not_say_that_there_is_none(dump, objects):
    assert dump(objects.pod()).one("workload")["has_disruption_budget"] is None


def test_takes_the_time_of_a_dump_from_the_settings_first(read, objects):
    found = read({"x-20261130T1200Z.json": [objects.node()]}, observed_at=datetime(2026, 11, 20, tzinfo=UTC))
    assert found.one("node")["valid_to"] == day(20)


def test_assumes_the_newest_instant_of_the_folder_and_says_so(read, objects):
    node = objects.node()
    node["status"]["conditions"] = [{"type": "Ready", "lastHeartbeatTime": "2026-11-29T09:00:00Z"}]
    found = read(
        {
            "1/nodes.json": [node],
            "1/pods.json": [objects.pod(requests=GPU)],
            "2/pods.json": [objects.pod("q", requests=GPU)],
        }
    )
    assert dict(found.column("pod", "pod", "valid_to")) == {"p": day(29, 9), "q": day(2)}  # q's own start
    assert found.findings["dump_time_assumed"]["observed_to"] is not None


def test_a_dump_without_any_time_is_refused_with_what_to_do(read, objects):
    pod = objects.pod()
    del pod["metadata"]["creationTimestamp"], pod["status"]["startTime"]
    found = read({"pods.json": [pod]})
    assert "set observed_at, or name it *-YYYYMMDDTHHMMZ.json" in found.unreadable[0].reason


def test_a_broken_file_does_not_stop_the_others(read, objects):
    whole = json.dumps({"items": [objects.pod("a"), objects.node()]})
    files = {
        "a-20261130T1200Z.json": whole[:-40],
        "b-20261130T1200Z.json.gz": gzip.compress(whole.encode())[:-20],
        "c-20261130T1200Z.json": [objects.node("n2")],
        "d-20261130T1200Z.json": "",
        "e.json": '{"ReservedInstances": []}',
    }
    found = read(files)
    assert found.column("node", "node") == ["n2"]
    reasons = {page.origin.rsplit("/", 1)[1][0]: page.reason for page in found.unreadable}
    assert "ends in the middle of an object; take the dump again" in reasons["a"]
    assert "truncated gzip" in reasons["b"]
    assert "the file is empty" in reasons["d"]
    assert "no Kubernetes object in it" in reasons["e"]


def test_an_empty_folder_is_said(read, tmp_path):
    found = read({})
    assert found.unreadable[0].reason.startswith(f"{tmp_path}: no file ends in .json")


def test_an_answer_without_objects_is_no_fault(read):
    found = read({"pdb-20261130T1200Z.json": []})
    assert (found.rows, found.unreadable) == ({}, [])


def test_objects_of_other_shapes_are_passed_over_and_said(dump, objects):
    found = dump(objects.node(), {"hello": "world"})
    assert found.findings["not_kubernetes"]["occurrences"] == 1


def test_odd_shapes_where_objects_are_expected_do_no_harm(dump, objects):
    pod = objects.pod()
    pod["metadata"] |= {"labels": None, "ownerReferences": {"kind": "Job"}, "annotations": ["x"]}
    pod["spec"]["containers"] = [{"name": "main", "resources": None}, "x"]
    pod["status"]["containerStatuses"] = "none"
    assert dump(pod).column("pod", "workload_kind") == ["Pod"]


def test_reads_many_pods_page_by_page(read, objects):
    lines = "\n".join(json.dumps(objects.pod(f"p{number}", requests=GPU)) for number in range(5_200))
    found = read({"pods-20261130T1200Z.jsonl": lines})
    assert len(found.rows["container_request"]) == 5_200
    assert len(found.rows["workload"]) == 5_200
