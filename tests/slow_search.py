"""Tree search the slow way: dictionaries of named edges, Python throughout, every sum written out.

What `siberia_agents.search.ismcts` and `puct` have to find, to the last visit, from the same random draws.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from siberia_agents import network
from siberia_agents.greedy import greedy_at
from siberia_agents.heuristic import heuristic_at
from siberia_agents.learned import Model
from siberia_agents.search import ismcts
from siberia_agents.search.agent import SearchAgent, SearchResult
from siberia_env.board.state import NOT_PLACED, PLACE
from siberia_env.core import engine, rewards
from siberia_env.core.rng import advance, derive, scale, scramble
from siberia_env.game import States, Variant, revealed_hash

FINE = 1 << 24  #: steps of a random number from 0 to 1
MOST_ASKED = 32  #: decisions of others in a simulation of guided search about which the network is asked
UNSEEN = "unseen"  #: the edge of a decision that others make in secret


@dataclass
class SlowNode:
    """What led here is the key under which the parent has it."""

    prior: float = 0.0
    visits: int = 0
    available: int = 0
    total: float = 0.0
    children: dict[Any, SlowNode] = field(default_factory=dict)
    #: Whose logits a node keeps, the logits, and the one of which the prior is 1.
    logits: tuple[int, NDArray[np.float64], float] | None = None

    def child(self, edge: Hashable) -> SlowNode:
        """Where `edge` leads."""
        if edge not in self.children:
            self.children[edge] = SlowNode(available=1)
        return self.children[edge]


def slow_returns(kind: str, margin_scale: float, points: list[int]) -> list[float]:
    """Everybody's return for final scores."""
    best = max(points)
    won = [1 / points.count(best) if mine == best else 0.0 for mine in points]
    ahead = [mine - max(points[:seat] + points[seat + 1 :]) for seat, mine in enumerate(points)]
    margin = [1 / (1 + exp(-points_ahead / margin_scale)) for points_ahead in ahead]
    return {"win": won, "margin": margin, "both": [(w + m) / 2 for w, m in zip(won, margin, strict=True)]}[kind]


def uint64(value: Any) -> Any:
    """A random number as kernels take it; they give it back as an `int`."""
    return np.uint64(value)


class SlowSearch:
    """A search by `player` from `sample`; `simulate` adds one simulation at a time.

    Attributes:
        roots: of the only tree, or of each player's.
        points: by first action, the final scores of each simulation.
    """

    def __init__(self, variant: Variant, sample: States, player: int, seed: int, split: bool = True) -> None:
        self.variant, self.sample, self.player, self.split = variant, sample, player, split
        self.seed = uint64(seed)
        self.roots = [SlowNode() for _ in range(variant.num_players if variant.game.has_secrets else 1)]
        self.states = variant.new_states()
        self.mask = np.zeros(variant.game.num_actions, np.int8)
        self.points: dict[int, list[list[int]]] = {}
        self.decisions = 0
        self.simulations = 0

    # ------------------------------------------------------------ the game

    @property
    def over(self) -> bool:
        return bool(engine.is_over_at(self.variant.rulesets, self.states, 0))

    @property
    def mover(self) -> int:
        return int(engine.current_player_at(self.variant.rulesets, self.states, 0))

    @property
    def secret(self) -> bool:
        return self.variant.game.name == "board" and self.states[0].phase == PLACE

    def legal(self) -> list[int]:
        engine.legal_at(self.variant.rulesets, self.states, 0, self.mask)
        return [int(action) for action in np.flatnonzero(self.mask)]

    def step(self, action: int) -> None:
        engine.advance_at(self.variant.rulesets, self.states, 0, action)
        while engine.is_chance_at(self.variant.rulesets, self.states, 0):
            engine.resolve_at(self.variant.rulesets, self.states, 0)
        self.decisions += 1

    def scores(self) -> list[int]:
        out = np.zeros(self.variant.num_players, np.int64)
        engine.scores_at(self.variant.rulesets, self.states, 0, out)
        return [int(points) for points in out]

    def revealed_to(self, observer: int) -> Hashable:
        """What the others drew and where they placed it."""
        state, players = self.states[0], range(self.variant.num_players)
        return tuple(
            tuple(zip(state.drawn[other].tolist(), state.plan[other].tolist(), strict=True))
            for other in players
            if other != observer
        )

    # ------------------------------------------------------------ the search

    def simulate(self) -> None:
        """One simulation."""
        self.states[0] = self.sample[0]
        engine.determinize_at(
            self.variant.rulesets, self.states, 0, self.player, uint64(derive(self.seed, self.simulations, 0))
        )
        path: list[tuple[int, list[SlowNode]]] = []  # who decided, and where each tree came to
        returns = self.descend([*self.roots], path)
        for root in self.roots:
            root.visits += 1
        for mover, nodes in path:
            for node in nodes:
                node.visits += 1
                node.total += returns[mover]
        self.simulations += 1

    def take(self, action: int, nodes: list[SlowNode], path: list[tuple[int, list[SlowNode]]]) -> None:
        """Carry out `action` and move `nodes` on, each by what its tree's player sees."""
        mover, secret = self.mover, self.secret
        for observer in range(len(nodes)):
            hidden = secret and observer != mover
            nodes[observer] = nodes[observer].child(UNSEEN if hidden else (mover, action))
        path.append((mover, [*nodes]))
        self.step(action)
        if self.split and secret and not self.secret:
            for observer in range(len(nodes)):
                nodes[observer] = nodes[observer].child(self.revealed_to(observer))
            path.append((mover, [*nodes]))

    def descend(self, nodes: list[SlowNode], path: list[tuple[int, list[SlowNode]]]) -> list[float]:
        """From the roots to everybody's return."""
        raise NotImplementedError

    def own_node(self, nodes: list[SlowNode]) -> SlowNode:
        """Where the tree of the player on turn stands."""
        return nodes[self.mover if len(nodes) > 1 else 0]

    def root_children(self) -> dict[int, SlowNode]:
        """Where each action of the player who searches leads."""
        root = self.roots[self.player if len(self.roots) > 1 else 0]
        return {edge[1]: node for edge, node in root.children.items() if isinstance(edge, tuple)}


class SlowPlain(SlowSearch):
    """Information-set Monte Carlo tree search with playouts."""

    def __init__(
        self, *given: Any, exploration: float, playout: str, returns: str, margin_scale: float, **options: Any
    ) -> None:
        super().__init__(*given, **options)
        self.exploration, self.playout = exploration, playout
        self.returns, self.margin_scale = returns, margin_scale

    def descend(self, nodes: list[SlowNode], path: list[tuple[int, list[SlowNode]]]) -> list[float]:
        generator = uint64(derive(self.seed, self.simulations, 1))
        first, new = None, False
        while not (new or self.over):
            node, mover, actions = self.own_node(nodes), self.mover, self.legal()
            tried = {action: node.children[mover, action] for action in actions if (mover, action) in node.children}
            untried = [action for action in actions if action not in tried]
            if untried:
                generator = uint64(advance(generator))
                action, new = untried[scale(uint64(scramble(generator)), len(untried))], True
            else:
                # Of equal bounds the edge that was added last wins.
                order = [edge[1] for edge in reversed(node.children) if edge[0] == mover and edge[1] in tried]
                action = max(order, key=lambda action: self.bound(tried[action]))
            for child in tried.values():
                child.available += 1
            first = action if first is None else first
            self.take(action, nodes, path)
        generator = uint64(scramble(uint64(advance(generator))))
        while not self.over:
            actions = self.legal()
            if self.playout == "random":
                generator = uint64(advance(generator))
                self.step(actions[scale(uint64(scramble(generator)), len(actions))])
            else:
                plan = {"greedy": greedy_at, "heuristic": heuristic_at}[self.playout]
                self.step(plan(self.variant.rulesets, self.states, 0, self.mask))
        points = self.scores()
        assert first is not None
        self.points.setdefault(first, []).append(points)
        return slow_returns(self.returns, self.margin_scale, points)

    def bound(self, node: SlowNode) -> float:
        """UCB1, with how often the edge was available in place of its parent's visits."""
        logarithm = float(np.float32(log(node.available)))
        return node.total / node.visits + self.exploration * sqrt(logarithm / node.visits)


@dataclass
class Flight:
    """A simulation under way.

    Attributes:
        states: its world.
        nodes: where each tree stands.
        generator: its own random numbers.
        path: by edge, who decided, where each tree came to, and the return that was credited in advance to each.
        first: its first action.
        asked: decisions of others about which the network was asked.
        fresh: whether no simulation began in its world before.
        weights: the policy's likelihoods for the decision that is due, up to a factor, once the network was asked.
        course: what it does, up to the next time when it needs the network.
    """

    states: States
    nodes: list[SlowNode]
    generator: int
    path: list[tuple[int, list[SlowNode], list[float]]] = field(default_factory=list)
    first: int | None = None
    asked: int = 0
    fresh: bool = True
    weights: dict[int, float] | None = None
    course: Iterator[str] = field(default_factory=lambda: iter(()))

    def drawn(self) -> int:
        """An action by its weight."""
        assert self.weights is not None
        self.generator = uint64(advance(self.generator))
        left = sum(self.weights.values()) * (scale(uint64(scramble(self.generator)), FINE) + 0.5) / FINE
        actions = list(self.weights)
        sums = np.cumsum([self.weights[action] for action in actions])
        return actions[min(int((sums < left).sum()), len(actions) - 1)]


class AsRounded(Model):
    """A model whose numbers are rounded as those of the compiled network: a last place could decide what is visited.

    `tests/test_network.py` compares that network with the model's own.
    """

    def outputs(self, observation: NDArray[np.float32]) -> NDArray[np.float64]:
        """All outputs, float64 [1, outputs]."""
        flat = network.flatten(self.layers)
        space = network.workspace(flat, 1)
        space.units[:, : observation.shape[1]] = observation
        network.forward(flat, space, 1)
        return space.units[:, : flat.widths[-1]].astype(float)

    def logits(self, observation: NDArray[np.float32]) -> Any:
        """As of the model."""
        return self.outputs(observation)[:, self.head("policy")]

    def margins(self, observation: NDArray[np.float32]) -> Any:
        """As of the model."""
        return self.outputs(observation)[:, self.head("margins")]

    def shares(self, observation: NDArray[np.float32], num_players: int) -> Any:
        """As of the model."""
        logits = self.outputs(observation)[:, self.head("shares")][:, :num_players]
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)


class SlowGuided(SlowSearch):
    """Tree search with a model's policy as the prior and its win shares in place of playouts."""

    def __init__(
        self,
        *given: Any,
        model: Model,
        exploration: float,
        first_play: float,
        temperature: float,
        batch: int,
        worlds: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(*given, **options)
        self.model = AsRounded(**vars(model))
        self.exploration, self.first_play = exploration, first_play
        self.temperature, self.batch, self.worlds = temperature, batch, worlds
        self.worlds_in_use: dict[int, States] = {}
        self.margins: dict[int, list[list[float]]] = {}

    def simulate_up_to(self, number: int) -> None:
        """Simulations, several at a time, until there have been so many."""
        while self.simulations < number:
            size = max(1, min(self.batch, self.simulations // 4, number - self.simulations))
            waiting = [self.launched(self.simulations + slot) for slot in range(size)]
            while waiting:
                asking = []
                for flight in waiting:
                    self.states = flight.states
                    what = next(flight.course, None)
                    if what is None:
                        self.land(flight, self.final_shares(), self.standing())
                    else:
                        asking.append((flight, what))
                waiting = []
                for flight, what in asking:
                    self.states = flight.states
                    if what != "leaf" or not self.evaluate(flight):
                        flight.weights = self.likelihoods(1.0 if what == "secret" else self.temperature)
                        waiting.append(flight)
            self.simulations += size

    def launched(self, number: int) -> Flight:
        """A simulation that begins, in a new world or in that of the simulation 64 before; four begin in each."""
        flight = Flight(self.sample.copy(), [*self.roots], uint64(derive(self.seed, number, 1)))
        flight.fresh = number // 64 % 4 == 0
        if flight.fresh:
            world = uint64(derive(self.seed, number, 0))
            engine.determinize_at(self.variant.rulesets, flight.states, 0, self.player, world)
            self.worlds_in_use[number % 64] = flight.states.copy()
        else:
            flight.states = self.worlds_in_use[number % 64].copy()
        flight.course = self.course(flight, number % 64)
        return flight

    def course(self, flight: Flight, place: int) -> Iterator[str]:
        """Play a simulation on; says `secret`, `others` or `leaf` where the network is to be asked."""
        if flight.fresh:
            yield from self.redraw(flight)
            self.worlds_in_use[place] = flight.states.copy()
        while not self.over:
            node, mover, actions = self.own_node(flight.nodes), self.mover, self.legal()
            if node.logits is not None and node.logits[0] == mover:
                self.give_priors(node, mover, actions)
            children = {action: node.children.get((mover, action), SlowNode()) for action in actions}
            priors = {action: child.prior for action, child in children.items()}
            new = len(actions) > 1 and not all(priors.values())
            again = len(actions) > 1 and mover != self.player and flight.asked < min(self.worlds, MOST_ASKED)
            if new or again:
                flight.asked += not new
                yield "leaf" if new else "others"
                assert flight.weights is not None
                assert node.logits is not None
                if node.logits[0] == mover:  # logits kept for another of the batch may be for other actions
                    self.give_priors(node, mover, actions)
                priors, flight.weights = flight.weights, None
                children = {action: node.children[mover, action] for action in actions}
            action, untried = self.choose(node, mover, priors, children)
            flight.first = action if flight.first is None else flight.first
            edges: list[tuple[int, list[SlowNode]]] = []
            self.take(action, flight.nodes, edges)
            for decider, nodes in edges:
                assumed = [node.total / node.visits if node.visits else max(untried, 0.0) for node in nodes]
                for tree_node, mean in zip(nodes, assumed, strict=True):
                    tree_node.visits += 1
                    tree_node.total += mean
                flight.path.append((decider, nodes, assumed))

    def redraw(self, flight: Flight) -> Iterator[str]:
        """Draw from the policy where the others have placed their counters before it was the searcher's turn."""
        if not self.secret:
            return
        state, players = self.states[0], self.variant.num_players
        turn, placed = int(state.player), int(state.placed)
        before = [(int(state.start) + number) % players for number in range((turn - int(state.start)) % players)]
        for other in sorted(before):
            state.player, state.placed = other, 0
            state.plan[other, :] = NOT_PLACED
            state.planned[other, :] = 0
            for _ in range(6):
                actions = self.legal()
                if len(actions) > 1:
                    yield "secret"
                else:
                    flight.weights = dict.fromkeys(actions, 1.0)
                self.step(flight.drawn())
                self.decisions -= 1
                flight.weights = None
        state.player, state.placed = turn, placed

    def choose(
        self, node: SlowNode, mover: int, priors: dict[int, float], children: dict[int, SlowNode]
    ) -> tuple[int, float]:
        """The action with the highest bound, and the mean that one not tried is thought to have.

        Of equal bounds the edge that was added last wins. An only action needs no priors.
        """
        visits, whole = sum(child.visits for child in children.values()), sum(priors.values())
        tried = sum(priors[action] for action, child in children.items() if child.visits)
        untried = 0.5
        if visits and whole:
            mean = sum(child.total for child in children.values()) / visits
            untried = mean - self.first_play * sqrt(tried / whole)
        if len(children) == 1:
            return next(iter(children)), untried

        def bound(action: int) -> float:
            child = children[action]
            mean = child.total / child.visits if child.visits else untried
            return mean + self.exploration * priors[action] / whole * sqrt(visits + 1) / (1 + child.visits)

        order = [edge[1] for edge in reversed(node.children) if edge[0] == mover and edge[1] in children]
        return max(order, key=bound), untried

    def observation(self) -> NDArray[np.float32]:
        """What the player on turn sees: float32 [1, O]."""
        seen = np.zeros((1, self.variant.game.observation_size), np.float32)
        engine.observe_at(self.variant.rulesets, self.states, 0, self.mover, seen[0])
        return seen

    def likelihoods(self, temperature: float) -> dict[int, float]:
        """The policy's likelihood of each legal action, next to the likeliest."""
        logits, actions = self.model.logits(self.observation())[0].astype(float), self.legal()
        return {action: exp((logits[action] - max(logits[actions])) / temperature) for action in actions}

    def give_priors(self, node: SlowNode, mover: int, actions: list[int]) -> None:
        """Priors of legal actions that have none, by the logits that the node keeps."""
        assert node.logits is not None
        _, logits, top = node.logits
        for action in actions:
            child = node.children.setdefault((mover, action), SlowNode(available=1))
            if not child.prior:
                weight = max(exp(min((logits[action] - top) / self.temperature, 60)), 1e-30)
                child.prior = float(np.float32(weight))  # as nodes keep it

    def evaluate(self, flight: Flight) -> bool:
        """Look at a decision to which a simulation has come, and end it there if it is the searcher's; whether it is.

        It is ended at another's decision too if it has asked about very many.
        """
        node, mover, actions, seen = self.own_node(flight.nodes), self.mover, self.legal(), self.observation()
        if node.logits is None or node.logits[0] != mover:  # else another one of the batch has just been here
            logits = self.model.logits(seen)[0].astype(float)
            kept, node.logits = node.logits, (mover, logits, max(logits[actions]))
            own = [edge[1] for edge in node.children if edge[0] == mover]
            for action in own:
                node.children[mover, action].prior = 0.0
            self.give_priors(node, mover, [*own, *actions])
            node.logits = node.logits if kept is None else kept
        if mover != self.player and flight.asked < MOST_ASKED:
            flight.asked += 1
            return False
        players = self.variant.num_players
        margins = self.model.margins(seen)[0, :players].astype(float)
        relative = [(seat - mover) % players for seat in range(players)]
        shares = self.model.shares(seen, players)[0].astype(float)
        self.land(flight, shares[relative], (margins - margins.mean())[relative])
        return True

    def land(self, flight: Flight, shares: Any, margins: Any) -> None:
        """Book the end of a simulation: shares of the win and margins by seat."""
        for root in self.roots:
            root.visits += 1
        for decider, nodes, assumed in flight.path:
            for node, mean in zip(nodes, assumed, strict=True):
                node.total += float(shares[decider]) - mean
        if flight.first is not None:
            self.margins.setdefault(flight.first, []).append([10 * float(margin) for margin in margins])

    def standing(self) -> list[float]:
        """Everybody's margin as of now: own score less the mean of the others', in the unit of rewards."""
        points = self.scores()
        others = len(points) - 1
        return [(mine - (sum(points) - mine) / others) / rewards.MARGIN_UNIT for mine in points]

    def final_shares(self) -> list[float]:
        """Everybody's share of the win."""
        return slow_returns("win", 1.0, self.scores())


# ---------------------------------------------------------------- side by side


def edge_number(variant: Variant, tree_number: int, edge: Any) -> int:
    """The compiled search's number of an edge."""
    if edge == UNSEEN:
        return ismcts.UNSEEN
    if isinstance(edge[0], int):
        return int(edge[0] * ismcts.MOST_ACTIONS + edge[1])
    state = variant.new_states()[0]
    others = [player for player in range(variant.num_players) if player != tree_number]
    for other, placings in zip(others, edge, strict=True):
        for index, (kind, where) in enumerate(placings):
            state.drawn[other, index], state.plan[other, index] = kind, where
    return int(ismcts.SHOWN - (revealed_hash(variant.rulesets[0], state, tree_number) >> 1))


def compare(agent: SearchAgent, slow: SlowSearch, exact: bool = True) -> None:
    """Every node of the `agent`'s only thread is in the `slow` search, with the same numbers, and none is missing."""
    trees = agent._trees[0]
    compared = 0
    pending = list(zip(range(trees.trees), range(trees.trees), slow.roots, strict=True))
    assert len(slow.roots) == trees.trees
    while pending:
        tree_number, number, node = pending.pop()
        compared += 1
        compiled = trees.nodes[number]
        assert compiled.visits == node.visits
        if exact:
            assert compiled.available == node.available
            assert float(compiled.total) == node.total
        else:
            assert (compiled.available > 1) == (node.logits is not None)
            assert float(compiled.total) == pytest.approx(node.total, rel=1e-4)
            assert float(compiled.prior) == pytest.approx(node.prior, rel=1e-4)
        children, child = {}, int(compiled.first)
        while child != ismcts.NONE:
            children[int(trees.nodes[child].edge)] = child
            child = int(trees.nodes[child].next)
        assert len(children) == len(node.children)
        for edge, below in node.children.items():
            pending.append((tree_number, children[edge_number(slow.variant, tree_number, edge)], below))
    assert compared == trees.used[0]


def compare_result(result: SearchResult, slow: SlowSearch) -> None:
    """The result's actions and visits are those of the `slow` search's root."""
    visits = {action: node.visits for action, node in slow.root_children().items() if node.visits}
    assert {int(a): int(v) for a, v in zip(result.actions, result.visits, strict=True) if v} == visits
    assert result.simulations == slow.simulations
