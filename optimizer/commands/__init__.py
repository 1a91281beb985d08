"""One module per command; the command line imports only the one that is called."""
