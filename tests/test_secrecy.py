"""Attacks on what is hidden: seeds turned back, games dealt again from them, samples that resemble a deal.

What was possible once is tried here again, and the tests show that the attack itself works where there is something
to steal.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from siberia_agents.interface import Agent
from siberia_env.core import engine
from siberia_env.core.rng import INCREMENT, MASK, MULTIPLIER_1, MULTIPLIER_2, derive
from siberia_env.game import GAMES, Variant, find_game
from siberia_env.view import View, view_state
from siberia_experiments import match
from siberia_experiments.match import derived_seed, play_games
from siberia_experiments.tournament import game as referee
from tests.card.helpers import Table

FIRST_GUESSES = range(8)  #: streams and numbers that the attacker tries


def unscramble(value: int) -> int:
    """The number that splitmix64's output function makes `value` of."""

    def unshift(z: int, bits: int) -> int:
        found = z
        for _ in range(64 // bits + 1):
            found = z ^ (found >> bits)
        return found

    z = unshift(value, 31)
    z = unshift(z * pow(MULTIPLIER_2, -1, 2**64) & MASK, 27)
    return unshift(z * pow(MULTIPLIER_1, -1, 2**64) & MASK, 30)


def unmix(value: int, slot: int, episode: int) -> int:
    """The seed from which `derive(seed, slot, episode)` gives `value`."""
    whole = unscramble((unscramble(value) - episode) & MASK)
    return (unscramble((whole - slot) & MASK) - INCREMENT) & MASK


def old_derived_seed(seed: int, stream: int, number: int) -> int:
    """How seeds were derived once: by a function that can be computed backwards."""
    whole: Any = np.uint64(seed)
    return int(derive(whole, stream, number))


class Thief(Agent):
    """Turns back the seed it is started with, deals games from what it finds, and looks for the one it plays in."""

    name = "thief"
    stolen: list[bool]

    def __init__(self) -> None:
        self.stolen = []
        self.seen: set[int] = set()

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Every seed that the run may have been given, or its streams."""
        masters = {seed, *(unmix(seed, a, b) for a in FIRST_GUESSES for b in FIRST_GUESSES)}
        masters |= {unmix(master, a, b) for master in masters for a in range(2) for b in range(2)}
        streams = masters | {int(old_derived_seed(master, 0, 0)) for master in masters}
        self.deals: dict[bytes, Any] = {}
        observation = np.zeros(variant.game.observation_size, np.float32)
        for stream in streams:
            for slot, episode in ((0, 0), *((game, 0) for game in range(1, 8)), *((0, game) for game in range(8))):
                states = variant.new_states()
                if variant.game.name == "card" or episode == 0:
                    engine.deal_at(variant.rulesets, states, 0, np.uint64(stream), slot, episode)
                    engine.observe_at(variant.rulesets, states, 0, 0, observation)
                    self.deals[observation.tobytes()] = states

    def act(self, view: View) -> int:
        """Any action; the first decision of a game tells whether the deal is known."""
        if view.mask.argmax() == view.variant.action_number("reveal 3") and view.observation.tobytes() in self.deals:
            self.stolen.append(True)
        return view.legal_actions[0]


def test_the_mixer_can_be_turned_back() -> None:
    """So what it gives must not be handed to an agent."""
    for seed in (0, 7, 2**63 + 11):
        whole: Any = np.uint64(seed)
        assert unmix(int(derive(whole, 3, 5)), 3, 5) == seed


@pytest.mark.parametrize("leaky", [True, False])
def test_an_agents_seed_does_not_lead_to_the_deal(leaky: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight games the thief finds each one if seeds are derived as they once were, and none as they are."""
    if leaky:
        monkeypatch.setattr(match, "derived_seed", old_derived_seed)
    thief = Thief()
    variant = find_game("card").variant(2, {"max_turns": 2})
    play_games(variant, [thief, Thief()], 8, seed=20_261)
    assert len(thief.stolen) == (4 if leaky else 0)  # it is first to move in every other game


@pytest.mark.parametrize("leaky", [True, False])
def test_a_tournaments_seeds_do_not_lead_to_the_deal(leaky: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if leaky:
        monkeypatch.setattr(referee, "derived_seed", old_derived_seed)
    variant = find_game("card").variant(2, {"max_turns": 2})
    seed, stolen = 33, 0
    deals = np.uint64(referee.derived_seed(seed, referee.DEALS, 0))
    agents = referee.derived_seed(seed, referee.AGENTS, 0)
    for game in range(8):
        thief = Thief()
        thief.start(variant, referee.derived_seed(agents, game, 0))
        states = variant.new_states()
        engine.deal_at(variant.rulesets, states, 0, deals, game, 0)
        thief.act(view_state(variant, states, 0))
        stolen += len(thief.stolen)
    assert stolen == (8 if leaky else 0)


def test_derived_seeds_differ_and_are_reproducible() -> None:
    seeds = {derived_seed(seed, stream, number) for seed in range(5) for stream in range(5) for number in range(5)}
    assert len(seeds) == 125
    assert derived_seed(7, 1, 2) == derived_seed(7, 1, 2)
    assert all(0 <= seed < 2**64 for seed in seeds)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_sample_has_nothing_in_common_with_a_game_dealt_from_the_same_seed(players: int) -> None:
    """Cards of the next hand that are guessed right: no more with the deal's own seed than with any other."""
    right: Counter[str] = Counter()
    for seed in range(400):
        table = Table.deal(players, seed=seed)
        hand = Counter(table.hand(1))
        for name, other in (("same", seed), ("mixed", int(table.state.generator)), ("any", seed + 10**6)):
            right[name] += (Counter(table.determinized(0, other).hand(1)) & hand).total()
    for name in ("same", "mixed"):
        assert abs(right[name] - right["any"]) < 5 * np.sqrt(2 * right["any"])
    assert right["same"] < 0.5 * 5 * 400


@pytest.mark.parametrize("game", GAMES)
def test_the_streams_of_samples_are_not_those_of_games(game: str) -> None:
    variant = find_game(game).variant(3)
    states = variant.new_states()
    for seed in range(50):
        engine.deal_at(variant.rulesets, states, 0, np.uint64(seed), 0, 0)
        dealt = states.copy()
        for number in (seed, *range(5)):
            sampled = states.copy()
            engine.determinize_at(variant.rulesets, sampled, 0, 0, np.uint64(number))
            assert sampled[0].tobytes() != dealt[0].tobytes()
            assert sampled[0].generator != dealt[0].generator
