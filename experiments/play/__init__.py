"""Play against agents in the terminal."""
