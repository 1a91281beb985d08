"""How an organisation names teams, pools and kinds of work: what the settings of a cluster connector say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from models.catalog.workload_kinds import Classified, WorkloadClass
from models.domain.errors import ConfigError

POOL_LABELS = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
)
TEAM_LABELS = ("team", "app.kubernetes.io/part-of")


@dataclass(frozen=True, slots=True)
class Conventions:
    """
    Names by which a cluster's objects are read.

    Raises:
        ConfigError: an override names a class that does not exist.
    """

    cluster_id: str
    team_labels: tuple[str, ...] = TEAM_LABELS
    team_by_namespace: Mapping[str, str] = field(default_factory=dict)
    pool_labels: tuple[str, ...] = POOL_LABELS
    class_overrides: Mapping[str, str] = field(default_factory=dict)  # "namespace/kind/name", with * and ?

    def __post_init__(self) -> None:
        for pattern, name in sorted(self.class_overrides.items()):
            if name not in set(WorkloadClass):
                known = ", ".join(WorkloadClass)
                message = f"class_overrides {pattern!r}: class {name!r} is unknown; known: {known}"
                raise ConfigError(message)

    def override(self, namespace: str, kind: str, name: str) -> Classified | None:
        """Return the class the settings give to a workload; the longest pattern that fits wins."""
        subject = f"{namespace}/{kind}/{name}"
        fitting = [pattern for pattern in self.class_overrides if fnmatchcase(subject, pattern)]
        if not fitting:
            return None
        pattern = max(fitting, key=lambda text: (len(text), text))
        return Classified(WorkloadClass(self.class_overrides[pattern]), f"setting class_overrides {pattern!r}")

    def pool(self, node_labels: Mapping[str, str]) -> str | None:
        """Return the pool of a node, by the first label of the chain that it has."""
        return next((node_labels[key] for key in self.pool_labels if node_labels.get(key)), None)

    def team(self, namespace: str, namespace_labels: Mapping[str, str], *declared: Mapping[str, str]) -> str:
        """
        Return the team of a workload, at worst its namespace.

        Args:
            namespace: Where it runs.
            namespace_labels: Labels of that namespace, as far as they are known.
            declared: Labels and annotations of the workload, the strongest first.
        """
        for words in declared:
            for key in self.team_labels:
                if words.get(key):
                    return words[key]
        if namespace in self.team_by_namespace:
            return self.team_by_namespace[namespace]
        return next((namespace_labels[key] for key in self.team_labels if namespace_labels.get(key)), namespace)
