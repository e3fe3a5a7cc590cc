"""The greedy plan for the card game.

1. Reveal the leftmost face-down card whenever there is one, because mining reaches it first.
2. Value each action that can be paid, in thousands. The value is what the score gains at once. A hire also counts
   what it is likely to bring later (`hope`), which fades as the resource cards run out. Subtract the worth of the
   cards that the action costs (`CARD_WORTH` each, one being drawn back).
3. Act if the best action is worth more than drawing two cards. In the player's last turn any gain is enough.
   Otherwise draw as many cards as allowed; with a full hand, act.
4. Pay with two cards of the symbol rather than three. Among the cards that will do, choose the one whose symbols are
   scarcest in hand.

The plan reads only what is public or in the player's own hand.
"""

from __future__ import annotations

from typing import Any

from siberia_agents.card.features import first_revealed, is_last_turn, mining_gain, unmined_cards
from siberia_env.card.actions import CARD_ACTIONS, DRAW, HIRE_INVESTOR, HIRE_SALESMAN, HIRE_WORKER, MINE, PAY
from siberia_env.card.components import INVESTOR, NUM_KINDS, NUM_PERSONS, WORKER
from siberia_env.card.rules import fewest_cards, person_value, salesman_gain, shows, symbol_of
from siberia_env.card.state import CHOOSE, DISCOVER, Ruleset, State
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel

CARD_WORTH = 1.0  # thousands for an action card in hand
WORKER_HOPE = 6.0  # thousands for a second worker at the start of the game
SALESMAN_HOPE = 4.0  # thousands for a salesman of a resource of which no card is revealed yet
INVESTOR_HOPE = 4.0  # thousands for an investor at the start of the game


@kernel
def greedy(ruleset: Ruleset, state: State, mask: Any) -> int:
    """The plan's action for the player on turn; `mask` marks the legal actions."""
    if state.phase == DISCOVER:
        return first_revealed(mask)
    if state.phase == CHOOSE:
        return best_choice(ruleset, state, mask)
    return cheapest_card(state, mask)


@kernel
def best_choice(ruleset: Ruleset, state: State, mask: Any) -> int:
    """Choose between drawing and the action with the best value."""
    player = int(state.player)
    best, best_value = -1, 0.0
    for action in range(CARD_ACTIONS, PAY):
        if mask[action]:
            cards = fewest_cards(state, player, symbol_of(action - CARD_ACTIONS)) - 1
            value = action_value(ruleset, state, player, action) - CARD_WORTH * cards
            if best < 0 or value > best_value:
                best, best_value = action, value
    most_drawn = -1
    for action in range(DRAW, CARD_ACTIONS):
        if mask[action]:
            most_drawn = action
    drawing = 0.0 if is_last_turn(ruleset, state) else CARD_WORTH * (most_drawn - DRAW)
    if best >= 0 and (most_drawn < 0 or best_value > drawing):
        return best
    return most_drawn


@kernel
def action_value(ruleset: Ruleset, state: State, player: int, action: int) -> float:
    """What `action` brings, in thousands: its gain now and, before the last turn, its hope for later."""
    left = 0.0 if is_last_turn(ruleset, state) else unmined_cards(state) / int(ruleset.num_resource_cards)
    if action < HIRE_WORKER:
        return float(mining_gain(ruleset, state, player, action - MINE))
    if action == HIRE_WORKER:
        return person_value(ruleset, state, player, WORKER) + WORKER_HOPE * left / int(state.workers[player])
    if action < HIRE_INVESTOR:
        symbol = action - HIRE_SALESMAN
        hope = SALESMAN_HOPE * left if symbol < NUM_RESOURCES else 0.0
        return salesman_gain(ruleset, state, player, symbol) + hope
    return person_value(ruleset, state, player, INVESTOR) + INVESTOR_HOPE * left


@kernel
def cheapest_card(state: State, mask: Any) -> int:
    """The legal card to pay with: cards that show the symbol come first, and among those the least useful one."""
    player = int(state.player)
    symbol = symbol_of(state.chosen)
    best, best_use = -1, 0
    for kind in range(NUM_KINDS):
        if mask[PAY + kind]:
            use = int(state.symbols[player, kind // NUM_PERSONS])
            use += int(state.symbols[player, NUM_RESOURCES + kind % NUM_PERSONS])
            if not shows(kind, symbol):
                use += 100
            if best < 0 or use < best_use:
                best, best_use = PAY + kind, use
    return best
