"""Plays games in Python and in the web modules side by side: every byte has to be the same.

`python -m tests.wasm_games --games 400` plays so many of each game; `tests/test_web.py` plays a few.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.greedy import greedy_at
from siberia_agents.heuristic import heuristic_at
from siberia_agents.learned import shipped_model
from siberia_agents.network import flatten, forward, workspace
from siberia_agents.random_agent import RandomAgent
from siberia_agents.search.agent import SearchAgent, decision_seed
from siberia_agents.search.guided import GuidedAgent
from siberia_env.card.components import EDITIONS
from siberia_env.core import engine
from siberia_env.core.rng import derive
from siberia_env.game import States, Variant, copy_states, find_game, is_secret
from siberia_env.records import play_and_record, replay
from siberia_env.records.format import Record
from siberia_env.view import View, view_state
from tests.board.helpers import ALL_SIDES
from tests.board.varied import LARGE, ROW
from tests.wasm_host import WebModule, WebSearch


def variants_of(game: str, limit: dict[str, int]) -> list[Variant]:
    """Every edition and option of a game, and the components of the box and others, for 2, 3 and 4 players."""
    found, made = find_game(game), []
    for players in (2, 3, 4):
        if game == "card":
            made += [found.variant(players, {"edition": edition, **limit}) for edition in EDITIONS]
            made.append(found.variant(players, {"max_turns": 12}, _other_cards()))
        else:
            for number, sides in enumerate(ALL_SIDES):
                cards = number % 2 == players % 2
                made.append(found.variant(players, {"sides": sides, "salesman_cards": cards, **limit}))
            made.append(found.variant(players, {"max_rounds": 3, "salesman_cards": True}, LARGE))
            made.append(found.variant(players, {"sides": "random", **limit}, ROW))
    return made


#: Limits with which games are short.
SHORT = {"card": {"max_turns": 30}, "board": {"max_rounds": 2}}


def _other_cards() -> dict[str, Any]:
    tables = find_game("card").variant(2).components.as_json()
    tables["salesmen"]["gas"], tables["resource_cards"]["gold"][5] = 9, 99
    return tables  # type: ignore[no-any-return]


@dataclass
class Comparison:
    """A module beside the kernels of Python. `counts` has how many comparisons of what have been made."""

    game: str
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.module = module = WebModule(self.game)
        game = module.game
        self.state, self.other = (module.array(1, game.state_dtype) for _ in range(2))
        self.mask = module.array(game.num_actions, np.int8)
        self.seen = module.array(game.observation_size, np.float32)
        self.hidden = module.array(game.hidden_size, np.float32)
        self.outcome = module.array(game.outcome_size, np.int8)
        self.points = module.array(4, np.int64)
        self.counted = module.array(1, np.int16)
        self.rulesets: dict[int, NDArray[Any]] = {}
        self.start = module.top

    def same(self, what: str, expected: Any, found: Any) -> None:
        """Raise `AssertionError` unless both are the same bytes or numbers."""
        self.counts[what] += 1
        if isinstance(expected, np.ndarray):
            expected, found = expected.tobytes(), found.tobytes()
        assert expected == found, f"{self.game}: {what}: Python gives {expected!r}, the module {found!r}"

    # ------------------------------------------------------------ a game

    def play(self, variant: Variant, seed: int, record: bool = False) -> list[States]:
        """Play a game at random; give its states before each decision."""
        module, random, states = self.module, np.random.default_rng(seed % 2**32), variant.new_states()
        one: dict[str, Any] = {"rulesets": self.ruleset(variant), "states": self.state}
        mask = np.zeros(variant.game.num_actions, np.int8)
        engine.deal_at(variant.rulesets, states, 0, np.uint64(seed), 3, 1)
        module.call("deal", **one, seed=seed, slot=3, episode=1)
        passed = []
        while True:
            self.same("state", states, self.state)
            turn = engine.turn_at(variant.rulesets, states, 0)
            self.same("turn", int(turn), module.call("turn", **one))
            self.look(variant, states, one, int(random.integers(2**63)))
            if turn == engine.TERMINAL:
                break
            count = engine.legal_at(variant.rulesets, states, 0, mask)
            self.same("number of legal actions", int(count), module.call("legal", **one, mask=self.mask))
            self.same("mask", mask, self.mask)
            passed.append(states.copy())
            for name, plan in (("greedy", greedy_at), ("heuristic", heuristic_at)):
                self.same(name, int(plan(variant.rulesets, states, 0, mask)), module.call(name, **one, mask=self.mask))
            plan = (greedy_at, heuristic_at)[int(random.integers(2))]
            chosen = plan(variant.rulesets, states, 0, mask)
            action = int(chosen if random.random() < 0.5 else random.choice(np.flatnonzero(mask)))
            engine.advance_at(variant.rulesets, states, 0, action)
            module.call("advance", **one, action=action)
            while engine.is_chance_at(variant.rulesets, states, 0):
                self.same("state at chance", states, self.state)
                engine.resolve_at(variant.rulesets, states, 0)
                module.call("resolve", **one)
        hit = bool(engine.has_hit_limit_at(variant.rulesets, states, 0))
        self.same("limit", hit, bool(module.call("hit_limit", **one)))
        if record:
            self.forced(variant, seed)
        return passed

    def ruleset(self, variant: Variant) -> NDArray[Any]:
        """The variant's ruleset in the module's memory."""
        if id(variant) not in self.rulesets:
            self.rulesets[id(variant)] = self.module.put(variant.rulesets)
            self.start = self.module.top
        return self.rulesets[id(variant)]

    def look(self, variant: Variant, states: States, one: dict[str, Any], generator: int) -> None:
        """Compare what everybody sees, the scores, and a sample for somebody."""
        module, game, players = self.module, variant.game, variant.num_players
        seen, hidden = np.zeros(game.observation_size, np.float32), np.zeros(game.hidden_size, np.float32)
        for player in range(players):
            engine.observe_at(variant.rulesets, states, 0, player, seen)
            module.call("observe", **one, player=player, out=self.seen)
            self.same("observation", seen, self.seen)
        engine.observe_hidden_at(variant.rulesets, states, 0, hidden)
        module.call("observe_hidden", **one, out=self.hidden)
        self.same("hidden observation", hidden, self.hidden)
        points = np.zeros(4, np.int64)
        engine.scores_at(variant.rulesets, states, 0, points)
        self.points[:] = 0
        module.call("scores", **one, out=self.points)
        self.same("scores", points, self.points)
        secret = bool(is_secret(variant.rulesets[0], states[0])) if game.has_secrets else False
        self.same("secret", secret, bool(module.call("secret", **one)))
        if not engine.is_over_at(variant.rulesets, states, 0):
            player, sample = generator % players, copy_states(states)
            self.other[0] = states[0]
            engine.determinize_at(variant.rulesets, sample, 0, player, np.uint64(generator))
            module.call("determinize", **(one | {"states": self.other}), player=player, generator=generator)
            self.same("sample", sample, self.other)

    def forced(self, variant: Variant, seed: int) -> None:
        """Compare what becomes of the outcomes of a record, which another seed would not bring."""
        random = np.random.default_rng(seed % 2**32)

        def choose(states: States, i: int, mask: NDArray[np.int8]) -> int:
            return int(random.choice(np.flatnonzero(mask)))

        record = play_and_record(variant, choose, seed, ["any"] * variant.num_players)
        one: dict[str, Any] = {"rulesets": self.ruleset(variant), "states": self.state}
        with noted_outcomes() as noted:
            replay(Record(({**record.header, "seed": (seed + 1) % 2**64}, *record.lines[1:])))
        assert noted
        for before, outcome, after in noted:
            self.state[0], self.outcome[:] = before[0], outcome
            self.module.call("force", **one, outcome=self.outcome)
            self.same("forced outcome", after, self.state)
        opened = variant.new_states()
        find_game(self.game).room("chronicle").open_box(variant, opened, 0, derive(np.uint64(seed), 0, 0))
        self.state.view(np.uint8)[:] = 0
        self.module.call("open_box", **one, seed=seed)
        self.same("open box", opened, self.state)

    # ------------------------------------------------------------ agents

    def search(self, variant: Variant, views: Sequence[View], agents: Sequence[SearchAgent], simulations: int) -> None:
        """Compare the trees of searches, and what the model says of the same decisions."""
        for agent in agents:
            agent.start(variant, 5)
            self.module.top = self.start
            web = WebSearch(self.module, variant, agent)
            for view in views:
                seed = decision_seed(5, view)
                agent.search(view)
                web.run(view.sample(seed), view.player, seed, simulations)
                self.counts[f"tree of {agent.name}"] += 1
                assert web.same_as_python(), f"{self.game}: a tree of {agent.name} differs"
        self.module.top = self.start
        self._network(variant, views)
        self._random(views)
        self.module.top = self.start

    def _network(self, variant: Variant, views: Sequence[View]) -> None:
        network = flatten(shipped_model(variant).layers)
        space = workspace(network, 1)
        web = {name: self.module.put(getattr(space, name)) for name in space._fields}
        given = {"numbers": self.module.put(network.numbers), "widths": self.module.put(network.widths)}
        sizes = {"num_numbers": len(network.numbers), "num_widths": len(network.widths)}
        for view in views:
            for units in (space.units, web["units"]):
                units[0, : len(view.observation)] = view.observation
            forward(network, space, 1)
            self.module.call("run_network", **web, **given, **sizes, width=space.units.shape[1], batch=1, rows=1)
            self.same("outputs of the network", space.units, web["units"])

    def _random(self, views: Sequence[View]) -> None:
        for seed, view in enumerate(views):
            agent = RandomAgent()
            agent.start(view.variant, seed)
            self.mask[:], self.counted[0] = view.mask, view.mask.sum()
            given = {"mask": self.mask, "counts": self.counted, "out": self.points}
            self.same("random", agent.act(view), self.module.call("random_action", **given, seed=seed))


@contextmanager
def noted_outcomes() -> Iterator[list[tuple[States, NDArray[Any], States]]]:
    """Note what `Variant.force` is asked to do: the state before, the outcome, the state after."""
    noted: list[tuple[States, NDArray[Any], States]] = []
    force = Variant.force

    def noting(variant: Variant, states: States, i: int, outcome: Any) -> None:
        before = states.copy()
        force(variant, states, i, outcome)
        noted.append((before, np.array(outcome, np.int8), states.copy()))

    Variant.force = noting  # type: ignore[method-assign]
    try:
        yield noted
    finally:
        Variant.force = force  # type: ignore[method-assign]


def agents_of(simulations: int) -> list[SearchAgent]:
    """Every kind of search; the guided ones by the models that come with the suite."""
    return [
        SearchAgent(simulations),
        SearchAgent(simulations, playout="greedy", returns="margin", scale=7.5),
        SearchAgent(simulations, playout="heuristic", returns="both", exploration=0.3, split=False),
        GuidedAgent(simulations),
        GuidedAgent(simulations, temperature=0.9, first_play=0.2, worlds=2, batch=5),
    ]


def free_views(variant: Variant, states: Sequence[States], count: int) -> list[View]:
    """Some decisions of a game where there is something to choose."""
    views = (view_state(variant, state, 0) for state in states[len(states) // 7 :: max(1, len(states) // (2 * count))])
    return [view for view in views if len(view.legal_actions) > 1][:count]


def compare(game: str, games: int, searched: int, simulations: int, limit: dict[str, int]) -> Counter[str]:
    """Play `games` games of the variants in turn; search decisions of `searched` games, at even distances."""
    comparison, variants = Comparison(game), variants_of(game, limit)
    for number in range(games):
        variant = variants[number % len(variants)]
        states = comparison.play(variant, int(derive(np.uint64(11), number, 0)), record=number % 4 == 0)
        if number * searched // games != (number + 1) * searched // games:
            comparison.search(variant, free_views(variant, states, 2), agents_of(simulations), simulations)
    return comparison.counts


def main() -> None:
    """Compare as many games as the command line says."""
    parser = argparse.ArgumentParser(description="Compare the web modules with Python, byte for byte.")
    parser.add_argument("--games", type=int, default=400, help="of each game")
    parser.add_argument("--simulations", type=int, default=200, help="of each search")
    given = parser.parse_args()
    for game in ("card", "board"):
        counts = compare(game, given.games, min(given.games, 40), given.simulations, {})
        told = ", ".join(f"{count} x {what}" for what, count in sorted(counts.items()))
        print(f"{game}: {given.games} games, the same bytes in {sum(counts.values())} comparisons: {told}", flush=True)


if __name__ == "__main__":
    main()
