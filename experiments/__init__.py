"""Training, evaluation and benchmarks; the command line `siberia`."""
