"""Plays and records games: `siberia record card --agents greedy,random --games 10 --out games.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent, checked_action
from siberia_env.errors import ConfigurationError, RecordError
from siberia_env.game import Game, States, Variant
from siberia_env.records import Record, describe, play_and_record, read_records, write_records
from siberia_env.spelling import did_you_mean
from siberia_env.view import view_state
from siberia_experiments.console import counting
from siberia_experiments.evaluate import line_up
from siberia_experiments.match import start_agents

#: What `siberia record` writes, by the name of the format: the file's usual ending, and the file by default.
FORMATS = {"jsonl": (".jsonl", "games.jsonl"), "parquet": (".parquet", "games.parquet"), "minari": ("", "")}

PARQUET = b"PAR1"  #: how such a file begins

T = TypeVar("T")


@dataclass(frozen=True)
class Order:
    """The games to be recorded.

    Attributes:
        variant: what is played.
        specs: the agents, seat by seat; the last one takes the remaining seats.
        games: how many.
        seed: that of the first game; game g has `seed` + g.
    """

    variant: Variant
    specs: Sequence[str]
    games: int
    seed: int


def record_as(order: Order, name: str, out: Path | None, seat: int | None, force: bool) -> str:
    """Play the games and write them in the format `name`; say in a line what was written.

    Args:
        order: the games.
        name: one of `FORMATS`; empty: what the ending of `out` says, or else `jsonl`.
        out: the file, or the name of a Minari data set; None: the file that the format has by default.
        seat: whose decisions a Minari data set holds, 0 by default.
        force: whether something that is there already is replaced.

    Raises:
        ConfigurationError: there is no such format, `out` is there already or can't be written, or the games can't be
            played.
        MissingExtraError: the format needs packages that are not installed.
    """
    by_ending = {ending: each for each, (ending, _) in FORMATS.items() if ending}
    chosen = name or by_ending.get("" if out is None else out.suffix, "jsonl")
    if chosen not in FORMATS:
        raise ConfigurationError(
            f"--format: no {chosen!r}{did_you_mean(chosen, FORMATS)}; the formats are {', '.join(FORMATS)}"
        )
    if seat is not None and chosen != "minari":
        raise ConfigurationError(f"--seat: {chosen} holds the decisions of all seats; leave the option out")
    if chosen == "minari":
        return _write_minari(order, out, seat or 0, force)
    path = Path(FORMATS[chosen][1]) if out is None else out
    if path.is_file() and not force:
        raise ConfigurationError(f"--out: {path} is there already; give --force to replace it, or name another file")
    variant, games = order.variant, order.games
    if chosen == "parquet":
        from siberia_experiments.data.decisions import played_games
        from siberia_experiments.data.parquet import told_of, write_games

        agents = line_up(order.specs, variant.num_players)
        about = told_of(variant, [agent.name for agent in agents], games, order.seed)
        rows = write_games(path, variant, _counted(played_games(variant, agents, games, order.seed), games), about)
        return f"{path}: {_in_words(games)}, {rows} decisions"
    record_games(variant, line_up(order.specs, variant.num_players), games, order.seed, path)
    return f"{path}: {_in_words(games)}"


def _write_minari(order: Order, out: Path | None, seat: int, force: bool) -> str:
    from siberia_experiments.data.decisions import played_games
    from siberia_experiments.data.minari_export import write_minari

    if out is None:
        raise ConfigurationError("--out: name the data set, such as siberia/card-heuristic-v0")
    variant = order.variant
    agents = line_up(order.specs, variant.num_players)
    specs = [*order.specs, *[order.specs[-1]] * (len(agents) - len(order.specs))]
    games = _counted(played_games(variant, agents, order.games, order.seed), order.games)
    folder = write_minari(str(out), variant, specs, games, seat, force)
    return f"{out}: {_in_words(order.games)}, the decisions of seat {seat}; in {folder}"


def _in_words(games: int) -> str:
    return "1 game" if games == 1 else f"{games} games"


def _counted(games: Iterable[T], total: int) -> Iterator[T]:
    """The `games` behind a progress bar."""
    with counting("recording", total) as bar:
        for game in games:
            yield game
            bar.advance(bar.task_ids[0])


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
    write_records(path, _counted(recorded_games(variant, agents, games, seed), games))


def tell_records(path: Path, game: Game | None = None) -> Iterator[str]:
    """Check every record in the file `path` by replaying it, and yield its description line by line.

    Raises:
        ConfigurationError: the file is a table and no file of records.
        RecordError: a record is wrong, or is not of the game `game`; the message names the line and the mistake.
    """
    if _is_table(path):
        raise ConfigurationError(f"records: {path} is a Parquet table; a record is written with --format jsonl")
    for number, record in enumerate(read_records(path)):
        if game is not None and record.header["game"] != game.name:
            raise RecordError(f"line {record.first_line}: a record of {record.header['game']!r}, not of {game.name!r}")
        if number:
            yield ""
        yield from describe(record)


def _is_table(path: Path) -> bool:
    """Whether the file begins as Parquet does. What can't be read is none: reading its records will say why."""
    if not path.is_file():  # from a pipe nothing is taken
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(PARQUET)) == PARQUET
    except OSError:
        return False
