"""Siberia: Reiner Stockhausen's two games as reinforcement-learning environments.

`from siberia_env import board_v0` or `card_v0` for PettingZoo, `from siberia_env import vector` for batches, and
`gymnasium.make("siberia/Board-v0")` or `"siberia/Card-v0"` for one seat's game once this package is imported.
"""

import gymnasium

__version__ = "0.2.0"

for _id, _game in (("siberia/Card-v0", "card"), ("siberia/Board-v0", "board")):
    gymnasium.register(
        _id,
        entry_point="siberia_env.gym:SiberiaEnv",
        vector_entry_point="siberia_env.gym_vector:SiberiaVectorEnv",
        kwargs={"game": _game},
    )
