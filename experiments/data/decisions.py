"""Games as rows: what each decision showed, what was chosen, and how the game ended.

`played_games` plays games and keeps every decision. `record_rows` makes plain rows of a file of game records, for
`pandas.DataFrame(record_rows("games.jsonl"))` and the like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent, checked_action
from siberia_agents.search.visits import ShowsVisits
from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant, copy_states
from siberia_env.records import Recorder, read_records, record_variant
from siberia_env.records.format import DECISION_KEYS
from siberia_env.view import View, view_state
from siberia_experiments.match import start_agents


@dataclass(frozen=True)
class Column:
    """A column of a table of decisions.

    Attributes:
        name: how it is called.
        kind: its type in words, for docs/data.md; O numbers of an observation, A actions, P players.
        meaning: what it holds.
    """

    name: str
    kind: str
    meaning: str


COLUMNS = (
    Column("game", "int64", "number of the game in the file, from 0"),
    Column("seed", "uint64", "seed that the game was dealt from"),
    Column("step", "int64", "number of the decision in its game, from 0"),
    Column("player", "int64", "seat that decided"),
    Column("agent", "string", "name of the agent in that seat"),
    Column("observation", "list of O float32", "what the seat saw, as the environments show it"),
    Column("action_mask", "list of A int8", "1 for legal actions"),
    Column("action", "int64", "number of the action that was taken"),
    Column("action_name", "string", "the action's name, as in game records"),
    Column("visits", "list of A int64, or null", "how often a search tried each action; null if nothing was searched"),
    Column("return", "float64", 'what `reward="win"` pays the seat at the end'),
    Column("score", "int64", "the seat's score at the end, in dollars"),
    Column("returns", "list of P float64", "the returns of all seats"),
    Column("scores", "list of P int64", "the scores of all seats"),
    Column("hit_limit", "bool", "whether the limit of turns or rounds ended the game"),
)


@dataclass(frozen=True)
class Choice:
    """One decision of a game.

    Attributes:
        player: the seat that decided.
        observation: float32 [O], what that seat saw.
        mask: int8 [A], 1 for legal actions.
        action: the number of the action that was taken.
        name: the action's name.
        visits: int64 [A], how often a search tried each action; None if the agent did not search.
    """

    player: int
    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    action: int
    name: str
    visits: NDArray[np.int64] | None


@dataclass(frozen=True)
class PlayedGame:
    """One game with all its decisions. P seats.

    Attributes:
        number: the game's number in its series, from 0.
        seed: what it was dealt from.
        agents: the names of the agents, by seat.
        choices: the decisions in order.
        last: float32 [P, O], what each seat sees at the end.
        scores: the final scores by seat, as people count them (`Game.score_unit`).
        returns: what `reward="win"` pays each seat at the end.
        hit_limit: whether the limit of turns or rounds ended the game.
    """

    number: int
    seed: int
    agents: tuple[str, ...]
    choices: tuple[Choice, ...]
    last: NDArray[np.float32]
    scores: tuple[int, ...]
    returns: tuple[float, ...]
    hit_limit: bool


class Watched(Agent):
    """An agent whose search, if it has one, shows the visits behind its last action.

    Attributes:
        visits: int64 [A]; None if the agent did not search.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.name = agent.name
        self.visits: NDArray[np.int64] | None = None

    def act(self, view: View) -> int:
        """The agent's own action."""
        if not isinstance(self.agent, ShowsVisits):
            return self.agent.act(view)
        action, self.visits = self.agent.act_with_visits(view)
        return action

    def checked_visits(self, actions: int) -> NDArray[np.int64] | None:
        """The visits as int64 [actions].

        Raises:
            ConfigurationError: an agent's own method gave something else.
        """
        if self.visits is None:
            return None
        visits = np.asarray(self.visits)
        if visits.shape != (actions,) or visits.dtype.kind not in "iu":
            raise ConfigurationError(f"agent {self.name}: its visits are not {actions} whole numbers, one an action")
        return visits.astype(np.int64)


def played_games(variant: Variant, agents: Sequence[Agent], games: int, seed: int) -> Iterator[PlayedGame]:
    """Play `games` games and keep all decisions.

    The games are those that `siberia record` writes with the same seed: game g has the seed `seed` + g, and agent k
    sits in seat k in every game.

    Raises:
        ConfigurationError: the seed is no seed.
        IllegalActionError: an agent chose an action that is not legal.
    """
    watched = [Watched(agent) for agent in agents]
    for number in range(games):
        start_agents(variant, agents, seed + number)
        recorder = Recorder(variant, seed + number, [agent.name for agent in agents])
        choices = []
        while not recorder.over:
            view = view_state(variant, copy_states(recorder.states), 0)
            agent = watched[view.player]
            action = checked_action(agent, view)
            visits = agent.checked_visits(len(view.mask))
            name = recorder.position.action_to_string(action)
            choices.append(Choice(view.player, view.observation, view.mask, action, name, visits))
            recorder.act(action)
        position = recorder.position
        yield PlayedGame(
            number,
            seed + number,
            tuple(agent.name for agent in agents),
            tuple(choices),
            np.stack([position.observation_tensor(seat) for seat in range(variant.num_players)]),
            tuple(position.scores()),
            tuple(position.returns()),
            position.has_hit_limit(),
        )


def record_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each decision in a file of game records; every record is checked by playing it again.

    The keys are `game` (the number in the file), `name` (of what is played), `seed`, `step` (the number of the
    decision), `player`, `agent`, `action`, `legal` (names, as in the record), `score` (the player's at the end), `won`
    and `hit_limit`.

    Raises:
        ConfigurationError: the file can't be read.
        RecordError: a record is wrong; the message names the line.
    """
    for number, record in enumerate(read_records(path)):
        header, end = record.header, record.end
        played = record_variant(record).game.name
        decisions = (line for line in record.lines if sorted(line) == sorted(DECISION_KEYS))
        for step, line in enumerate(decisions):
            player = line["player"]
            yield {
                "game": number,
                "name": played,
                "seed": header["seed"],
                "step": step,
                "player": player,
                "agent": header["agents"][player],
                "action": line["action"],
                "legal": list(line["legal"]),
                "score": end["scores"][player],
                "won": player in end["winners"],
                "hit_limit": end["truncated"],
            }
