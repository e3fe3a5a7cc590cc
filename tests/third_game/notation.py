"""What a record of Lamps says of chance: the hands dealt in each round, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from siberia_env.common.components import check_integer
from siberia_env.common.notation import EventTable, Line, check_form, check_list, check_order, padded
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant
from tests.third_game import rules
from tests.third_game.box import DEAL, HAND, PLAYS, read_components

__all__ = ["read_components"]  # with all below: the functions of `siberia_env.common.notation.Chronicle`


def open_box(variant: Variant, states: States, i: int, generator: Any) -> None:
    """A new game in `states[i]` whose first deal is due."""
    rules.open_box(variant.rulesets[0], states[i])
    states[i].generator = generator


def due_events(variant: Variant, states: States, i: int) -> list[dict[str, Any]]:
    """Nothing announces a deal."""
    return []


def events(variant: Variant, before: States, after: States) -> list[dict[str, Any]]:
    """The line of a deal: `setup` for the first one, `deal` for the others."""
    old, new = before[0], after[0]
    if old.phase != DEAL:
        return []
    hands = [cards_of(new.hand[player]) for player in range(variant.num_players)]
    return [{"event": "deal" if old.rounds else "setup", "hands": hands}]


def cards_of(hand: Any) -> list[int]:
    """The cards in a hand, from the lowest up."""
    return [card for card in range(1, 32) if int(hand) >> card & 1]


def check_event(variant: Variant, event: Line) -> None:
    """Check the form of a chance line."""
    check_form(_EVENTS, variant, event)


def _check_hands(variant: Variant, event: Line) -> None:
    path, seats = f"{event['event']}.hands", variant.num_players
    for player, hand in enumerate(check_list(event["hands"], path, seats, seats, "hands")):
        for place, card in enumerate(check_list(hand, f"{path}[{player}]", HAND, HAND, "cards")):
            check_integer(card, f"{path}[{player}][{place}]", 1, int(variant.rulesets[0].cards))


_EVENTS: EventTable = {"setup": (("hands",), _check_hands), "deal": (("hands",), _check_hands)}


def outcome(variant: Variant, states: States, i: int, lines: Sequence[tuple[int, Line]]) -> NDArray[Any]:
    """The deal that is due, as the next line of a record has it."""
    _, line = lines[0]
    dealt = [card for hand in line.get("hands", ()) for card in hand]
    left = [card for card in range(1, int(variant.rulesets[0].cards) + 1) if card not in dealt]
    return padded(variant, (dealt + left)[: variant.game.outcome_size])


def check_outcome(variant: Variant, states: States, i: int, given: Any) -> NDArray[Any]:
    """`given` as `force` takes it: three different cards for each player, one player after the other."""
    if states[i].phase != DEAL:
        raise ConfigurationError("force: no chance outcome is due")
    count, cards = HAND * variant.num_players, int(variant.rulesets[0].cards)
    wanted = f"{count} different cards from 1 to {cards}"
    order = check_order(variant, given, count, wanted)
    if len(set(order)) < count or not all(1 <= card <= cards for card in order):
        raise ConfigurationError(f"force: expected {wanted}; got {order}")
    return padded(variant, order)


def outline(event: Line) -> str:
    """The line that has to come, without the cards that only chance knows."""
    return f"a {event['event']} line with {len(event['hands'])} hands"


def describe_event(event: Line) -> list[str]:
    """A deal, for a reader."""
    return [f"player {player} is dealt {', '.join(map(str, hand))}" for player, hand in enumerate(event["hands"])]


def told_to(seat: int, event: Line) -> list[str]:
    """A deal, for the player on `seat`: the own cards."""
    return [f"player {seat} gets {', '.join(map(str, event['hands'][seat]))}"] if event["event"] == "deal" else []


def remark(variant: Variant, before: States, after: States, action: int) -> str:
    """Who lights a lamp, where the action settles that."""
    old, new = before[0], after[0]
    if action < PLAYS or int(new.lamps) == int(old.lamps):
        return ""
    table = old.table.tolist()
    table[int(old.player)] = action - PLAYS + 1
    return f"the lamp goes to player {table.index(max(table))}"
