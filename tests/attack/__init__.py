"""Attacks that take minutes: `make attack`. Each prints what it tried, how often, and what fell."""
