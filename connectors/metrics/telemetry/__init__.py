"""What every source of GPU telemetry shares: series and samples, the rules that clean them, rows of raw tables."""
