"""Siberia: The Card Game (Reiner Stockhausen, 2012)."""
