"""Lamps, a third game: small, with chance and hidden cards, for 2 to 4 players.

Nothing in the packages knows of it. The tests register it as anybody outside would, and run the whole suite on it;
`docs/add_a_game.md` builds it up room by room.
"""
