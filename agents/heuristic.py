"""`heuristic`: the strongest play that fixed rules gave, tuned by measurement; each game's plan stands in its own file.

Like `greedy` it is one compiled function over a state and a mask, reads only what the player on turn knows, and
is deterministic: an agent on a sampled state, a playout policy of a search, an opponent inside a batch.
"""

from __future__ import annotations

from typing import Any

from siberia_agents.board import heuristic as board_heuristic
from siberia_agents.card import heuristic as card_heuristic
from siberia_agents.plan import PlanAgent, heuristic
from siberia_env.board.state import STATE as BOARD_STATE
from siberia_env.card.state import STATE as CARD_STATE
from siberia_env.core.jit import kernel
from siberia_env.game import register

register(CARD_STATE, {"heuristic": card_heuristic.heuristic})
register(BOARD_STATE, {"heuristic": board_heuristic.heuristic})


@kernel
def heuristic_at(rulesets: Any, states: Any, i: int, mask: Any) -> int:
    """The heuristic plan's action in `states[i]`."""
    return heuristic(rulesets[0], states[i], mask)


@kernel
def heuristic_batch(rulesets: Any, states: Any, mask: Any, actions: Any) -> None:
    """The heuristic plan's action in every state."""
    for i in range(states.shape[0]):
        actions[i] = heuristic(rulesets[0], states[i], mask[i])


class HeuristicAgent(PlanAgent):
    """Plays the heuristic plan of whatever game it is shown."""

    name = "heuristic"
    plan_at = staticmethod(heuristic_at)
    plan_batch = staticmethod(heuristic_batch)
