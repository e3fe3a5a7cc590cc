"""Play against agents in the terminal: `siberia play card --against search:2000 --seat 1`.

Line by line, so that it works over ssh, in tmux and in a pipe. What is shown and told comes from the seat
(`siberia_experiments.play.seat`), which knows what the seat may know; this file reads, prints and saves. The game is
saved after every decision. Several people can share the keyboard: the screen is cleared between their turns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.console import Console, RenderableType
from rich.text import Text
from rich.theme import Theme

from siberia_agents.interface import Agent
from siberia_agents.search.agent import Budget, SearchAgent
from siberia_env.common.notation import score_sources
from siberia_env.common.render import counted
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.records import replay
from siberia_experiments.commands import command_line, path_word
from siberia_experiments.console import new_table
from siberia_experiments.faults import described, printable
from siberia_experiments.match import derived_seed
from siberia_experiments.play.guide import Guide
from siberia_experiments.play.hints import Advice, advise, money, reason, search_told
from siberia_experiments.play.keyboard import BLINK
from siberia_experiments.play.layout import Part, fitted, in_lines, lowered, sentences
from siberia_experiments.play.moves import WORDS, NotUnderstood, menu, understood
from siberia_experiments.play.saves import save_game
from siberia_experiments.play.seat import PERSON, Option, SeatedGame

HINT_STREAM, FIRST_BOT_STREAM = 2, 3  #: of seeds derived from the game's
HINTS_SHOWN = 12
PATIENCE = 1.0  #: seconds of thinking before a spinner appears
CLEAR = "\x1b[H\x1b[2J\x1b[3J"  #: clears the screen and what has scrolled out of it

T = TypeVar("T")

THEME = Theme({"siberia.you": "bold", "siberia.shade": "dim"})


def coloured(line: str, colours: Mapping[str, str], drawn: bool = False) -> Text:
    """A line with the game's words in their colours, the person who looks, and what lies face down.

    In what is `drawn`, grids and maps, words go by their first two letters too.
    """
    text = Text(line)
    for word, colour in colours.items():
        text.highlight_regex(rf"\b(?:{word}|{word[:2]})\b" if drawn else rf"\b{word}\b", colour)
    text.highlight_regex(r"\byou\b|[^\s│]+ \(you\)", "siberia.you")
    text.highlight_regex(r"▒+", "siberia.shade")
    return text


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
    """People who play.

    Attributes:
        game: the game as it stands; another one after a move has been taken back.
        bots: who sits on the seats without a person.
        console: where to print.
        read: `read(prompt)` is a line that somebody has typed; raises `EOFError` when there are no more.
        save_path: the file that keeps the game.
        hints: whose search gives hints.
        looks_ahead: decisions taken back after seeing what could not be foreseen.
        forget: drops what has been typed and not been read.
        offer: is given what can be typed next, for completion.
        next_person: is called when somebody else takes the keyboard.
        pass_forced: whether decisions in which only one action is legal are taken without asking.
    """

    game: SeatedGame
    bots: Mapping[int, Agent]
    console: Console
    read: Callable[[str], str]
    save_path: Path
    hints: SearchAgent
    looks_ahead: int = 0
    forget: Callable[[], None] = lambda: None
    offer: Callable[[Sequence[str]], None] = lambda names: None
    next_person: Callable[[], None] = lambda: None
    pass_forced: bool = True
    _told_before: set[str] = field(default_factory=set)  # sentences shown last; empty if the whole game is to be shown
    _looking: int | None = None  # the seat of the person at the screen; None before the first one
    _has_searched: bool = False
    _untold: dict[int, list[tuple[int, list[str]]]] = field(default_factory=dict)  # by seat; see `_take`

    def __post_init__(self) -> None:
        self.guide = Guide(self.game.variant)
        if len(self.game.people) == 1:
            self._looking = self.game.seat

    def run(self) -> bool:
        """Play until the game is over; False if it has been left before.

        Raises:
            SiberiaError: another player has failed, or the game can't be saved.
            KeyboardInterrupt: somebody has left in a hurry. The game is saved then too.
        """
        self._save()
        self._greet()
        while not self.game.over:
            player = self.game.player
            if player not in self.game.people:
                self._take(self._move_of(player))
            elif self.pass_forced and (action := self.game.forced) is not None:
                self._take(action)
            elif player == self._looking:
                if not self._decide():
                    return False
            elif not self._hand_over(player):
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
        self.offer([*(option.name for option in options), *self.guide.words])
        name = f"{self.game.names[self.game.seat]}, " if self._shared else ""
        prompt = f"{name}your move (1{f' to {len(options)}' if len(options) > 1 else ''}, ? for help): "
        while True:
            try:
                answer = understood(self.read(prompt), options, self.guide.commands, self.guide.parts)
            except NotUnderstood as error:
                self.say(str(error) or "type the number of a move, or ? for help")
                continue
            except EOFError:
                self.say()
                return False
            if isinstance(answer, Option):
                self._take(answer.action)
                return True
            command, _, more = answer.partition(" ")
            if command == "s":
                return False
            if command in ("u", "u!"):
                if self._undo(forced=command == "u!"):
                    return True
            elif command == "h":
                self._hint(options)
            elif command == "m" or more in self.guide.parts:
                self._show_part(more or "map")
            elif command == "t":
                self._told_before.clear()
                self._show(options, whole=True)
            elif command == "rules":
                self._rules(more)
            else:
                self._help()

    @property
    def _shared(self) -> bool:
        """Whether several people share the keyboard."""
        return len(self.game.people) > 1

    def _hand_over(self, player: int) -> bool:
        """Let the person at the screen go and the next one come, with nothing in sight; False if one of them leaves."""
        name = self.game.names[player]
        self.offer([])
        if self._looking is not None:
            while True:
                answer = self._answer(f"Enter hides the table for {name}'s turn (u undoes, s quits): ")
                if answer == "s":
                    return False
                if answer in ("u", "u!") and self._undo(forced=answer == "u!"):
                    return True
                if answer == "":
                    break
            self._clear()
        while answer := self._answer(f"{name}, press Enter to see your table (s quits): "):
            if answer == "s":
                return False
        self.game.seat = self._looking = player
        self._told_before.clear()
        for _, lines in self._untold.pop(player, []):
            self._tell(lines)
        return True

    def _answer(self, prompt: str) -> str:
        """What is typed between two turns, as a command; `s` if there is no more input."""
        try:
            typed = " ".join(self.read(prompt).lower().split())
        except EOFError:
            self.say()
            return "s"
        return WORDS.get(typed, typed)

    def _clear(self) -> None:
        """Take everything off the screen, out of its past, and out of what the arrow keys bring back."""
        self.next_person()
        if self.console.is_dumb_terminal:
            self.console.file.write("\n" * self.console.height)
        elif self.console.is_terminal:
            self.console.file.write(CLEAR)
        self.console.file.flush()

    def _take(self, action: int) -> None:
        """Carry out an action, save, and tell those who look; to the others it is told when their turn comes."""
        game, count = self.game, len(self.game.decisions)
        if game.player not in game.people:
            self._told_before.clear()
        told = game.tell(action)
        self._save()
        for seat, lines in told.items():
            if seat == self._looking:
                self._tell(lines)
            else:
                self._untold.setdefault(seat, []).append((count, lines))

    def _move_of(self, player: int) -> int:
        """Another player's legal action.

        An agent is started anew for each decision, with a seed of its own: so it answers the same whether the game
        was saved in between, or a move taken back.
        """
        game, agent = self.game, self.bots[player]
        who = self._with_agent(player)
        view, seed = game.view(), derived_seed(game.seed, FIRST_BOT_STREAM + player, len(game.decisions))

        def think() -> int:
            agent.start(game.variant, seed)
            return agent.act(view)

        try:
            action = in_background(think, lambda: self._spinner(f"{who} is thinking"))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise SiberiaError(
                f"{who} has failed: {described(error)}; {self._saved}; go on with: {self._resume}"
            ) from error
        legal = isinstance(action, int | np.integer) and not isinstance(action, bool) and action in view.legal_actions
        if not legal:  # the legal ones are not named: they may show what is hidden
            raise SiberiaError(
                f"{who} has chosen {action!r}, which is not legal; {self._saved}; go on with: {self._resume}"
            )
        return int(action)

    def _undo(self, forced: bool) -> bool:
        """Take the person's last decision back, and what followed; whether that was done.

        Decisions that nobody was asked for are taken back with the one before them.
        """
        last = self.game.last_own_decision(with_forced=not self.pass_forced)
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
        self._untold = {
            seat: [(count, lines) for count, lines in untold if count < last] for seat, untold in self._untold.items()
        }
        self._save()
        return True

    def _hint(self, options: Sequence[Option]) -> None:
        """Show what a search expects of the moves."""
        advice = in_background(self._search, lambda: self._spinner("searching"))
        self._show_advice(advice, {option.action: option for option in options})

    def _search(self) -> Advice:
        seed = derived_seed(self.game.seed, HINT_STREAM, len(self.game.decisions))
        if not self._has_searched and self.hints.budget.seconds is not None:
            # What has to be compiled first is not to take any thinking time.
            budget, self.hints.budget = self.hints.budget, Budget(1)
            advise(self.hints, self.game, seed)
            self.hints.budget = budget
        self._has_searched = True
        return advise(self.hints, self.game, seed)

    # ------------------------------------------------------------ files

    def _save(self) -> None:
        save_game(self.save_path, self.game, self.looks_ahead)

    _saved = "the game is saved"

    @property
    def _resume(self) -> str:
        """The command that goes on with the saved game."""
        return command_line("play", self.game.variant.game.name, "--resume", path_word(self.save_path))

    def say_how_to_go_on(self) -> None:
        """Tell that the game is saved, and the command that goes on with it."""
        self.say(f"{self._saved}; go on with:")
        self.say(f"  {self._resume}", in_one=True)

    # ------------------------------------------------------------ the screen

    def say(self, text: str = "", in_one: bool = False) -> None:
        """Print a text; `in_one` line if there is a path in it to be copied (the terminal breaks it)."""
        lines = [printable(text)] if in_one else in_lines(printable(text), self.console.width, indent="")
        for line in lines:
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _tell(self, lines: Sequence[str]) -> None:
        """Print lines in the game's colours."""
        for line in lines:
            for part in in_lines(line, self.console.width, indent="    "):
                self.console.print(coloured(part, self.game.variant.game.colours), soft_wrap=True)

    @contextmanager
    def _spinner(self, text: str) -> Iterator[None]:
        with self.console.status(Text(text)) if self.console.is_terminal else nullcontext():
            yield
        self.forget()  # it would answer a question that had not been asked

    def _with_agent(self, player: int) -> str:
        """A player's name, and which agent it is if it is one."""
        return self.game.names[player] + ("" if player in self.game.people else f" ({self.game.agents[player]})")

    def _greet(self) -> None:
        game, everybody = self.game, range(self.game.variant.num_players)
        self.say(f"{game.variant.game.title}.")
        if self._shared:
            self.say(f"At the table: {', '.join(map(self._with_agent, everybody))}.")
            self.say("The screen is cleared between the turns of two people.")
        else:
            others = ", ".join(self._with_agent(player) for player in everybody if player != game.seat)
            self.say(f"You are {game.names[game.seat]}; you play against {others}.")
        self.say(f"The game is kept in {self.save_path}.", in_one=True)
        self.say("Type ? for help, and rules for the rules.")

    def _help(self) -> None:
        for part in self.guide.help(self.console.width):
            self._print(part)

    def _rules(self, wanted: str) -> None:
        """The rules in short, one by its number, or all."""
        try:
            for part in self.guide.rules(wanted):
                self._print(part)
        except ConfigurationError as error:
            self.say(str(error))

    def _print(self, part: RenderableType) -> None:
        """Print a line, or what rich lays out."""
        if isinstance(part, str):
            self.console.print(part, markup=False, highlight=False, soft_wrap=True)
        else:
            self.console.print(part)

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
            if part is not missing:
                self._show_lines(part)
        if missing is not None:
            self.say(f"(The window is short: t{self._name_of(parts, missing)} shows the rest of the table.)")

    def _name_of(self, parts: Sequence[Part], part: Part) -> str:
        """The name of a part as it stands behind `t`; empty if it has none."""
        number = [other for other in parts if other.drawn].index(part)
        return f" {self.guide.parts[number]}" if number < len(self.guide.parts) else ""

    def _show_lines(self, part: Part) -> None:
        for line in part.lines:
            told = coloured(line, self.game.variant.game.colours, part.drawn)
            self.console.print(told, no_wrap=True, overflow="ignore", crop=False)

    def _show_part(self, name: str) -> None:
        """One of the grids of the table, such as the map; lower if it is too tall for the window."""
        drawn = [part for part in fitted(self.game.text(), self.console.width) if part.drawn]
        part = drawn[self.guide.parts.index(name)]
        self._show_lines(lowered(part, self.console.height - 1) if self.console.is_terminal else part)

    def _show_advice(self, advice: Advice, options: Mapping[int, Option]) -> None:
        variant, seat = self.game.variant, self.game.seat
        game, moves = variant.game, [options[action] for action in advice.actions]
        others = [self.game.names[player] for player in range(variant.num_players) if player != seat]
        rivals = others[0] if len(others) == 1 else f"the mean of the {len(others)} others"
        ranked = new_table("")
        ranked.title = None
        for heading in ("", "move", "margin", "vs best", "wins", "visits"):
            ranked.add_column(heading, justify="left" if heading == "move" else "right")
        for row, option in enumerate(moves[:HINTS_SHOWN]):
            expected = money(game, advice.margins[row], signed=True)
            behind = money(game, advice.margins[row] - advice.margins[0], signed=True) if row else ""
            shares = [f"{100 * share:.0f}%" for share in (advice.win_shares[row], advice.visits[row])]
            ranked.add_row(str(option.number), option.name, expected, behind, *shares)
        self._tell([reason(game, [option.name for option in moves], advice, rivals)])
        self.console.print(ranked)
        if len(moves) > HINTS_SHOWN:
            self.say(f"The other {counted(len(moves) - HINTS_SHOWN, 'move')} are expected to bring less.")
        self.say(
            f"Margin: how far you are expected to end ahead of {rivals}. By {search_told(self.hints, variant)}; "
            f"{counted(advice.simulations, 'simulation')} in {advice.seconds:.1f} s. "
            "Wins: how often you win. Visits: how often the search tried a move."
        )

    def _show_scores(self) -> None:
        """Final scores and winners, where the points came from, and what was taken back with knowledge."""
        game, record = self.game, self.game.record()
        kind, end = game.variant.game, record.end
        final = new_table("Final scores")
        for heading in ("player", "agent", "score", ""):
            final.add_column(heading, justify="right" if heading == "score" else "left")
        for player in sorted(range(game.variant.num_players), key=lambda player: -end["scores"][player]):
            who = game.names[player] + (" (you)" if player == game.seat and not self._shared else "")
            won = ("shares the win" if len(end["winners"]) > 1 else "wins") if player in end["winners"] else ""
            agent = PERSON if player in game.people else game.agents[player]
            final.add_row(who, Text(agent), kind.score_text(end["scores"][player]), won)
        self.say()
        self.console.print(final)
        steps = [(decision.states, decision.action, decision.after) for decision in replay(record)]
        if sources := score_sources(game.variant, steps):
            sheet = new_table("Where the points came from")
            sheet.add_column("source")
            sheet.add_column("rules")
            for name in game.names:
                sheet.add_column(name, justify="right", no_wrap=True)
            for source in sources:
                points = [kind.score_text(number * kind.score_unit) if number else "-" for number in source.points]
                sheet.add_row(source.name, source.rules, *points)
            sheet.add_section()
            sheet.add_row("score", "", *map(kind.score_text, end["scores"]))
            self.say()
            self.console.print(sheet)
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
