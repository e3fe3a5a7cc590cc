"""The command line: `siberia play|train|evaluate|tournament|record|...`."""

from siberia_experiments.cli.main import app, main

__all__ = ["app", "main"]
