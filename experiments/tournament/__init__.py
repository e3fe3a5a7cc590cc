"""Tournaments: the schedule, games under a clock, results on disk, ratings and tables."""
