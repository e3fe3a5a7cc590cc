"""Siberia: Reiner Stockhausen's two games as reinforcement-learning environments.

`from siberia_env import card_v0` for PettingZoo, `from siberia_env import vector` for batches.
"""

__version__ = "0.1.0"
