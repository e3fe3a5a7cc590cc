"""Draws the board game's table as plain text, at most 100 columns wide, with a map.

A view belongs to a seat and leaves out what that player can't see (B29). So two positions that a player can't tell
apart have the same text. A view without a seat shows everything. The suite's own map is drawn, with west on the
left; a map from a component file becomes a table of its areas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from siberia_env.board.actions import PAWN_RESERVE
from siberia_env.board.components import (
    ACTIONS,
    COUNTERS_DRAWN,
    DEFAULT_AREAS,
    DEFAULT_ARROWS,
    EMPTY_RESERVES_TO_END,
    EXCHANGE_TILES,
    KINDS,
    NUM_EXCHANGES,
    NUM_KINDS,
    PANEL_LIMIT,
    PERSONS,
    SPACES,
    START,
    TILE_SIDES,
    VLADIVOSTOK,
    Components,
    all_exchanges,
)
from siberia_env.board.rules import empty_reserves, end_is_due, exchange_row, person_action, resource_action
from siberia_env.board.state import (
    AT_PERSON,
    AT_RESEARCH,
    AT_RESOURCE,
    CHOOSE_AREA,
    CHOOSE_EXCHANGE,
    CHOOSE_RESOURCE,
    CHOOSE_SIDE,
    DISCARD,
    EMPTY,
    MOVE_FROM,
    MOVE_TO,
    NOBODY,
    NOT_PLACED,
    OVER,
    PLACE,
    PUT_WILDCARD,
    RECALL_PAWN,
    SETUP,
    TAKE_PAWN,
    TAKE_TILE,
    TURN,
    Ruleset,
    State,
)
from siberia_env.common.components import NUM_RESOURCES, RESOURCES
from siberia_env.common.render import (
    WIDTH,
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

#: The map of `DEFAULT_AREAS` and `DEFAULT_ARROWS`. The two lines below each name are filled in. A test follows the
#: drawn lines from area to area.
DRAWN_MAP = """\
┌──────────────────┐            ┌──────────────────┐                            ┌──────────────────┐
│ Yamal            │            │ Taymyr           ├────────────────────────────┤ Chukotka         │
│                  ├────────────┤                  │                            │                  │
│                  │            │                  ├────────┐          ┌────────┤                  │
└────┬────┬────┬───┘            └───────┬──────────┘        │          │        └────────┬─────────┘
     │    │    │                        │                   │          │                 │
     │    │    │                        │                   │          │                 │
     │    │    │          ┌─────────────┴────┐          ┌───┴──────────┴───┐    ┌────────┴─────────┐
     │    │    │          │ Evenkia          │          │ Yakutia          ├────┤ Magadan          │
     │    │    └──────────┤                  ├──────────┤                  │    │                  │
     │    │               │                  ├────────┐ │                  ├─┐  │                  │
     │    │               └─────────────┬────┘        │ └───────┬─────────┬┘ │  └────────┬─────────┘
     │    └───────────────────┐         │             │         │         │  └──────┐    │
     │                        │         │             │         │         │         │    │
┌────┴─────────────┐      ┌───┴─────────┴────┐    ┌───┴─────────┴────┐    │     ┌───┴────┴─────────┐
│ Novosibirsk      │      │ Krasnoyarsk      │    │ Irkutsk          │    │     │ Khabarovsk       │
│                  ├──────┤                  ├────┤                  │    │     │                  │
│                  │      │                  │    │                  │    │     │                  │
└──────────────────┘      └──────────────────┘    └─┬────────────────┘    │     └──┬─────┬─────────┘
                                                    │                     │ ┌──────┘     ▲
                                                    │                     │ │            │
                                  ┌─────────────────┴┐    ┌───────────────┴─┴┐  ┌────────┴─────────┐
                                  │ Zabaykalye       │    │ Amur             │  │ Vladivostok      │
                                  │                  ├────┤                  ├◄─┤                  │
                                  │                  │    │                  │  │                  │
                                  └──────────────────┘    └──────────────────┘  └──────────────────┘
"""

ROOM = 17  #: columns for the cubes and workers of a drawn area
EXHAUSTED = "exhausted"
SHADE = "▒"
UNCOVERED = "·"
TILE_MARK = "tile"
TIMES = "\N{MULTIPLICATION SIGN}"
NEW = "+"  #: marks a counter that has been placed while others still place theirs

AREA_WIDTH, CUBES_WIDTH, WORKERS_WIDTH, STEPS_WIDTH = 17, 15, 21, 5
TRADE_WIDTH, SALESMEN_WIDTH = 17, 21
ACTION_WIDTH, PLAYER_WIDTH, TOKEN_WIDTH = 11, 18, 8

#: Where there is little room, resources, persons and managers are shown by their first two letters.
SHORT = {name: name[:2] for name in (*RESOURCES, *PERSONS, "manager")}
SHORT_KINDS = tuple("/".join(SHORT[part] for part in kind.split("/")) for kind in KINDS)
MAP_LEGEND = f"Cubes: {', '.join(f'{SHORT[resource]} {resource}' for resource in RESOURCES)}."
PANEL_LEGEND = (
    f"ga/lo: a counter with gas and the logistician, and so on; ma: a manager; {TILE_MARK}: an investment tile; "
    f"{UNCOVERED}: a space that is uncovered; {NEW}: placed in this round, not yet shown to the others."
)

PARTS = ("map", "exchanges", "panels")  #: the grids of a view, in order
SIGNS = (  #: what the signs in a view mean
    (" ".join(SHORT[resource] for resource in RESOURCES), f"cubes of {', '.join(RESOURCES)}"),
    (f"you  p1{TIMES}2", "a pawn of yours; two pawns of player_1: workers on the map, salesmen at exchanges"),
    (f"{SHADE} {EXHAUSTED}", "an area without cubes: steps cross it for nothing"),
    ("◄ ▲", "the ways out of Vladivostok; no way leads in"),
    ("▸", "the player whose turn it is"),
    (UNCOVERED, "a space of an action that is uncovered; with both spaces covered you can carry it out"),
    ("ga/lo", "a counter that shows gas and the logistician; likewise sa salesman, wo worker, in investor"),
    (SHORT["manager"], "a manager counter"),
    (TILE_MARK, "an investment tile, which covers its space for the rest of the game"),
    (f"{NEW}ga/lo", "a counter placed in this round, not yet shown to the others"),
)


def ansi(variant: Variant, states: States, index: int, viewer: int | None) -> str:
    """Return the game in `states[index]` as the seat `viewer` sees it; `None` sees everything."""
    ruleset, state, components = variant.rulesets[0], states[index], variant.components
    names = variant.names_in_play(states, index)
    lines = [
        f"{title(variant)}: {seen_by(viewer)}",
        *(_drawn_map if is_drawn(components) else _table_of_areas)(ruleset, state, components, viewer),
        *wrapped(f"{MAP_LEGEND} {_workers_legend(ruleset, viewer)}"),
        *_trade(ruleset, state, components, viewer),
        *_panels(ruleset, state, viewer),
        *wrapped(PANEL_LEGEND),
        "",
        *_supplies(ruleset, state, viewer),
        *wrapped(end(ruleset, state)),
        *wrapped(turn(ruleset, state, components, names, viewer)),
    ]
    return "\n".join(line.rstrip() for line in lines)


def prices(variant: Variant) -> list[list[str]]:
    """B5, B25: the rows of a table of what the exchanges of the box pay for a cube, the heading first."""
    names, rows = all_exchanges(variant.components), [["exchange", *RESOURCES]]
    rows += [[name, *_prices(variant.components.exchanges[name])] for name in names]
    if variant.rules["salesman_cards"]:
        rows.append(["salesman card", *_prices([variant.components.salesman_cards[name] for name in RESOURCES])])
    return rows


def title(variant: Variant) -> str:
    """The game and its options."""
    cards = ", with salesman cards" if variant.rules["salesman_cards"] else ""
    return f"{variant.game.title}, {variant.num_players} players{cards}"


# ---------------------------------------------------------------- the map


def is_drawn(components: Components) -> bool:
    """Whether the game uses the drawn map. The order of areas and neighbours doesn't matter."""
    areas = {area: set(adjacent) for area, adjacent in components.areas.items()}
    drawn = {area: set(adjacent) for area, adjacent in DEFAULT_AREAS.items()}
    return areas == drawn and set(components.arrows) == set(DEFAULT_ARROWS)


def _drawn_map(ruleset: Ruleset, state: State, components: Components, viewer: int | None) -> list[str]:
    lines = [line.ljust(WIDTH) for line in DRAWN_MAP.splitlines()]

    def write(row: int, column: int, text: str) -> None:
        lines[row] = lines[row][:column] + text.ljust(ROOM) + lines[row][column + ROOM :]

    for place, name in [*enumerate(components.areas), (VLADIVOSTOK, START)]:
        row = next(number for number, line in enumerate(DRAWN_MAP.splitlines()) if name in line)
        column = lines[row].index(name)
        if is_exhausted(state, place):
            write(row + 1, column, f" {EXHAUSTED} ".center(ROOM, SHADE))
            write(row + 2, column, SHADE * ROOM)
        else:
            write(row + 1, column, _cubes(state, place))
            write(row + 2, column, _fitted(_pawns(ruleset, state.workers, place, viewer), ROOM))
    return lines


def _table_of_areas(ruleset: Ruleset, state: State, components: Components, viewer: int | None) -> list[str]:
    """List each area: its cubes and workers, where a step leads, and how far the viewer's nearest worker is."""
    names = list(components.areas)
    away = None if viewer is None else _steps_away(ruleset, state, viewer)
    table = [["area", "cubes", "workers", *([] if away is None else ["steps"]), "a step leads to"]]
    for place, name in [*enumerate(names), (VLADIVOSTOK, START)]:
        cubes = EXHAUSTED if is_exhausted(state, place) else _cubes(state, place)
        leads = ", ".join(other for area, other in enumerate(names) if (int(state.steps[place]) >> area) & 1)
        workers = _fitted(_pawns(ruleset, state.workers, place, viewer), WORKERS_WIDTH)
        table.append([name, cubes, workers, *([] if away is None else [away.get(place, "-")]), leads])
    widths = [AREA_WIDTH, CUBES_WIDTH, WORKERS_WIDTH, *([] if away is None else [STEPS_WIDTH])]
    widths.append(WIDTH - 4 - sum(width + 3 for width in widths))
    lines = boxed(table, widths, rules_after=(0, len(names)))
    if away is not None:
        lines += wrapped("Steps: from your nearest worker; exhausted areas are passed through at no cost.")
    return lines


def _steps_away(ruleset: Ruleset, state: State, player: int) -> dict[int, str]:
    """B17: count the steps from the player's nearest worker to each place that one can reach."""
    places = [*range(ruleset.num_areas), VLADIVOSTOK]
    found = {place: 0 for place in places if state.workers[player, place] > 0}
    pending = list(found)
    for place in pending:  # the loop appends to this list
        for area in range(ruleset.num_areas):
            if (int(state.steps[place]) >> area) & 1 and area not in found:
                found[area] = found[place] + 1
                pending.append(area)
    return {place: str(steps) for place, steps in found.items()}


def is_exhausted(state: State, place: int) -> bool:
    """B22: whether an area has no cube left. Before the setup all areas are empty, but none is exhausted."""
    return place != VLADIVOSTOK and state.phase != SETUP and not (int(state.open) >> place) & 1


def _cubes(state: State, place: int) -> str:
    lying = [(int(cubes) >> place) & 1 for cubes in state.lying]
    return " ".join(SHORT[resource] for resource, lies in zip(RESOURCES, lying, strict=True) if lies)


def _pawns(ruleset: Ruleset, pawns: Any, place: int, viewer: int | None) -> list[str]:
    """List whose pawns are at a place, as `you` or `p1`, with their number if it is more than one."""
    shown = []
    for player in range(ruleset.num_players):
        number = int(pawns[player, place])
        if number:
            shown.append(_short_name(player, viewer) + (f"{TIMES}{number}" if number > 1 else ""))
    return shown


def _fitted(words: Sequence[str], width: int) -> str:
    """Join the words with spaces if that fits into `width`, otherwise without."""
    text = " ".join(words)
    return text if len(text) <= width else "".join(words)


def _short_name(player: int, viewer: int | None) -> str:
    return "you" if player == viewer else f"p{player}"


def _workers_legend(ruleset: Ruleset, viewer: int | None) -> str:
    other = 1 if viewer == 0 else 0
    own = "" if viewer is None else f"you, you{TIMES}2: one or two pawns of your own; "
    return f"Workers and salesmen: {own}p{other}: one of {seat_name(other)}."


# ---------------------------------------------------------------- exchanges, panels, supplies


def _trade(ruleset: Ruleset, state: State, components: Components, viewer: int | None) -> list[str]:
    """Draw active prices and salesmen, salesman cards, reserves of cubes, and each player's best price for a cube."""
    box = all_exchanges(components)
    table = [["exchange", *RESOURCES, "salesmen"]]
    for exchange in range(NUM_EXCHANGES):
        salesmen = _fitted(_pawns(ruleset, state.salesmen, exchange, viewer), SALESMEN_WIDTH)
        if exchange <= state.sides_chosen:
            row = exchange_row(state, exchange)
            table.append([box[row], *_prices(ruleset.price[row]), salesmen])
        else:  # B9: show both sides until one is chosen
            first = 1 + TILE_SIDES * (exchange - 1)
            table += [[f"{box[row]} ?", *_prices(ruleset.price[row]), ""] for row in range(first, first + TILE_SIDES)]
    rules_after = [0, len(table) - 1]
    if ruleset.salesman_cards:
        holders = ["-" if owner == NOBODY else _short_name(int(owner), viewer) for owner in state.card_owner]
        table += [["salesman card", *_prices(ruleset.card_price), ""], ["held by", *holders, ""]]
        rules_after.append(len(table) - 1)
    table.append(["cubes in reserve", *(str(int(cubes)) for cubes in state.reserve), ""])
    if state.sides_chosen == EXCHANGE_TILES:  # before that no exchange is open
        rules_after.append(len(table) - 1)
        for player in range(ruleset.num_players):
            table.append([f"best price, {_short_name(player, viewer)}", *_prices(state.best_price[player]), ""])
    widths = [TRADE_WIDTH, *[len("charcoal")] * NUM_RESOURCES, SALESMEN_WIDTH]
    return boxed(table, widths, rules_after)


def _prices(prices: Sequence[int]) -> list[str]:
    return [dollars(price) if price else "-" for price in prices]


def _panels(ruleset: Ruleset, state: State, viewer: int | None) -> list[str]:
    """Draw what each player has and what lies on the panels, one line for each action."""
    players = range(ruleset.num_players)
    on_turn = None if state.phase == OVER else int(state.player)

    table = [
        ["", *(heading(player, viewer, player == on_turn) for player in players)],
        ["money", *(dollars(state.money[player]) for player in players)],
        ["pawns", *(f"{int(state.pawns[player])} in reserve" for player in players)],
        ["counters", *(f"{int(state.counters[player])} on the panel" for player in players)],
        ["this round", *(in_this_round(state, player) for player in players)],
    ]
    rules_after = [0, len(table) - 1]
    for action, label in enumerate(ACTIONS):
        table.append([label, *(_spaces(state, player, action, viewer) for player in players)])
    rules_after.append(len(table) - 1)
    table.append(["research", *(_at_research(state, player, viewer) for player in players)])
    return boxed(table, [ACTION_WIDTH, *[PLAYER_WIDTH] * ruleset.num_players], rules_after)


def in_this_round(state: State, player: int) -> str:
    """Whether the player starts the round, and whether it has passed (B13)."""
    told = ["starts"] if player == state.start else []
    if (int(state.passed) >> player) & 1:
        told.append("passed")
    return ", ".join(told)


def shows_new_counters(state: State, player: int, viewer: int | None) -> bool:
    """B29: until all have placed, only their owner sees new counters and where they go."""
    return state.phase == PLACE and viewer in (None, player)


def new_counters(state: State, player: int, where: int) -> list[int]:
    """B12: the kinds of the new counters that go to `where`, or, with NOT_PLACED, are not placed yet."""
    return [int(kind) for kind, plan in zip(state.drawn[player], state.plan[player], strict=True) if plan == where]


def counters_at(state: State, player: int, action: int, viewer: int | None) -> tuple[list[int], list[int]]:
    """The kinds of the counters on the spaces of an action, and of the new ones that the viewer sees there (B12)."""
    lying = [int(kind) for kind in state.panel[player, action] if kind != EMPTY]
    new: list[int] = []
    if shows_new_counters(state, player, viewer):
        for where, action_of in ((AT_PERSON, person_action), (AT_RESOURCE, resource_action)):
            new += [kind for kind in new_counters(state, player, where) if action_of(kind) == action]
    return lying, new


def _spaces(state: State, player: int, action: int, viewer: int | None) -> str:
    """Show what covers the two spaces of an action."""
    lying, new = counters_at(state, player, action, viewer)
    covers = [SHORT_KINDS[kind] for kind in lying]
    if state.tiles[player, action]:
        covers.append(TILE_MARK)
    covers += [NEW + SHORT_KINDS[kind] for kind in new]
    covers += [UNCOVERED] * (SPACES - len(covers))
    return "".join(cover.ljust(TOKEN_WIDTH) for cover in covers).rstrip()


def research_counts(state: State, player: int, viewer: int | None) -> list[int]:
    """B15: count the counters at research that are still to be resolved by resource, without their persons.

    Managers are the last.
    """
    counts = [int(count) for count in state.research[player]]
    if shows_new_counters(state, player, viewer):
        for kind in new_counters(state, player, AT_RESEARCH):
            counts[kind % NUM_RESOURCES if kind < NUM_KINDS - 1 else NUM_RESOURCES] += 1
    return counts


def _at_research(state: State, player: int, viewer: int | None) -> str:
    counts = research_counts(state, player, viewer)
    names = (*(SHORT[resource] for resource in RESOURCES), SHORT["manager"])
    return " ".join(
        name if count == 1 else f"{name}{TIMES}{count}" for name, count in zip(names, counts, strict=True) if count
    )


def bag_counts(ruleset: Ruleset, state: State, viewer: int | None) -> tuple[str, list[int]]:
    """The counters in the bag by kind; with those that others have newly drawn, while the viewer can't tell them apart.

    The words say which of the two it is.
    """
    unseen = [int(count) for count in state.bag]
    drawn = [player for player in range(ruleset.num_players) if state.phase == PLACE and viewer not in (None, player)]
    for player in drawn:
        for kind in state.drawn[player]:
            unseen[kind] += 1
    return "in it, or newly drawn by others" if drawn else "in it", unseen


def tile_order(state: State, viewer: int | None) -> list[str]:
    """The actions of the tiles in the stack from the top, which nobody sees but a viewer who sees everything."""
    size = int(state.tile_stack_size)
    return [ACTIONS[action] for action in state.tile_stack[:size][::-1]] if viewer is None else []


def _supplies(ruleset: Ruleset, state: State, viewer: int | None) -> list[str]:
    """List the new counters that the viewer sees, the bag and the investment tiles."""
    lines = []
    for player in range(ruleset.num_players):
        left = new_counters(state, player, NOT_PLACED)
        if shows_new_counters(state, player, viewer) and left:
            lines += wrapped(f"To be placed by {seat_name(player)}: {', '.join(KINDS[kind] for kind in left)}")
    where, unseen = bag_counts(ruleset, state, viewer)
    lines += wrapped(f"Bag, {counted(state.bag_size, 'counter')}; {where}: {inventory(unseen, SHORT_KINDS)}")
    size = int(state.tile_stack_size)
    lines += wrapped(f"Investment tiles face up: {inventory(state.face_up, ACTIONS)}. Stack: {counted(size, 'tile')}.")
    if order := tile_order(state, viewer):
        lines += wrapped(f"The stack from the top: {', '.join(order)}")
    return lines


# ---------------------------------------------------------------- the turn and the end


def end(ruleset: Ruleset, state: State) -> str:
    """B24: say how far away the end is."""
    told = (
        f"Exhausted areas: {int(state.exhausted)} of {int(ruleset.areas_to_end)}. "
        f"Empty reserves: {empty_reserves(state)} of {EMPTY_RESERVES_TO_END}."
    )
    last = end_is_due(ruleset, state) or int(state.rounds) + 1 >= int(ruleset.max_rounds)
    return f"{told} This is the last round." if last and state.phase not in (SETUP, OVER) else told


def turn(ruleset: Ruleset, state: State, components: Components, names: tuple[str, ...], viewer: int | None) -> str:
    """Say whose decision it is, and what is being decided."""
    if state.phase == OVER:
        scores = [int(state.money[player]) for player in range(ruleset.num_players)]
        return game_over(int(state.rounds), "round", scores, bool(state.hit_limit))
    round_number = f"Round {int(state.rounds) + 1} of at most {int(ruleset.max_rounds)}"
    return f"{round_number}: {seat_name(int(state.player))} {_decision(state, components, names, viewer)}."


def _decision(state: State, components: Components, names: tuple[str, ...], viewer: int | None) -> str:
    phase, player = int(state.phase), int(state.player)
    if phase == CHOOSE_SIDE:
        sides = components.exchange_tiles[int(state.sides_chosen)]
        return f"chooses a side, {sides[0]} or {sides[1]}"
    if phase == PLACE:
        if not shows_new_counters(state, player, viewer):
            return "places new counters"
        number = int(state.placed)
        return f"places {KINDS[state.drawn[player, number]]}, counter {number + 1} of {COUNTERS_DRAWN}"
    if phase == CHOOSE_AREA:
        return f"researches, and chooses an area for {RESOURCES[state.resource]}"
    if phase == MOVE_FROM:
        return f"chooses the next worker to move, {counted(state.steps_left, 'step')} left"
    if phase == MOVE_TO:
        return f"moves a worker out of {_pawn_place(state, names)}, {counted(state.steps_left, 'step')} left"
    if phase == CHOOSE_EXCHANGE:
        return f"sends the pawn from {_pawn_place(state, names)} to an exchange"
    if phase == DISCARD:
        return f"returns counters to the bag, {int(state.counters[player]) - PANEL_LIMIT} to go"
    return _DECISIONS.get(phase, "waits for chance")


def _pawn_place(state: State, names: tuple[str, ...]) -> str:
    """Name the place where the chosen pawn stands: the reserve, an exchange or an area."""
    place = names[PAWN_RESERVE + int(state.origin)].removeprefix("pawn ")
    return "the reserve" if place == "reserve" else place


_DECISIONS = {
    TURN: "acts or passes",
    CHOOSE_RESOURCE: "researches, and chooses a manager's resource",
    PUT_WILDCARD: "may lay a manager at another action",
    TAKE_PAWN: "chooses a pawn for an exchange",
    RECALL_PAWN: "recalls a pawn to Vladivostok",
    TAKE_TILE: "takes an investment tile",
}
