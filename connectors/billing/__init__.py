"""What GPUs cost: bills and contracts."""
