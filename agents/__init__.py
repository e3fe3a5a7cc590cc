"""Agents that play the suite's games."""
