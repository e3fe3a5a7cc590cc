"""Agents and bots: the suite's agents play in OpenSpiel, and OpenSpiel's bots play as agents of the suite.

    bots = [AgentBot("greedy", seed=1), AgentBot("search:200", seed=2)]
    evaluate_bots(game.new_initial_state(), bots, numpy.random.RandomState(3))  # open_spiel.python.algorithms

    siberia tournament card --agents siberia_agents.openspiel:Ismcts:100,greedy,random

docs/openspiel.md has more of both. This module needs the extra `openspiel`.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent, checked_action
from siberia_agents.registry import make_agent
from siberia_env import files
from siberia_env.errors import ConfigurationError, ModelError, missing_extra
from siberia_env.game import Variant
from siberia_env.openspiel import SiberiaGame, SiberiaState, game_of, knowledge_of
from siberia_env.view import View

try:
    import pyspiel
    from open_spiel.python.algorithms.ismcts import ISMCTSBot
    from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
except ImportError as error:
    raise missing_extra("openspiel", "siberia_agents.openspiel", error.name) from error

POLICY_FORMAT = "siberia-policy/1"
LARGEST_POLICY = 2**28  #: bytes of a policy's file


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """An agent of the suite as a bot of OpenSpiel. It is shown views, as everywhere, and never the state itself.

    Args:
        agent: the agent, or its spec, such as `"search:1000"`.
        seed: decides all its random choices.

    Raises:
        ConfigurationError: there is no such agent.
    """

    def __init__(self, agent: Agent | str, seed: int = 0) -> None:
        super().__init__()
        self.agent = make_agent(agent) if isinstance(agent, str) else agent
        self._seed = seed
        self._variant: Variant | None = None

    def step(self, state: SiberiaState) -> int:
        """The agent's action in a state that `siberia_env.openspiel` made."""
        view = state.view()
        if view.variant is not self._variant:
            self.agent.start(view.variant, self._seed)
            self._variant = view.variant
        return checked_action(self.agent, view)

    def restart(self) -> None:
        """Do nothing: an agent decides by its view alone."""

    def restart_at(self, state: SiberiaState) -> None:
        """Do nothing, likewise."""

    def inform_action(self, state: SiberiaState, player_id: int, action: int) -> None:
        """Do nothing, likewise."""


#: Makes a bot for a game, a seat and a seed.
BotMaker = Callable[[SiberiaGame, int, int], Any]


class BotAgent(Agent):
    """A bot of OpenSpiel as an agent of the suite.

    The bot's `step` gets a state for the decision at hand. The state has no history, and what the player can't know is
    drawn anew in it. A bot that keeps something between decisions does not fit in here: an agent plays many games at
    once.

    Args:
        maker: a function `maker(game, player, seed)` that gives a `pyspiel.Bot`, or its name `MODULE:FUNCTION`.
        reward: what the game pays (`siberia_env.core.rewards`).

    Raises:
        ConfigurationError: there is no such function.
    """

    name = "bot"

    def __init__(self, maker: BotMaker | str, reward: str = "win") -> None:
        self._maker = _find_maker(maker) if isinstance(maker, str) else maker
        self._reward = reward
        self._seed = 0
        self._bots: dict[int, Any] = {}

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Make the game for OpenSpiel. Bots are made when their seat decides for the first time."""
        self._game, self._seed = game_of(variant, self._reward), seed
        self._bots = {}

    def act(self, view: View) -> int:
        """The bot's action."""
        if view.player not in self._bots:
            seed = int(np.random.SeedSequence([self._seed, view.player]).generate_state(1)[0])
            self._bots[view.player] = self._maker(self._game, view.player, seed)
        return int(self._bots[view.player].step(self._game.state_of(view)))


class Ismcts(BotAgent):
    """OpenSpiel's information-set Monte Carlo tree search, the one in Python, with random playouts.

    Args:
        simulations: how many a decision gets.
        exploration: the constant of UCT.

    Raises:
        ConfigurationError: they are no such numbers.
    """

    name = "ismcts"

    def __init__(self, simulations: str | int = 100, exploration: str | float = 1.0) -> None:
        try:
            number, constant = int(simulations), float(exploration)
        except ValueError:
            number, constant = 0, 0.0
        if number < 1 or not constant > 0:
            raise ConfigurationError(
                f"ismcts: {simulations} simulations and an exploration of {exploration}; "
                "give a whole number from 1 and a number above 0"
            )
        super().__init__(lambda game, player, seed: _ismcts(game, number, constant, seed))


def _ismcts(game: SiberiaGame, simulations: int, exploration: float, seed: int) -> Any:
    random = np.random.RandomState(seed)
    return ISMCTSBot(game, RandomRolloutEvaluator(1, random), exploration, simulations, random_state=random)


def _find_maker(name: str) -> BotMaker:
    module, _, function = name.rpartition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError):
        found = None
    if not callable(found):
        raise ConfigurationError(f"bot: there is no function {function!r} in a module {module!r}; give MODULE:FUNCTION")
    return found


# ---------------------------------------------------------------- policies in tables


class PolicyAgent(Agent):
    """Plays a policy from a table, such as one that was solved. Where the table has nothing, it plays at random.

    Args:
        path: the file that `write_policy` wrote.

    Raises:
        ModelError: the file can't be read, or is none of these.
    """

    name = "policy"

    def __init__(self, path: str) -> None:
        try:
            content = files.read_json(files.read_bytes(path, LARGEST_POLICY))
            if content["format"] != POLICY_FORMAT:
                raise ValueError(f"its format is {content['format']!r}, not {POLICY_FORMAT!r}")
            self._table = {key: _checked_row(row) for key, row in content["policy"].items()}
        except OSError as error:
            raise ModelError(f"policy: can't read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"policy: {path} is no file of a policy: {error}") from error
        self._random = np.random.default_rng(0)

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Restart the random numbers."""
        self._random = np.random.default_rng(seed)

    def act(self, view: View) -> int:
        """An action as the table has it."""
        actions, shares = self.row(view)
        return actions[int(np.searchsorted(np.cumsum(shares[:-1]), self._random.random(), side="right"))]

    def is_known(self, view: View) -> bool:
        """Whether the table has something for this decision."""
        return knowledge_of(view) in self._table

    def row(self, view: View) -> tuple[list[int], NDArray[np.float64]]:
        """The legal actions, with their probabilities, which add up to 1: float64 [number of legal actions]."""
        legal = view.legal_actions
        row = self._table.get(knowledge_of(view), {})
        shares = np.array([row.get(action, 0.0) for action in legal])
        total = shares.sum()
        return legal, shares / total if total > 0 else np.full(len(legal), 1 / len(legal))


def _checked_row(row: Mapping[str, Any]) -> dict[int, float]:
    checked = {int(action): float(share) for action, share in row.items()}
    if not all(0 <= share < np.inf for share in checked.values()):
        raise ValueError("a probability is negative or not finite")
    return checked


def write_policy(path: Path, policy: Mapping[str, Mapping[int, float]]) -> None:
    """Write a policy for `PolicyAgent`: for each number of what a player knows (`knowledge_of`), a share an action."""
    rows = {key: {str(action): share for action, share in row.items() if share} for key, row in policy.items()}
    files.write_whole(path, [json.dumps({"format": POLICY_FORMAT, "policy": rows}).encode()])
