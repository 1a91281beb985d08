"""Stop a workload, or let it ask for fewer GPUs: the right edit for its kind, else steps for a person."""

import shlex

from models.domain.recommendation import Alternative, Demand, Subject
from optimizer.manifest import Change, Manifest, Runbook, TargetVersions
from optimizer.manifests import gpu_request, notebook, replicas, suspend

_NO_STEPS = Runbook((), ())


def resize(subject: Subject, alternative: Alternative, targets: TargetVersions) -> Change:  # noqa: ARG001
    """Return the edits that leave the workload with what the alternative says it still needs."""
    cluster_id, namespace, kind, name = subject.key.rsplit("/", 3)
    demand, before = alternative.demand, alternative.before
    if demand.devices == 0:
        manifest = _stop(kind, namespace, name, before.replicas if before else 1)
        if manifest is not None:
            return Change((manifest,), _running_jobs_steps(cluster_id, namespace, kind, name))
        return Change((), _delete_steps(cluster_id, namespace, kind, name))
    wanted, today = _gpus_per_pod(demand), None if before is None else _gpus_per_pod(before)
    if kind in gpu_request.KINDS and alternative.container and wanted and today:
        requests = ({gpu_request.GPU: wanted}, {gpu_request.GPU: today})
        return Change((gpu_request.request_gpus((kind, namespace, name), alternative.container, *requests),), _NO_STEPS)
    edit = f"Let the pods of {kind} {namespace}/{name} on {cluster_id} ask for {demand.devices:g} GPUs together"
    back = f"Let them ask for {before.devices:g} again." if before else "Let them ask for what they asked before."
    return Change((), Runbook((f"{edit}, in the manifest that creates it.",), (back,)))


def _gpus_per_pod(demand: Demand) -> int | None:
    """Return the GPUs of each replica; None when they are no whole number."""
    per_pod = demand.devices / max(demand.replicas, 1)
    return int(per_pod) if per_pod >= 1 and per_pod.is_integer() else None


def _stop(kind: str, namespace: str, name: str, replicas_before: int) -> Manifest | None:
    if kind in replicas.KINDS:
        return replicas.set_replicas(kind, namespace, name, 0, replicas_before)
    if kind == notebook.KIND:
        return notebook.stop_notebook(namespace, name)
    if kind in suspend.KINDS:
        return suspend.suspend_job(kind, namespace, name)
    return None


def _running_jobs_steps(cluster_id: str, namespace: str, kind: str, name: str) -> Runbook:
    if kind != "CronJob":
        return _NO_STEPS
    on_cluster = f"kubectl --context {shlex.quote(cluster_id)} -n {shlex.quote(namespace)}"
    look = f"`{on_cluster} get jobs`"
    return Runbook((f"A suspended CronJob lets its running Jobs go on: {look}, and delete those of {name}.",), ())


def _delete_steps(cluster_id: str, namespace: str, kind: str, name: str) -> Runbook:
    on_cluster = f"kubectl --context {shlex.quote(cluster_id)} -n {shlex.quote(namespace)}"
    thing = f"{shlex.quote(kind.lower())} {shlex.quote(name)}"
    saved = shlex.quote(f"{kind.lower()}-{name}.yaml")
    return Runbook(
        (
            f"{on_cluster} get {thing} -o yaml > {saved}  # the way back",
            f"Tell the owner of {kind} {namespace}/{name}; then `{on_cluster} delete {thing}`.",
        ),
        (f"{on_cluster} apply -f {saved}",),
    )
