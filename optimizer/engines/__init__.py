"""One module per engine."""
