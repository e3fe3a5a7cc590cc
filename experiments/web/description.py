"""What a page is told of a game: everything that Python knows and TypeScript would otherwise have to say again."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from siberia_agents import network
from siberia_agents.learned import EARLIER, FORMAT, LOWEST, SHIPPED, head_sizes, observation_version
from siberia_agents.levels import LEVELS
from siberia_agents.registry import AGENTS, form
from siberia_agents.search import agent as search
from siberia_agents.search import guided, ismcts, puct
from siberia_env import __version__, view
from siberia_env.board import actions as board_actions
from siberia_env.board import components as board_components
from siberia_env.board import state as board_state
from siberia_env.card import actions as card_actions
from siberia_env.card import components as card_components
from siberia_env.card import state as card_state
from siberia_env.common import components as common_components
from siberia_env.core import engine
from siberia_env.game import Block, Game, block_slices, find_game
from siberia_env.records import format as records
from siberia_experiments import match
from siberia_experiments.play import session
from siberia_experiments.web.entries import LENGTHS, entries_of

#: The form of a description; the page reads only its own (web/src/engine/kernels.ts).
WEB_FORMAT = "siberia-web/1"

ROOMS: Mapping[str, tuple[ModuleType, ...]] = {
    "card": (common_components, card_components, card_state, card_actions),
    "board": (common_components, board_components, board_state, board_actions),
}

#: The names of the phases, in the order of their numbers.
PHASES = {
    "card": ("DISCOVER", "CHOOSE", "PAYING", "SHUFFLE", "SETUP", "OVER"),
    "board": (
        "CHOOSE_SIDE",
        "PLACE",
        "TURN",
        "CHOOSE_RESOURCE",
        "CHOOSE_AREA",
        "PUT_WILDCARD",
        "MOVE_FROM",
        "MOVE_TO",
        "TAKE_PAWN",
        "CHOOSE_EXCHANGE",
        "RECALL_PAWN",
        "TAKE_TILE",
        "DISCARD",
        "DRAW",
        "SETUP",
        "OVER",
    ),
}

#: The options of the rules: the values to choose from, or the lowest and the highest number. Null stands for a list of
#: exchanges, one a tile.
OPTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "card": {
        "edition": {"values": list(card_components.EDITIONS)},
        "max_turns": {"range": [1, card_components.MOST_TURNS]},
    },
    "board": {
        "sides": {"values": [*board_components.SIDE_OPTIONS, None]},
        "salesman_cards": {"values": [False, True]},
        "max_rounds": {"range": [1, board_components.MOST_ROUNDS]},
    },
}
DEFAULT_RULES = {"card": card_components.DEFAULT_RULES, "board": board_components.DEFAULT_RULES}


def record_layout(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Where the fields of a record lie."""
    fields = {}
    for name in dtype.names or ():
        field, offset = dtype.fields[name][:2]  # type: ignore[index]
        fields[name] = {"offset": offset, "type": field.base.str[1:], "shape": list(field.shape)}
    return {"size": dtype.itemsize, "fields": fields}


def blocks_of(blocks: tuple[Block, ...]) -> list[dict[str, Any]]:
    """The blocks of an observation."""
    places = block_slices(blocks)
    return [
        {
            "name": block.name,
            "start": places[block.name].start,
            "shape": list(block.shape),
            "unit": block.unit,
            "signed": block.signed,
            "seenBy": block.seen_by,
            "meaning": block.meaning,
        }
        for block in blocks
    ]


def plain(value: Any) -> Any:
    """A constant as JSON has it. Raises `TypeError` for what it can't have."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(entry) for entry in value]
    raise TypeError(f"{value!r} is no constant")


def constants_of(rooms: Iterable[ModuleType]) -> dict[str, Any]:
    """The constants of some modules by name, as far as JSON can have them."""
    found: dict[str, Any] = {}
    for room in rooms:
        for name, value in vars(room).items():
            if re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and name != "TABLES":
                try:
                    found[name] = plain(value)
                except TypeError:
                    continue
    return dict(sorted(found.items()))


def agents() -> dict[str, Any]:
    """The suite's agents, and the options that they take."""
    return {
        name: {
            "meaning": each.meaning,
            "form": form(name),
            "argument": each.argument,
            "options": {
                option: {
                    "kind": list(about.kind) if isinstance(about.kind, tuple) else about.kind.__name__,
                    "values": about.values,
                    "default": plain(each.default(option)),
                    "meaning": about.meaning,
                }
                for option, about in each.options.items()
            },
        }
        for name, each in AGENTS.items()
    }


def searching(game: Game) -> dict[str, Any]:
    """The constants of searches and networks."""
    return {
        "chunk": search.CHUNK,
        "nodesAtStart": search.NODES_AT_START,
        "mostSimulations": search.MOST_SIMULATIONS,
        "mostSeconds": search.MOST_SECONDS,
        "deepest": ismcts.DEEPEST,
        "playouts": list(ismcts.PLAYOUTS),
        "returns": list(ismcts.RETURNS),
        "extra": puct.EXTRA,
        "worlds": puct.WORLDS,
        "mostLogits": guided.MOST_LOGITS,
        "mostAsked": puct.MOST_ASKED,
        "logitsAtStart": guided.LOGITS_AT_START,
        "mostRows": network.MOST_ROWS,
        "block": network.BLOCK,
        "lowestLogit": float(LOWEST),
        "heads": head_sizes(game),
        "modelFormats": [FORMAT],
        "earlierModelFormats": list(EARLIER),
        "node": record_layout(ismcts.NODE),
        "representative": int(view.REPRESENTATIVE),
        "chance": engine.CHANCE,
        "terminal": engine.TERMINAL,
        "hintStream": session.HINT_STREAM,
        "agentStream": session.FIRST_BOT_STREAM,
        "lineUpStream": match.AGENTS,
    }


def models_of(game: Game) -> dict[str, str]:
    """The file of the model that comes with the suite, by number of players; see `learned.shipped_file`."""
    found: dict[str, str] = {}
    for path in sorted(SHIPPED.glob(f"{game.name}_*.npz"), key=lambda path: (len(path.stem), path.stem)):
        for players in path.stem.removeprefix(f"{game.name}_"):
            found.setdefault(players, path.name)
    return dict(sorted(found.items()))


def describe(name: str) -> dict[str, Any]:
    """The description of a game, but for its module."""
    game = find_game(name)
    counts = range(game.min_players, game.max_players + 1)
    variants = {players: game.variant(players) for players in counts}
    first = variants[game.min_players]
    if name == "card":
        choices: Any = card_actions.CHOICES
        tables: Any = card_components.TABLES
    else:
        choices, tables = board_actions.choices(first.components), board_components.TABLES
    return {
        "format": WEB_FORMAT,
        "version": __version__,
        "game": name,
        "title": game.title,
        "minPlayers": game.min_players,
        "maxPlayers": game.max_players,
        "scoreUnit": game.score_unit,
        "hasSecrets": game.has_secrets,
        "numActions": game.num_actions,
        "outcomeSize": game.outcome_size,
        "state": record_layout(game.state_dtype),
        "ruleset": record_layout(first.rulesets.dtype),
        "stateRanges": {field: list(limits) for field, limits in game.state_ranges.items()},
        "rulesets": {
            str(players): base64.b64encode(variant.rulesets.tobytes()).decode() for players, variant in variants.items()
        },
        "actions": list(first.action_names),
        "choices": [{"decision": decision, "actions": list(names)} for decision, names in choices],
        "phases": list(PHASES[name]),
        "options": {
            option: {"default": plain(default), **OPTIONS[name][option]}
            for option, default in DEFAULT_RULES[name].items()
        },
        "components": first.components.as_json(),
        "tables": [{"name": each.name, "content": each.content, "source": each.source} for each in tables],
        "observation": {
            "size": game.observation_size,
            "version": observation_version(game),
            "blocks": blocks_of(game.blocks),
        },
        "hidden": {"size": game.hidden_size, "blocks": blocks_of(game.hidden_blocks)},
        "constants": constants_of(ROOMS[name]),
        "record": {
            "format": records.FORMAT,
            "headerKeys": list(records.HEADER_KEYS),
            "decisionKeys": list(records.DECISION_KEYS),
            "endKeys": list(records.END_KEYS),
        },
        "agents": agents(),
        "levels": {
            str(players): {
                level: {"agent": who.spec, "rating": who.rating} for level, who in LEVELS[name, players].items()
            }
            for players in counts
            if (name, players) in LEVELS
        },
        "models": models_of(game),
        "search": searching(game),
        "lengths": {length: size(game) for length, size in LENGTHS.items()},
        "functions": {
            entry.name: {"result": entry.result, "arguments": dict(entry.arguments)} for entry in entries_of(game)
        },
    }
