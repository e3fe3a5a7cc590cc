"""Plays scripted games and prints a digest every few decisions: `test_parity` compares two runs of it.

`python -m tests.parity_games [decisions]`; every shown value is an exact byte comparison of states, masks,
observations, hidden observations, scores and determinized states.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import fields

import numpy as np

from siberia_env import loops, vector
from siberia_env.card.game import GAME

CASES = (
    (2, "dlp", None),
    (3, "dlp", None),
    (4, "dlp", None),
    (2, "oya", None),
    (3, "oya", None),
    (2, "digital", None),
    (4, "digital", 40),
)
BLOCK = 20  # decisions a line


def main(decisions: int) -> None:
    """Play a game of each case, at most so many decisions each."""
    for players, edition, max_turns in CASES:
        variant = GAME.variant(players, {"edition": edition, **({"max_turns": max_turns} if max_turns else {})})
        rulesets, states, guess = variant.rulesets, variant.new_states(), variant.new_states()
        mask = np.zeros(GAME.num_actions, np.int8)
        observation = np.zeros(GAME.observation_size, np.float32)
        hidden = np.zeros(GAME.hidden_size, np.float32)
        totals = np.zeros(players, np.int64)
        digest = hashlib.sha256()
        value = players
        loops.deal_at(rulesets, states, 0, np.uint64(2**64 - players), 5, 1)
        taken = 0
        while taken < decisions and not loops.is_over_at(rulesets, states, 0):
            loops.legal_at(rulesets, states, 0, mask)
            digest.update(states.tobytes() + mask.tobytes())
            if taken % 3 == 0:
                seat = taken % players
                loops.observe_at(rulesets, states, 0, seat, observation)
                loops.observe_hidden_at(rulesets, states, 0, hidden)
                digest.update(observation.tobytes() + hidden.tobytes())
            if taken % 11 == 0:
                guess[0] = states[0]
                loops.determinize_at(rulesets, guess, 0, (taken + 1) % players, np.uint64(2**63 + taken))
                digest.update(guess.tobytes())
            value = (6364136223846793005 * value + 1442695040888963407) % 2**64
            legal = np.flatnonzero(mask)
            action = int(legal[(value >> 33) % len(legal)])
            if taken % 2:
                loops.step_at(rulesets, states, 0, action, observation, mask)
                digest.update(observation.tobytes() + mask.tobytes())
            else:
                loops.advance_at(rulesets, states, 0, action)
                while loops.is_chance_at(rulesets, states, 0):
                    loops.resolve_at(rulesets, states, 0)
            taken += 1
            if taken % BLOCK == 0:
                print(f"{edition}, {players} players, {taken} decisions: {digest.hexdigest()}")
        loops.scores_at(rulesets, states, 0, totals)
        over, truncated = loops.is_over_at(rulesets, states, 0), loops.is_truncated_at(rulesets, states, 0)
        digest.update(states.tobytes() + totals.tobytes())
        print(
            f"{edition}, {players} players, {taken} decisions, over {bool(over)}, truncated {bool(truncated)}, "
            f"scores {totals.tolist()}: {digest.hexdigest()}"
        )
    for reward in loops.REWARDS:
        print(f"batch, reward {reward}: {batch(reward)}")


def batch(reward: str) -> str:
    """A digest of some short games in a batch, played through several ends."""
    env = vector.make("card", num_envs=3, num_players=3, seed=8, rules={"max_turns": 6}, reward=reward)
    digest = hashlib.sha256()
    step = env.reset()
    actions = np.zeros(env.num_envs, np.int64)
    for draw in range(60):
        loops.sample_batch(step.mask, step.num_legal, np.uint64(3), draw, actions)
        step = env.step(actions)
        digest.update(env.states.tobytes())
        for field in fields(step):
            digest.update(getattr(step, field.name).tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
