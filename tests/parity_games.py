"""Plays scripted games and prints a digest every few decisions: `test_parity` compares two runs of it.

`python -m tests.parity_games GAME PART`, with a part from `PARTS`; every shown value is an exact byte comparison of
states, masks, observations, hidden observations, scores, determinized states, and the trees of searches.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import fields
from typing import Any

import numpy as np

from siberia_agents.search import agent as search
from siberia_agents.search import ismcts
from siberia_agents.search.agent import SearchAgent
from siberia_agents.search.guided import GuidedAgent
from siberia_env import vector
from siberia_env.core import engine, rewards
from siberia_env.game import find_game
from siberia_env.view import view_state
from tests.board.helpers import GIVEN_SIDES
from tests.board.varied import LARGE, ROW
from tests.games import positions
from tests.test_agents import small_model

#: Game, players, rules, components: what the two runs play, each to its end.
CASES: tuple[tuple[str, int, dict[str, Any], Any], ...] = (
    ("card", 2, {"edition": "dlp"}, None),
    ("card", 3, {"edition": "dlp"}, None),
    ("card", 4, {"edition": "dlp"}, None),
    ("card", 2, {"edition": "oya"}, None),
    ("card", 3, {"edition": "oya"}, None),
    ("card", 2, {"edition": "digital"}, None),
    ("card", 4, {"edition": "digital", "max_turns": 40}, None),
    ("board", 2, {}, None),
    ("board", 3, {"sides": "random", "salesman_cards": True}, None),
    ("board", 4, {"sides": GIVEN_SIDES}, None),
    ("board", 3, {"salesman_cards": True}, ROW),
    ("board", 4, {"salesman_cards": True, "max_rounds": 6}, LARGE),
)
BATCHES: tuple[tuple[str, dict[str, Any]], ...] = (("card", {"max_turns": 6}), ("board", {"max_rounds": 1}))
#: Game, players, rules: what is searched.
SEARCHED: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("card", 2, {"max_turns": 12}),
    ("card", 3, {"max_turns": 12}),
    ("board", 2, {"max_rounds": 2}),
    ("board", 4, {"max_rounds": 1}),
)
SIMULATIONS = 10
BLOCK = 20  # decisions a line
#: Actions that are left out where others are legal, three times out of four: with them few cubes are ever sold.
AVOIDED = ("place research", "pass")


def play(name: str, players: int, rules: dict[str, Any], components: Any) -> None:
    """One game, to its end."""
    game = find_game(name)
    variant = game.variant(players, rules, components)
    rulesets, states, guess = variant.rulesets, variant.new_states(), variant.new_states()
    mask = np.zeros(game.num_actions, np.int8)
    observation = np.zeros(game.observation_size, np.float32)
    hidden = np.zeros(game.hidden_size, np.float32)
    totals = np.zeros(players, np.int64)
    avoided = [action for action, action_name in enumerate(variant.action_names) if action_name in AVOIDED]
    digest = hashlib.sha256()
    value = players
    engine.deal_at(rulesets, states, 0, np.uint64(2**64 - players), 5, 1)
    taken = 0
    while not engine.is_over_at(rulesets, states, 0):
        engine.legal_at(rulesets, states, 0, mask)
        digest.update(states.tobytes() + mask.tobytes())
        if taken % 5 == 0:  # so that every seat has its turn
            seat = taken % players
            engine.observe_at(rulesets, states, 0, seat, observation)
            engine.observe_hidden_at(rulesets, states, 0, hidden)
            digest.update(observation.tobytes() + hidden.tobytes())
        if taken % 11 == 0:
            guess[0] = states[0]
            engine.determinize_at(rulesets, guess, 0, (taken + 1) % players, np.uint64(2**63 + taken))
            digest.update(guess.tobytes())
        value = (6364136223846793005 * value + 1442695040888963407) % 2**64
        legal = np.flatnonzero(mask)
        if (value >> 20) % 4:
            others = np.setdiff1d(legal, avoided)
            legal = others if others.size else legal
        action = int(legal[(value >> 33) % len(legal)])
        if taken % 4 == 0:
            engine.step_at(rulesets, states, 0, action, observation, mask)
            digest.update(observation.tobytes() + mask.tobytes())
        else:
            engine.advance_at(rulesets, states, 0, action)
            while engine.is_chance_at(rulesets, states, 0):
                engine.resolve_at(rulesets, states, 0)
        taken += 1
        if taken % BLOCK == 0:
            print(f"{name}, {players} players, {rules}, {taken} decisions: {digest.hexdigest()}")
    engine.scores_at(rulesets, states, 0, totals)
    over, hit_limit = engine.is_over_at(rulesets, states, 0), engine.has_hit_limit_at(rulesets, states, 0)
    digest.update(states.tobytes() + totals.tobytes())
    print(
        f"{name}, {players} players, {rules}, {taken} decisions, over {bool(over)}, hit limit {bool(hit_limit)}, "
        f"scores {totals.tolist()}: {digest.hexdigest()}"
    )


def batch(name: str, rules: dict[str, Any], reward: str) -> str:
    """A digest of some short games in a batch, played through several ends."""
    env = vector.make(name, num_envs=3, num_players=3, seed=8, rules=rules, reward=reward)
    digest = hashlib.sha256()
    step = env.reset()
    actions = np.zeros(env.num_envs, np.int64)
    ended = 0
    for draw in range(60):
        engine.sample_batch(step.mask, step.num_legal, np.uint64(3), draw, actions)
        step = env.step(actions)
        ended += int(step.terminated.sum())
        digest.update(env.states.tobytes())
        for field in fields(step):
            digest.update(getattr(step, field.name).tobytes())
    return f"{ended} ended, {digest.hexdigest()}"


def searches(name: str, players: int, rules: dict[str, Any]) -> None:
    """Searches of three decisions of a game: every byte of their trees, and all sums."""
    search.NODES_AT_START = players
    variant, states = positions(find_game(name), players, 1, rules)
    due = [state for state in states[:-1] if not engine.is_chance_at(variant.rulesets, state, 0)]
    agents = [SearchAgent(SIMULATIONS, playout=playout) for playout in ismcts.PLAYOUTS]
    agents.append(GuidedAgent(SIMULATIONS, small_model(players, game=name)))
    for agent in agents:
        digest = hashlib.sha256()
        agent.start(variant)
        for state in due[3 :: len(due) // 3]:
            result = agent.search(view_state(variant, state, 0))
            trees = agent._trees[0]
            digest.update(trees.nodes[: trees.used[0]].tobytes() + trees.sums.tobytes())
        print(f"{name} {agent.name}, {players} players, {result.decisions} decisions in the last: {digest.hexdigest()}")


def all_games(name: str) -> None:
    """A game of each case, and the batches."""
    for case in CASES:
        if case[0] == name:
            play(*case)
    for batched, rules in BATCHES:
        if batched == name:
            for reward in rewards.REWARDS:
                print(f"{name} batch, reward {reward}: {batch(name, rules, reward)}")


def all_searches(name: str) -> None:
    """The searches."""
    for searched in SEARCHED:
        if searched[0] == name:
            searches(*searched)


#: What can be played alone, so that no run takes long in plain Python.
PARTS = {"games": all_games, "searches": all_searches}

if __name__ == "__main__":
    PARTS[sys.argv[2]](sys.argv[1])
