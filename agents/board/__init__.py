"""The hand-written plans for the board game."""
