"""Agents of this machine, for people who play in the browser: a question is one decision as its seat sees it.

The page sends a state in which everything that the seat can't know has been drawn anew. So no agent can learn from it
what its seat may not know, whatever the agent does with it. An agent of the user's own plays in a process of its own,
as in a tournament, so one that never answers can be ended.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from siberia_agents.interface import Agent
from siberia_agents.registry import is_own, make_agent
from siberia_env import __version__
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.game import Variant, find_game, is_game
from siberia_env.position import Position
from siberia_experiments.faults import described
from siberia_experiments.tournament.agent_process import AgentProcess, ForfeitError
from siberia_experiments.tournament.game import MEMORY, MOVE_SECONDS

KEYS = ("game", "version", "players", "rules", "components", "player", "agent", "seed", "state", "legal")
MOST_AGENTS = 8  #: agents that are kept; the one that was made first goes first


class Bridge:
    """The agents that the page asks, one question at a time: they need not be ready for threads.

    Args:
        move_seconds: time limit for a move of an agent of the user's own. One that takes longer is ended; it is made
            anew when it is asked again.
    """

    def __init__(self, move_seconds: float = MOVE_SECONDS) -> None:
        self.move_seconds = move_seconds
        self._agents: dict[str, Agent] = {}
        # Linux ends the process of an agent with the thread that started it, so this thread outlives every question.
        self._thread = ThreadPoolExecutor(1, "agents")

    def answer(self, question: Any) -> int:
        """The action that the agent of a question takes.

        Args:
            question: a JSON object with `KEYS`; `state` is the record's bytes in base64, `seed` a number as text,
                `legal` the numbers of the legal actions.

        Raises:
            SiberiaError: the question can't be understood, or the agent has failed or taken too long.
        """
        if not isinstance(question, Mapping) or sorted(question) != sorted(KEYS):
            raise ConfigurationError(f"bridge: expected an object with the keys {', '.join(KEYS)}")
        if question["version"] != __version__:
            raise ConfigurationError(
                f"the page is of version {question['version']!r}, the suite of {__version__}: load the page again"
            )
        position = _position(question)
        spec = question["agent"]
        if not isinstance(spec, str) or not spec:
            raise ConfigurationError("bridge: agent: expected the spec of an agent, such as module:Class")
        if not isinstance(question["seed"], str) or not question["seed"].isdecimal():
            raise ConfigurationError("bridge: seed: expected a whole number as text")
        seed = int(check_seed(int(question["seed"][:20])))
        action = self._thread.submit(self._choose, spec, position, seed).result()
        whole = isinstance(action, int | np.integer) and not isinstance(action, bool)
        if not whole or int(action) not in question["legal"]:
            raise SiberiaError(f"{spec} has chosen {action!r}, which is not legal")
        return int(action)

    def close(self) -> None:
        """End the agents' processes; a question that still waits is answered with an error."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        for spec in list(self._agents):
            self._drop(spec)

    def _choose(self, spec: str, position: Position, seed: int) -> Any:
        try:
            agent = self._agent(spec, position.variant)
            agent.start(position.variant, seed)
            return agent.act(position.view())
        except SiberiaError:
            raise
        except ForfeitError as error:
            raise SiberiaError(f"{spec} has failed: {error}") from error
        except Exception as error:
            raise SiberiaError(f"{spec} has failed: {described(error)}") from error

    def _agent(self, spec: str, variant: Variant) -> Agent:
        """The agent of a spec, made if it is not there or has ended."""
        agent = self._agents.get(spec)
        if agent is None or (isinstance(agent, AgentProcess) and agent.has_ended()):
            self._drop(spec)
            if len(self._agents) == MOST_AGENTS:
                self._drop(next(iter(self._agents)))
            agent = AgentProcess(spec, self.move_seconds, MEMORY) if is_own(spec) else make_agent(spec)
            self._agents[spec] = agent
            if isinstance(agent, AgentProcess):
                agent.start_first(variant)
        return agent

    def _drop(self, spec: str) -> None:
        agent = self._agents.pop(spec, None)
        if isinstance(agent, AgentProcess):
            agent.close()


def _position(question: Mapping[str, Any]) -> Position:
    """The decision that a question is about."""
    name, players = question["game"], question["players"]
    if not is_game(name):
        raise ConfigurationError(f"bridge: no game {name!r}")
    variant = _variant(name, json.dumps([players, question["rules"], question["components"]]))
    try:
        state = base64.b64decode(question["state"], validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise ConfigurationError("bridge: state: expected bytes in base64") from None
    position = Position.deserialize(variant, state)
    if position.current_player() != question["player"] or position.legal_actions() != question["legal"]:
        raise ConfigurationError("bridge: the state does not have that player on turn, with those legal actions")
    return position


@lru_cache(maxsize=4)
def _variant(name: str, written: str) -> Variant:
    players, rules, components = json.loads(written)
    return find_game(name).variant(players, rules, components)
