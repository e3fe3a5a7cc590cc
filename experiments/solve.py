"""Solves a card game that is small enough, and measures how far agents can be exploited in it, exactly.

    python -m siberia_experiments.solve --out runs/solve

OpenSpiel's CFR+ runs on the whole game tree. Its exploitability is exact, and so is that of the suite's agents there.
Then `siberia exploit`, which knows only a lower bound, is run against the same agents. docs/openspiel.md shows the
figures. This module needs the extras `openspiel` and `train`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from siberia_agents.interface import Agent
from siberia_agents.openspiel import PolicyAgent, write_policy
from siberia_agents.random_agent import RandomAgent
from siberia_agents.registry import make_agent
from siberia_env.card.components import KINDS, SYMBOLS, Components
from siberia_env.common.components import RESOURCES
from siberia_env.core.engine import TERMINAL
from siberia_env.errors import ConfigurationError, SiberiaError, missing_extra
from siberia_env.files import write_whole
from siberia_env.game import Variant, find_game
from siberia_env.openspiel import Moment, SiberiaGame, game_of, knowledge_of
from siberia_experiments.exploit import Exploit, ExploitOptions
from siberia_experiments.faults import one_line
from siberia_experiments.training.run import game_settings, make_folder

try:
    import pyspiel
except ImportError as error:
    raise missing_extra("openspiel", "solving", error.name) from error
try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise missing_extra("train", "drawing pictures", error.name) from error

#: The small game: eleven action cards of two kinds, four resource cards, nobody to hire, two turns for each player.
CARDS = {"gas/worker": 2, "charcoal/worker": 9}
VALUES = {"gas": (1, 1, 1, 3)}
RULES = {"edition": "digital", "max_turns": 4}

COMPONENTS, POLICY, REPORT, CURVE = "components.json", "policy.json", "solve.json", "exploitability.png"
FORMAT = "siberia-solve/1"
MOST_NODES = 2_000_000  #: a larger tree does not fit into some gigabytes
VICTIMS, SOLVED = ("random", "greedy", "heuristic"), "solved"
#: How the comparison trains: for wins alone, with a network that suits the size of the game.
TRAINING: dict[str, Any] = {
    "reward": "win",
    "num_envs": 512,
    "rollout": 2048,
    "batch_size": 256,
    "epochs": 4,
    "network": (64, 64),
    "overlap": False,
}
SELDOM = 1e-12  #: weight of an information state that is never reached
COLOUR, DOTS_PER_INCH = "#1f5a8a", 120

Policy = dict[str, list[tuple[int, float]]]  #: OpenSpiel's: for each information state, actions with probabilities


def small_components() -> Components:
    """The components of the small game."""
    return Components(
        action_cards={kind: CARDS.get(kind, 0) for kind in KINDS},
        resource_cards={resource: VALUES.get(resource, ()) for resource in RESOURCES},
        salesmen=dict.fromkeys(SYMBOLS, 1),
        workers=2,
    )


def small_variant() -> Variant:
    """The small game."""
    return find_game("card").variant(2, RULES, small_components())


@dataclass(frozen=True)
class InformationState:
    """What a player can know when it decides.

    Attributes:
        player: whose it is.
        number: its number among those of the player, from 1.
        actions: the legal actions, by number.
        moment: one of the moments at which the player knows this.
    """

    player: int
    number: int
    actions: list[int]
    moment: Moment

    @property
    def name(self) -> str:
        """What OpenSpiel calls it in a tree that it has read."""
        return f"{self.player}-{self.player}-{self.number}-"


@dataclass
class Tree:
    """A game's whole tree, as OpenSpiel's compiled algorithms take it. Actions there are places among the legal ones.

    Attributes:
        game: OpenSpiel's game of the tree.
        states: its information states.
        nodes: how many nodes it has, ends included.
    """

    game: Any
    states: list[InformationState]
    nodes: int

    @classmethod
    def of(cls, game: SiberiaGame) -> Tree:
        """Play everything that can happen in `game`, which is for two players.

        Raises:
            ConfigurationError: the tree has more than `MOST_NODES` nodes.
        """
        unfolding = _Unfolding(game)
        unfolding.walk(game.first)
        text = 'EFG 2 R "" { "0" "1" } ""\n' + "\n".join(unfolding.lines) + "\n"
        return cls(pyspiel.load_efg_game(text), list(unfolding.states.values()), len(unfolding.lines))

    def policy_of(self, agent: Agent) -> Policy:
        """The policy of an agent whose probabilities are known: a plan, a table, or `random`."""
        return {state.name: _decide(agent, state) for state in self.states}

    def gain(self, policy: Policy) -> float:
        """What a best response wins beyond an equal's half of the win, the mean of both seats. It is exact."""
        root = self.game.new_initial_state()
        values = [pyspiel.TabularBestResponse(self.game, seat, policy).value_from_state(root) for seat in range(2)]
        return sum(values) / 2 / 2  # the mean of both seats; a win counts 1 and a loss -1, which is 2 of a share

    def reached(self, policy: Policy) -> dict[str, float]:
        """How likely each information state is reached under a policy; those that never are may be missing."""
        found: dict[str, float] = {}
        waiting = [(self.game.new_initial_state(), 1.0)]
        while waiting:
            node, weight = waiting.pop()
            if node.is_chance_node():
                waiting += [(node.child(place), weight * share) for place, share in node.chance_outcomes()]
            elif not node.is_terminal():
                name = node.information_state_string()
                found[name] = found.get(name, 0.0) + weight
                waiting += [(node.child(place), weight * share) for place, share in policy[name] if share]
        return found


def _decide(agent: Agent, state: InformationState) -> list[tuple[int, float]]:
    """What an agent does in an information state."""
    view = state.moment.position.view()
    if isinstance(agent, RandomAgent):
        shares = [1 / len(state.actions)] * len(state.actions)
    elif isinstance(agent, PolicyAgent):
        shares = agent.row(view)[1].tolist()
    else:
        chosen = agent.act(view)
        shares = [float(action == chosen) for action in state.actions]
    return list(enumerate(shares))


@dataclass
class _Unfolding:
    """A walk through a whole game, written down in Gambit's format, which OpenSpiel reads."""

    game: SiberiaGame
    lines: list[str] = field(default_factory=list)
    states: dict[tuple[int, tuple[int, ...]], InformationState] = field(default_factory=dict)
    counts: list[int] = field(default_factory=lambda: [0, 0])

    def walk(self, moment: Moment) -> None:
        """Write the node of a moment, and all that follow it."""
        if len(self.lines) == MOST_NODES:
            raise ConfigurationError(f"solve: the game has more than {MOST_NODES} nodes")
        if moment.draw is not None:
            outcomes = moment.draw.outcomes()
            listed = " ".join(f'"{place}" {share!r}' for place, (_, share) in enumerate(outcomes))
            self.lines.append(f'c "" 1 {{ {listed} }} 0')
            following = [outcome for outcome, _ in outcomes]
        elif moment.player == TERMINAL:
            self.lines.append(f't "" 1 {{ {" ".join(map(repr, self.game.returns_of(moment.position)))} }}')
            following = []
        else:
            state = self._state(moment)
            listed = " ".join(f'"{place}"' for place in range(len(state.actions)))
            self.lines.append(f'p "" {moment.player + 1} {state.number} {{ {listed} }} 0')
            following = state.actions
        for number in following:
            self.walk(moment.after(number))

    def _state(self, moment: Moment) -> InformationState:
        key = moment.player, moment.heard[moment.player]
        if key not in self.states:
            self.counts[moment.player] += 1
            number, actions = self.counts[moment.player], moment.position.legal_actions()
            self.states[key] = InformationState(moment.player, number, actions, moment)
        return self.states[key]


# ---------------------------------------------------------------- solving


@dataclass(frozen=True)
class Solution:
    """What CFR+ found.

    Attributes:
        policy: the average policy.
        curve: its exploitability, as a share of the win, after some numbers of iterations.
    """

    policy: Policy
    curve: list[tuple[int, float]]


def solve(tree: Tree, iterations: int) -> Solution:
    """Run so many iterations of CFR+. Exploitability is measured after 1, 2, 4, ... of them, and at the end."""
    solver = pyspiel.CFRPlusSolver(tree.game)
    curve: list[tuple[int, float]] = []
    policy: Policy = {}
    for iteration in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration & (iteration - 1) == 0 or iteration == iterations:
            policy = dict(solver.tabular_average_policy().policy_table())
            curve.append((iteration, tree.gain(policy)))
    return Solution(policy, curve)


def table_of(tree: Tree, policy: Policy) -> dict[str, dict[int, float]]:
    """A policy by what a player knows (`knowledge_of`), for `PolicyAgent`.

    A view tells less than an information state: it forgets in which order things happened. Where it is the same for
    several information states, their policies are averaged, each as often as it is reached.
    """
    reached = tree.reached(policy)
    sums: dict[str, dict[int, float]] = {}
    for state in tree.states:
        row = sums.setdefault(knowledge_of(state.moment.position.view()), dict.fromkeys(state.actions, 0.0))
        for place, share in policy[state.name]:
            row[state.actions[place]] += share * (reached.get(state.name, 0.0) + SELDOM)
    return {key: {action: share / sum(row.values()) for action, share in row.items()} for key, row in sums.items()}


# ---------------------------------------------------------------- the command


@dataclass(frozen=True)
class Settings:
    """What `run` does.

    Attributes:
        folder: for the results.
        iterations: of CFR+.
        decisions: of training against each victim, to compare; 0 leaves the comparison out.
        games: least number of games of each measurement.
    """

    folder: Path
    iterations: int = 128
    decisions: int = 150_000
    games: int = 6000

    def check(self) -> None:
        """Raise `ConfigurationError` if an option is invalid."""
        for name, least in (("iterations", 1), ("decisions", 0), ("games", 1)):
            if getattr(self, name) < least:
                raise ConfigurationError(f"{name}: {getattr(self, name)}; it has to be {least} or more")


def run(settings: Settings) -> dict[str, Any]:
    """Solve the small game, measure the victims, and write everything into the folder. Return the report.

    Raises:
        ConfigurationError: an option is invalid, or nothing can be written into the folder.
    """
    settings.check()
    variant = small_variant()
    make_folder(settings.folder)
    write_whole(settings.folder / COMPONENTS, [json.dumps(variant.components.as_json(), indent=1).encode()])
    tree = Tree.of(game_of(variant))
    solution = solve(tree, settings.iterations)
    write_policy(settings.folder / POLICY, table_of(tree, solution.policy))
    report: dict[str, Any] = {
        "format": FORMAT,
        "nodes": tree.nodes,
        "information_states": len(tree.states),
        "exploitability": solution.curve,
        "victims": {},
    }
    for name, spec in victims(settings.folder).items():
        agent = make_agent(spec)
        agent.start(variant, 0)
        measured: dict[str, Any] = {"exact": tree.gain(tree.policy_of(agent))}
        if settings.decisions:
            measured |= exploit(settings, name, spec)
        report["victims"][name] = measured
        print(told(name, measured), flush=True)
    write_whole(settings.folder / REPORT, [(json.dumps(report, indent=1) + "\n").encode()])
    draw(solution.curve, settings.folder / CURVE)
    return report


def victims(folder: Path) -> dict[str, str]:
    """The agents that are measured, by name, with their specs: three of the suite, and what CFR+ has found."""
    return {**{name: name for name in VICTIMS}, SOLVED: f"siberia_agents.openspiel:PolicyAgent:{folder / POLICY}"}


def exploit(settings: Settings, name: str, spec: str) -> dict[str, Any]:
    """What `siberia exploit` finds against an agent in the small game: its lower bound, with the interval."""
    options = ExploitOptions(
        "card",
        spec,
        rules=RULES,
        components=small_components(),
        decisions=settings.decisions,
        settings=replace(game_settings("card"), **TRAINING),
        device="cpu",
        threads=1,
        games=settings.games,
        pick_games=max(2, settings.games // 10),
    )
    exploiter = Exploit(options, settings.folder / f"exploit-{name}")
    for _ in exploiter.run():
        pass
    found = exploiter.measure().gain
    return {"found": found.value, "low": found.low, "high": found.high}


def told(name: str, measured: Mapping[str, float]) -> str:
    """A line about a victim."""
    line = f"against {name}: a best response gains {100 * measured['exact']:.2f} points of the win share"
    if "found" not in measured:
        return line
    found, low, high = (100 * measured[key] for key in ("found", "low", "high"))
    return f"{line}; siberia exploit found {found:.2f} [{low:.2f}, {high:.2f}]"


def draw(curve: Sequence[tuple[int, float]], path: Path) -> None:
    """Draw how exploitability falls."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.loglog([iteration for iteration, _ in curve], [100 * gain for _, gain in curve], "o-", color=COLOUR)
    axes.set_xlabel("iterations of CFR+")
    axes.set_ylabel("exploitability, points of the win share")
    axes.grid(which="both", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=DOTS_PER_INCH)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m siberia_experiments.solve", description="Solve a small card game, and measure agents in it."
    )
    parser.add_argument("--out", type=Path, default=Path("runs/solve"), help="folder of the results")
    parser.add_argument("--iterations", type=int, default=Settings.iterations, help="iterations of CFR+")
    parser.add_argument(
        "--decisions",
        type=int,
        default=Settings.decisions,
        help="decisions of training against each agent, to compare; 0 leaves the comparison out",
    )
    parser.add_argument("--games", type=int, default=Settings.games, help="least number of games of a measurement")
    given = parser.parse_args(arguments)
    try:
        report = run(Settings(given.out, given.iterations, given.decisions, given.games))
    except (SiberiaError, OSError) as error:
        print(f"solve: {one_line(str(error))}", file=sys.stderr)
        return 2
    for iteration, gain in report["exploitability"]:
        print(f"after {iteration} iterations: exploitability {100 * gain:.4f} points")
    print(f"{given.out}: {REPORT}, {CURVE}, {COMPONENTS}, {POLICY}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
