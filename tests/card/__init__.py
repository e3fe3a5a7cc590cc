"""Tests of the card game."""
