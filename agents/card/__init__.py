"""The hand-written plans for the card game."""
