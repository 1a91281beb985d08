"""kube-state-metrics series become history: who held what, from when until when."""

import gzip
import json
import re
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

MINUTE = 60
START = datetime(2026, 11, 2)  # noqa: DTZ001, naive UTC as stored
START_SECONDS = 1_793_577_600  # 2026-11-02 00:00 UTC
POD = {"namespace": "ml", "pod": "p", "uid": "u1"}
GPU = {"container": "main", "resource": "nvidia_com_gpu", "node": "n1", "unit": "integer"}


def minute(number):
    return START + timedelta(minutes=number)


def series(name, value, minutes, **labels):
    """One line of VictoriaMetrics JSON; `minutes` after START, one value for all or one each."""
    values = value if isinstance(value, list) else [value] * len(minutes)
    stamps = [(START_SECONDS + number * MINUTE) * 1000 for number in minutes]
    return json.dumps({"metric": {"__name__": name, **labels}, "values": values, "timestamps": stamps})


def at_minute(number):
    return START_SECONDS + number * MINUTE


def a_pod(minutes, pod=POD, node="n1"):
    return [
        series("kube_pod_info", 1, minutes, **pod, node=node, created_by_kind="", created_by_name=""),
        series("kube_pod_status_phase", 1, minutes, **pod, phase="Running"),
        series("kube_pod_container_resource_requests", 1, minutes, **pod, **GPU | {"node": node}),
    ]


SERVER = series("kube_node_info", 1, list(range(121)), node="n1", provider_id="aws:///a/i-0123456789abcdef0")


@pytest.fixture
def history(read):
    def _history(*lines):
        return read({"ksm.jsonl": "\n".join([SERVER, *lines])})

    return _history


def held(found):
    return found.column("container_request", "resource", "quantity", "valid_from", "valid_to")


def test_a_pod_holds_one_scrape_interval_beyond_its_last_sample(history):
    found = history(*a_pod(list(range(10, 21))))
    assert held(found) == [("nvidia.com/gpu", 1.0, minute(10), minute(21))]
    assert found.column("pod", "node", "workload_kind", "workload_name") == [("n1", "Pod", "p")]


def test_nothing_is_held_after_the_last_scrape(history):
    assert held(history(*a_pod(list(range(100, 121))))) == [("nvidia.com/gpu", 1.0, minute(100), minute(120))]


def test_only_running_pods_hold(history):
    minutes = list(range(10, 31))
    phases = [0] * 5 + [1] * 10 + [0] * 6  # pending, running, succeeded
    found = history(
        series("kube_pod_status_phase", phases, minutes, **POD, phase="Running"),
        series("kube_pod_status_phase", 1, minutes[15:], **POD, phase="Succeeded"),
        series("kube_pod_container_resource_requests", 1, minutes, **POD, **GPU),
    )
    assert held(found) == [("nvidia.com/gpu", 1.0, minute(15), minute(25))]


def test_a_missed_scrape_is_bridged_and_a_longer_gap_is_unknown(history):
    minutes = [number for number in range(10, 41) if number not in {15, 30, 31, 32}]
    found = history(*a_pod(minutes))
    assert [row[2:] for row in held(found)] == [(minute(10), minute(30)), (minute(33), minute(41))]


def test_start_and_completion_time_are_better_ends(history):
    minutes = list(range(10, 21))
    found = history(
        *a_pod(minutes),
        series("kube_pod_start_time", at_minute(9.5), minutes, **POD),
        series("kube_pod_completion_time", at_minute(20.5), minutes, **POD),
    )
    assert [row[2:] for row in held(found)] == [(minute(9.5), minute(20.5))]
    assert found.column("pod", "valid_from", "valid_to") == [(minute(9.5), minute(20.5))]


def test_a_start_before_the_data_begin_does_not_invent_history(history):
    found = history(*a_pod(list(range(10, 21))), series("kube_pod_start_time", at_minute(-900), [10], **POD))
    assert [row[2:] for row in held(found)] == [(minute(7.5), minute(21))]  # 2.5 scrape intervals before


def test_a_start_time_does_not_reach_into_time_the_pod_waited(history):
    minutes = list(range(10, 21))
    found = history(
        series("kube_pod_status_phase", [0] + [1] * 10, minutes, **POD, phase="Running"),
        series("kube_pod_container_resource_requests", 1, minutes, **POD, **GPU),
        series("kube_pod_start_time", at_minute(5), minutes, **POD),
    )
    assert [row[2:] for row in held(found)] == [(minute(10), minute(21))]


def test_units_and_names_are_those_of_dumps(history):
    minutes = list(range(10, 21))
    requests = {"cpu": 0.5, "memory": 2**33, "nvidia_com_mig_1g_10gb": 1, "ephemeral_storage": 3e8}
    found = history(
        series("kube_pod_status_phase", 1, minutes, **POD, phase="Running"),
        *(
            series(
                "kube_pod_container_resource_requests", value, minutes, **POD, container="m", node="n1", resource=name
            )
            for name, value in requests.items()
        ),
    )
    assert [row[:2] for row in held(found)] == [("cpu", 0.5), ("memory", 8.0), ("nvidia.com/mig-1g.10gb", 1.0)]


def test_copies_from_replicas_and_shards_count_once(history):
    minutes = list(range(10, 21))
    copies = [json.loads(line) for line in a_pod(minutes)]
    for copy in copies:
        copy["metric"]["instance"] = "10.0.0.2:8080"
        copy["timestamps"] = [stamp + 15_000 for stamp in copy["timestamps"]]
    found = history(*a_pod(minutes), *map(json.dumps, copies))
    assert [row[:2] for row in held(found)] == [("nvidia.com/gpu", 1.0)]


def test_the_labels_of_kube_state_metrics_itself_are_not_the_pods(history):
    own = {"namespace": "monitoring", "pod": "kube-state-metrics-0", "container": "kube-state-metrics"}
    lines = [json.loads(line) for line in a_pod(list(range(10, 21)))]
    for line in lines:
        for name in own:
            if name in line["metric"]:
                line["metric"][f"exported_{name}"] = line["metric"][name]
        line["metric"] |= own
    found = history(*map(json.dumps, lines))
    assert found.column("container_request", "namespace", "pod", "container") == [("ml", "p", "main")]


def test_the_same_name_with_another_uid_is_another_pod(history):
    found = history(*a_pod(list(range(10, 21))), *a_pod(list(range(30, 41)), pod=POD | {"uid": "u2"}))
    assert found.column("container_request", "pod_uid", "valid_from") == [("u1", minute(10)), ("u2", minute(30))]


def test_a_resized_pod_holds_what_it_asked_for_at_the_time(history):
    minutes = list(range(10, 31))
    found = history(
        series("kube_pod_status_phase", 1, minutes, **POD, phase="Running"),
        series(
            "kube_pod_container_resource_requests", [1] * 10 + [4] * 11, minutes, **POD, **GPU | {"resource": "cpu"}
        ),
    )
    assert held(found) == [("cpu", 1.0, minute(10), minute(20)), ("cpu", 4.0, minute(20), minute(31))]


def test_init_containers_add_their_surplus_and_sidecars_themselves(history):
    minutes = list(range(10, 21))
    init = "kube_pod_init_container_resource_requests"
    cpu = {"resource": "cpu", "node": "n1"}
    found = history(
        *a_pod(minutes),
        series("kube_pod_container_resource_requests", 1, minutes, **POD, container="main", **cpu),
        series(init, 3, minutes, **POD, container="build", **cpu),
        series(init, 1, minutes, **POD, container="proxy", **cpu),
        series("kube_pod_init_container_info", 1, minutes, **POD, container="proxy", restart_policy="Always"),
    )
    # main 1 + proxy 1 run; build 3 alone is 1 more (whether the sidecar was there before it, no series tells)
    amounts = {row["container"]: row["quantity"] for row in found.rows["container_request"] if row["resource"] == "cpu"}
    assert amounts == {"main": 1.0, "proxy": 1.0, "build": 1.0}


def test_follows_owners_as_far_as_the_series_tell(history):
    minutes = list(range(10, 21))
    job, train, web = (POD | {"pod": name, "uid": name} for name in ("job", "train", "web"))
    lines = [line for pod in (job, train, web) for line in a_pod(minutes, pod)]
    controller = {"owner_is_controller": "true"}
    found = history(
        *lines,
        series("kube_pod_owner", 1, minutes, **web, owner_kind="ReplicaSet", owner_name="web-1", **controller),
        series(
            "kube_replicaset_owner",
            1,
            minutes,
            namespace="ml",
            replicaset="web-1",
            owner_kind="Deployment",
            owner_name="web",
        ),
        series("kube_deployment_spec_replicas", [2] * 10 + [3], minutes, namespace="ml", deployment="web"),
        series("kube_pod_owner", 1, minutes, **job, owner_kind="Job", owner_name="j", **controller),
        series("kube_job_owner", 1, minutes, namespace="ml", job_name="j", owner_kind="", owner_name=""),
        series("kube_pod_owner", 1, minutes, **train, owner_kind="PyTorchJob", owner_name="t", **controller),
    )
    assert sorted(found.column("workload", "workload_kind", "workload_name", "workload_class", "replicas")) == [
        ("Deployment", "web", None, 3),
        ("Job", "j", "batch", None),
        ("PyTorchJob", "t", "training", None),
    ]


def test_uses_labels_and_images_where_they_are_exported(history):
    minutes = list(range(10, 21))
    found = history(
        *a_pod(minutes),
        series("kube_pod_labels", 1, minutes, **POD, label_app_kubernetes_io_part_of="search", label_x="y"),
        series("kube_pod_container_info", 1, minutes, **POD, container="main", image="vllm/vllm-openai:v1"),
    )
    workload = found.one("workload")
    assert (workload["team"], workload["workload_class"]) == ("search", "inference")
    assert json.loads(workload["labels"]) == {"app.kubernetes.io/part-of": "search", "x": "y"}


def test_says_which_flag_is_missing_for_labels(history):
    found = history(*a_pod(list(range(10, 21))))
    assert "--metric-labels-allowlist=" in found.findings["labels_missing"]["message"]


def test_takes_the_team_from_the_namespace(history):
    minutes = list(range(10, 21))
    found = history(*a_pod(minutes), series("kube_namespace_labels", 1, minutes, namespace="ml", label_team="vision"))
    assert found.one("workload")["team"] == "vision"


def test_requests_without_a_phase_are_said_and_not_counted(history):
    found = history(series("kube_pod_container_resource_requests", 1, list(range(10, 21)), **POD, **GPU))
    assert "container_request" not in found.rows
    assert {"series_missing", "owner_unknown", "phase_unknown"} <= set(found.findings)


def test_a_pod_that_no_node_took_holds_nothing(history):
    found = history(*a_pod(list(range(10, 21)), node=""))
    assert "container_request" not in found.rows
    assert "pod_without_node" in found.findings


def test_resource_claims_are_said(history):
    minutes = list(range(10, 21))
    found = history(*a_pod(minutes), series("kube_pod_resourceclaim_info", 1, minutes, **POD, claim_name="gpu"))
    assert found.findings["resource_claims"]["subject"] == "pod ml/p"


def test_a_node_by_its_series(history):
    minutes = list(range(121))
    found = history(
        series(
            "kube_node_labels",
            1,
            minutes,
            node="n1",
            label_nvidia_com_gpu_product="NVIDIA-L4-SHARED",
            label_nvidia_com_gpu_count="1",
            label_nvidia_com_gpu_replicas="4",
            label_eks_amazonaws_com_capacity_type="SPOT",
            label_karpenter_sh_nodepool="l4",
        ),
        series("kube_node_status_capacity", 4, minutes, node="n1", resource="nvidia_com_gpu"),
        series("kube_node_status_capacity", 2**35, minutes, node="n1", resource="memory"),
    )
    node = found.one("node")
    assert (node["gpu_model"], node["gpu_count"], node["gpu_replicas"]) == ("NVIDIA L4", 1, 4)
    assert (node["capacity_type"], node["pool"], node["memory_gib"], node["vcpu"]) == ("spot", "l4", 32.0, None)
    assert (node["resource_key"], node["valid_from"], node["valid_to"]) == (
        "i-0123456789abcdef0",
        minute(0),
        minute(120),
    )


def test_a_node_name_used_again_is_another_machine(history):
    found = history(
        series("kube_node_info", 1, list(range(10, 21)), node="n2", provider_id="a"),
        series("kube_node_info", 1, list(range(40, 51)), node="n2", provider_id="b"),
    )
    spans = [(row["provider_id"], row["valid_from"]) for row in found.rows["node"] if row["node"] == "n2"]
    assert spans == [("a", minute(10)), ("b", minute(40))]


def test_days_in_files_of_their_own_make_one_history(read):
    first, second = a_pod(list(range(100, 1440))), a_pod(list(range(1440, 1500)))
    found = read({"1.jsonl": "\n".join(first), "2.jsonl.gz": gzip.compress("\n".join([*second, SERVER]).encode())})
    assert [row[2:] for row in held(found)] == [(minute(100), minute(1499))]
    assert found.column("pod", "pod_uid") == ["u1"]
    assert len(found.rows["workload"]) == 1


def test_series_and_dumps_complete_each_other(read, objects):
    minutes = list(range(10, 21))
    owned = {"owner_kind": "StatefulSet", "owner_name": "ada", "owner_is_controller": "true"}
    lines = [*a_pod(minutes), series("kube_pod_owner", 1, minutes, **POD, **owned)]
    notebook = objects.owner("kubeflow.org/v1", "Notebook", "ada")
    files = {
        "ksm.jsonl": "\n".join(lines),
        "sets-20261130T1200Z.json": [objects.thing("apps/v1", "StatefulSet", "ada", ownerReferences=notebook)],
    }
    assert read(files).column("pod", "workload_kind", "workload_name") == [("Notebook", "ada")]


@pytest.mark.parametrize("as_text", [True, False])
def test_reads_parquet_of_the_same_shape(read, tmp_path, as_text):
    rows = [json.loads(line) for line in [SERVER, *a_pod(list(range(10, 21)))]]
    labels = [json.dumps(row["metric"]) if as_text else list(row["metric"].items()) for row in rows]
    columns = {
        "metric": pa.array(labels, pa.string() if as_text else pa.map_(pa.string(), pa.string())),
        "values": pa.array([[float(value) for value in row["values"]] for row in rows]),
        "timestamps": pa.array([row["timestamps"] for row in rows]),
    }
    pq.write_table(pa.table(columns), tmp_path / "ksm.parquet")
    assert held(read({})) == [("nvidia.com/gpu", 1.0, minute(10), minute(21))]


def test_a_parquet_file_of_another_shape_is_refused(read, tmp_path):
    pq.write_table(pa.table({"metric": ["x"]}), tmp_path / "other.parquet")
    assert "column values, timestamps is missing, found metric" in read({}).unreadable[0].reason


def test_a_broken_line_names_file_and_line_and_the_others_go_on(read):
    bad = f'{SERVER}\n{{"metric":{{"__name__":"kube_pod_info"}},"values":[1],"timestamps":[1,2]}}'
    found = read({"a.jsonl": bad, "b.jsonl": "\n".join([SERVER, *a_pod(list(range(10, 21)))])})
    assert "a.jsonl, line 2" in found.unreadable[0].reason
    assert "1 values, but 2 timestamps" in found.unreadable[0].reason
    assert len(found.rows["container_request"]) == 1


def test_other_metrics_in_the_same_export_are_passed_over(history):
    found = history(series("DCGM_FI_DEV_GPU_UTIL", 1, [1], pod="kube_x"), series("kube_unheard_of", 1, [1]))
    assert set(found.rows) == {"node", "finding"}
    assert found.unreadable == []


@pytest.mark.shared_data
def test_reads_the_lines_that_kube_state_metrics_prints(read, shared):
    sample = shared / "data" / "telemetry" / "ksm" / "ksm_v2.20_expected_lines.prom"
    lines = []
    for line in sample.read_text().splitlines():
        name, labels, value = re.match(r"(\w+)\{(.*)\} (\S+)$", line).groups()
        lines.append(series(name, float(value), list(range(10)), **dict(re.findall(r'(\w+)="([^"]*)"', labels))))
    found = read({"ksm.jsonl": "\n".join(lines)})
    assert found.unreadable == []
    # pod1 (uid1) is Running but its requests carry no node: nobody holds; its owners are told under other uids
    assert "container_request" not in found.rows
    assert ("ns2", "pod2", "Deployment", "dp-name") not in found.column(
        "pod", "namespace", "pod", "workload_kind", "workload_name"
    )
    assert found.column("node", "node", "vcpu", "gpu_count") == [("127.0.0.1", None, 4), ("127.0.0.1", None, 4)]
