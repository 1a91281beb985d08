"""One module per Kubernetes API: pure builders of manifests, each validated in its own test."""
