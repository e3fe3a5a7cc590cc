"""`greedy`: the best bargain at hand, by a fixed plan for each game; the plan stands in the game's own file.

The plan is one compiled function over a state and a mask. It reads only what the player on turn knows, so the
same function serves as agent (on a sampled state), as playout policy of a search and as opponent inside a
batch; a test shows that its choice is the same over a hundred determinizations.
"""

from __future__ import annotations

from typing import Any

from siberia_agents.board import greedy as board_greedy
from siberia_agents.card import greedy as card_greedy
from siberia_agents.plan import PlanAgent, greedy
from siberia_env.board.state import STATE as BOARD_STATE
from siberia_env.card.state import STATE as CARD_STATE
from siberia_env.core.jit import kernel
from siberia_env.game import register

register(CARD_STATE, {"greedy": card_greedy.greedy})
register(BOARD_STATE, {"greedy": board_greedy.greedy})


@kernel
def greedy_at(rulesets: Any, states: Any, i: int, mask: Any) -> int:
    """The greedy plan's action in `states[i]`."""
    return greedy(rulesets[0], states[i], mask)


@kernel
def greedy_batch(rulesets: Any, states: Any, mask: Any, actions: Any) -> None:
    """The greedy plan's action in every state."""
    for i in range(states.shape[0]):
        actions[i] = greedy(rulesets[0], states[i], mask[i])


class GreedyAgent(PlanAgent):
    """Plays the greedy plan of whatever game it is shown."""

    name = "greedy"
    plan_at = staticmethod(greedy_at)
    plan_batch = staticmethod(greedy_batch)
