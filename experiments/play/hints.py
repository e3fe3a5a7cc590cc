"""Hints: what a search expects of each move, in the money of the game.

The search is guided by the model that comes with the suite. Where none fits the table (other components, a player
count or a game without a model), plain search takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from siberia_agents.learned import shipped_model
from siberia_agents.search.agent import SearchAgent, SearchResult
from siberia_agents.search.guided import GuidedAgent
from siberia_env.errors import ModelError
from siberia_env.game import Game, Variant


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


def expected_margins(search: SearchAgent, found: SearchResult, seat: int) -> NDArray[np.float64]:
    """By how many points `seat` is expected to end ahead of the mean of the others, by move as `found` has them: [n].

    Guided search expects margins. Plain search counts scores, of which they are made here.
    """
    own = found.scores[:, seat]
    return own if isinstance(search, GuidedAgent) else own - np.delete(found.scores, seat, axis=1).mean(axis=1)


def money(game: Game, points: float, signed: bool = False) -> str:
    """A mean of scores, or a difference of such means, rounded as far as it is worth telling."""
    digits = game.score_digits
    amount = round(points * game.score_unit, digits)
    text = game.score_text(f"{abs(amount):.{max(digits, 0)}f}")
    return f"{'-' if amount < 0 else '+'}{text}" if signed else text


def reason(
    game: Game, names: Sequence[str], margins: NDArray[np.float64], found: SearchResult, seat: int, rivals: str
) -> str:
    """Why the first move is the best one, in a sentence or two.

    Args:
        game: what is played.
        names: the moves, the best one first, as in `found`.
        margins: what is expected of each, in points (`expected_margins`).
        found: what the search found.
        seat: whose moves they are.
        rivals: what the margin is counted from, in words.
    """
    ahead = "ahead of" if margins[0] >= 0 else "behind"
    told = f"{names[0]}: you can expect to end {money(game, abs(margins[0]))} {ahead} {rivals}."
    if len(names) == 1 or not found.visits[1]:
        return told
    more = round((margins[1] - margins[0]) * game.score_unit, game.score_digits)
    if more < 0:
        return f"{told} The next choice, {names[1]}, costs you {money(game, margins[0] - margins[1])} of that."
    if more > 0 and found.win_shares[1, seat] < found.win_shares[0, seat]:
        gain = money(game, margins[1] - margins[0])
        return f"{told} The next choice, {names[1]}, may bring {gain} more, but wins less often."
    return f"{told} The next choice, {names[1]}, is about as good."
