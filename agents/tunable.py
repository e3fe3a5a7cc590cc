"""`heuristic` with other constants: `siberia_agents.tunable:Tuned:runs/tune/constants.json`, a file of `siberia tune`.

A plan's constants are part of its compiled code. `TunablePlan` compiles the same source with the constants in an array,
so that a tuner can change them between two games. It is made of the plan's own source, so the two can't differ.
"""

from __future__ import annotations

import ast
import inspect
import json
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from siberia_agents.board import heuristic as board_heuristic
from siberia_agents.card import heuristic as card_heuristic
from siberia_agents.interface import Agent
from siberia_env.errors import ConfigurationError
from siberia_env.game import MAX_PLAYERS, Variant
from siberia_env.view import BatchView, View

#: The module that holds each game's plan. Its constants are the names in capitals with a fraction, or a tuple of them.
MODULES: dict[str, ModuleType] = {"card": card_heuristic, "board": board_heuristic}
NEVER = 1000.0  #: constants of this size or more stand for "never" and "always"; they are not tuned
PLAN = "heuristic"  #: the function that chooses
WEIGHTS = "_weights"

FORMAT = "siberia-constants/1"


@dataclass(frozen=True)
class Constant:
    """A constant of a plan.

    Attributes:
        name: as in the plan's module.
        start: where it stands in the array of weights.
        values: one, or one for each player count from 2 on.
    """

    name: str
    start: int
    values: tuple[float, ...]


def constants_of(module: ModuleType) -> list[Constant]:
    """The constants of a plan that can be tuned, in the module's order."""
    found: list[Constant] = []
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = getattr(module, name := node.targets[0].id)
            values = value if isinstance(value, tuple) else (value,)
            if all(isinstance(number, float) and abs(number) < NEVER for number in values):
                found.append(Constant(name, sum(len(one.values) for one in found), values))
    return found


class _WithWeights(ast.NodeTransformer):
    """Hands an array of weights to every function of a module, and reads its constants from there."""

    def __init__(self, module: ModuleType) -> None:
        self.constants = {constant.name: constant for constant in constants_of(module)}
        tree = ast.parse(inspect.getsource(module))
        self.functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.args.args.insert(0, ast.arg(WEIGHTS))
        node.decorator_list = [ast.Name("_compiled", ast.Load())]
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
        self.inside = True
        node.body = [self.visit(part) for part in node.body]
        self.inside = False
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            node.args.insert(0, ast.Name(WEIGHTS, ast.Load()))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        constant = self.constants.get(node.value.id) if self.inside and isinstance(node.value, ast.Name) else None
        if constant is None:
            return self.generic_visit(node)
        return _weight(ast.BinOp(ast.Constant(constant.start), ast.Add(), self.visit(node.slice)))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        constant = self.constants.get(node.id) if self.inside else None
        if constant is None:
            return node
        if len(constant.values) > 1:
            raise ValueError(f"{node.id} is used as a whole")
        return _weight(ast.Constant(constant.start))


def _weight(place: ast.expr) -> ast.Subscript:
    return ast.Subscript(ast.Name(WEIGHTS, ast.Load()), place, ast.Load())


def _compiled(function: Any) -> Any:
    return numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)


class TunablePlan:
    """A game's plan whose constants can be changed. Compiling takes half a minute, once in a process.

    Attributes:
        constants: what can be tuned.
        start: float64 [W], the constants as they come with the suite.
    """

    def __init__(self, game: str) -> None:
        """Compile the plan of the game called `game` when it is first asked.

        Raises:
            ConfigurationError: the game has no plan of the suite.
        """
        if game not in MODULES:
            raise ConfigurationError(f"tune: the game {game} has no plan; there are those of {', '.join(MODULES)}")
        module = MODULES[game]
        self.constants = constants_of(module)
        self.start = np.array([number for constant in self.constants for number in constant.values])
        tree = ast.fix_missing_locations(_WithWeights(module).visit(ast.parse(inspect.getsource(module))))
        names: dict[str, Any] = {"__name__": f"{module.__name__}_tunable", "_compiled": _compiled}
        exec(compile(tree, f"<{module.__name__}, with its constants in an array>", "exec"), names)
        plan = names[PLAN]

        @_compiled
        def batch(weights: Any, rulesets: Any, states: Any, mask: Any, actions: Any) -> None:
            for i in range(states.shape[0]):
                actions[i] = plan(weights, rulesets[0], states[i], mask[i])

        self.batch = batch

    def used_by(self, players: int) -> NDArray[np.int64]:
        """The places in the array of weights that games of so many players read."""
        return np.array(
            [one.start + (players - 2 if len(one.values) == MAX_PLAYERS - 1 else 0) for one in self.constants], np.int64
        )

    def as_json(self, weights: NDArray[np.float64], game: str) -> dict[str, Any]:
        """What `read_constants` reads."""
        values = {one.name: weights[one.start : one.start + len(one.values)].tolist() for one in self.constants}
        return {"format": FORMAT, "game": game, "constants": values}


@cache
def tunable_plan(game: str) -> TunablePlan:
    """The plan of a game, compiled once.

    Raises:
        ConfigurationError: the game has no plan of the suite.
    """
    return TunablePlan(game)


def read_constants(path: Path) -> tuple[str, NDArray[np.float64]]:
    """The game and the weights in a file of constants. Those that it does not name stay as they come with the suite.

    Raises:
        ConfigurationError: there is no such file, or it is none of constants.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"constants: can't read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"constants: {path} is not JSON") from error
    if not isinstance(told, dict) or told.get("format") != FORMAT or not isinstance(told.get("constants"), dict):
        raise ConfigurationError(f"constants: {path} is not a file of the format {FORMAT}; siberia tune writes one")
    plan = tunable_plan(str(told.get("game")))
    weights = plan.start.copy()
    known = {constant.name: constant for constant in plan.constants}
    for name, values in told["constants"].items():
        constant = known.get(name)
        if constant is None:
            raise ConfigurationError(f"constants: {path}: there is no {name!r}; there are {', '.join(known)}")
        weights[constant.start : constant.start + len(constant.values)] = _numbers(path, constant, values)
    return str(told["game"]), weights


def _numbers(path: Path, constant: Constant, values: Any) -> list[float]:
    size = len(constant.values)
    numbers = values if isinstance(values, list) else [values]
    fine = len(numbers) == size and all(type(one) in (int, float) and isfinite(one) for one in numbers)
    if not fine or any(abs(one) >= NEVER for one in numbers):
        form = "a number" if size == 1 else f"a list of {size} numbers"
        raise ConfigurationError(f"constants: {path}: {constant.name} is {values!r}, not {form} below {NEVER:.0f}")
    return numbers


class Tuned(Agent):
    """Plays the heuristic plan with constants of its own.

    Args:
        constants: a file of `siberia tune`, or the game's name and the weights as `TunablePlan.start` orders them.

    Raises:
        ConfigurationError: the file can't be used.
    """

    name = "tuned"

    def __init__(self, constants: str | Path | tuple[str, NDArray[np.float64]]) -> None:
        self.game, self.weights = constants if isinstance(constants, tuple) else read_constants(Path(constants))
        self.plan = tunable_plan(self.game)

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Check the game; a plan has no random numbers.

        Raises:
            ConfigurationError: the constants are of another game's plan.
        """
        if variant.game.name != self.game:
            raise ConfigurationError(
                f"constants: these are of the {self.game} game, not of the {variant.game.name} game"
            )

    def act(self, view: View) -> int:
        """The plan's action."""
        actions = np.zeros(1, np.int64)
        self.plan.batch(self.weights, view.variant.rulesets, view.representative, view.mask[None], actions)
        return int(actions[0])

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """The plan's action in each game."""
        actions = np.zeros(len(views), np.int64)
        self.plan.batch(self.weights, views.variant.rulesets, views.representative, views.mask, actions)
        return actions
