"""Siberia: Reiner Stockhausen's two games as reinforcement-learning environments.

`from siberia_env import card_v0` for PettingZoo, `from siberia_env import vector` for batches, and
`gymnasium.make("siberia/Card-v0")` for one seat's game once this package is imported.
"""

import gymnasium

__version__ = "0.1.0"

gymnasium.register("siberia/Card-v0", entry_point="siberia_env.gym:SiberiaEnv", kwargs={"game": "card"})
