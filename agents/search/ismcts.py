"""Information-set Monte Carlo tree search over the states of any game, compiled (Cowling, Powley and Whitehouse,
"Information Set Monte Carlo Tree Search", IEEE TCIAIG 4(2), 2012).

Each simulation starts from a fresh determinization of the searching player's information set, descends by
the upper confidence bound with availability counts, adds a node, plays out, and books a return for every seat.
Where players decide in secret there is a tree for each (the multiple-observer form): a player's decision is made
in its own tree, and every tree descends by what its player sees of it, a secret decision being one edge for all
others. Once everybody has decided, each tree descends by what has been shown. Without secrets all trees would be
the same, so there is one (the single-observer form). What chance brings has no edges: it is another determinization
that comes along the same one.

Nodes lie in one array, made before the search; children are a chain of siblings. A node's edge, the decision that
leads to it, carries the statistics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from siberia_agents.plan import greedy, heuristic
from siberia_env.core.engine import random_playout, sample_legal, settle
from siberia_env.core.jit import borrowed, kernel, kernel_part
from siberia_env.core.numeric import exp
from siberia_env.core.rng import advance, derive, scramble
from siberia_env.game import (
    MAX_PLAYERS,
    apply,
    current_player,
    determinize,
    is_over,
    is_secret,
    legal,
    revealed_hash,
    scores,
)

NODE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("first", "i4"),  # the child added last; NONE
                ("next", "i4"),  # the sibling added before; NONE
                ("edge", "i4"),  # what leads here: mover * MOST_ACTIONS + action, UNSEEN, or SHOWN less what was shown
                ("visits", "i4"),
                ("available", "i4"),  # visits of the parent at which the edge was legal
                ("prior", "f4"),  # of the policy that guides the search
                ("total", "f8"),  # of the returns to the player who decided
            ],
            align=True,
        ),
    )
)

NONE = -1  #: no node
UNSEEN = -2  #: the edge of another player's secret decision
SHOWN = -3  #: edges from here down: what has been shown

MOST_ACTIONS = 1024  #: edges of different players are so far apart
DEEPEST = 256  #: edges that a simulation can descend by

# Playouts, by number.
RANDOM, GREEDY, HEURISTIC = range(3)
PLAYOUTS = ("random", "greedy", "heuristic")

# What a search maximises, by number (see `book_returns`).
WIN, MARGIN, BOTH = range(3)
RETURNS = ("win", "margin", "both")


class Forest(NamedTuple):
    """What a search grows and works in: arrays made before it, A actions and P players."""

    nodes: Any  #: the trees (`NODE`), as `plant` or an earlier call left them
    used: Any  #: int64 [1], the number of nodes in use; where too few are left, `grow` returns early
    paths: Any  #: int32 [P, `DEEPEST`], overwritten
    mask: Any  #: int8 [A], overwritten
    sums: Any  #: float64 [A, 2, P]: by first action, sums of final scores (points) and of win shares; added to
    decisions: Any  #: int64 [1], decisions simulated; added to


class Settings(NamedTuple):
    """How a search goes about it."""

    trees: int  #: 1, or one for each player
    players: int  #: 2 to 4
    split: bool  #: whether trees descend by what is shown of secret decisions
    exploration: float  #: the weight of the bound
    logarithms: Any  #: float32, of each number below its length; there are at least as many as simulations
    playout: int  #: `RANDOM`, `GREEDY` or `HEURISTIC`
    returns: int  #: `WIN`, `MARGIN` or `BOTH`
    scale: float  #: see `book_returns`


@kernel_part
def find_child(nodes: Any, node: int, edge: int) -> int:
    """The child of `node` that `edge` leads to, or `NONE`."""
    child = nodes[node].first
    while child != NONE and nodes[child].edge != edge:
        child = nodes[child].next
    return int(child)


@kernel_part
def add_child(nodes: Any, used: Any, node: int, edge: int, prior: float) -> int:
    """A new child of `node`."""
    child = used[0]
    used[0] += 1
    new = nodes[child]
    new.first = NONE
    new.next = nodes[node].first
    new.edge = edge
    new.visits = 0
    new.available = 1
    new.prior = prior
    new.total = 0.0
    nodes[node].first = child
    return int(child)


@kernel_part
def descend(nodes: Any, used: Any, node: int, edge: int) -> int:
    """The child that `edge` leads to, made if there is none."""
    child = find_child(nodes, node, edge)
    return child if child != NONE else add_child(nodes, used, node, edge, 0.0)


@kernel
def plant(nodes: Any, used: Any, trees: int) -> None:
    """Leave nothing but a root for each of `trees` trees, at the start of `nodes`."""
    for root in range(trees):
        nodes[root].first = NONE
        nodes[root].next = NONE
        nodes[root].edge = NONE
        nodes[root].visits = 0
        nodes[root].available = 0
        nodes[root].prior = 0.0
        nodes[root].total = 0.0
    used[0] = trees


@kernel_part
def book_returns(kind: int, scale: float, points: Any, players: int, returns: Any) -> None:
    """Each player's return, 0 to 1, for final `points` in thousands.

    `WIN`: 1/k for each of k winners. `MARGIN`: by how much a player is ahead of the best other one, through a
    logistic curve that reaches 0.73 at `scale`. `BOTH`: the mean of the two.
    """
    best, second, count = -(10**9), -(10**9), 0
    for player in range(players):
        mine = int(points[player])
        if mine > best:
            best, second, count = mine, best, 1
        elif mine == best:
            second, count = best, count + 1
        elif mine > second:
            second = mine
    for player in range(players):
        mine = int(points[player])
        won = 1.0 / count if mine == best else 0.0
        if kind == WIN:
            returns[player] = won
        else:
            ahead = mine - (second if mine == best else best)
            returns[player] = 1.0 / (1.0 + exp(-ahead / scale))
            if kind == BOTH:
                returns[player] = 0.5 * (returns[player] + won)


@kernel
def playout(rulesets: Any, states: Any, i: int, mask: Any, kind: int, generator: Any) -> int:
    """Play `states[i]` to its end at random or by a plan; return the number of decisions."""
    if kind == RANDOM:
        return random_playout(rulesets, states, i, mask, generator)
    ruleset, state = rulesets[0], states[i]
    decisions = 0
    while not is_over(ruleset, state):
        legal(ruleset, state, mask)
        action = greedy(ruleset, state, mask) if kind == GREEDY else heuristic(ruleset, state, mask)
        apply(ruleset, state, action)
        settle(ruleset, state)
        decisions += 1
    return decisions


@kernel_part
def best_action(nodes: Any, node: int, mover: int, mask: Any, exploration: float, logarithms: Any) -> tuple[int, int]:
    """The tried legal action with the highest upper confidence bound, or `NONE`, and how many have been tried.

    Takes those out of `mask`: what is left has not been tried yet. An edge counts how often it was available; its
    bound is mean + exploration * sqrt(log(available) / visits). A node can be reached with different players on
    turn, when what is hidden decides whose turn it is: only edges of the `mover` count.
    """
    best, best_bound, found = NONE, -np.inf, 0
    actions = mask.shape[0]
    child = nodes[node].first
    while child != NONE:
        action = nodes[child].edge - mover * MOST_ACTIONS
        if 0 <= action < actions and mask[action]:
            mask[action] = 0
            found += 1
            visits = nodes[child].visits
            available = nodes[child].available
            nodes[child].available = available + 1
            bound = nodes[child].total / visits + exploration * np.sqrt(logarithms[available] / visits)
            if best == NONE or bound > best_bound:
                best, best_bound = int(action), bound
        child = nodes[child].next
    return best, found


@kernel_part
def take(
    ruleset: Any,
    state: Any,
    action: int,
    trees: int,
    split: bool,
    nodes: Any,
    used: Any,
    node: Any,
    paths: Any,
    movers: Any,
    depth: int,
) -> int:
    """Carry out `action` and descend every tree by what its player sees of it; return the depth reached.

    Args:
        ruleset: of the game.
        state: where the action is taken.
        action: a legal one.
        trees: 1, or one a player.
        split: whether trees descend by what is shown of secret decisions.
        nodes: the trees.
        used: int64 [1], the number of nodes in use.
        node: int64 [P], where each tree stands; moved on.
        paths: int32 [P, `DEEPEST`], the nodes of each tree so far; written at `depth`.
        movers: int8 [`DEEPEST`], who decided; likewise.
        depth: edges so far.
    """
    mover, secret = current_player(ruleset, state), is_secret(ruleset, state)
    for observer in range(trees):
        unseen = secret and observer != mover and trees > 1
        edge = UNSEEN if unseen else mover * MOST_ACTIONS + action
        node[observer] = descend(nodes, used, int(node[observer]), edge)
        paths[observer, depth] = node[observer]
    movers[depth] = mover
    depth += 1
    apply(ruleset, state, action)
    settle(ruleset, state)
    if split and secret and not is_secret(ruleset, state):
        for observer in range(trees):
            edge = SHOWN - (revealed_hash(ruleset, state, observer) >> 1)  # halved: the field of an edge holds them all
            node[observer] = descend(nodes, used, int(node[observer]), edge)
            paths[observer, depth] = node[observer]
        movers[depth] = mover
        depth += 1
    return depth


@kernel_part
def book(nodes: Any, trees: int, paths: Any, movers: Any, depth: int, returns: Any) -> None:
    """Count a simulation in the roots and on every edge of its paths, with the return of the player who decided."""
    for tree in range(trees):
        nodes[tree].visits += 1
        for step in range(depth):
            edge_node = nodes[paths[tree, step]]
            edge_node.visits += 1
            edge_node.total += returns[movers[step]]


@kernel
def grow(
    rulesets: Any,
    states: Any,
    player: int,
    seed: Any,
    begin: int,
    end: int,
    forest: Any,
    settings: Any,
) -> int:
    """Simulations number `begin` to `end` - 1 of a search by `player`; return the number of the next one due.

    Args:
        rulesets: of the game.
        states: two states: a sample of the player's information set, and one to work on.
        player: who searches, on turn in the sample.
        seed: uint64; with a simulation's number it decides all chance in it.
        begin: the first simulation.
        end: after the last.
        forest: a `Forest`, which the call changes.
        settings: `Settings`.
    """
    rulesets, states, nodes, used = borrowed(rulesets), borrowed(states), borrowed(forest.nodes), borrowed(forest.used)
    paths, mask, sums = borrowed(forest.paths), borrowed(forest.mask), borrowed(forest.sums)
    trees, players, split = settings.trees, settings.players, settings.split
    logarithms = borrowed(settings.logarithms)
    ruleset, state = rulesets[0], states[1]
    movers = np.zeros(DEEPEST, np.int8)
    node = np.zeros(MAX_PLAYERS, np.int64)
    points = np.zeros(MAX_PLAYERS, np.int64)
    returns = np.zeros(MAX_PLAYERS, np.float64)
    simulated = 0
    simulation = begin
    while simulation < end and used[0] + trees * DEEPEST <= nodes.shape[0]:
        states[1] = states[0]
        determinize(ruleset, state, player, derive(seed, simulation, 0))
        generator = derive(seed, simulation, 1)
        for tree in range(trees):
            node[tree] = tree
        depth, new, first = 0, False, -1
        while not (new or is_over(ruleset, state) or depth >= DEEPEST - 1):
            mover = current_player(ruleset, state)
            tree = mover if trees > 1 else 0
            count = legal(ruleset, state, mask)
            action, found = best_action(nodes, int(node[tree]), mover, mask, settings.exploration, logarithms)
            if found < count:
                generator = advance(generator)
                action = sample_legal(mask, count - found, scramble(generator))
                new = True
            first = action if depth == 0 else first
            depth = take(ruleset, state, action, trees, split, nodes, used, node, paths, movers, depth)
            simulated += 1
        simulated += playout(rulesets, states, 1, mask, settings.playout, scramble(advance(generator)))
        scores(ruleset, state, points)
        book_returns(settings.returns, settings.scale, points, players, returns)
        book(nodes, trees, paths, movers, depth, returns)
        book_sums(points, players, sums, first)
        simulation += 1
    forest.decisions[0] += simulated
    return simulation


@kernel
def book_sums(points: Any, players: int, sums: Any, first: int) -> None:
    """Add a simulation's final scores and win shares to those of its first action."""
    best, count = points[0], 0
    for player in range(players):
        best = max(best, points[player])
    for player in range(players):
        count += points[player] == best
    for player in range(players):
        sums[first, 0, player] += points[player]
        if points[player] == best:
            sums[first, 1, player] += 1.0 / count


@kernel
def root_visits(nodes: Any, root: int, visits: Any) -> None:
    """Add the visits of the actions at `root` to `visits` (int64 [A])."""
    child = nodes[root].first
    while child != NONE:
        visits[nodes[child].edge % MOST_ACTIONS] += nodes[child].visits
        child = nodes[child].next


@kernel
def lead(nodes: Any, root: int) -> int:
    """By how many visits the most visited action at `root` is ahead of the next."""
    best, second = 0, 0
    child = nodes[root].first
    while child != NONE:
        visits = nodes[child].visits
        if visits > best:
            best, second = int(visits), best
        elif visits > second:
            second = int(visits)
        child = nodes[child].next
    return best - second
