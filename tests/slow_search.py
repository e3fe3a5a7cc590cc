"""Tree search the slow way: dictionaries of named edges, Python throughout, every sum written out.

What `siberia_agents.search.ismcts` and `puct` have to find, to the last visit, from the same random draws.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from siberia_agents.greedy import greedy_at
from siberia_agents.heuristic import heuristic_at
from siberia_agents.learned import Model
from siberia_agents.search import ismcts
from siberia_agents.search.agent import SearchAgent, SearchResult
from siberia_env.board.state import PLACE
from siberia_env.core import engine
from siberia_env.core.rng import advance, mix, scale, scramble
from siberia_env.game import States, Variant, shown

UNSEEN = "unseen"  #: the edge of a decision that others make in secret


@dataclass
class SlowNode:
    """What led here is the key under which the parent has it."""

    prior: float = 0.0
    visits: int = 0
    available: int = 0
    total: float = 0.0
    children: dict[Hashable, SlowNode] = field(default_factory=dict)

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
            self.variant.rulesets, self.states, 0, self.player, uint64(mix(self.seed, self.simulations, 0))
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
        generator = uint64(mix(self.seed, self.simulations, 1))
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


class SlowGuided(SlowSearch):
    """Tree search with a model's policy as the prior and its value in place of playouts."""

    def __init__(
        self,
        *given: Any,
        model: Model,
        exploration: float,
        first_play: float,
        temperature: float,
        margin_scale: float,
        **options: Any,
    ) -> None:
        super().__init__(*given, **options)
        self.model, self.exploration, self.first_play = model, exploration, first_play
        self.temperature, self.margin_scale = temperature, margin_scale

    def descend(self, nodes: list[SlowNode], path: list[tuple[int, list[SlowNode]]]) -> list[float]:
        players, added = range(self.variant.num_players), 0
        while True:
            if self.over:
                margins = self.standing()
                break
            node, mover, actions = self.own_node(nodes), self.mover, self.legal()
            found = [action for action in actions if (mover, action) in node.children]
            if len(found) < len(actions):
                for action, prior in self.priors(mover, actions).items():
                    if action not in found:
                        node.children[mover, action] = SlowNode(prior, available=1)
                added += len(actions) - len(found)
                if (not found and len(actions) > 1) or added > len(self.mask):
                    margins = self.expected()
                    break
            self.take(self.choose(node, mover, actions), nodes, path)
        return [1 / (1 + exp(-margins[seat] * engine.MARGIN_UNIT / self.margin_scale)) for seat in players]

    def choose(self, node: SlowNode, mover: int, actions: list[int]) -> int:
        """The action with the highest bound; of equal ones the edge that was added last."""
        edges = [(edge, child) for edge, child in node.children.items() if edge in {(mover, a) for a in actions}]
        visits = sum(child.visits for _, child in edges)
        tried = sum(child.prior for _, child in edges if child.visits)
        untried = 0.5
        if visits:
            untried = sum(child.total for _, child in edges) / visits - self.first_play * sqrt(tried)

        def bound(edge: Any) -> float:
            child = node.children[edge]
            mean = child.total / child.visits if child.visits else untried
            return mean + self.exploration * child.prior * sqrt(visits + 1) / (1 + child.visits)

        best: Any = max((edge for edge, _ in reversed(edges)), key=bound)
        return int(best[1])

    def observation(self, seat: int) -> NDArray[np.float32]:
        """What `seat` sees: float32 [1, O]."""
        seen = np.zeros((1, self.variant.game.observation_size), np.float32)
        engine.observe_at(self.variant.rulesets, self.states, 0, seat, seen[0])
        return seen

    def priors(self, mover: int, actions: list[int]) -> dict[int, float]:
        """The softmax of the policy's logits over the legal actions."""
        logits = self.model.logits(self.observation(mover))[0].astype(float)
        weights = [exp((logits[action] - max(logits[actions])) / self.temperature) for action in actions]
        return {action: weight / sum(weights) for action, weight in zip(actions, weights, strict=True)}

    def standing(self) -> list[float]:
        """Everybody's margin as of now: own score less the mean of the others', in the unit of rewards."""
        points = self.scores()
        others = len(points) - 1
        return [(mine - (sum(points) - mine) / others) / engine.MARGIN_UNIT for mine in points]

    def expected(self) -> list[float]:
        """Everybody's margin at the end, as the value network expects it."""
        margins = [
            margin + float(self.model.values(self.observation(seat))[0]) for seat, margin in enumerate(self.standing())
        ]
        if len(margins) == 2:
            margins[1 - self.mover] = -margins[self.mover]
        return margins


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
    return int(ismcts.SHOWN - (shown(variant.rulesets[0], state, tree_number) >> 1))


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
        assert (int(compiled.visits), int(compiled.available)) == (node.visits, node.available)
        if exact:
            assert float(compiled.total) == node.total
        else:
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
