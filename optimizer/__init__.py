"""Turn data into advice: engine, recommenders, plan, and the command line over them."""

__version__ = "0.1.0"
