"""Who holds GPUs: Kubernetes inventory."""
