"""Training of policies by self-play, and what belongs to a run."""
