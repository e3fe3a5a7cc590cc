"""What makes the games fast: compilation, random numbers, vector code, and loops that work for any game."""
