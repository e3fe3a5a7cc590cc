"""The functions of a module: what a page can call, and the types of the arguments.

Each is a line or two around a kernel. An argument is `i32`, `u64`, `f64`, `bool`, or an array such as `f32[actions]`,
which the caller passes as an address. The lengths are numbers, sizes of the game (`LENGTHS`), or other arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from siberia_agents.greedy import greedy_at
from siberia_agents.heuristic import heuristic_at
from siberia_agents.network import Network, Workspace, forward
from siberia_agents.search import ismcts, puct
from siberia_env.board import rules as board_rules
from siberia_env.card import rules as card_rules
from siberia_env.core import engine, numeric
from siberia_env.core.rng import derive, scramble
from siberia_env.game import Game, is_secret

#: What the names of lengths stand for, beside the names of arguments.
LENGTHS: Mapping[str, Callable[[Game], int]] = {
    "actions": lambda game: game.num_actions,
    "observation": lambda game: game.observation_size,
    "hidden": lambda game: game.hidden_size,
    "outcome": lambda game: game.outcome_size,
    "deepest": lambda game: ismcts.DEEPEST,
    "kept": lambda game: game.num_actions + puct.EXTRA,
}

#: An argument that is an array: the type of its numbers, and its lengths.
ARRAY = re.compile(r"(\w+)\[([^\]]+)\]")


@dataclass(frozen=True)
class Entry:
    """A function of a module.

    Attributes:
        name: what it is called in the module.
        function: what it does.
        result: `none`, `i32`, `f64` or `bool`.
        arguments: the type of each argument, in order.
        game: the game that has it; empty: all.
    """

    name: str
    function: Callable[..., Any]
    result: str
    arguments: Mapping[str, str]
    game: str = ""


ENTRIES: list[Entry] = []


def entry(
    result: str = "none", *, game: str = "", name: str = "", **arguments: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function one of the modules', under its own name or another one."""

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        ENTRIES.append(Entry(name or function.__name__, function, result, arguments, game))
        return function

    return noted


ONE = {"rulesets": "ruleset[1]", "states": "state[1]"}

# ---------------------------------------------------------------- the rules


@entry(**ONE, seed="u64", slot="i32", episode="i32")
def deal(rulesets: Any, states: Any, seed: Any, slot: Any, episode: Any) -> None:
    """See `engine.deal_at`."""
    engine.deal_at(rulesets, states, 0, seed, slot, episode)


@entry(**ONE, seed="u64", game="card", name="open_box")
def open_card_box(rulesets: Any, states: Any, seed: Any) -> None:
    """Begin the game that a seed gives, in slot 0, before the setup."""
    card_rules.open_box(rulesets[0], states[0])
    states[0].generator = derive(seed, 0, 0)


@entry(**ONE, seed="u64", game="board", name="open_box")
def open_board_box(rulesets: Any, states: Any, seed: Any) -> None:
    """Begin the game that a seed gives, in slot 0, before the setup."""
    board_rules.open_box(rulesets[0], states[0])
    states[0].generator = derive(seed, 0, 0)


@entry("i32", **ONE)
def turn(rulesets: Any, states: Any) -> Any:
    """See `engine.turn_at`."""
    return engine.turn_at(rulesets, states, 0)


@entry("bool", **ONE)
def secret(rulesets: Any, states: Any) -> Any:
    """See `siberia_env.game.is_secret`."""
    return is_secret(rulesets[0], states[0])


@entry("bool", **ONE)
def hit_limit(rulesets: Any, states: Any) -> Any:
    """See `engine.has_hit_limit_at`."""
    return engine.has_hit_limit_at(rulesets, states, 0)


@entry("i32", **ONE, mask="i8[actions]")
def legal(rulesets: Any, states: Any, mask: Any) -> Any:
    """See `engine.legal_at`."""
    return engine.legal_at(rulesets, states, 0, mask)


@entry(**ONE, action="i32")
def advance(rulesets: Any, states: Any, action: Any) -> None:
    """See `engine.advance_at`."""
    engine.advance_at(rulesets, states, 0, action)


@entry(**ONE)
def resolve(rulesets: Any, states: Any) -> None:
    """See `engine.resolve_at`."""
    engine.resolve_at(rulesets, states, 0)


@entry(**ONE, outcome="i8[outcome]")
def force(rulesets: Any, states: Any, outcome: Any) -> None:
    """See `engine.force_at`."""
    engine.force_at(rulesets, states, 0, outcome)


@entry(**ONE, out="i64[4]")
def scores(rulesets: Any, states: Any, out: Any) -> None:
    """See `engine.scores_at`."""
    engine.scores_at(rulesets, states, 0, out)


@entry(**ONE, player="i32", out="f32[observation]")
def observe(rulesets: Any, states: Any, player: Any, out: Any) -> None:
    """See `engine.observe_at`."""
    engine.observe_at(rulesets, states, 0, player, out)


@entry(**ONE, out="f32[hidden]")
def observe_hidden(rulesets: Any, states: Any, out: Any) -> None:
    """See `engine.observe_hidden_at`."""
    engine.observe_hidden_at(rulesets, states, 0, out)


@entry(**ONE, player="i32", generator="u64")
def determinize(rulesets: Any, states: Any, player: Any, generator: Any) -> None:
    """See `engine.determinize_at`."""
    engine.determinize_at(rulesets, states, 0, player, generator)


# ---------------------------------------------------------------- agents


@entry("i32", mask="i8[1, actions]", counts="i16[1]", seed="u64", out="i64[1]")
def random_action(mask: Any, counts: Any, seed: Any, out: Any) -> Any:
    """The first choice of the agent `random`, started with `seed`."""
    engine.sample_batch(mask, counts, scramble(seed), 0, out)
    return out[0]


@entry("i32", **ONE, mask="i8[actions]", generator="u64")
def random_playout(rulesets: Any, states: Any, mask: Any, generator: Any) -> Any:
    """See `engine.random_playout`."""
    return engine.random_playout(rulesets, states, 0, mask, generator)


@entry("i32", **ONE, mask="i8[actions]")
def greedy(rulesets: Any, states: Any, mask: Any) -> Any:
    """The greedy plan's action."""
    return greedy_at(rulesets, states, 0, mask)


@entry("i32", **ONE, mask="i8[actions]")
def heuristic(rulesets: Any, states: Any, mask: Any) -> Any:
    """The heuristic plan's action."""
    return heuristic_at(rulesets, states, 0, mask)


# ---------------------------------------------------------------- searches

FOREST = {
    "nodes": "node[num_nodes]",
    "num_nodes": "i32",
    "used": "i64[1]",
    "paths": "i32[players, deepest]",
    "mask": "i8[actions]",
    "sums": "f64[actions, 2, players]",
    "decisions": "i64[1]",
    "trees": "i32",
    "players": "i32",
    "split": "bool",
}
WHICH = {"player": "i32", "seed": "u64", "begin": "i32", "end": "i32"}


@entry(table="f32[size]", size="i32")
def fill_logarithms(table: Any, size: Any) -> None:
    """See `numeric.fill_logarithms`."""
    numeric.fill_logarithms(table)


@entry("f64", x="f64")
def exponential(x: Any) -> Any:
    """See `numeric.exp`."""
    return numeric.exp(x)


@entry(nodes="node[num_nodes]", num_nodes="i32", used="i64[1]", trees="i32")
def plant(nodes: Any, num_nodes: Any, used: Any, trees: Any) -> None:
    """See `ismcts.plant`."""
    ismcts.plant(nodes, used, trees)


@entry("i32", nodes="node[num_nodes]", num_nodes="i32", root="i32")
def lead(nodes: Any, num_nodes: Any, root: Any) -> Any:
    """See `ismcts.lead`."""
    return ismcts.lead(nodes, root)


@entry(nodes="node[num_nodes]", num_nodes="i32", root="i32", visits="i64[actions]")
def root_visits(nodes: Any, num_nodes: Any, root: Any, visits: Any) -> None:
    """See `ismcts.root_visits`."""
    ismcts.root_visits(nodes, root, visits)


@entry(
    "i32",
    rulesets="ruleset[1]",
    states="state[2]",
    **WHICH,
    **FOREST,
    exploration="f64",
    logarithms="f32[num_logarithms]",
    num_logarithms="i32",
    playout="i32",
    returns="i32",
    scale="f64",
)
def grow(
    rulesets: Any,
    states: Any,
    player: Any,
    seed: Any,
    begin: Any,
    end: Any,
    nodes: Any,
    num_nodes: Any,
    used: Any,
    paths: Any,
    mask: Any,
    sums: Any,
    decisions: Any,
    trees: Any,
    players: Any,
    split: Any,
    exploration: Any,
    logarithms: Any,
    num_logarithms: Any,
    playout: Any,
    returns: Any,
    scale: Any,
) -> Any:
    """See `ismcts.grow`."""
    forest = ismcts.Forest(nodes, used, paths, mask, sums, decisions)
    settings = ismcts.Settings(trees, players, split, exploration, logarithms, playout, returns, scale)
    return ismcts.grow(rulesets, states, player, seed, begin, end, forest, settings)


NETWORK = {
    "numbers": "f32[num_numbers]",
    "num_numbers": "i32",
    "widths": "i64[num_widths]",
    "num_widths": "i32",
    "units": "f32[batch, width]",
    "active": "i32[batch, width]",
    "values": "f32[batch, width]",
    "width": "i32",
    "batch": "i32",
}


@entry(**NETWORK, rows="i32")
def run_network(
    numbers: Any,
    num_numbers: Any,
    widths: Any,
    num_widths: Any,
    units: Any,
    active: Any,
    values: Any,
    width: Any,
    batch: Any,
    rows: Any,
) -> None:
    """See `network.forward`."""
    forward(Network(numbers, widths), Workspace(units, active, values), rows)


@entry(
    "i32",
    rulesets="ruleset[1]",
    states="state[num_states]",
    num_states="i32",
    **WHICH,
    **FOREST,
    logits="f32[num_logits, kept]",
    num_logits="i32",
    logits_used="i64[1]",
    flight_paths="i32[batch, players, deepest]",
    flight_assumed="f64[batch, players, deepest]",
    flight_movers="i8[batch, deepest]",
    flight_nodes="i64[batch, players]",
    flight_depth="i64[batch]",
    flight_first="i64[batch]",
    flight_status="i64[batch]",
    flight_ready="i8[batch]",
    flight_asked="i64[batch]",
    flight_world="i64[batch]",
    flight_replay="i64[batch]",
    flight_left="i64[batch]",
    flight_random="u64[batch]",
    flight_mask="i8[batch, actions]",
    flight_weights="f64[batch, actions]",
    flight_rows="i64[batch]",
    **NETWORK,
    shares="i32",
    margins="i32",
    exploration="f64",
    first_play="f64",
    temperature="f64",
    worlds="i32",
)
def grow_guided(
    rulesets: Any,
    states: Any,
    num_states: Any,
    player: Any,
    seed: Any,
    begin: Any,
    end: Any,
    nodes: Any,
    num_nodes: Any,
    used: Any,
    paths: Any,
    mask: Any,
    sums: Any,
    decisions: Any,
    trees: Any,
    players: Any,
    split: Any,
    logits: Any,
    num_logits: Any,
    logits_used: Any,
    flight_paths: Any,
    flight_assumed: Any,
    flight_movers: Any,
    flight_nodes: Any,
    flight_depth: Any,
    flight_first: Any,
    flight_status: Any,
    flight_ready: Any,
    flight_asked: Any,
    flight_world: Any,
    flight_replay: Any,
    flight_left: Any,
    flight_random: Any,
    flight_mask: Any,
    flight_weights: Any,
    flight_rows: Any,
    numbers: Any,
    num_numbers: Any,
    widths: Any,
    num_widths: Any,
    units: Any,
    active: Any,
    values: Any,
    width: Any,
    batch: Any,
    shares: Any,
    margins: Any,
    exploration: Any,
    first_play: Any,
    temperature: Any,
    worlds: Any,
) -> Any:
    """See `puct.grow_guided`."""
    forest = ismcts.Forest(nodes, used, paths, mask, sums, decisions)
    flights = puct.Flights(
        flight_paths,
        flight_assumed,
        flight_movers,
        flight_nodes,
        flight_depth,
        flight_first,
        flight_status,
        flight_ready,
        flight_asked,
        flight_world,
        flight_replay,
        flight_left,
        flight_random,
        flight_mask,
        flight_weights,
        flight_rows,
    )
    networks = puct.Networks(Network(numbers, widths), Workspace(units, active, values), shares, margins)
    settings = puct.Settings(trees, players, split, exploration, first_play, temperature, batch, worlds, False)
    return puct.grow_guided(
        rulesets, states, player, seed, begin, end, forest, puct.Kept(logits, logits_used), flights, networks, settings
    )


def entries_of(game: Game) -> list[Entry]:
    """The functions of a game's module, in order."""
    return [each for each in ENTRIES if each.game in ("", game.name)]
