"""Random games and searches with every array access checked: `test_compiled` runs it with `NUMBA_BOUNDSCHECK=1`.

`python -m tests.bounds_games GAME`.
"""

from __future__ import annotations

import sys
from typing import Any

import numba
import numpy as np

from siberia_agents.search import agent as search
from siberia_agents.search.agent import SearchAgent
from siberia_agents.search.guided import GuidedAgent
from siberia_env import vector
from siberia_env.card.components import KINDS, Components
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from siberia_env.core.jit import cache_folder, kernel
from siberia_env.game import find_game
from siberia_env.view import view_state
from tests.board.varied import BOXES
from tests.games import positions
from tests.test_agents import small_model

SMALL_CARD_BOX = Components(
    action_cards={kind: 1 + (index % 3) for index, kind in enumerate(KINDS)},
    resource_cards={**dict.fromkeys(RESOURCES, ()), "gas": (1, 2, 3), "gold": (4, 5)},
    workers=4,
)
#: Game, rules, components.
CASES: tuple[tuple[str, dict[str, Any], Any], ...] = (
    *(
        ("card", {"edition": edition, "max_turns": 60}, components)
        for edition in ("dlp", "oya", "digital")
        for components in (None, SMALL_CARD_BOX)
    ),
    *(
        ("board", {"sides": sides, "salesman_cards": sides == "random", "max_rounds": rounds}, components)
        for sides, rounds in (("choose", 8), ("random", 25))
        for components in BOXES
    ),
)
GAMES_AT_ONCE = 8
SEARCHES = 5  # of a game, at least
#: Actions that are left out where others are legal, seven times out of eight: with them few cubes are ever sold.
AVOIDED = ("place research", "pass")


@kernel
def beyond(array: Any, index: int) -> Any:
    """Reads where it is told."""
    return array[index]


def check_that_bounds_are_checked() -> None:
    """An access beyond the end has to raise, or this run shows nothing."""
    assert numba.config.BOUNDSCHECK == 1
    try:
        beyond(np.zeros(3), 3)
    except IndexError:
        return
    raise AssertionError("bounds are not checked")


def odd_numbers(actions: int) -> tuple[int, ...]:
    """Numbers that no action has."""
    return -(2**62), -(2**31), -300, -1, actions, actions + 1, actions + 5, 256, 300, 2**31, 2**32, 2**62


def play(name: str, players: int, rules: dict[str, Any], components: Any) -> int:
    """A batch of games for some steps, looked at from all sides; returns how many ended."""
    env = vector.make(name, GAMES_AT_ONCE, players, players, rules, components)
    step = env.reset()
    game, states, rulesets = env.game, env.states, env.variant.rulesets
    actions = np.zeros(GAMES_AT_ONCE, np.int64)
    hidden = np.zeros(game.hidden_size, np.float32)
    avoided = [action for action, name in enumerate(env.variant.action_names) if name in AVOIDED]
    games = 0
    for draw in range(600):
        for action in odd_numbers(game.num_actions):
            actions[:] = action
            assert engine.first_illegal(rulesets, states, actions, 0, GAMES_AT_ONCE) == 0
        mask = step.mask.copy()
        if draw % 8:
            mask[:, avoided] = 0
            mask[mask.sum(axis=1) == 0] = step.mask[mask.sum(axis=1) == 0]
        engine.sample_batch(mask, mask.sum(axis=1).astype(np.int16), np.uint64(5), draw, actions)
        step = env.step(actions)
        games += int(step.terminated.sum())
        env.observe(np.full(GAMES_AT_ONCE, draw % players))
        here = draw % GAMES_AT_ONCE
        engine.observe_hidden_at(rulesets, states, here, hidden)
        guess = states[here : here + 1].copy()
        engine.determinize_at(rulesets, guess, 0, draw % players, np.uint64(draw))
        if draw % 25 == 0:
            engine.random_playout(rulesets, guess, 0, step.mask[0].copy(), np.uint64(draw))
            engine.observe_at(rulesets, guess, 0, 0, step.observation[0].copy())
            games += 1
    return games


def search_through(name: str, players: int, rules: dict[str, Any], components: Any) -> int:
    """Searches of decisions spread over a game, the arrays of trees no larger than they need be; how many."""
    search.NODES_AT_START = players
    variant, states = positions(find_game(name), players, players, rules, components)
    due = [state for state in states[:-1] if not engine.is_chance_at(variant.rulesets, state, 0)]
    agents = [
        SearchAgent(40, playout=playout, returns=returns)
        for playout, returns in (("random", "win"), ("greedy", "both"), ("heuristic", "margin"))
    ]
    agents.append(GuidedAgent(40, small_model(players, game=name)))
    for agent in agents:
        agent.start(variant)
        for state in due[:: len(due) // SEARCHES]:
            agent.search(view_state(variant, state, 0))
    return len(agents) * len(due[:: len(due) // SEARCHES])


def main(game: str) -> None:
    """Play."""
    check_that_bounds_are_checked()
    print("cache", cache_folder(engine.step_batch))
    games = searches = 0
    for name, rules, components in CASES:
        if name == game:
            for players in (2, 3, 4):
                games += play(name, players, rules, components)
                searches += search_through(name, players, rules, components)
    print("games", games)
    print("searches", searches)


if __name__ == "__main__":
    main(sys.argv[1])
