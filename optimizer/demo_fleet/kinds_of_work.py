"""The sorts of workload the simulated teams run."""

from optimizer.demo_fleet.builder import LONG_AGO_HOURS, Kind
from optimizer.demo_fleet.nouns import Requests

KEEP = (("earnkeep.dev/keep", "true"),)  # the annotation by which an owner says: leave this as it is


NOTEBOOK_IMAGE = "ghcr.io/kubeflow/kubeflow/notebook-servers/jupyter-pytorch-cuda-full:v1.11.0"
VLLM_IMAGE = "vllm/vllm-openai:v0.19.1"
TRITON_IMAGE = "nvcr.io/nvidia/tritonserver:26.09-py3"
TRAINER_IMAGE = "registry.acme.example/ml/trainer:2026.10.3"
SANDBOX_IMAGE = "registry.acme.example/ml/sandbox:2026.08.1"
CPU_IMAGE = "registry.acme.example/data/feature-api:5.2.0"

ONE_GPU = Requests(gpus=1, vcpu=2.0, memory_gib=8.0)
SMALL = Requests(gpus=0, vcpu=1.0, memory_gib=2.0)


def notebook(created_hour: int = LONG_AGO_HOURS, annotations: tuple[tuple[str, str], ...] = ()) -> Kind:
    """Return a Kubeflow notebook."""
    return Kind("Notebook", NOTEBOOK_IMAGE, created_hour, annotations=annotations)


def sandbox(created_hour: int = LONG_AGO_HOURS, annotations: tuple[tuple[str, str], ...] = ()) -> Kind:
    """Return a development environment that sleeps until somebody opens a shell in it."""
    return Kind(
        "Deployment",
        SANDBOX_IMAGE,
        created_hour,
        labels=(("earnkeep.dev/workload-class", "dev"),),
        annotations=annotations,
        arguments=("sleep", "infinity"),
    )


def triton(
    created_hour: int = LONG_AGO_HOURS, annotations: tuple[tuple[str, str], ...] = (), labels: tuple[str, ...] = ()
) -> Kind:
    """Return a server of small models; `labels` are the names of flags it carries."""
    return Kind(
        "Deployment",
        TRITON_IMAGE,
        created_hour,
        labels=tuple((name, "true") for name in labels),
        annotations=annotations,
        arguments=("tritonserver", "--model-repository=s3://acme-models"),
    )


def vllm(model: str, gpus: int = 1, annotations: tuple[tuple[str, str], ...] = ()) -> Kind:
    """Return a server of one large language model."""
    return Kind(
        "Deployment",
        VLLM_IMAGE,
        annotations=annotations,
        arguments=("--model", model, "--tensor-parallel-size", str(gpus)),
    )


def training(
    kind: str, *, has_checkpoints: bool, created_hour: int = LONG_AGO_HOURS, deadline_seconds: int = 0
) -> Kind:
    """Return a training job that writes checkpoints, or that starts again from nothing."""
    arguments = ["torchrun", "train.py", "--config", "configs/base.yaml"]
    if has_checkpoints:
        arguments += ["--save-steps", "200", "--output-dir", "/checkpoints", "--resume-from-checkpoint", "auto"]
    annotations = [("acme.example/priority", "batch")]
    if deadline_seconds:
        annotations.append(("acme.example/active-deadline-seconds", str(deadline_seconds)))
    return Kind(kind, TRAINER_IMAGE, created_hour, annotations=tuple(annotations), arguments=tuple(arguments))


def service() -> Kind:
    """Return a service that needs no GPU."""
    return Kind("Deployment", CPU_IMAGE, has_disruption_budget=True)
