"""The anchor of the rating, `search:1000`, version 2: frozen. What it does in some positions must never change.

A change here moves every rating there is: it needs a new version of the anchor and all of docs/results.md anew.
Version 2 draws its worlds from other streams, and in the card game from another distribution (0.2.0).
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from siberia_agents.registry import make_agent
from siberia_agents.search.agent import SearchAgent
from siberia_agents.search.ismcts import RANDOM, WIN
from siberia_env.core import engine
from siberia_env.game import find_game
from siberia_env.view import view_state
from siberia_experiments.tournament.summary import ANCHOR

#: Visits of the searches in `fingerprint`, hashed, by game and number of players.
FROZEN = {
    ("card", 2): "64e29a37631376a5",
    ("card", 3): "9a8b53d085338ab7",
    ("card", 4): "b1ee39f1e147d1f8",
    ("board", 2): "2f36139f144691a8",
    ("board", 3): "1cc0e3d562fc5a1f",
    ("board", 4): "c566d1983239d22c",
}


def fingerprint(game: str, players: int) -> str:
    """A hash of what the anchor finds at every twentieth decision of its first sixty in a game at random."""
    variant = find_game(game).variant(players)
    states, mask = variant.new_states(), np.zeros(variant.game.num_actions, np.int8)
    observation = np.zeros(variant.game.observation_size, np.float32)
    engine.deal_at(variant.rulesets, states, 0, np.uint64(11), 0, 0)
    anchor = make_agent(ANCHOR)
    assert isinstance(anchor, SearchAgent)
    anchor.start(variant, 5)
    digest = hashlib.sha256()
    generator = np.random.default_rng(3)
    for decision in range(60):
        view = view_state(variant, states, 0)
        if decision % 20 == 19:
            found = anchor.search(view)
            digest.update(found.actions.tobytes() + found.visits.tobytes())
        engine.step_at(variant.rulesets, states, 0, int(generator.choice(view.legal_actions)), observation, mask)
    return digest.hexdigest()[:16]


def test_the_anchor_is_plain_search() -> None:
    anchor = make_agent(ANCHOR)
    assert isinstance(anchor, SearchAgent)
    told = (anchor.budget.simulations, anchor.exploration, anchor.playout, anchor.returns, anchor.split, anchor.threads)
    assert told == (1000, 0.7, RANDOM, WIN, True, 1)


@pytest.mark.parametrize(("game", "players"), FROZEN)
def test_the_anchor_plays_as_it_was_frozen(game: str, players: int) -> None:
    assert fingerprint(game, players) == FROZEN[game, players]
