"""`level`: agents by how strong they are for people, such as `level:medium`.

`LEVELS` is the one table: which agent plays a level, for each game and number of players, and what it was measured at.
docs/results.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant

#: The levels, the weakest first.
NAMES = ("easy", "medium", "hard", "best")


@dataclass(frozen=True)
class Level:
    """Who plays a level.

    Attributes:
        spec: the agent (`siberia_agents.registry.make_agent`).
        rating: its rating in the ranking of docs/results.md, where `search:1000` has 1000. Ratings of different games
            or player counts can't be compared.
    """

    spec: str
    rating: int


def _ladder(*levels: tuple[str, int]) -> dict[str, Level]:
    return {name: Level(*level) for name, level in zip(NAMES, levels, strict=True)}


#: Who plays each level, by game and number of players.
LEVELS: Mapping[tuple[str, int], Mapping[str, Level]] = {
    ("card", 2): _ladder(("greedy", 954), ("search:1000", 1000), ("heuristic", 1657), ("learned", 1829)),
    ("card", 3): _ladder(("search:1000", 1000), ("greedy", 1153), ("heuristic", 1569), ("guided:200", 1647)),
    ("card", 4): _ladder(("search:1000", 1000), ("greedy", 1158), ("heuristic", 1444), ("guided:200", 1482)),
    ("board", 2): _ladder(("search:1000", 1000), ("greedy", 1298), ("heuristic", 1602), ("guided:200", 1878)),
    ("board", 3): _ladder(("search:1000", 1000), ("greedy", 1563), ("learned", 1837), ("guided:200", 1972)),
    ("board", 4): _ladder(("search:1000", 1000), ("greedy", 1893), ("learned", 2044), ("guided:200", 2150)),
}


def check_level(name: str) -> str:
    """`name`, if it is that of a level.

    Raises:
        ConfigurationError: it isn't.
    """
    if name not in NAMES:
        raise ConfigurationError(f"level: no {name!r}; the levels are {', '.join(NAMES)}")
    return name


def spec_of_level(name: str, variant: Variant) -> str:
    """The spec of the agent that plays the level `name` in games of `variant`.

    Raises:
        ConfigurationError: there is no such level, or nobody has measured agents for these games.
    """
    check_level(name)
    played = variant.game.name, variant.num_players
    if played not in LEVELS:
        raise ConfigurationError(
            f"level: no agents of the {played[0]} game for {played[1]} players have been measured; "
            "name an agent instead"
        )
    return LEVELS[played][name].spec
