"""Training of policies by self-play, and all that belongs to a training run."""
