"""What makes the games fast: compilation, random numbers, vector code, and the loops over any game."""
