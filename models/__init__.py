"""What we know: domain types, dated facts, pure economics. No clock, no I/O but our own catalogue files."""
