"""kubeflow.org Notebook: stopped and started by one annotation, which its controller watches."""

from optimizer.manifest import Manifest

API_VERSION = "kubeflow.org/v1"
KIND = "Notebook"
_STOPPED = "kubeflow-resource-stopped"  # any value stops the server; taking it away starts it


def stop_notebook(namespace: str, name: str) -> Manifest:
    """Return the annotation that stops a notebook server and keeps its volumes."""
    return Manifest(
        target=f"{KIND} {namespace}/{name}",
        apply=_patch(namespace, name, "earnkeep"),
        undo=_patch(namespace, name, None),
        written_for=API_VERSION,
    )


def _patch(namespace: str, name: str, stopped_by: str | None) -> dict[str, object]:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace, "annotations": {_STOPPED: stopped_by}},
    }
