"""Agents that search: information-set Monte Carlo tree search, plain and guided by a trained model."""
