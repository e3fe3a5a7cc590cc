"""From the options of `siberia play` to a game: who sits where, which files keep it, and the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import count
from pathlib import Path

from rich.console import Console

from siberia_agents.interface import Agent
from siberia_agents.registry import make_agent
from siberia_agents.search.agent import SearchAgent
from siberia_env.common.render import counted, seat_name
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.files import FileLock, in_use
from siberia_env.game import Variant
from siberia_env.records import write_records
from siberia_experiments.faults import described
from siberia_experiments.match import derived_seed
from siberia_experiments.play.keyboard import Keyboard
from siberia_experiments.play.seat import SeatedGame, person_spec
from siberia_experiments.play.session import FIRST_BOT_STREAM, THEME, Session

RECORD_ENDING, SAVE_ENDING = ".jsonl", ".save.json"
LONGEST_NAME = 12  #: characters of a person's name


def new_game(
    variant: Variant, seed: int, seats: int | Sequence[int], against: Sequence[str], names: Sequence[str] = ()
) -> SeatedGame:
    """A game of people against agents: one agent for all other seats, or one a seat from the first person's on.

    Args:
        variant: what is played.
        seed: decides every chance outcome.
        seats: where people sit, one of them or several.
        against: the agents; they don't count if people take all seats.
        names: the people's names, in the order of `seats`; none, or one each.

    Raises:
        ConfigurationError: no such seat or seed, or the agents are neither one nor one a seat.
    """
    people = [seats] if isinstance(seats, int) else list(seats)
    if len(names) > variant.num_players:
        raise ConfigurationError(f"--names: {len(names)} people for a game of {variant.num_players}; see --players")
    for seat in people:
        if not 0 <= seat < variant.num_players:
            raise ConfigurationError(
                f"--seat: {seat}; a game of {variant.num_players} has the seats 0 to {variant.num_players - 1}"
            )
    circle = [(people[0] + offset) % variant.num_players for offset in range(variant.num_players)]
    free = [seat for seat in circle if seat not in people]
    if free and len(against) not in (1, len(free)):
        wanted = "1" if len(free) == 1 else f"1, or {len(free)} (one a seat)"
        raise ConfigurationError(f"--against: {len(against)} agents for {counted(len(free), 'seat')}; name {wanted}")
    specs = list(against) * (len(free) if len(against) == 1 else 1)
    sitting = dict(zip(free, specs, strict=False))
    sitting |= {seat: person_spec(name) for seat, name in zip(people, names or [""] * len(people), strict=True)}
    return SeatedGame(variant, seed, [sitting[seat] for seat in range(variant.num_players)], people[0])


def read_people(names: str, seats: str) -> tuple[list[str], list[int]]:
    """Who plays and where, from the options `--names` (empty: one person without a name) and `--seat`.

    Raises:
        ConfigurationError: a name that can't be shown, names or seats that are given twice, or seats that are not one
            for each name.
    """
    people = [" ".join(name.split()) for name in names.split(",")] if names else []
    for name in people:
        if not name or len(name) > LONGEST_NAME or not all(sign.isalnum() or sign in " -'._" for sign in name):
            raise ConfigurationError(
                f"--names: {name!r}; a name has 1 to {LONGEST_NAME} characters: letters, digits, spaces and - ' . _"
            )
        if is_taken(name):
            raise ConfigurationError(f"--names: {name!r} would be taken for somebody else; choose another name")
    if len({name.casefold() for name in people}) < len(people):
        raise ConfigurationError(f"--names: {names!r} has a name twice; they have to differ")
    try:
        places = [int(seat) for seat in seats.split(",")] if seats else list(range(max(1, len(people))))
    except ValueError:
        raise ConfigurationError(
            f"--seat: {seats!r}; give the number of a seat, or one for each of --names, such as 0,2"
        ) from None
    if len(places) != max(1, len(people)):
        people_told = counted(len(people), "name") if people else "one person without --names"
        raise ConfigurationError(f"--seat: {counted(len(places), 'seat')} for {people_told}; give one for each")
    if len(set(places)) < len(places):
        raise ConfigurationError(f"--seat: {seats!r} has a seat twice")
    return people, places


def is_taken(name: str) -> bool:
    """Whether a name already means a seat or the one who reads."""
    return name.casefold() == "you" or re.fullmatch(r"player_\d+", name.casefold()) is not None


def seat_agents(game: SeatedGame) -> dict[int, Agent]:
    """The agents of the other seats, ready to play.

    Raises:
        ConfigurationError: there is no such agent.
        ModelError: one can't play this game.
        SiberiaError: one has failed in its `start`.
    """
    bots = {player: make_agent(spec) for player, spec in enumerate(game.agents) if player not in game.people}
    for player, agent in bots.items():
        try:
            agent.start(game.variant, derived_seed(game.seed, FIRST_BOT_STREAM + player, 0))
        except (SiberiaError, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever the code of an agent raises
            who = f"{seat_name(player)} ({game.agents[player]})"
            raise SiberiaError(f"{who} can't be started: {described(error)}") from error
    return bots


def new_files(game: str, out: Path | None) -> tuple[Path, Path]:
    """Where the record will be written and where the game is kept until then; nothing is overwritten.

    Raises:
        ConfigurationError: `out` or the save beside it is there already, or there is no such folder.
    """
    if out is None:
        stems = (Path(f"play-{game}-{number}") for number in count(1))
        files = ((_ending(stem, RECORD_ENDING), _ending(stem, SAVE_ENDING)) for stem in stems)
        return next(
            (record, save) for record, save in files if not record.exists() and not save.exists() and not in_use(save)
        )
    _check_free(out)
    save = out.with_suffix(SAVE_ENDING)
    if save.exists():
        raise ConfigurationError(f"--out: {save} keeps a game; go on with it (--resume {save}) or name another file")
    return out, save


def resumed_record(save: Path, out: Path | None) -> Path:
    """Where the record of a resumed game will be written: `out`, or beside the save.

    Raises:
        ConfigurationError: `out` is there already, or there is no such folder.
    """
    if out is not None:
        _check_free(out)
        return out
    stem = save.with_name(save.name.removesuffix(SAVE_ENDING))
    stems = (stem if number == 1 else _ending(stem, f"-{number}") for number in count(1))
    return next(path for path in (_ending(stem, RECORD_ENDING) for stem in stems) if not path.exists())


def _ending(stem: Path, ending: str) -> Path:
    return stem.with_name(stem.name + ending)


def _check_free(out: Path) -> None:
    if out.exists():
        raise ConfigurationError(f"--out: {out} is there already; name another file")
    if not out.parent.is_dir():
        raise ConfigurationError(f"--out: there is no folder {out.parent}")


def terminal(keyboard: Keyboard) -> tuple[Console, Callable[[str], str]]:
    """Where a session prints, and how it reads what is typed."""
    for stream in (sys.stdin, sys.stdout):  # what the terminal's encoding lacks shows as ?
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    console = Console(theme=THEME, highlight=False)

    def read(prompt: str) -> str:
        line = keyboard.read(prompt)
        if not sys.stdin.isatty():
            console.print(line, markup=False)  # as a terminal would
        return line

    return console, read


@contextmanager
def _kept_by_this_session(save: Path) -> Iterator[None]:
    """Keep other sessions from the file `save` and from the record beside it.

    Raises:
        ConfigurationError: another session plays with it, or there can be no such file.
    """
    try:
        lock = FileLock(save)
    except BlockingIOError:
        raise ConfigurationError(f"save: another session plays the game in {save}") from None
    except OSError as error:
        raise ConfigurationError(f"save: can't write {save}: {error.strerror}") from error
    try:
        yield
    finally:
        lock.release()


def sit_down(
    game: SeatedGame, save: Path, record: Path, hints: SearchAgent, looks_ahead: int = 0, pass_forced: bool = True
) -> None:
    """Play a game in the terminal, to its end or until it is left.

    Args:
        game: new or resumed.
        save: the file that keeps the game until it is over.
        record: the file for the game's record.
        hints: whose search gives hints.
        looks_ahead: see `Session`.
        pass_forced: see `Session`.

    Raises:
        SiberiaError: an agent can't play or has failed, or a file can't be written.
        KeyboardInterrupt: somebody has left with Ctrl-C; the game is saved.
    """
    with _kept_by_this_session(save), Keyboard() as keyboard:
        console, read = terminal(keyboard)
        session = Session(
            game,
            seat_agents(game),
            console,
            read,
            save,
            hints,
            looks_ahead,
            keyboard.forget,
            keyboard.offer,
            keyboard.forget_lines,
            pass_forced,
        )
        finished = False
        try:
            finished = session.run()
        except KeyboardInterrupt:
            console.print()
            raise
        finally:
            if not finished and not isinstance(sys.exception(), SiberiaError):
                session.say_how_to_go_on()
        if finished:
            write_records(record, [session.game.record()])
            save.unlink(missing_ok=True)
            session.say(f"{record}: the record of the game (siberia replay {record})", in_one=True)
