"""What GPUs do: telemetry."""
