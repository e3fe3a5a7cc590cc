"""Agents of this machine, for people who play in the browser: a question is one decision as its seat sees it.

The page sends a state in which everything that the seat can't know has been drawn anew. So no agent can learn from it
what its seat may not know, whatever the agent does with it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from siberia_agents.interface import Agent
from siberia_agents.registry import make_agent
from siberia_env import __version__
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.game import Variant, find_game, is_game
from siberia_env.position import Position
from siberia_experiments.faults import described

KEYS = ("game", "version", "players", "rules", "components", "player", "agent", "seed", "state", "legal")

_playing = Lock()  # agents are asked one at a time: they need not be ready for threads


def answer(question: Any) -> int:
    """The action that the agent of a question takes.

    Args:
        question: a JSON object with `KEYS`; `state` is the record's bytes in base64, `seed` a number as text, `legal`
            the numbers of the legal actions.

    Raises:
        SiberiaError: the question can't be understood, or the agent has failed.
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
    with _playing:
        agent = _agent(spec)
        try:
            agent.start(position.variant, seed)
            action = agent.act(position.view())
        except SiberiaError:
            raise
        except Exception as error:
            raise SiberiaError(f"{spec} has failed: {described(error)}") from error
    whole = isinstance(action, int | np.integer) and not isinstance(action, bool)
    if not whole or int(action) not in question["legal"]:
        raise SiberiaError(f"{spec} has chosen {action!r}, which is not legal")
    return int(action)


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


@lru_cache(maxsize=8)
def _agent(spec: str) -> Agent:
    return make_agent(spec)
