"""Play against agents in the terminal: `siberia play card --against search:2000 --seat 1`.

Line by line, so that it works over ssh, in tmux and in a pipe. What is shown and told comes from the seat
(`siberia_experiments.play.seat`), which knows what the seat may know; this file reads, prints and saves. The game is
saved after every decision.
"""

from __future__ import annotations

import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from io import TextIOWrapper
from itertools import count, groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from siberia_agents.interface import Agent
from siberia_agents.registry import make_agent
from siberia_agents.search.agent import SearchAgent, SearchResult
from siberia_env.common.render import counted, seat_name
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.files import FileLock, in_use
from siberia_env.game import Variant
from siberia_env.records import write_records
from siberia_experiments.commands import command_line, path_word
from siberia_experiments.console import new_table
from siberia_experiments.faults import described, printable
from siberia_experiments.match import derived_seed
from siberia_experiments.play.keyboard import BLINK, Keyboard
from siberia_experiments.play.layout import Part, fitted, sentences
from siberia_experiments.play.saves import save_game
from siberia_experiments.play.seat import Option, SeatedGame

PERSON = "person"  #: the name of a person's seat in records
RECORD_ENDING, SAVE_ENDING = ".jsonl", ".save.json"

HINT_STREAM, FIRST_BOT_STREAM = 2, 3  #: of seeds derived from the game's
HINTS_SHOWN = 8
PATIENCE = 1.0  #: seconds of thinking before a spinner appears

T = TypeVar("T")

#: What can be typed instead of a move: keys, what they do.
COMMANDS = {
    "h": "hint: what a search thinks of your moves",
    "t": "table: show the whole table",
    "u": "undo: take your last decision back (u! if you have learned something since)",
    "s": "save and quit (q too); the game is saved after every decision anyway",
    "?": "help: this list",
}
WORDS = {"hint": "h", "table": "t", "undo": "u", "undo!": "u!", "save": "s", "quit": "s", "q": "s", "help": "?"}
CHOOSING = (
    "Choose by the number in front of a move, or type its name or the beginning of its words: "
    "'mi go' is 'mine gold' if nothing else begins like that. Enter takes the only move there is."
)

THEME = Theme({"siberia.you": "bold", "siberia.shade": "dim"})


def coloured(line: str, colours: Mapping[str, str], drawn: bool = False) -> Text:
    """A line with the game's words in their colours, the person, and what lies face down.

    In what is `drawn`, grids and maps, words go by their first two letters too.
    """
    text = Text(line)
    for word, colour in colours.items():
        text.highlight_regex(rf"\b(?:{word}|{word[:2]})\b" if drawn else rf"\b{word}\b", colour)
    text.highlight_regex(r"\byou\b|▸?player_\d \(you\)", "siberia.you")
    text.highlight_regex(r"▒+", "siberia.shade")
    return text


class NotUnderstood(Exception):
    """What the person typed is no move and no command; the message says why."""


def understood(typed: str, options: Sequence[Option]) -> Option | str:
    """The move or the command (a key of `COMMANDS`, or `u!`) that the person has typed.

    Raises:
        NotUnderstood: it is none, or could be several moves.
    """
    text = " ".join(typed.lower().split())
    if not text and len(options) == 1:
        return options[0]
    command = WORDS.get(text, text)
    if command in COMMANDS or command == "u!":
        return command
    if text.isdecimal():
        if 1 <= int(text[:9]) <= len(options):
            return options[int(text[:9]) - 1]
        raise NotUnderstood(f"there is no move {text[:9]}; the moves are 1 to {len(options)}")
    meant = _meant(text, options) if text else []
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise NotUnderstood(f"{typed.strip()!r} could be: {', '.join(option.name for option in meant)}")
    raise NotUnderstood(f"{typed.strip()!r} is no move now; type the number of a move, or ? for help" if text else "")


def _meant(text: str, options: Sequence[Option]) -> list[Option]:
    """The moves that a text means: the one of that name, or else those that begin so, or whose words do."""

    def begins(option: Option) -> bool:
        words, typed = option.name.lower().split(), text.split()
        return len(typed) <= len(words) and all(map(str.startswith, words, typed))

    tests: tuple[Callable[[Option], bool], ...] = (
        lambda option: option.name.lower() == text,
        lambda option: option.name.lower().startswith(text),
        begins,
    )
    return next(filter(None, ([option for option in options if test(option)] for test in tests)), [])


def menu(options: Sequence[Option], width: int) -> list[str]:
    """The moves in lines, a group for each first word of their names."""
    digits = len(str(len(options)))
    lines: list[str] = []
    for _, group in groupby(options, lambda option: option.name.split()[0]):
        entries = [f"{option.number:>{digits + 1}}  {option}" for option in group]
        column = max(map(len, entries)) + 2
        across = max(1, (width + 2) // column)
        for start in range(0, len(entries), across):
            line = "".join(entry.ljust(column) for entry in entries[start : start + across]).rstrip()
            lines += textwrap.wrap(line, width, subsequent_indent=" " * (digits + 3), break_on_hyphens=False)
    return lines


def in_background(work: Callable[[], T], busy: Callable[[], Any]) -> T:
    """What `work` gives, done in another thread so that Ctrl-C is heard; `busy` is entered if it takes long."""
    outcome: list[tuple[bool, Any]] = []
    done = threading.Event()

    def run() -> None:
        try:
            outcome.append((True, work()))
        except BaseException as error:
            outcome.append((False, error))
        done.set()

    threading.Thread(target=run, daemon=True).start()
    if not done.wait(PATIENCE):
        with busy():
            while not done.wait(BLINK):
                pass
    succeeded, result = outcome[0]
    if not succeeded:
        raise result
    value: T = result
    return value


@dataclass
class Session:
    """A person who plays.

    Attributes:
        game: the game as it stands; another one after a move has been taken back.
        bots: who sits on the other seats.
        console: where to print.
        read: `read(prompt)` is a line that the person has typed; raises `EOFError` when there are no more.
        save_path: the file that keeps the game.
        hints: whose search gives hints.
        looks_ahead: decisions taken back after seeing what could not be foreseen.
        forget: drops what has been typed and not been read.
    """

    game: SeatedGame
    bots: Mapping[int, Agent]
    console: Console
    read: Callable[[str], str]
    save_path: Path
    hints: SearchAgent
    looks_ahead: int = 0
    forget: Callable[[], None] = lambda: None
    _told_before: set[str] = field(default_factory=set)  # sentences shown last; empty if the whole game is to be shown

    def run(self) -> bool:
        """Play until the game is over; False if the person has left it before.

        Raises:
            SiberiaError: another player has failed, or the game can't be saved.
            KeyboardInterrupt: the person has left in a hurry. The game is saved then too.
        """
        self._save()
        self._greet()
        while not self.game.over:
            if not self.game.on_turn:
                self._tell(self._act(self._move_of(self.game.player)))
                self._told_before.clear()
            elif not self._decide():
                return False
        self.say()
        self._show_table([])
        self._show_scores()
        return True

    # ------------------------------------------------------------ moves

    def _decide(self) -> bool:
        """Let the person take one decision, or a command; False if it leaves."""
        options = self.game.options()
        self._show(options)
        prompt = f"your move (1{f' to {len(options)}' if len(options) > 1 else ''}, ? for help): "
        while True:
            try:
                answer = understood(self.read(prompt), options)
            except NotUnderstood as error:
                self.say(str(error) or "type the number of a move, or ? for help")
                continue
            except EOFError:
                self.say()
                return False
            if isinstance(answer, Option):
                self._tell(self._act(answer.action))
                return True
            if answer == "s":
                return False
            if answer in ("u", "u!"):
                if self._undo(forced=answer == "u!"):
                    return True
            elif answer == "h":
                self._hint(options)
            elif answer == "t":
                self._told_before.clear()
                self._show(options, whole=True)
            else:
                self._help()

    def _act(self, action: int) -> list[str]:
        told = self.game.take(action)
        self._save()
        return told

    def _move_of(self, player: int) -> int:
        """Another player's legal action.

        An agent is started anew for each decision, with a seed of its own: so it answers the same whether the game
        was saved in between, or a move taken back.
        """
        game, agent = self.game, self.bots[player]
        who = f"{seat_name(player)} ({game.agents[player]})"
        view, seed = game.view(), derived_seed(game.seed, FIRST_BOT_STREAM + player, len(game.decisions))

        def think() -> int:
            agent.start(game.variant, seed)
            return agent.act(view)

        try:
            action = in_background(think, lambda: self._spinner(f"{who} is thinking"))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise SiberiaError(f"{who} has failed: {described(error)}; {self.how_to_go_on()}") from error
        legal = isinstance(action, int | np.integer) and not isinstance(action, bool) and action in view.legal_actions
        if not legal:  # the legal ones are not named: they may show what is hidden
            raise SiberiaError(f"{who} has chosen {action!r}, which is not legal; {self.how_to_go_on()}")
        return int(action)

    def _undo(self, forced: bool) -> bool:
        """Take the person's last decision back, and what followed; whether that was done."""
        last = self.game.last_own_decision()
        if last is None:
            self.say("there is no decision of yours to take back")
            return False
        news = self.game.brought_news(last)
        if news and not forced:
            self.say(
                "Since then you have seen what you couldn't foresee. u! takes your decision back all the same; "
                "it is counted, and the score sheet will say so."
            )
            return False
        self.looks_ahead += news
        self.say(f"taken back: {self.game.decisions[last][1]}")
        self.game = self.game.rewound(last)
        self._told_before.clear()
        self._save()
        return True

    def _hint(self, options: Sequence[Option]) -> None:
        """Show what a search thinks of the moves."""
        ranking = in_background(self._search, lambda: self._spinner("searching"))
        self._show_ranking(ranking, {option.action: option for option in options})

    def _search(self) -> SearchResult:
        game = self.game
        self.hints.start(game.variant, derived_seed(game.seed, HINT_STREAM, len(game.decisions)))
        return self.hints.search(game.view())

    # ------------------------------------------------------------ files

    def _save(self) -> None:
        save_game(self.save_path, self.game, self.looks_ahead)

    def how_to_go_on(self) -> str:
        """The sentence about the saved game."""
        name, path = self.game.variant.game.name, path_word(self.save_path)
        return f"the game is saved; go on with: {command_line('play', name, '--resume', path)}"

    # ------------------------------------------------------------ the screen

    def say(self, text: str = "", in_one: bool = False) -> None:
        """Print a text; `in_one` line if there is a path in it to be copied (the terminal breaks it)."""
        self.console.print(printable(text), markup=False, highlight=False, soft_wrap=in_one)

    def _tell(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.console.print(coloured(line, self.game.variant.game.colours))

    @contextmanager
    def _spinner(self, text: str) -> Iterator[None]:
        with self.console.status(Text(text)) if self.console.is_terminal else nullcontext():
            yield
        self.forget()  # it would answer a question that had not been asked

    def _greet(self) -> None:
        game = self.game
        others = ", ".join(f"{seat_name(player)} ({game.agents[player]})" for player in sorted(self.bots))
        self.say(f"{game.variant.game.title}. You are {seat_name(game.seat)}; you play against {others}.")
        self.say(f"The game is kept in {self.save_path}. Type ? for help.", in_one=True)
        self.say()

    def _help(self) -> None:
        self.say(CHOOSING)
        for key, meaning in COMMANDS.items():
            self.say(f"  {key}  {meaning}")

    def _show(self, options: Sequence[Option], whole: bool = False) -> None:
        """The table, or within a turn only the sentences that are new; and the moves."""
        moves = menu(options, self.console.width)
        self.say()
        if self._told_before:
            told = sentences(self.game.text(), self.console.width)
            self._tell([line for line in told if line not in self._told_before])
            self._told_before = set(told)
        else:
            self._show_table([] if whole else moves)
        self.say()
        self._tell(moves)

    def _show_table(self, moves: Sequence[str]) -> None:
        """The whole table; in a window that is too short for it without the tallest part, if that is enough."""
        text, width = self.game.text(), self.console.width
        parts = fitted(text, width)
        self._told_before = set(sentences(text, width))
        missing = None
        if moves and self.console.is_terminal:
            missing = _part_to_leave_out(parts, self.console.height - len(moves) - 3)
        for part in parts:
            for line in () if part is missing else part.lines:
                told = coloured(line, self.game.variant.game.colours, part.drawn)
                self.console.print(told, no_wrap=True, overflow="ignore", crop=False)
        if missing is not None:
            self.say("(The window is short: t shows the whole table.)")

    def _show_ranking(self, ranking: SearchResult, options: Mapping[int, Option]) -> None:
        game = self.game
        ranked = new_table("")
        ranked.title = None
        ranked.add_column("", justify="right")
        ranked.add_column("move")
        ranked.add_column("visits", justify="right")
        players = [game.seat, *(player for player in range(game.variant.num_players) if player != game.seat)]
        for player in players:
            ranked.add_column(game.called(player), justify="right")
        ranked.add_column("you win", justify="right")
        total = max(1, int(ranking.visits.sum()))
        for row, action in enumerate(ranking.actions[:HINTS_SHOWN]):
            option, visits = options[int(action)], int(ranking.visits[row])
            scores = [self._expected(ranking.scores[row, player]) for player in players]
            wins = f"{100 * ranking.win_shares[row, game.seat]:.0f}%"
            told = [*scores, wins] if visits else ["-"] * (len(scores) + 1)
            ranked.add_row(str(option.number), option.name, f"{100 * visits / total:.0f}%", *told)
        self.say(
            f"Expected scores after {counted(ranking.simulations, 'simulation')} in {ranking.seconds:.1f} s, "
            "the most visited move first:"
        )
        self.console.print(ranked)

    def _expected(self, points: float) -> str:
        """A mean score, rounded."""
        game = self.game.variant.game
        digits = game.score_digits
        return game.score_text(f"{round(points * game.score_unit, digits):.{max(digits, 0)}f}")

    def _show_scores(self) -> None:
        """Final scores and winners, and what was taken back with knowledge of what followed."""
        game, end = self.game, self.game.record().end
        final = new_table("Final scores")
        for heading in ("player", "agent", "score", ""):
            final.add_column(heading, justify="right" if heading == "score" else "left")
        for player in sorted(range(game.variant.num_players), key=lambda player: -end["scores"][player]):
            who = seat_name(player) + (" (you)" if player == game.seat else "")
            won = ("shares the win" if len(end["winners"]) > 1 else "wins") if player in end["winners"] else ""
            final.add_row(who, Text(game.agents[player]), game.variant.game.score_text(end["scores"][player]), won)
        self.say()
        self.console.print(final)
        if self.looks_ahead:
            self.say(f"Taken back with knowledge of what followed: {counted(self.looks_ahead, 'decision')}.")


def _part_to_leave_out(parts: Sequence[Part], room: int) -> Part | None:
    """The tallest drawn part but the first, if the others fit into `room` lines without it and not with it."""
    height = sum(len(part.lines) for part in parts)
    drawn = [part for part in parts if part.drawn][1:]
    if height <= room or not drawn:
        return None
    tallest = max(drawn, key=lambda part: len(part.lines))
    return tallest if height - len(tallest.lines) < room else None


# ---------------------------------------------------------------- from the command line


def new_game(variant: Variant, seed: int, seat: int, against: Sequence[str]) -> SeatedGame:
    """A game of a person on `seat` against agents on the others: one for all, or one a seat from the next one on.

    Raises:
        ConfigurationError: no such seat or seed, or the agents are neither one nor one a seat.
    """
    others = variant.num_players - 1
    if len(against) not in (1, others):
        wanted = "1" if others == 1 else f"1, or {others} (one a seat)"
        raise ConfigurationError(f"--against: {len(against)} agents for {counted(others, 'seat')}; name {wanted}")
    specs = list(against) * (others if len(against) == 1 else 1)
    if not 0 <= seat < variant.num_players:
        raise ConfigurationError(
            f"--seat: {seat}; a game of {variant.num_players} has the seats 0 to {variant.num_players - 1}"
        )
    after = variant.num_players - 1 - seat  # seats behind the person's
    return SeatedGame(variant, seed, [*specs[after:], PERSON, *specs[:after]], seat)


def seat_agents(game: SeatedGame) -> dict[int, Agent]:
    """The agents of the other seats, ready to play.

    Raises:
        ConfigurationError: there is no such agent.
        ModelError: one can't play this game.
        SiberiaError: one has failed in its `start`.
    """
    bots = {player: make_agent(spec) for player, spec in enumerate(game.agents) if player != game.seat}
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


def sit_down(game: SeatedGame, save: Path, record: Path, hints: SearchAgent, looks_ahead: int = 0) -> None:
    """Play a game in the terminal, to its end or until the person leaves.

    Args:
        game: new or resumed.
        save: the file that keeps the game until it is over.
        record: the file for the game's record.
        hints: whose search gives hints.
        looks_ahead: see `Session`.

    Raises:
        SiberiaError: an agent can't play or has failed, or a file can't be written.
        KeyboardInterrupt: the person has left with Ctrl-C; the game is saved.
    """
    with _kept_by_this_session(save), Keyboard() as keyboard:
        console, read = terminal(keyboard)
        session = Session(game, seat_agents(game), console, read, save, hints, looks_ahead, keyboard.forget)
        finished = False
        try:
            finished = session.run()
        except KeyboardInterrupt:
            console.print()
            raise
        finally:
            if not finished and not isinstance(sys.exception(), SiberiaError):
                session.say(session.how_to_go_on(), in_one=True)
        if finished:
            write_records(record, [session.game.record()])
            save.unlink(missing_ok=True)
            session.say(f"{record}: the record of the game (siberia replay {record})", in_one=True)
