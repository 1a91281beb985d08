import datetime as dt

import pytest

GR = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
TEMP = "DCGM_FI_DEV_GPU_TEMP"


@pytest.mark.parametrize("label", ["UUID", "uuid", "gpu_uuid", "GPU_UUID", "accelerator_id"])
def test_the_uuid_has_many_labels(normalised, series, label):
    assert normalised(series(GR, 0.5, **({"UUID": None} | {label: "GPU-x"}))).rows[0]["gpu_uuid"] == "GPU-x"


def test_a_gpu_without_uuid_is_named_by_host_and_index(normalised, series):
    assert normalised(series(GR, 0.5, UUID=None, gpu="3")).rows[0]["gpu_uuid"] == "node-a/gpu3"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", None])
def test_localhost_is_no_identity(normalised, series, host):
    outcome = normalised(series(GR, 0.5, 0.5, UUID=None, Hostname=host))
    assert outcome.rows == []
    assert outcome.findings["gpu_without_identity", "10.0.0.1:9400"]["occurrences"] == 2


def test_nvidia_smi_exporter_and_dcgm_name_the_same_gpu(normalised, series):
    bare = "df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"
    rows = normalised(
        series("nvidia_smi_utilization_gpu_ratio", 0.5, UUID=None, uuid=bare, job="smi"),
        series(GR, 0.5, UUID=f"GPU-{bare}"),
    ).rows
    assert [row["gpu_uuid"] for row in rows] == [f"GPU-{bare}"]


@pytest.mark.parametrize(
    ("labels", "node"),
    [
        ({"node": "kube-1", "Hostname": "h"}, "kube-1"),
        ({"kubernetes_node": "kube-2"}, "kube-2"),
        ({"Hostname": None, "hostname": "h-new"}, "h-new"),
        ({"Hostname": "localhost"}, None),
        ({"Hostname": "dcgm-exporter-4flp2"}, None),
        ({"Hostname": "exp-1", "pod": "exp-1", "namespace": "gpu"}, None),
    ],
)
def test_the_node_is_what_names_a_node(normalised, series, labels, node):
    assert normalised(series(GR, 0.5, **labels)).rows[0]["node"] == node


@pytest.mark.parametrize(
    "label", ["NVIDIA H100 80GB HBM3", "NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED"]
)
def test_the_model_is_the_exact_nvidia_smi_name(normalised, series, label):
    assert normalised(series(GR, 0.5, modelName=label)).rows[0]["gpu_model"] == "NVIDIA H100 80GB HBM3"


def pods(outcome):
    return [(hint["namespace"], hint["pod"], hint["container"]) for hint in outcome.hints]


EXPORTER = {"namespace": "gpu-operator", "pod": "gpu-telemetry-x1", "container": "main"}
WORKLOAD = {"exported_namespace": "ml", "exported_pod": "train-0", "exported_container": "app"}


def test_the_exported_pod_is_the_workload(normalised, series):
    assert pods(normalised(series(GR, 0.5, **EXPORTER, **WORKLOAD))) == [("ml", "train-0", "app")]


def test_the_exporters_own_pod_is_no_workload(normalised, series):
    # the first series tells which pod of that instance is the exporter
    outcome = normalised(series(GR, 0.5, **EXPORTER, **WORKLOAD), series(GR, 0.0, UUID="GPU-b", **EXPORTER))
    assert pods(outcome) == [("ml", "train-0", "app")]


@pytest.mark.parametrize(
    "labels",
    [
        {"namespace": "gpu", "pod": "nvidia-dcgm-exporter-x1", "container": "main"},
        {"namespace": "gpu", "pod": "x1", "container": "nvidia-dcgm-exporter"},
        {"namespace": "", "pod": "", "container": ""},
        {"pod_namespace": "", "pod_name": "", "container_name": "", "pod": "x1", "namespace": "gpu"},
    ],
)
def test_a_free_gpu_has_no_hint(normalised, series, labels):
    assert pods(normalised(series(GR, 0.5, **labels))) == []


def test_a_pod_that_holds_every_gpu_of_a_node_is_a_workload(normalised, series):
    labels = {"namespace": "ml", "pod": "train-0", "container": "main"}
    outcome = normalised(*(series(GR, 0.9, UUID=f"GPU-{number}", **labels) for number in range(8)))
    assert pods(outcome) == [("ml", "train-0", "main")] * 8


def test_names_of_exporter_1_are_understood(normalised, series):
    labels = {"pod_namespace": "ml", "pod_name": "train-0", "container_name": "app", "UUID": None, "uuid": "GPU-x"}
    outcome = normalised(series("dcgm_fi_prof_gr_engine_active", 0.5, **labels))
    assert pods(outcome) == [("ml", "train-0", "app")]
    assert outcome.rows[0]["gr_engine_active_ratio_max"] == 0.5


def test_a_mig_claim_on_the_row_of_the_whole_gpu_is_no_hint(normalised, series):
    outcome = normalised(series(TEMP, 40.0, namespace="ml", pod="p", dra_mig_device_uuid="MIG-1"))
    assert outcome.hints == []
    assert ("claim_on_parent_gpu", "GPU-a") in outcome.findings


def span(hint):
    midnight = dt.datetime(2026, 10, 1)  # noqa: DTZ001, raw tables hold naive UTC
    return tuple((hint[end] - midnight) / dt.timedelta(minutes=1) for end in ("valid_from", "valid_to"))


@pytest.fixture
def held(series):
    def build(*values, name=GR, **arguments):
        return series(name, *values, namespace="ml", pod="train-0", container="main", **arguments)

    return build


def test_a_hint_ends_one_scrape_after_its_last_sample(normalised, held):
    (hint,) = normalised(held(*[0.5] * 10)).hints
    assert span(hint) == (0.0, 10.0)  # samples at minutes 0 to 9, one a minute


def test_a_label_seen_once_holds_for_the_configured_scrape_interval(normalised, held):
    assert span(normalised(held(0.5)).hints[0]) == (0.0, 5.0)
    assert span(normalised(held(0.5), scrape_interval_seconds=30.0).hints[0]) == (0.0, 0.5)


def test_gaps_up_to_a_quarter_of_an_hour_are_bridged_and_longer_ones_end_a_hint(normalised, held):
    first, second, third = held(0.5, 0.5), held(0.5, 0.5, minute=16), held(0.5, 0.5, minute=33)
    # from minute 1 to 16 are 15 minutes, from 17 to 33 are 16
    assert [span(hint) for hint in normalised(first, second, third).hints] == [(0.0, 18.0), (33.0, 35.0)]


def test_series_of_several_metrics_make_one_hint(normalised, held):
    (hint,) = normalised(held(*[0.5] * 5), held(*[40.0] * 5, name=TEMP, minute=3)).hints
    assert span(hint) == (0.0, 8.0)


def test_pods_that_follow_each_other_have_a_hint_each(normalised, held, series):
    other = series(GR, 0.5, 0.5, minute=2, namespace="ml", pod="train-1", container="main")
    assert [(hint["pod"], *span(hint)) for hint in normalised(held(0.5, 0.5), other).hints] == [
        ("train-0", 0.0, 2.0),
        ("train-1", 2.0, 4.0),
    ]


def test_hints_name_the_mig_instance(normalised, held):
    assert normalised(held(0.5, GPU_I_ID="7")).hints[0]["mig_instance_id"] == "7"
