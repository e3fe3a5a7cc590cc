"""The search of `siberia_agents.search.ismcts` guided by a model: its policy is the prior, its shares the playout.

Descends by PUCT (Silver and others, "Mastering the game of Go without human knowledge", 2017; Rosin, 2011) among
the actions that are legal in each determinization. At a decision that has not been looked at, a pass through the
network gives every action its prior. If it is the searching player's, the simulation ends there, and every seat gets
the return that the network expects. What it expects depends on who asks: it was trained at the decisions of one player
among others, often weaker ones, so it expects more for whoever is on turn. Returns of positions with different players
on turn would not compare. Past decisions of others the simulation therefore goes on.

Several simulations are under way at the same time, so that the network runs for all of them together. An edge that
one of them has taken counts as visited, with the mean return that it had, until the simulation's own return is known.

A node keeps the logits that the network gave for it. Actions that become legal only in another determinization get
their prior from these, and priors are always taken among the actions that are legal in the world at hand.

A world takes long to draw where much is known of the hidden cards. So four simulations begin in each; `WORLDS` worlds
are in use at the same time, and simulations take turns in them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from siberia_agents.network import borrowed_network, borrowed_workspace, forward
from siberia_agents.search.ismcts import DEEPEST, MOST_ACTIONS, NONE, add_child, find_child, take
from siberia_env.core.engine import settle
from siberia_env.core.jit import borrowed, kernel, kernel_part
from siberia_env.core.numeric import exp
from siberia_env.core.rewards import MARGIN, MARGIN_UNIT, reward_of
from siberia_env.core.rng import advance, derive, scale, scramble
from siberia_env.game import (
    MAX_PLAYERS,
    apply,
    current_player,
    determinize,
    is_over,
    is_secret,
    legal,
    observe,
    reopen,
    scores,
    secret_decisions,
)

# Columns of `tally`.
FOUND, VISITS, TOTAL, PRIORS, TRIED = range(5)

# Columns of a row of kept logits, after those of the actions.
TOP, OWNER = range(2)
EXTRA = 2

# Where a simulation stands.
MOVING, AT_LEAF, AT_OTHERS, LANDED = range(4)

WORLDS = 64  #: worlds in use at the same time; simulations take turns, so that no two under way share one
REUSE = 4  #: simulations that begin in the same world; `determinize` takes longer than all else where much is known
MOST_ASKED = 32  #: decisions of others in a simulation about which the network is asked
FIRST_SHARE = 4  #: early in a search only one simulation is under way for so many that are done

#: The exponents of an action's weight lie between these; below the lowest it weighs `LEAST`.
LOWEST, MOST = -69.0, 60.0
LEAST = 1e-30
FINE = 1 << 24  #: steps of a random number from 0 to 1


class Networks(NamedTuple):
    """A model's network, and the arrays in which it runs."""

    network: Any  #: `network.Network`
    space: Any  #: `network.Workspace`, overwritten
    shares: int  #: the output where the shares of the win begin, logits by relative seat
    margins: int  #: the output where the final margins begin, by relative seat


class Kept(NamedTuple):
    """The logits that nodes keep, A actions. Row 0 is of no node."""

    logits: Any  #: float32 [rows, A + `EXTRA`]: the logits, the one whose weight is 1, and the player they are of
    used: Any  #: int64 [1], the number of rows in use


class Flights(NamedTuple):
    """The simulations under way, B at most; P players, A actions. All arrays are overwritten."""

    paths: Any  #: int32 [B, P, `DEEPEST`], the nodes of each tree so far
    assumed: Any  #: float64 [B, P, `DEEPEST`], the return that each edge got in advance
    movers: Any  #: int8 [B, `DEEPEST`], who decided
    nodes: Any  #: int64 [B, P], where each tree stands
    depth: Any  #: int64 [B], edges so far
    first: Any  #: int64 [B], the first action, or `NONE`
    status: Any  #: int64 [B], `MOVING` and so on
    ready: Any  #: int8 [B], whether `weights` are those of the decision that is due
    asked: Any  #: int64 [B], decisions of others that the network was asked about, `MOST_ASKED` at most
    world: Any  #: int64 [B], the number of the state that keeps the world as it was at the beginning
    replay: Any  #: int64 [B], whose secret decisions are drawn anew; P: nobody's any more
    left: Any  #: int64 [B], how many of them are left
    random: Any  #: uint64 [B], the state of a generator
    mask: Any  #: int8 [B, A], the legal actions
    weights: Any  #: float64 [B, A], the policy's likelihoods in the world at hand, up to a factor
    rows: Any  #: int64 [B], the simulation whose position each row of the network's input is


class Settings(NamedTuple):
    """How a guided search goes about it."""

    trees: int  #: 1, or one for each player
    players: int  #: 2 to 4
    split: bool  #: whether trees descend by what is shown of secret decisions
    exploration: float  #: the weight of priors
    first_play: float  #: see `most_promising`
    temperature: float  #: of the policy; above 1 priors are flatter
    batch: int  #: simulations under way at the same time
    worlds: int  #: decisions of others in a simulation whose priors the network gives for the world at hand
    even: bool  #: whether the first action is the one tried least, of those whose prior is above `LEAST`


@kernel_part
def kept_row(nodes: Any, node: int, mover: int, kept: Any, actions: int) -> int:
    """The row of the logits that `node` keeps for `mover`, or 0. The field `available` holds it, plus 1."""
    row = int(nodes[node].available) - 1
    if row > 0 and int(kept.logits[row, actions + OWNER]) == mover:
        return row
    return 0


@kernel_part
def weight_of(logit: Any, top: Any, temperature: float) -> float:
    """How likely the policy makes an action, next to one whose logit is `top`; `LEAST` where huge weights give none."""
    exponent = (np.float64(logit) - np.float64(top)) / temperature
    return exp(min(exponent, MOST)) if exponent > LOWEST else LEAST


@kernel_part
def count_edges(nodes: Any, node: int, mover: int, mask: Any, own: Any, ready: bool, tally: Any) -> None:
    """What the legal edges of `node` that are the `mover`'s come to.

    That is how many have a prior, their visits and returns, the sum of all priors and that of the priors tried.
    """
    actions = mask.shape[0]
    tally[:] = 0.0
    child = nodes[node].first
    while child != NONE:
        action = nodes[child].edge - mover * MOST_ACTIONS
        if 0 <= action < actions and mask[action]:
            prior = own[action] if ready else float(nodes[child].prior)
            tally[FOUND] += nodes[child].prior > 0.0
            tally[VISITS] += nodes[child].visits
            tally[TOTAL] += nodes[child].total
            tally[PRIORS] += prior
            if nodes[child].visits > 0:
                tally[TRIED] += prior
        child = nodes[child].next


@kernel_part
def untried_mean(first_play: float, tally: Any) -> float:
    """What an action not tried yet is thought to bring: the mean of all, less `first_play` times a root.

    The root is that of the part of the priors that has been tried.
    """
    if tally[VISITS] == 0 or tally[PRIORS] == 0:  # no priors where nothing else is legal: there nothing is untried
        return 0.5
    return tally[TOTAL] / tally[VISITS] - first_play * np.sqrt(tally[TRIED] / tally[PRIORS])


@kernel_part
def most_promising(
    nodes: Any, node: int, mover: int, mask: Any, own: Any, ready: bool, exploration: float, untried: float, tally: Any
) -> int:
    """The legal action with the highest mean + exploration * prior * sqrt(visits of all) / (1 + visits)."""
    actions = mask.shape[0]
    weight = exploration * np.sqrt(tally[VISITS] + 1.0) / tally[PRIORS]
    best, best_bound = NONE, -np.inf
    child = nodes[node].first
    while child != NONE:
        action = nodes[child].edge - mover * MOST_ACTIONS
        if 0 <= action < actions and mask[action]:
            visits = nodes[child].visits
            prior = own[action] if ready else float(nodes[child].prior)
            mean = nodes[child].total / visits if visits > 0 else untried
            bound = mean + weight * prior / (1 + visits)
            if best == NONE or bound > best_bound:
                best, best_bound = int(action), bound
        child = nodes[child].next
    return best


@kernel_part
def least_tried(nodes: Any, node: int, mover: int, mask: Any) -> int:
    """The legal action with the fewest visits of those whose prior is above `LEAST`, or `NONE`."""
    best, fewest = NONE, 0
    child = nodes[node].first
    while child != NONE:
        action = nodes[child].edge - mover * MOST_ACTIONS
        among = 0 <= action < mask.shape[0] and mask[action] and nodes[child].prior > 2 * LEAST
        if among and (best == NONE or nodes[child].visits < fewest):
            best, fewest = int(action), nodes[child].visits
        child = nodes[child].next
    return best


@kernel_part
def drawn_action(mask: Any, weights: Any, bits: Any) -> int:
    """A legal action drawn by its weight, by 64 random bits."""
    together = 0.0
    for action in range(mask.shape[0]):
        if mask[action]:
            together += weights[action]
    left = together * (scale(bits, FINE) + 0.5) / FINE
    drawn = NONE
    for action in range(mask.shape[0]):
        if mask[action] and left > 0.0:
            left -= weights[action]
            drawn = action
    return drawn


@kernel_part
def highest(logits: Any, mask: Any) -> Any:
    """The highest logit of a legal action."""
    top = np.float32(-1e30)
    for action in range(mask.shape[0]):
        if mask[action]:
            top = logits[action] if logits[action] > top else top
    return top


@kernel_part
def give_priors(nodes: Any, used: Any, node: int, mover: int, mask: Any, logits: Any, top: Any, scaled: float) -> None:
    """Give every legal edge of `node` that has no prior one by the policy's `logits`; make edges that are missing."""
    actions = mask.shape[0]
    childless = nodes[node].first == NONE
    for action in range(actions):
        if mask[action]:
            child = NONE if childless else find_child(nodes, node, mover * MOST_ACTIONS + action)
            if child == NONE:
                child = add_child(nodes, used, node, mover * MOST_ACTIONS + action, 0.0)
            if nodes[child].prior == 0.0:
                nodes[child].prior = weight_of(logits[action], top, scaled)


@kernel_part
def expand(nodes: Any, used: Any, node: int, mover: int, mask: Any, kept: Any, logits: Any, temperature: float) -> None:
    """Give the legal edges of `node` their priors, and keep the `logits` as long as there is room."""
    actions = mask.shape[0]
    top = highest(logits, mask)
    child = nodes[node].first
    while child != NONE:  # edges taken where nothing else was legal, or by logits that were not kept
        action = nodes[child].edge - mover * MOST_ACTIONS
        if 0 <= action < actions:
            nodes[child].prior = weight_of(logits[action], top, temperature)
        child = nodes[child].next
    give_priors(nodes, used, node, mover, mask, logits, top, temperature)
    row = int(kept.used[0])
    if nodes[node].available <= 1 and row < kept.logits.shape[0]:
        for action in range(actions):
            kept.logits[row, action] = logits[action]
        kept.logits[row, actions + TOP] = top
        kept.logits[row, actions + OWNER] = mover
        kept.used[0] += 1
        nodes[node].available = row + 1


@kernel_part
def expected(outputs: Any, networks: Any, mover: int, players: int, margins: Any, returns: Any) -> None:
    """Every seat's expected margin and share of the win, as the network sees a position from the `mover`'s seat.

    The margins are centred, so that they sum to zero as those of a game's end do.
    """
    top, together, middle = -1e30, 0.0, 0.0
    for relative in range(players):
        top = max(top, float(outputs[networks.shares + relative]))
        middle += float(outputs[networks.margins + relative]) / players
    for relative in range(players):
        seat = mover + relative if mover + relative < players else mover + relative - players
        returns[seat] = exp(float(outputs[networks.shares + relative]) - top)
        margins[seat] = float(outputs[networks.margins + relative]) - middle
        together += returns[seat]
    known = together > 0.0 and together <= players  # not so where a model with huge weights gives no numbers
    for seat in range(players):
        returns[seat] = returns[seat] / together if known else 1.0 / players


@kernel_part
def final(ruleset: Any, state: Any, players: int, margins: Any, returns: Any) -> None:
    """Every seat's margin (`rewards.MARGIN`) and share of the win, as the scores stand."""
    points = np.zeros(MAX_PLAYERS, np.int64)
    winners = np.zeros(MAX_PLAYERS, np.int8)
    paid = np.zeros(MAX_PLAYERS, np.float32)
    scores(ruleset, state, points)
    reward_of(MARGIN, points, winners, 1, players, paid)
    best, count = points[0], 0
    for seat in range(players):
        best = max(best, points[seat])
    for seat in range(players):
        count += points[seat] == best
    for seat in range(players):
        margins[seat] = paid[seat]
        returns[seat] = 1.0 / count if points[seat] == best else 0.0


@kernel_part
def launch(
    rulesets: Any, states: Any, player: int, seed: Any, simulation: int, slot: int, flights: Any, settings: Any
) -> None:
    """Begin a simulation, in a world of its own or in one that an earlier simulation has left."""
    ruleset, state = rulesets[0], states[1 + slot]
    world = 1 + settings.batch + simulation % WORLDS
    fresh = simulation // WORLDS % REUSE == 0
    flights.world[slot] = world
    if fresh:
        states[1 + slot] = states[0]
        determinize(ruleset, state, player, derive(seed, simulation, 0))
        states[world] = state
    else:
        states[1 + slot] = states[world]
    for tree in range(settings.trees):
        flights.nodes[slot, tree] = tree
    flights.depth[slot] = 0
    flights.first[slot] = NONE
    flights.status[slot] = MOVING
    flights.ready[slot] = 0
    flights.asked[slot] = 0
    flights.left[slot] = 0
    secret = fresh and settings.trees > 1 and is_secret(ruleset, state)
    flights.replay[slot] = 0 if secret else settings.players
    flights.random[slot] = derive(seed, simulation, 1)


@kernel_part
def redraw_secrets(rulesets: Any, states: Any, player: int, slot: int, flights: Any, players: int) -> bool:
    """Draw the others' secret decisions from the policy, one after the other; return whether it is to be asked.

    `determinize` draws them uniformly. The policy's view of each decision includes the decisions drawn before.
    """
    ruleset, state, mask = rulesets[0], states[1 + slot], flights.mask[slot]
    due = False
    while not due and flights.replay[slot] < players:
        other = int(flights.replay[slot])
        if flights.left[slot] == 0:
            count = 0 if other == player else secret_decisions(ruleset, states[0], other)
            if count > 0:
                reopen(ruleset, state, other, 0)
                flights.left[slot] = count
        if flights.left[slot] == 0:
            flights.replay[slot] += 1
        else:
            count = legal(ruleset, state, mask)
            due = count > 1 and flights.ready[slot] == 0
            if not due:
                for action in range(mask.shape[0]):
                    if count == 1 and mask[action]:
                        flights.weights[slot, action] = 1.0
                flights.random[slot] = advance(flights.random[slot])
                apply(ruleset, state, drawn_action(mask, flights.weights[slot], scramble(flights.random[slot])))
                settle(ruleset, state)
                flights.ready[slot] = 0
                flights.left[slot] -= 1
                flights.replay[slot] += flights.left[slot] == 0
        if flights.replay[slot] == players:
            reopen(ruleset, state, player, secret_decisions(ruleset, states[0], player))
            states[int(flights.world[slot])] = state
    return due


@kernel_part
def fly(
    rulesets: Any,
    states: Any,
    player: int,
    slot: int,
    nodes: Any,
    used: Any,
    kept: Any,
    flights: Any,
    tally: Any,
    settings: Any,
) -> int:
    """Carry a simulation on until the network is to be asked or the game is over; return the decisions taken."""
    ruleset, state = rulesets[0], states[1 + slot]
    node, mask, weights = flights.nodes[slot], flights.mask[slot], flights.weights[slot]
    trees, players, actions = settings.trees, settings.players, mask.shape[0]
    taken = 0
    if flights.replay[slot] < players and redraw_secrets(rulesets, states, player, slot, flights, players):
        flights.status[slot] = AT_OTHERS
        return taken
    flights.status[slot] = MOVING
    while flights.status[slot] == MOVING:
        depth = int(flights.depth[slot])
        if is_over(ruleset, state) or depth >= DEEPEST - 1:
            flights.status[slot] = LANDED
            break
        mover = current_player(ruleset, state)
        here = int(node[mover if trees > 1 else 0])
        count = legal(ruleset, state, mask)
        ready = flights.ready[slot] == 1
        count_edges(nodes, here, mover, mask, weights, ready, tally)
        if tally[FOUND] < count:
            row = kept_row(nodes, here, mover, kept, actions)
            if row > 0:
                logits = kept.logits[row]
                give_priors(nodes, used, here, mover, mask, logits, logits[actions + TOP], settings.temperature)
                count_edges(nodes, here, mover, mask, weights, ready, tally)
        if count > 1 and tally[FOUND] < count:
            flights.status[slot] = AT_LEAF
            break
        if count > 1 and mover != player and not ready and flights.asked[slot] < min(settings.worlds, MOST_ASKED):
            flights.asked[slot] += 1
            flights.status[slot] = AT_OTHERS
            break
        untried = untried_mean(settings.first_play, tally)
        action = NONE
        if count == 1:
            for only in range(actions):
                if mask[only]:
                    action = only
        elif settings.even and depth == 0:
            action = least_tried(nodes, here, mover, mask)
        else:
            action = most_promising(nodes, here, mover, mask, weights, ready, settings.exploration, untried, tally)
        flights.ready[slot] = 0
        flights.first[slot] = action if depth == 0 else flights.first[slot]
        reached = take(
            ruleset,
            state,
            action,
            trees,
            settings.split,
            nodes,
            used,
            node,
            flights.paths[slot],
            flights.movers[slot],
            depth,
        )
        for tree in range(trees):
            for step in range(depth, reached):
                edge_node = nodes[flights.paths[slot, tree, step]]
                mean = edge_node.total / edge_node.visits if edge_node.visits > 0 else max(untried, 0.0)
                flights.assumed[slot, tree, step] = mean
                edge_node.visits += 1
                edge_node.total += mean
        flights.depth[slot] = reached
        taken += 1
    return taken


@kernel_part
def land(nodes: Any, sums: Any, slot: int, flights: Any, trees: int, players: int, margins: Any, returns: Any) -> None:
    """Book what a simulation came to, in place of what its edges got in advance."""
    for tree in range(trees):
        nodes[tree].visits += 1
        for step in range(flights.depth[slot]):
            edge_node = nodes[flights.paths[slot, tree, step]]
            edge_node.total += returns[flights.movers[slot, step]] - flights.assumed[slot, tree, step]
    first = int(flights.first[slot])
    if first != NONE:
        for seat in range(players):
            sums[first, 0, seat] += margins[seat] * MARGIN_UNIT
            sums[first, 1, seat] += returns[seat]
    flights.status[slot] = LANDED


@kernel_part
def borrowed_flights(flights: Any) -> Any:
    """The same `Flights` with each array `borrowed`."""
    return Flights(
        borrowed(flights.paths),
        borrowed(flights.assumed),
        borrowed(flights.movers),
        borrowed(flights.nodes),
        borrowed(flights.depth),
        borrowed(flights.first),
        borrowed(flights.status),
        borrowed(flights.ready),
        borrowed(flights.asked),
        borrowed(flights.world),
        borrowed(flights.replay),
        borrowed(flights.left),
        borrowed(flights.random),
        borrowed(flights.mask),
        borrowed(flights.weights),
        borrowed(flights.rows),
    )


@kernel
def grow_guided(
    rulesets: Any,
    states: Any,
    player: int,
    seed: Any,
    begin: int,
    end: int,
    forest: Any,
    kept: Any,
    flights: Any,
    networks: Any,
    settings: Any,
) -> int:
    """Simulations number `begin` to `end` - 1 of a guided search; return the number of the next one due.

    Args:
        rulesets: of the game.
        states: a sample of the player's information set, B states to work on, and `WORLDS` for the worlds in use.
        player: who searches, on turn in the sample.
        seed: uint64; with a simulation's number it decides all chance in it.
        begin: the first simulation.
        end: after the last.
        forest: `ismcts.Forest`, which the call changes. In its `sums` expected margins (thousands) take the place of
            scores, and returns that of win shares. Its `paths` and `mask` are not used.
        kept: `Kept`, which the call changes.
        flights: `Flights`.
        networks: `Networks`.
        settings: `Settings`.
    """
    rulesets, states = borrowed(rulesets), borrowed(states)
    nodes, used, sums = borrowed(forest.nodes), borrowed(forest.used), borrowed(forest.sums)
    kept = Kept(borrowed(kept.logits), borrowed(kept.used))
    flights = borrowed_flights(flights)
    network, space = borrowed_network(networks.network), borrowed_workspace(networks.space)
    trees, players, actions = settings.trees, settings.players, flights.mask.shape[1]
    ruleset = rulesets[0]
    margins = np.zeros(MAX_PLAYERS, np.float64)
    returns = np.zeros(MAX_PLAYERS, np.float64)
    tally = np.zeros(5, np.float64)
    room = settings.batch * ((trees + 1) * DEEPEST + (MOST_ASKED + 2) * actions)
    simulated = 0
    simulation = begin
    while simulation < end and used[0] + room <= nodes.shape[0]:
        size = max(1, min(settings.batch, simulation // FIRST_SHARE, end - simulation))
        for slot in range(size):
            launch(rulesets, states, player, seed, simulation + slot, slot, flights, settings)
        rows = size
        while rows > 0:
            rows = 0
            for slot in range(size):
                if flights.status[slot] != LANDED:
                    simulated += fly(rulesets, states, player, slot, nodes, used, kept, flights, tally, settings)
                    if flights.status[slot] == LANDED:
                        final(ruleset, states[1 + slot], players, margins, returns)
                        land(nodes, sums, slot, flights, trees, players, margins, returns)
                    else:
                        state = states[1 + slot]
                        observe(ruleset, state, current_player(ruleset, state), space.units[rows])
                        flights.rows[rows] = slot
                        rows += 1
            forward(network, space, rows)
            for row in range(rows):
                slot = int(flights.rows[row])
                mover, mask = current_player(ruleset, states[1 + slot]), flights.mask[slot]
                outputs = space.units[row]
                if flights.status[slot] == AT_LEAF:
                    here = int(flights.nodes[slot, mover if trees > 1 else 0])
                    if kept_row(nodes, here, mover, kept, actions) == 0:  # else one before it in the batch was here
                        expand(nodes, used, here, mover, mask, kept, outputs, settings.temperature)
                    if mover == player or flights.asked[slot] == MOST_ASKED:
                        expected(outputs, networks, mover, players, margins, returns)
                        land(nodes, sums, slot, flights, trees, players, margins, returns)
                    else:
                        flights.asked[slot] += 1
                if flights.status[slot] != LANDED:
                    top = highest(outputs, mask)
                    temperature = 1.0 if flights.replay[slot] < players else settings.temperature
                    for action in range(actions):
                        if mask[action]:
                            flights.weights[slot, action] = weight_of(outputs[action], top, temperature)
                    flights.ready[slot] = 1
        simulation += size
    forest.decisions[0] += simulated
    return simulation
