"""Who plays the other seats of a one-seat environment: agents by name or as objects, functions, or chance.

The agents stand above the environments and are never imported here. A package that has agents offers them by an entry
point of the group `ENTRY_POINTS`: a function that makes an agent from its name. The suite's own registry is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant
from siberia_env.seeds import derived_seed
from siberia_env.view import View

#: The group of entry points through which a package offers agents. Each is a function of one string that makes an
#: agent, and raises `ConfigurationError` if it has none of that name.
ENTRY_POINTS = "siberia_env.agents"

OPPONENTS = 0  #: the stream of the seeds that opponents get


class Player(Protocol):
    """An agent, as `siberia_agents.interface.Agent` defines it. One object may hold several seats."""

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Prepare for games of `variant`; all random choices follow from `seed`."""

    def act(self, view: View) -> int:
        """The number of a legal action."""


#: Chooses an action from an observation (float32 [O]) and a mask (int8 [A]).
Function: TypeAlias = Callable[[NDArray[np.float32], NDArray[np.int8]], Any]

#: What plays a seat: an agent, a function, or None for uniformly random legal actions.
Opponent: TypeAlias = Player | Function | None


def is_player(opponent: Any) -> TypeGuard[Player]:
    """Whether `opponent` is an agent, to be asked with a view."""
    return all(callable(getattr(opponent, name, None)) for name in ("act", "start"))


def find_opponents(opponents: Any, variant: Variant) -> list[Opponent]:
    """One opponent for each seat after the learner's, in order; each can play `variant`.

    Args:
        opponents: one for all other seats, or a sequence of one for each: an agent by name (`"greedy"`,
            `"guided:200"`) or as an object, a function, or None. An agent that is named for all seats is one object.
        variant: the game to be played.

    Raises:
        ConfigurationError: there is no such agent, or `opponents` is nothing of this.
        ModelError: an agent can't play this variant.
    """
    seats = variant.num_players - 1
    several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
    given = list(opponents) if several else [opponents]
    if several and len(given) != seats:
        raise ConfigurationError(
            f"opponents: {len(given)} for {seats} other seats; give a list with one for each, or one for all of them"
        )
    found = [_opponent(one) for one in given]
    start_opponents(found, variant, 0)
    return found if several else found * seats


def start_opponents(opponents: Sequence[Opponent], variant: Variant, seed: int) -> None:
    """Start every agent among `opponents` once, with a stream of random choices of its own."""
    started: list[Player] = []
    for place, opponent in enumerate(opponents):
        if is_player(opponent) and not any(opponent is other for other in started):
            opponent.start(variant, derived_seed(seed, OPPONENTS, place))
            started.append(opponent)


def _opponent(given: Any) -> Opponent:
    if isinstance(given, str):
        return named_agent(given)
    if isinstance(given, type) and hasattr(given, "act"):
        raise ConfigurationError(f"opponents: {given.__name__} is a class; give an object of it")
    if given is None or is_player(given) or callable(given):
        return given
    raise ConfigurationError(
        f"opponents: {given!r} is not the name of an agent, an agent (with act and start), a function of observation "
        "and mask, or None"
    )


def named_agent(name: str) -> Player:
    """The agent that `name` describes, as on the command line: `"heuristic"`, `"learned:model.npz"`, `"my_file:Mine"`.

    Raises:
        ConfigurationError: nobody offers such an agent, or its argument or options are invalid.
        ModelError: a saved model can't be used.
    """
    makers = _makers()
    if not makers:
        raise ConfigurationError(
            f"opponents: no installed package offers agents by name ({name!r}); install the suite anew "
            "(pip install .), or give an agent as an object"
        )
    refused: list[ConfigurationError] = []
    for maker in makers:
        try:
            return maker(name)
        except ConfigurationError as error:
            refused.append(error)
    raise refused[0]


@cache
def _makers() -> tuple[Callable[[str], Player], ...]:
    """What the installed packages offer, the suite's own first; their modules are imported when first asked for."""
    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: (entry.name != "siberia", entry.name))
    return tuple(entry.load() for entry in found)
