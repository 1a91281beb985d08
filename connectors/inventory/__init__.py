"""What Kubernetes objects and kube-state-metrics series say, as raw rows: shared by the connectors of `cluster/`."""
