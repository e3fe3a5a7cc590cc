"""Self-play on a Ray cluster with RLlib (needs the extra `ray`)."""
