"""Stop a workload, or let it ask for fewer GPUs: the right edit for its kind, else steps for a person."""

from models.domain.recommendation import Alternative, Subject
from optimizer.manifest import Change, Manifest, Runbook, TargetVersions
from optimizer.manifests import gpu_request, notebook, replicas, suspend

_NO_STEPS = Runbook((), ())


def resize(subject: Subject, alternative: Alternative, targets: TargetVersions) -> Change:  # noqa: ARG001
    """Return the edits that leave the workload with what the alternative says it still needs."""
    cluster_id, namespace, kind, name = subject.key.split("/", 3)
    demand, before = alternative.demand, alternative.before
    if demand.devices == 0:
        manifest = _stop(kind, namespace, name, before.replicas if before else 1)
        if manifest is not None:
            return Change((manifest,), _NO_STEPS)
        return Change((), _delete_steps(cluster_id, namespace, kind, name))
    if kind in gpu_request.KINDS and alternative.container and before is not None:
        wanted = {gpu_request.GPU: int(demand.devices)}
        today = {gpu_request.GPU: int(before.devices)}
        return Change(
            (gpu_request.request_gpus((kind, namespace, name), alternative.container, wanted, today),), _NO_STEPS
        )
    edit = f"Set {gpu_request.GPU} of {kind} {namespace}/{name} on {cluster_id} to {demand.devices:g}"
    back = f"Set it back to {before.devices:g}." if before else "Set it back."
    return Change((), Runbook((f"{edit} in the manifest that creates it.",), (back,)))


def _stop(kind: str, namespace: str, name: str, replicas_before: int) -> Manifest | None:
    if kind in replicas.KINDS:
        return replicas.set_replicas(kind, namespace, name, 0, replicas_before)
    if kind == notebook.KIND:
        return notebook.stop_notebook(namespace, name)
    if kind in suspend.KINDS:
        return suspend.suspend_job(kind, namespace, name)
    return None


def _delete_steps(cluster_id: str, namespace: str, kind: str, name: str) -> Runbook:
    on_cluster = f"kubectl --context {cluster_id} -n {namespace}"
    saved = f"{kind.lower()}-{name}.yaml"
    return Runbook(
        (
            f"{on_cluster} get {kind.lower()} {name} -o yaml > {saved}  # the way back",
            f"Tell the owner of {kind} {namespace}/{name}; then `{on_cluster} delete {kind.lower()} {name}`.",
        ),
        (f"{on_cluster} apply -f {saved}",),
    )
