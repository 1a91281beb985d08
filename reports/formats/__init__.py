"""Each module is one output format: pure, report in, text or bytes out."""
