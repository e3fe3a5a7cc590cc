"""Siberia: The Card Game for PettingZoo: `card_v0.env()`, `card_v0.raw_env()`."""
