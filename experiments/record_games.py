"""Plays and records games: `siberia record card --agents greedy,random --games 10 --out games.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent, checked_action
from siberia_env.errors import RecordError
from siberia_env.game import Game, States, Variant
from siberia_env.records import Record, describe, play_and_record, read_records, write_records
from siberia_env.view import view_state
from siberia_experiments.console import counting
from siberia_experiments.match import start_agents


def recorded_games(variant: Variant, agents: Sequence[Agent], games: int, seed: int) -> Iterator[Record]:
    """Play and record `games` games. Game g has the seed `seed` + g, and agent k sits in seat k in every game."""
    for game in range(games):
        start_agents(variant, agents, seed + game)

        def choose(states: States, i: int, mask: NDArray[np.int8]) -> int:
            view = view_state(variant, states, i)
            return checked_action(agents[view.player], view)

        yield play_and_record(variant, choose, seed + game, [agent.name for agent in agents])


def record_games(variant: Variant, agents: Sequence[Agent], games: int, seed: int, path: Path) -> None:
    """Write `games` recorded games into the file `path`. The file appears when all games are played.

    Raises:
        ConfigurationError: the file can't be written, or the seed is invalid.
    """

    def counted() -> Iterator[Record]:
        with counting("recording", games) as bar:
            for record in recorded_games(variant, agents, games, seed):
                yield record
                bar.advance(bar.task_ids[0])

    write_records(path, counted())


def tell_records(path: Path, game: Game | None = None) -> Iterator[str]:
    """Check every record in the file `path` by replaying it, and yield its description line by line.

    Raises:
        RecordError: a record is wrong, or is not of the game `game`; the message names the line and the mistake.
    """
    for number, record in enumerate(read_records(path)):
        if game is not None and record.header["game"] != game.name:
            raise RecordError(f"line {record.first_line}: a record of {record.header['game']!r}, not of {game.name!r}")
        if number:
            yield ""
        yield from describe(record)
