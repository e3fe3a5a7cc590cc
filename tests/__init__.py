"""Tests of the whole suite; `python -m pytest tests` from the root of the repository runs them."""
