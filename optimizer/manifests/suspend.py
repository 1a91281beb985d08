"""Jobs that can be suspended: batch/v1 Job, and the training operator's jobs through runPolicy."""

from optimizer.manifest import Manifest

_API_VERSIONS = {
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "PyTorchJob": "kubeflow.org/v1",
    "TFJob": "kubeflow.org/v1",
    "XGBoostJob": "kubeflow.org/v1",
    "PaddleJob": "kubeflow.org/v1",
    "JAXJob": "kubeflow.org/v1",
}
KINDS = tuple(sorted(_API_VERSIONS))


def suspend_job(kind: str, namespace: str, name: str) -> Manifest:
    """
    Return the change that suspends a job: its pods end, the object stays and can go on.

    Raises:
        ValueError: the kind cannot be suspended.
    """
    if kind not in _API_VERSIONS:
        message = f"{kind} cannot be suspended; it can be one of {', '.join(KINDS)}"
        raise ValueError(message)
    return Manifest(
        target=f"{kind} {namespace}/{name}",
        apply=_patch(kind, namespace, name, suspended=True),
        undo=_patch(kind, namespace, name, suspended=False),
        written_for=_API_VERSIONS[kind],
    )


def _patch(kind: str, namespace: str, name: str, *, suspended: bool) -> dict[str, object]:
    in_spec = _API_VERSIONS[kind] == "batch/v1"
    return {
        "apiVersion": _API_VERSIONS[kind],
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"suspend": suspended} if in_spec else {"runPolicy": {"suspend": suspended}},
    }
