"""Siberia (Reiner Stockhausen, 2011)."""
