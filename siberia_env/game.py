"""What a game is: the one contract that both games fill and that everything else is written on.

A game is a state record, a ruleset record and a set of kernels over them. The kernels are declared here once,
as generic functions that find the game by the dtype of the state they are given; a game registers its own.
So a loop over any game (a batch step, a playout, a search) is one module-level function, compiled and cached
for each game that uses it.

In compiled code the generic functions are resolved at compile time through `numba.extending.overload`; under
`NUMBA_DISABLE_JIT=1` the kernels are looked up at run time.
"""

from __future__ import annotations

import operator
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from keyword import iskeyword
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

import numba
import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from siberia_env.core.jit import depend_on
from siberia_env.core.rng import sample_stream
from siberia_env.errors import ConfigurationError

MAX_PLAYERS = 4

#: Arrays of a game's state and ruleset records. Kernels called from Python take the array and an index: passing
#: a single record costs ten times as much.
States: TypeAlias = NDArray[Any]
Rulesets: TypeAlias = NDArray[Any]


def copy_states(states: States, rows: Any = slice(None)) -> States:
    """A copy of `states[rows]`, where `rows` is a slice or an array of row numbers.

    The bytes are copied. numpy's own `copy` of an array of records goes field by field, which takes ten times as long.
    """
    if isinstance(rows, slice):
        return np.frombuffer(bytearray(states[rows].tobytes()), states.dtype)
    return states.view(np.dtype((np.void, states.dtype.itemsize)))[rows].view(states.dtype)


# ---------------------------------------------------------------- the kernels, generic

_games_by_dtype: dict[np.dtype[Any], Mapping[str, Callable[..., Any]]] = {}
_games_by_record: dict[Any, Mapping[str, Callable[..., Any]]] = {}

#: The kernels of a game, by name: what `register` has to be given.
CONTRACT: list[str] = []

#: Those of them that a game may leave out.
OPTIONAL: list[str] = []


def generic(function: Callable[..., Any], optional: bool = False) -> Callable[..., Any]:
    """Make `function(ruleset, state, ...)` a name that each game fills with a kernel of its own.

    `function` gives the name and the documentation. Its body runs only if the function is `optional`, for games that
    don't fill it. Agents use this too, for heuristics that exist once a game.
    """
    name = function.__name__

    def look_up(ruleset: Any, state: Any, *rest: Any) -> Any:
        kernels = _games_by_dtype[state.dtype]
        kernel = kernels.get(name, function) if optional else kernels[name]
        return kernel(ruleset, state, *rest)

    def resolve_at_compile_time(ruleset: Any, state: Any, *rest: Any) -> Any:
        kernels = _games_by_record.get(state, {})
        if name in kernels:
            return kernels[name].py_func  # type: ignore[attr-defined]
        return function if optional and kernels else None

    look_up.__name__, look_up.__qualname__ = name, name
    look_up.__doc__, look_up.__module__ = function.__doc__, function.__module__
    overload(look_up, strict=False, jit_options={"error_model": "numpy", "no_cfunc_wrapper": True})(
        resolve_at_compile_time
    )
    return look_up


def register(state_dtype: np.dtype[Any], kernels: Mapping[str, Callable[..., Any]]) -> None:
    """Make `kernels` the ones that the generic functions run for states of `state_dtype`."""
    record = numba.from_dtype(state_dtype)
    for registered, key in ((_games_by_dtype, state_dtype), (_games_by_record, record)):
        registered[key] = {**registered.get(key, {}), **kernels}
    depend_on(record, kernels.values())


def is_filled(state_dtype: np.dtype[Any], name: str) -> bool:
    """Whether the game of these states has registered a kernel of its own for the generic function `name`."""
    return name in _games_by_dtype.get(state_dtype, {})


def _contract(function: Callable[..., Any]) -> Callable[..., Any]:
    CONTRACT.append(function.__name__)
    return generic(function)


def _optional(function: Callable[..., Any]) -> Callable[..., Any]:
    CONTRACT.append(function.__name__)
    OPTIONAL.append(function.__name__)
    return generic(function, optional=True)


@_contract
def deal(ruleset: Any, state: Any, generator: Any) -> None:
    """Start a new game in `state`; `generator` (uint64) decides every chance outcome of it."""


@_contract
def is_chance(ruleset: Any, state: Any) -> bool:
    """Whether a chance outcome is due: `resolve` or `force` has to come next."""


@_contract
def resolve(ruleset: Any, state: Any) -> None:
    """Settle the chance outcome that is due from the state's own generator."""


@_contract
def force(ruleset: Any, state: Any, outcome: Any) -> None:
    """Settle the chance outcome that is due as `outcome` (int8 [outcome_size]) says."""


@_contract
def current_player(ruleset: Any, state: Any) -> int:
    """The seat whose decision it is."""


@_optional
def is_secret(ruleset: Any, state: Any) -> bool:
    """Whether the others don't see what the player on turn decides now, until all have decided."""
    return False


@_optional
def revealed_hash(ruleset: Any, state: Any, player: int) -> int:
    """A number, 0 to 2**31 - 1, for what `player` has been shown of the others' last secret decisions."""
    return 0


@_optional
def secret_decisions(ruleset: Any, state: Any, player: int) -> int:
    """How many secret decisions of `player` the others don't know yet."""
    return 0


@_optional
def reopen(ruleset: Any, state: Any, player: int, count: int) -> None:
    """Give `player` the turn, with only the first `count` of its `secret_decisions` taken.

    A search decides the others' anew. Nothing but whose turn it is and the decisions taken back may change.
    """


@_contract
def is_over(ruleset: Any, state: Any) -> bool:
    """Whether the game has ended."""


@_optional
def has_hit_limit(ruleset: Any, state: Any) -> bool:
    """Whether the limit of turns or rounds ended the game."""
    return False


@_contract
def is_legal(ruleset: Any, state: Any, action: int) -> bool:
    """Whether the player on turn may take `action` (any integer) now."""


@_contract
def legal(ruleset: Any, state: Any, mask: Any) -> int:
    """Write the legal actions of the player on turn into `mask` (int8 [num_actions]); return how many."""


@_contract
def apply(ruleset: Any, state: Any, action: int) -> None:
    """Carry out a legal action, up to the next decision, chance outcome or the end. Checks nothing."""


@_optional
def observe(ruleset: Any, state: Any, player: int, observation: Any) -> None:
    """Write what `player` sees into `observation` (float32 [observation_size])."""


@_optional
def observe_hidden(ruleset: Any, state: Any, observation: Any) -> None:
    """Write what nobody sees into `observation` (float32 [hidden_size]), for centralised critics."""


@_contract
def scores(ruleset: Any, state: Any, out: Any) -> None:
    """Write every player's score as of now, in points, into `out` (one a player)."""


@_contract
def determinize(ruleset: Any, state: Any, player: int, generator: Any) -> None:
    """Replace what `player` can't know by a fair sample from `generator` (uint64), the state's own included."""


@_optional
def redraw(ruleset: Any, state: Any, generator: Any) -> None:
    """Draw again from `generator` (uint64) what chance has settled but no player has seen, and the state's own too."""
    state.generator = sample_stream(generator)


def contract_kernels(*rooms: ModuleType) -> dict[str, Callable[..., Any]]:
    """The kernels of the contract, by name. Each comes from the one of a game's `rooms` that defines it."""
    kernels = {}
    for room in rooms:
        for name in CONTRACT:
            kernel = vars(room).get(name)
            if kernel is not None and kernel.__module__ == room.__name__:
                kernels[name] = kernel
    return kernels


# ---------------------------------------------------------------- observation blocks


@dataclass(frozen=True)
class Block:
    """One named part of an observation.

    Attributes:
        name: key in `observation_blocks`.
        shape: its numbers are laid out in C order.
        seen_by: `"all"` (public), `"observer"` (the own secrets) or `"nobody"` (only in `state()`).
        unit: the quantity that a value of 1 stands for; more is clipped to 1.
        meaning: what the numbers say, in words for the quantity.
        signed: whether values reach down to -1 instead of 0.
    """

    name: str
    shape: tuple[int, ...]
    seen_by: str
    unit: float
    meaning: str
    signed: bool = False

    @property
    def size(self) -> int:
        """How many numbers."""
        return int(np.prod(self.shape))


def block_slices(blocks: tuple[Block, ...]) -> dict[str, slice]:
    """Where each block lies in the flat vector, by name."""
    slices, start = {}, 0
    for block in blocks:
        slices[block.name] = slice(start, start + block.size)
        start += block.size
    return slices


def block_offsets(blocks: tuple[Block, ...]) -> Any:
    """Where each block starts in the flat vector, as a named tuple of integers.

    A name that is a Python keyword gets an underscore: `yield_`.
    """
    starts = {name + "_" * iskeyword(name): part.start for name, part in block_slices(blocks).items()}
    return namedtuple("Offsets", starts)(**starts)


def block_scales(blocks: tuple[Block, ...]) -> NDArray[np.float32]:
    """What each number of the flat vector is multiplied by to come from its quantity to its value."""
    return np.concatenate([np.full(block.size, np.float32(1 / block.unit), np.float32) for block in blocks])


# ---------------------------------------------------------------- games and their variants


SEAT = (0, -1)  #: in `Game.state_ranges`, for a field that names a player


@dataclass(frozen=True)
class Game:
    """A game of the suite, as everything outside its own folder sees it.

    Attributes:
        name: what it is called in code, on the command line and in records.
        title: as on the box.
        state_dtype: the state record, integers only.
        kernels: the contract's kernels, by name.
        num_actions: size of the `Discrete` action space.
        outcome_size: length of the array that `force` takes.
        check_rules: every rule option in force, from what a user gave.
        read_components: the component tables, from what a user gave.
        make_ruleset: the ruleset record for a player count, checked rules and components.
        action_names: every action's name, in action order, for given components.
        blocks: the observation, in order; none while there is no room for it.
        hidden_blocks: what `state()` adds, in order; likewise.
        chronicle: the module that names chance outcomes in game records; empty while there is none.
        render: the module that draws a state, imported when asked for; likewise.
        score_unit: what a point of the kernels' scores counts for people and in records; 1 unless given.
        score_form: how such a score is written, with `{}` for the number; the bare number unless given.
        colours: words that `siberia play` shows in colour (also cut to two letters, within grids), with the colours.
        other_names: names that actions go by in some states instead, with their numbers.
        names_in_play: every action's name in a state, where that depends on the state.
        min_players: 2 unless given.
        max_players: 4 unless given.
        has_secrets: whether players decide in secret (`is_secret`); False unless given.
        state_ranges: the lowest and the highest value of the state's fields, for states that come from outside
            (`check_states`); `SEAT` for a field that names a player. A field without one may have any value.
    """

    name: str
    title: str
    state_dtype: np.dtype[Any]
    kernels: Mapping[str, Callable[..., Any]]
    num_actions: int
    outcome_size: int
    check_rules: Callable[[Any], dict[str, Any]]
    read_components: Callable[..., Any]
    make_ruleset: Callable[[int, Mapping[str, Any], Any], Rulesets]
    action_names: Callable[[Any], tuple[str, ...]]
    blocks: tuple[Block, ...] = ()
    hidden_blocks: tuple[Block, ...] = ()
    chronicle: str = ""
    render: str = ""
    score_unit: int = 1
    score_form: str = "{}"
    colours: Mapping[str, str] = field(default_factory=dict)
    other_names: Callable[[Any], Mapping[str, int]] | None = None
    names_in_play: Callable[[Any, Any], tuple[str, ...]] | None = None
    min_players: int = 2
    max_players: int = MAX_PLAYERS
    has_secrets: bool = False
    state_ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        missing = [name for name in CONTRACT if name not in self.kernels and name not in OPTIONAL]
        if missing:
            raise TypeError(f"game {self.name!r} lacks the kernels {', '.join(missing)}")
        register(self.state_dtype, self.kernels)

    def __reduce__(self) -> tuple[Any, ...]:
        return _found_anywhere, (self.name, _homes.get(self.name))

    def __deepcopy__(self, memo: Any) -> Game:
        return self

    def room(self, name: str) -> Any:
        """The game's module `"chronicle"` or `"render"`.

        Raises:
            ConfigurationError: the game has none.
        """
        if not (module := getattr(self, name)):
            raise ConfigurationError(f"{self.title} has no module for {name}")
        return import_module(module)

    def score_text(self, number: object) -> str:
        """A score, in the unit of people and records, as it is shown to them."""
        return self.score_form.format(number)

    @property
    def score_digits(self) -> int:
        """Decimals to which the mean of such scores is rounded; below 0 if it is rounded to tens or hundreds."""
        return 2 - len(str(self.score_unit))

    def check_states(self, num_players: int, states: States) -> None:
        """Raise unless each field of `states` has a value that a game of `num_players` can have there.

        Compiled code takes numbers of cards, seats and places from a state and checks no bounds. This keeps them inside
        their tables. It does not find out whether the rules lead to such a state.

        Raises:
            ConfigurationError: a field of a state has no such value.
        """
        for name, limits in self.state_ranges.items():
            low, high = (0, num_players - 1) if limits == SEAT else limits
            values = states[name]
            if values.size and not (values.min() >= low and values.max() <= high):
                raise ConfigurationError(f"states: a state is damaged: its {name} is not within {low} and {high}")

    @cached_property
    def observation_size(self) -> int:
        """Length of an observation vector."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def hidden_size(self) -> int:
        """Length of the part of `state()` that nobody sees."""
        return sum(block.size for block in self.hidden_blocks)

    def variant(self, num_players: int = 2, rules: Any = None, components: Any = None) -> Variant:
        """The game with everything settled that is settled before the deal.

        Raises:
            ConfigurationError: a player count, option, edition or component table that can't be played with.
        """
        try:
            count = operator.index(num_players)
        except TypeError:
            count = -1
        if isinstance(num_players, bool) or not self.min_players <= count <= self.max_players:
            raise ConfigurationError(
                f"num_players: {num_players!r}; {self.title} is for {self.min_players} to {self.max_players} players"
            )
        in_force = self.check_rules(rules)
        tables = self.read_components(components)
        return Variant(self, count, in_force, tables, self.make_ruleset(count, in_force, tables))


@dataclass(frozen=True, eq=False)
class Variant:
    """A game with its players, rules and components chosen: what an environment is made of.

    All players of a game share one variant, agents included, so nothing of it can be written to.

    Attributes:
        game: the game.
        num_players: 2 to 4.
        rules: every option in force, read-only; a list is a tuple here (`rules_as_json` has lists).
        components: the component tables in force, read-only.
        rulesets: the same as an array of one ruleset record, for the kernels. Its memory can't be made writable.
        action_names: every action's name, in action order; `names_in_play` tells those of a state.
    """

    game: Game
    num_players: int
    rules: Mapping[str, Any]
    components: Any
    rulesets: Rulesets
    action_names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        tables = {table.name: read_only(getattr(self.components, table.name)) for table in fields(self.components)}
        for name, value in (
            ("rules", read_only(self.rules)),
            ("components", replace(self.components, **tables)),
            ("rulesets", np.frombuffer(self.rulesets.tobytes(), self.rulesets.dtype)),
            ("action_names", self.game.action_names(self.components)),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # Made anew: a pickled array would come back writable, which is another type to numba.
        tables = {table.name: _writable(getattr(self.components, table.name)) for table in fields(self.components)}
        rebuilt = type(self.components), tables
        return _rebuild_variant, (self.game, self.num_players, self.rules_as_json(), *rebuilt)

    def __deepcopy__(self, memo: Any) -> Variant:
        return self

    def rules_as_json(self) -> dict[str, Any]:
        """Every option in force, as it stands in files: a dict of one's own, with lists for tuples."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self.rules.items()}

    def new_states(self, count: int = 1) -> States:
        """`count` blank states; `deal` makes games of them."""
        return np.zeros(count, self.game.state_dtype)

    def action_number(self, name: str) -> int:
        """The number of the action called `name`.

        Raises:
            ConfigurationError: no action has that name.
        """
        other_names = self.game.other_names(self.components) if self.game.other_names else {}
        if name in other_names:
            return other_names[name]
        try:
            return self.action_names.index(name)
        except ValueError:
            raise ConfigurationError(f"no action {name!r}; see the table of actions of {self.game.title}") from None

    def names_in_play(self, states: States, i: int) -> tuple[str, ...]:
        """Every action's name in `states[i]`, in action order: the board game calls an exchange by its active side."""
        if self.game.names_in_play is None:
            return self.action_names
        return self.game.names_in_play(self.components, states[i])

    def force(self, states: States, i: int, outcome: Any) -> None:
        """Settle the chance outcome due in `states[i]` as `outcome` says, if it is possible.

        Args:
            states: the games.
            i: which of them.
            outcome: integers [up to `outcome_size`] in the game's own order (see its chronicle).

        Raises:
            ConfigurationError: no outcome is due, or not this one can be; the state is as it was.
        """
        checked = self.game.room("chronicle").check_outcome(self, states, i, outcome)
        force(self.rulesets[0], states[i], checked)


def _rebuild_variant(
    game: Game, num_players: int, rules: dict[str, Any], components: type[Any], tables: dict[str, Any]
) -> Variant:
    return game.variant(num_players, rules, components(**tables))


def read_only(value: Any) -> Any:
    """A value of rules or component tables that nobody can write to: mappings and lists all the way down."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: read_only(entry) for key, entry in value.items()})
    if isinstance(value, list | tuple):
        return tuple(read_only(entry) for entry in value)
    return value


def _writable(value: Any) -> Any:
    """What `read_only` made read-only, for a pickle."""
    return {key: _writable(entry) for key, entry in value.items()} if isinstance(value, Mapping) else value


_homes = {"card": "siberia_env.card.game", "board": "siberia_env.board.game"}

#: The games that come with the suite.
GAMES: tuple[str, ...] = tuple(_homes)

#: The group of entry points through which an installed package offers games: its names are those of the games, its
#: values the modules that have their `GAME`.
ENTRY_POINTS = "siberia_env.games"


def register_game(name: str, module: str) -> None:
    """Make a game from outside known under `name`, wherever the suite takes the name of a game.

    It holds for this process, and for those to which an object of the game is sent. A package that is installed offers
    its games for good by an entry point of the group `ENTRY_POINTS`.

    Args:
        name: the name of the game.
        module: the module whose `GAME` it is; it is imported when somebody asks for the game.

    Raises:
        ConfigurationError: another module has registered that name.
    """
    if _homes.setdefault(name, module) != module:
        raise ConfigurationError(f"game {name!r} is registered already, by {_homes[name]}")


@cache
def _installed_games() -> dict[str, str]:
    """The games of installed packages, with their modules.

    The search reads the metadata of every installed package, which takes some milliseconds, so it happens once.
    """
    return {entry.name: entry.value for entry in entry_points(group=ENTRY_POINTS)}


def game_names() -> tuple[str, ...]:
    """The names of all games: those of the suite, those registered, and those of installed packages.

    Installed packages are searched once a process, the first time that somebody asks.
    """
    for name, module in _installed_games().items():
        _homes.setdefault(name, module)
    return tuple(_homes)


def is_game(name: Any) -> bool:
    """Whether `name` is the name of a game. Installed packages are searched only if no other game is called so."""
    return isinstance(name, str) and (name in _homes or name in game_names())


def find_game(name: str | Game) -> Game:
    """The game called `name`.

    Raises:
        ConfigurationError: there is no such game, or its module does not have it.
    """
    if isinstance(name, Game):
        return name
    if not is_game(name):
        raise ConfigurationError(f"no game {name!r}; the games are {', '.join(_homes)}")
    game = getattr(import_module(_homes[name]), "GAME", None)
    if not isinstance(game, Game) or game.name != name:
        raise ConfigurationError(f"game {name!r}: the module {_homes[name]} has no GAME of that name")
    return game


def _found_anywhere(name: str, module: str | None) -> Game:
    """The game called `name`, also in a process that does not know it yet."""
    if module is not None:
        _homes.setdefault(name, module)
    return find_game(name)
