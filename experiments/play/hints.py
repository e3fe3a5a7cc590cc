"""Hints: what a search expects of each move, in the money of the game.

The search is guided by the model that comes with the suite. Where none fits the table (other components, a player
count or a game without a model), plain search takes its place.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from siberia_agents.learned import shipped_model
from siberia_agents.search.agent import Budget, SearchAgent, SearchResult
from siberia_agents.search.guided import GuidedAgent
from siberia_env.errors import ModelError
from siberia_env.game import Game, Variant
from siberia_env.position import Position
from siberia_env.view import View
from siberia_experiments.play.seat import SeatedGame

A_LOOK = 8  #: simulations in each world for the game after a move
FEWEST_WORLDS, MOST_WORLDS = 4, 48


def hint_search(variant: Variant, budget: str) -> SearchAgent:
    """The search that gives hints in games of `variant`, with `budget` for each (`siberia_agents.search.agent.Budget`).

    Raises:
        ConfigurationError: there is no such budget.
    """
    plain = SearchAgent(budget)
    try:
        model = shipped_model(variant)
        if variant.components.as_json() != variant.game.read_components(None).as_json():
            return plain
        # Without its training's options: `search_told` tells what differs, and the agent would do so on stderr.
        guided = GuidedAgent(budget, replace(model, trained={}))
        guided.start(variant)
    except ModelError:
        return plain
    return guided


def search_told(search: SearchAgent, variant: Variant) -> str:
    """What kind of search gives the hints, in words."""
    if not isinstance(search, GuidedAgent):
        return "plain search, since no model fits this table" if type(search) is SearchAgent else "search"
    differences = shipped_model(variant).differences(variant)
    return "guided search" + (f", whose model learnt with {'; '.join(differences)}" if differences else "")


@dataclass(frozen=True)
class Advice:
    """What a search expects of the moves, its choice first, then by margin. n moves.

    Attributes:
        actions: the moves.
        margins: float64 [n], by how many points one ends ahead of the mean of the others after each.
        win_shares: float64 [n], the mean share of the win.
        visits: float64 [n], the share of the simulations of the first search that began with each.
        simulations: all of them.
        seconds: of wall-clock time.
    """

    actions: list[int]
    margins: NDArray[np.float64]
    win_shares: NDArray[np.float64]
    visits: NDArray[np.float64]
    simulations: int
    seconds: float


def advise(search: SearchAgent, game: SeatedGame, seed: int) -> Advice:
    """Ask a search about the decision of the person who looks, which is due.

    Half of the budget goes into one search, whose choice is the best move. It says little of moves that it did not try.
    So about as many simulations are divided among all moves: in worlds that the person can't tell from the true one,
    the game after the move is searched too, as the player sees it who is on turn there.

    Args:
        search: its budget is that of the hint.
        game: nothing is asked of it but what the person may know.
        seed: decides all that is random in the search.
    """
    started, budget, view = time.perf_counter(), search.budget, game.view()
    seat, moves = game.seat, list(view.legal_actions)
    search.start(game.variant, seed)
    try:
        half = budget.seconds / 2 if budget.seconds is not None else None
        search.budget = Budget((budget.simulations or 0) // 2 + 1 if half is None else f"{half}s")
        found = search.search(view)
        left = search.budget.simulations or int(found.simulations * (half or 0) / max(found.seconds, 1e-9))
        worlds = game.worlds(min(max(left // (len(moves) * A_LOOK), FEWEST_WORLDS), MOST_WORLDS))
        simulations, expected = found.simulations, np.zeros((len(moves), 2))
        for row, action in enumerate(moves):
            ended, views = _after(worlds, action)
            for position in ended:
                margins, wins = _at_the_end(position)
                expected[row] += margins[seat] / len(worlds), wins[seat] / len(worlds)
            for same in views:
                search.budget = Budget(A_LOOK * len(same))
                after = search.search(same[0])
                margins, wins = _of_a_search(search, after)
                expected[row] += margins[seat] * len(same) / len(worlds), wins[seat] * len(same) / len(worlds)
                simulations += after.simulations
    finally:
        search.budget = budget
    visits = np.array([found.visits[found.actions == action].sum() for action in moves]) / max(1, found.visits.sum())
    order = sorted(range(len(moves)), key=lambda row: (moves[row] != found.actions[0], -expected[row, 0]))
    return Advice(
        [moves[row] for row in order],
        expected[order, 0],
        expected[order, 1],
        visits[order],
        simulations,
        time.perf_counter() - started,
    )


def _after(worlds: Sequence[Position], action: int) -> tuple[list[Position], list[list[View]]]:
    """The games that a move ends, and the decisions that follow it in all others; those that look the same together."""
    ended: list[Position] = []
    views: dict[bytes, list[View]] = {}
    for world in worlds:
        position = world.clone()
        position.apply_action(action)
        while position.is_chance_node():
            position.settle_chance()
        if position.is_terminal():
            ended.append(position)
        else:
            view = position.view()
            views.setdefault(bytes([view.player]) + view.observation.tobytes() + view.mask.tobytes(), []).append(view)
    return ended, list(views.values())


def _of_a_search(search: SearchAgent, found: SearchResult) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Everybody's mean margin, in points, and share of the win in all simulations of a search: [P] each.

    Guided search expects margins. Plain search counts scores, of which they are made here.
    """
    weights = found.visits / max(1, found.visits.sum())
    means, wins = weights @ found.scores, weights @ found.win_shares
    return (means if isinstance(search, GuidedAgent) else _margins(means)), wins


def _at_the_end(position: Position) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same for a game that is over."""
    winners = position.winners()
    wins = [(player in winners) / len(winners) for player in range(position.num_players)]
    return _margins(np.array(position.scores()) / position.variant.game.score_unit), np.array(wins)


def _margins(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each of the scores [P] less the mean of the others."""
    return scores - (scores.sum() - scores) / (len(scores) - 1)


def money(game: Game, points: float, signed: bool = False) -> str:
    """A mean of scores, or a difference of such means, rounded as far as it is worth telling."""
    digits = game.score_digits
    amount = round(points * game.score_unit, digits)
    text = game.score_text(f"{abs(amount):.{max(digits, 0)}f}")
    return f"{'-' if amount < 0 else '+'}{text}" if signed else text


def reason(game: Game, names: Sequence[str], advice: Advice, rivals: str) -> str:
    """Why the first move is the best one, in a sentence or two.

    Args:
        game: what is played.
        names: the moves, as in `advice`.
        advice: what is expected of them.
        rivals: what the margin is counted from, in words.
    """
    margins, wins = advice.margins, advice.win_shares
    ahead = "ahead of" if margins[0] >= 0 else "behind"
    told = f"{names[0]}: you can expect to end {money(game, abs(margins[0]))} {ahead} {rivals}."
    if len(names) == 1:
        return told
    more = round((margins[1] - margins[0]) * game.score_unit, game.score_digits)
    if more < 0:
        return f"{told} The next move, {names[1]}, costs you {money(game, margins[0] - margins[1])} of that."
    if more == 0:
        return f"{told} The next move, {names[1]}, is about as good."
    gain = money(game, margins[1] - margins[0])
    if wins[1] < wins[0]:
        return f"{told} The next move, {names[1]}, may bring {gain} more, but wins less often."
    return f"{told} The search prefers it, though another look expects {gain} more of {names[1]}."
