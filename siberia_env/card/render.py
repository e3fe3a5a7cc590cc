"""Draws the card game's table as plain text, at most 100 columns wide.

A view belongs to a seat and leaves out what that player can't see (C18). So two positions that a player can't
tell apart have the same text. A view without a seat shows everything.
"""

from __future__ import annotations

from collections.abc import Sequence

from siberia_env.card.actions import ACTION_NAMES, CARD_ACTIONS
from siberia_env.card.components import (
    INVESTOR,
    KINDS,
    PERSON_VALUE,
    ROW_SLOTS,
    SALESMAN,
    SYMBOLS,
    WORKER,
)
from siberia_env.card.rules import symbol_of
from siberia_env.card.state import (
    CHOOSE,
    DISCOVER,
    EMPTY,
    FIRST_CARD,
    NOBODY,
    OVER,
    PAYING,
    SECOND_CARD,
    Ruleset,
    State,
)
from siberia_env.common.components import NUM_RESOURCES, RESOURCES
from siberia_env.common.render import (
    TOGETHER,
    boxed,
    counted,
    dollars,
    game_over,
    heading,
    inventory,
    seat_name,
    seen_by,
    wrapped,
)
from siberia_env.game import States, Variant

SLOT_WIDTH = 9
LABEL_WIDTH = 9
SUPPLY_WIDTH = 8
PLAYER_WIDTH = 16
FACE_DOWN = "▒" * SLOT_WIDTH
PARTS = ("row", "players")  #: the grids of a view, in order
SIGNS = (  #: what the signs in a view mean
    ("▸", "the player whose turn it is"),
    ("▒▒▒", "a card that lies face down"),
    ("S I", "the salesman and the investor for that line, under the one who has them, or in the supply"),
    ("2 $5000", "two captured cards, and what they count now"),
    ("gas/worker", "an action card that shows gas and a worker; it pays for the one or the other"),
)
LEGEND = "S: its salesman. I: its investor. Captured cards: how many, and what they count now."


def ansi(variant: Variant, states: States, index: int, viewer: int | None) -> str:
    """Return the game in `states[index]` as the seat `viewer` sees it; `None` sees everything."""
    ruleset, state = variant.rulesets[0], states[index]
    lines = [
        f"{title(variant)}: {seen_by(viewer)}",
        *_row(ruleset, state, viewer is None),
        *_holdings(ruleset, state, viewer),
        LEGEND,
        "",
        *_cards(ruleset, state, viewer),
        *wrapped(turn(ruleset, state)),
    ]
    return "\n".join(line.rstrip() for line in lines)


def prices(variant: Variant) -> list[list[str]]:
    """C3, C4: the rows of a table of what captured cards and persons count, the heading first."""
    components = variant.components
    rows = [["", "cards", "each counts", "with its salesman"]]
    for resource in RESOURCES:
        values = sorted(components.resource_cards[resource])
        kinds = sorted(set(values))
        counts = inventory([values.count(value) for value in kinds], [dollars(value) for value in kinds])
        more = "or more" if values and values[-1] > components.salesmen[resource] else ""
        rows.append([resource, str(len(values)), counts, f"{dollars(components.salesmen[resource])} {more}".strip()])
    counts_of = {WORKER: components.workers, SALESMAN: len(SYMBOLS), INVESTOR: NUM_RESOURCES}
    for person, number in counts_of.items():
        name = SYMBOLS[person]
        rows.append([name, str(number), dollars(PERSON_VALUE), dollars(components.salesmen[name])])
    return [[cell.replace(TOGETHER, " ") for cell in row] for row in rows]


def title(variant: Variant) -> str:
    """The game and its options."""
    return f"{variant.game.title}, {variant.num_players} players, edition {variant.rules['edition']}"


def _row(ruleset: Ruleset, state: State, all_shown: bool) -> list[str]:
    """Draw the row, slot 0 beside the headframe. With `all_shown`, face-down cards stand in parentheses."""
    names, values = [], []
    for slot in range(ROW_SLOTS):
        number = int(state.row[slot])
        if number == EMPTY:
            name, value = "empty", ""
        elif state.face_up[slot] or all_shown:
            name, value = RESOURCES[ruleset.card_resource[number]], dollars(ruleset.card_value[number])
            if not state.face_up[slot]:
                name, value = f"({name[: SLOT_WIDTH - 2]})", f"({value})"
        else:
            name, value = FACE_DOWN, FACE_DOWN
        names.append(name.ljust(SLOT_WIDTH))
        values.append(value.rjust(SLOT_WIDTH))
    numbers = [str(slot).ljust(SLOT_WIDTH) for slot in range(ROW_SLOTS)]
    return boxed([numbers, names, values], [SLOT_WIDTH] * ROW_SLOTS, rules_after=())


def _holdings(ruleset: Ruleset, state: State, viewer: int | None) -> list[str]:
    """Draw the supply and what each player has, one line for each symbol."""
    players = range(ruleset.num_players)
    on_turn = None if state.phase == OVER else int(state.player)
    table = [
        ["", "supply", *(heading(player, viewer, player == on_turn) for player in players)],
        ["score", "", *(dollars(state.score[player]) for player in players)],
        ["hand", "", *(counted(int(state.hand_size[player]), "card") for player in players)],
    ]
    persons = {WORKER: state.workers, SALESMAN: state.salesmen, INVESTOR: state.investors}
    for symbol, label in enumerate(SYMBOLS):
        left = f"{int(state.workers_left)} " if symbol == WORKER else ""
        line = [label, left + _marks(state, symbol, NOBODY)]
        for player in players:
            if symbol in persons:
                holding = str(int(persons[symbol][player]))
            else:
                own = int(state.salesman_owner[symbol]) == player
                value = (state.captured_best_value if own else state.captured_value)[player, symbol]
                cards = int(state.captured[player, symbol])
                holding = f"{cards} {dollars(value)}" if cards else "-"
            line.append(f"{holding:<11}{_marks(state, symbol, player)}")
        table.append(line)
    widths = [LABEL_WIDTH, SUPPLY_WIDTH, *[PLAYER_WIDTH] * ruleset.num_players]
    return boxed(table, widths, rules_after=(0, 2, 2 + NUM_RESOURCES))


def _marks(state: State, symbol: int, owner: int) -> str:
    """Mark what `owner` has of `symbol`: `S` for its salesman, `I` for its investor."""
    marks = ["S"] if int(state.salesman_owner[symbol]) == owner else []
    if symbol < NUM_RESOURCES and int(state.investor_owner[symbol]) == owner:
        marks.append("I")
    return " ".join(marks)


def _cards(ruleset: Ruleset, state: State, viewer: int | None) -> list[str]:
    """List the hands that the viewer sees, the discard pile and the sizes of the stacks."""
    lines = []
    for player in range(ruleset.num_players):
        if viewer is None or player == viewer:
            lines += wrapped(f"Hand of {seat_name(player)}: {inventory(state.hand[player], KINDS)}")
    for told, counts in known_cards(ruleset, state, viewer):
        lines += wrapped(f"{told}: {inventory(counts, KINDS)}")
    lines += wrapped(f"Discard pile, {counted(int(state.discard_size), 'card')}: {inventory(state.discard, KINDS)}")
    stacks = (int(state.action_stack_size), int(state.resource_stack_size))
    lines += wrapped(f"Action stack: {counted(stacks[0], 'card')}. Resource stack: {counted(stacks[1], 'card')}.")
    return lines


def known_cards(ruleset: Ruleset, state: State, viewer: int | None) -> list[tuple[str, Sequence[int]]]:
    """C18: the cards in hands that a perfect memory knows of, in words and by kind."""
    if viewer is None:
        return []
    if ruleset.num_players > 2:
        return [("Known among the others' hands", state.known[viewer])]
    other = 1 - viewer
    return [
        (f"Known in the hand of {seat_name(other)}", state.known[viewer]),
        (f"Known to {seat_name(other)} in yours", state.known[other]),
    ]


def turn(ruleset: Ruleset, state: State) -> str:
    """Say whose turn it is, what is being decided, and how far away the end is."""
    finished, most = int(state.turn), int(ruleset.max_turns)
    if state.phase == OVER:
        scores = [int(state.score[player]) for player in range(ruleset.num_players)]
        return game_over(finished, "turn", scores, bool(state.hit_limit))
    told = f"Turn {finished + 1} of at most {most}: {seat_name(int(state.player))} {_decision(state)}."
    if state.turns_to_end > 0:
        told += f" The end is in sight: {counted(int(state.turns_to_end), 'turn')} to go, this one included."
    return told


def _decision(state: State) -> str:
    if state.phase == DISCOVER:
        return "discovers"
    if state.phase == CHOOSE:
        return "draws or acts"
    if state.phase == PAYING:
        symbol = SYMBOLS[symbol_of(int(state.chosen))]
        payment = int(state.payment)
        if payment == FIRST_CARD:
            next_card = f"a card showing {symbol} comes first"
        elif payment == SECOND_CARD:
            next_card = f"a card showing {symbol} completes it, or two others"
        else:
            next_card = f"one more card not showing {symbol} completes it"
        return f"pays for '{ACTION_NAMES[CARD_ACTIONS + int(state.chosen)]}', {next_card}"
    return "waits for the cards to be shuffled"
