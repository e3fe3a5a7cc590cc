"""The search of `siberia_agents.search.ismcts` guided by a model: its policy is the prior, its value the playout.

Descends by PUCT (Silver and others, "Mastering the game of Go without human knowledge", 2017; Rosin, 2011) among
the actions that are legal in each determinization. A simulation ends at a decision that has not been looked at:
there the policy gives every action its prior and the value network every seat its return. Actions that come up
later, in another determinization, get their prior when they do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from siberia_agents.network import forward
from siberia_agents.search.ismcts import DEEPEST, MOST_ACTIONS, NONE, add_child, book, find_child, take
from siberia_env.core.engine import MARGIN, MARGIN_UNIT, reward_of
from siberia_env.core.jit import borrowed, kernel, kernel_part
from siberia_env.core.rng import mix
from siberia_env.game import (
    MAX_PLAYERS,
    current_player,
    determinize,
    is_over,
    legal,
    observe,
    scores,
)

# Columns of `tally`.
FOUND, VISITS, TOTAL, PRIORS = range(4)


class Networks(NamedTuple):
    """A model's networks (`network.flatten`), and what they are run in. W is the widest layer."""

    policy: Any  #: the policy's numbers
    policy_widths: Any
    value: Any  #: the value network's numbers
    value_widths: Any
    units: Any  #: float32 [2, W], overwritten
    active: Any  #: int32 [W], overwritten


class Settings(NamedTuple):
    """How a guided search goes about it."""

    trees: int  #: 1, or one for each player
    players: int  #: 2 to 4
    split: bool  #: whether trees descend by what is shown of secret decisions
    exploration: float  #: the weight of priors
    first_play: float  #: see `most_promising`
    temperature: float  #: of the policy; above 1 priors are flatter
    scale: float  #: margin at which a return is 0.73, in thousands: 1 / (1 + exp(-margin / scale))


@kernel_part
def count_edges(nodes: Any, node: int, mover: int, mask: Any, tally: Any) -> None:
    """What the legal edges of `node` that are the `mover`'s come to: their number, visits, returns and priors."""
    actions = mask.shape[0]
    tally[:] = 0.0
    child = nodes[node].first
    while child != NONE:
        action = nodes[child].edge - mover * MOST_ACTIONS
        if 0 <= action < actions and mask[action]:
            tally[FOUND] += 1.0
            tally[VISITS] += nodes[child].visits
            tally[TOTAL] += nodes[child].total
            if nodes[child].visits > 0:
                tally[PRIORS] += nodes[child].prior
        child = nodes[child].next


@kernel_part
def most_promising(
    nodes: Any, node: int, mover: int, mask: Any, exploration: float, first_play: float, tally: Any
) -> int:
    """The legal action with the highest mean + exploration * prior * sqrt(visits of all) / (1 + visits).

    An action not tried yet counts as the mean of all, less `first_play` times the root of the priors tried.
    """
    actions = mask.shape[0]
    weight = exploration * np.sqrt(tally[VISITS] + 1.0)
    untried = 0.5
    if tally[VISITS] > 0:
        untried = tally[TOTAL] / tally[VISITS] - first_play * np.sqrt(tally[PRIORS])
    best, best_bound = NONE, -1e9
    child = nodes[node].first
    while child != NONE:
        action = nodes[child].edge - mover * MOST_ACTIONS
        if 0 <= action < actions and mask[action]:
            visits = nodes[child].visits
            mean = nodes[child].total / visits if visits > 0 else untried
            bound = mean + weight * nodes[child].prior / (1 + visits)
            if bound > best_bound:
                best, best_bound = int(action), bound
        child = nodes[child].next
    return best


@kernel
def expand(
    ruleset: Any,
    state: Any,
    mover: int,
    nodes: Any,
    used: Any,
    node: int,
    mask: Any,
    policy: Any,
    policy_widths: Any,
    units: Any,
    active: Any,
    temperature: float,
) -> None:
    """Give `node` an edge for each legal action that has none, its prior from the policy's view of `state`."""
    observe(ruleset, state, mover, units[0])
    row = forward(policy, policy_widths, units, active)
    logits = units[row]
    actions = mask.shape[0]
    highest = np.float32(-1e30)
    for action in range(actions):
        if mask[action]:
            highest = max(highest, logits[action])
    together = 0.0
    for action in range(actions):
        if mask[action]:
            logits[action] = np.exp((logits[action] - highest) / temperature)
            together += logits[action]
    for action in range(actions):
        if mask[action] and find_child(nodes, node, mover * MOST_ACTIONS + action) == NONE:
            add_child(nodes, used, node, mover * MOST_ACTIONS + action, logits[action] / together)


@kernel
def evaluate(
    ruleset: Any,
    state: Any,
    mover: int,
    players: int,
    value: Any,
    value_widths: Any,
    units: Any,
    active: Any,
    margins: Any,
) -> None:
    """Every seat's expected margin at the end (`engine.MARGIN`), as the value network sees `state` from each.

    The network tells what is still to come (`Model.values`). With two players one margin is the other's opposite.
    """
    standing(ruleset, state, players, margins)
    if players == 2:
        observe(ruleset, state, mover, units[0])
        row = forward(value, value_widths, units, active)
        margins[mover] += units[row, 0]
        margins[1 - mover] = -margins[mover]
    else:
        for seat in range(players):
            observe(ruleset, state, seat, units[0])
            row = forward(value, value_widths, units, active)
            margins[seat] += units[row, 0]


@kernel_part
def standing(ruleset: Any, state: Any, players: int, margins: Any) -> None:
    """Every seat's margin as of now."""
    points = np.zeros(MAX_PLAYERS, np.int64)
    winners = np.zeros(MAX_PLAYERS, np.int8)
    paid = np.zeros(MAX_PLAYERS, np.float32)
    scores(ruleset, state, points)
    reward_of(MARGIN, points, winners, 1, players, paid)
    for seat in range(players):
        margins[seat] = paid[seat]


@kernel
def grow_guided(
    rulesets: Any,
    states: Any,
    player: int,
    seed: Any,
    begin: int,
    end: int,
    forest: Any,
    networks: Any,
    settings: Any,
) -> int:
    """Simulations number `begin` to `end` - 1 of a guided search; return the number of the next one due.

    Args:
        rulesets: of the game.
        states: two states: a sample of the player's information set, and one to work on.
        player: who searches, on turn in the sample.
        seed: uint64; with a simulation's number it decides all chance in it.
        begin: the first simulation.
        end: after the last.
        forest: `ismcts.Forest`, which the call changes. In its `sums` expected margins (thousands) take the place of
            scores, and returns that of win shares.
        networks: `Networks`.
        settings: `Settings`.
    """
    rulesets, states, nodes, used = borrowed(rulesets), borrowed(states), borrowed(forest.nodes), borrowed(forest.used)
    paths, mask, sums = borrowed(forest.paths), borrowed(forest.mask), borrowed(forest.sums)
    policy, policy_widths = borrowed(networks.policy), borrowed(networks.policy_widths)
    value, value_widths = borrowed(networks.value), borrowed(networks.value_widths)
    units, active = borrowed(networks.units), borrowed(networks.active)
    trees, players, split = settings.trees, settings.players, settings.split
    temperature = settings.temperature
    ruleset, state = rulesets[0], states[1]
    movers = np.zeros(DEEPEST, np.int8)
    node = np.zeros(MAX_PLAYERS, np.int64)
    margins = np.zeros(MAX_PLAYERS, np.float64)
    returns = np.zeros(MAX_PLAYERS, np.float64)
    tally = np.zeros(4, np.float64)
    simulated = 0
    simulation = begin
    room = (trees + 1) * DEEPEST + 2 * mask.shape[0]
    while simulation < end and used[0] + room <= nodes.shape[0]:
        states[1] = states[0]
        determinize(ruleset, state, player, mix(seed, simulation, 0))
        for tree in range(trees):
            node[tree] = tree
        depth, first, added = 0, -1, 0
        while True:
            if is_over(ruleset, state) or depth >= DEEPEST - 1:
                standing(ruleset, state, players, margins)
                break
            mover = current_player(ruleset, state)
            tree = mover if trees > 1 else 0
            here = int(node[tree])
            count = legal(ruleset, state, mask)
            count_edges(nodes, here, mover, mask, tally)
            found = int(tally[FOUND])
            if found < count:
                expand(
                    ruleset, state, mover, nodes, used, here, mask, policy, policy_widths, units, active, temperature
                )
                added += count - found
                if (found == 0 and count > 1) or added > mask.shape[0]:
                    evaluate(ruleset, state, mover, players, value, value_widths, units, active, margins)
                    break
            action = most_promising(nodes, here, mover, mask, settings.exploration, settings.first_play, tally)
            first = action if depth == 0 else first
            depth = take(ruleset, state, action, trees, split, nodes, used, node, paths, movers, depth)
            simulated += 1
        for seat in range(players):
            margins[seat] *= MARGIN_UNIT
            returns[seat] = 1.0 / (1.0 + np.exp(-margins[seat] / settings.scale))
        book(nodes, trees, paths, movers, depth, returns)
        if first >= 0:
            for seat in range(players):
                sums[first, 0, seat] += margins[seat]
                sums[first, 1, seat] += returns[seat]
        simulation += 1
    forest.decisions[0] += simulated
    return simulation
