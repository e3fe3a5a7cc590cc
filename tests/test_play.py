"""Playing in the terminal: what the seat is shown and told, moves, undo, hints, saves, and the command itself."""

from __future__ import annotations

import copy
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from siberia_agents.interface import Agent
from siberia_agents.random_agent import RandomAgent
from siberia_agents.registry import make_agent
from siberia_agents.search.agent import SearchAgent, SearchResult
from siberia_agents.search.guided import GuidedAgent
from siberia_env.board.components import KINDS as BOARD_KINDS
from siberia_env.board.state import PLACE
from siberia_env.card.components import KINDS
from siberia_env.common.notation import score_sources
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.game import GAMES, Variant, copy_states, find_game, revealed_hash
from siberia_env.position import Position
from siberia_env.records import Record, Recorder, read_records, write_records
from siberia_env.view import View
from siberia_experiments import handbook
from siberia_experiments.cli import main
from siberia_experiments.play import hints, saves, sit_down
from siberia_experiments.play import seat as table
from siberia_experiments.play import session as play
from siberia_experiments.play.guide import Guide
from siberia_experiments.play.hints import Advice, advise, hint_search, reason, search_told
from siberia_experiments.play.layout import LINES, fitted, in_lines, lowered, renamed
from siberia_experiments.play.moves import COMMANDS, NotUnderstood, menu, understood
from siberia_experiments.play.saves import load_game, save_game
from siberia_experiments.play.seat import Option, SeatedGame
from siberia_experiments.play.session import THEME, Session, in_background
from siberia_experiments.play.sit_down import new_game, seat_agents
from tests.games import GameCase, positions
from tests.processes import PATIENCE, import_path, outcome
from tests.terminal import CTRL_C, UP, WIDTH, Terminal, plain

both_games = pytest.mark.parametrize("game", GAMES)

#: By game: options on the command line under which a game is over soon.
SHORT = {"card": "max_turns=12", "board": "max_rounds=2,sides=random"}


class Search(SearchAgent):
    """Stands in for a search: ranks the legal actions by what a sample of the view says, in no time."""

    def start(self, variant: Variant, seed: int = 0) -> None:
        pass

    def search(self, view: View) -> SearchResult:
        actions = np.array(view.legal_actions[::-1])
        scores = np.full((len(actions), view.variant.num_players), float(view.sample(5)[0].generator % 7))
        return SearchResult(actions, np.arange(len(actions))[::-1], scores, scores / 10, 25, 250, 0.5)


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "SAMPLES", 4)


def short_game(name: str, seat: int = 1, players: int = 2, seed: int = 3) -> SeatedGame:
    """A game against random players that is over soon, in which much can be hidden."""
    variant = find_game(name).variant(players, {"max_turns": 12} if name == "card" else {"max_rounds": 2})
    return new_game(variant, seed, seat, ["random"])


def at_random(game: SeatedGame, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(game.mask)))


class Person:
    """Types what a script says; asserts that it is asked; then there is no more input."""

    def __init__(self, *script: str | type[BaseException]) -> None:
        self.script = list(script)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self.script:
            raise EOFError
        typed = self.script.pop(0)
        if isinstance(typed, type):
            raise typed
        return typed


class First(Person):
    """Goes on with the first move for ever."""

    def __call__(self, prompt: str) -> str:
        return super().__call__(prompt) if self.script else "1"


def session(
    tmp_path: Path, game: SeatedGame, read: Callable[[str], str], bots: dict[int, Agent] | None = None, **console: Any
) -> tuple[Session, StringIO]:
    out = StringIO()
    screen = Console(file=out, theme=THEME, highlight=False, **{"width": 100, "height": 24, **console})
    if bots is None:
        bots = seat_agents(game)
    return Session(game, bots, screen, read, tmp_path / "game.save.json", Search()), out


def played(tmp_path: Path, game: SeatedGame, *script: str) -> tuple[bool, str, Session]:
    """A session with a script: whether it came to the end, what was on the screen, and the session."""
    sitting, out = session(tmp_path, game, Person(*script))
    return sitting.run(), out.getvalue(), sitting


def finished(tmp_path: Path, game: SeatedGame, *script: str) -> tuple[Record, str]:
    """A session that begins with a script and goes on to the end with the first move."""
    sitting, out = session(tmp_path, game, First(*script))
    assert sitting.run()
    return sitting.game.record(), out.getvalue()


# ---------------------------------------------------------------- nothing hidden is shown


def a_copy(game: SeatedGame) -> SeatedGame:
    found = copy.copy(game)
    found.position, found.mask, found._lines = game.position.clone(), game.mask.copy(), list(game._lines)
    found._withheld = {player: list(texts) for player, texts in game._withheld.items()}
    return found


def other_world(game: SeatedGame, generator: int) -> SeatedGame:
    """The same game with what the person can't know dealt anew, by the rules and not by a view."""
    world = a_copy(game)
    engine.determinize_at(game.variant.rulesets, world.states, 0, game.seat, np.uint64(generator))
    world._look()
    return world


def shown_to(game: SeatedGame) -> int:
    """What the person has been shown of secret decisions, as a number; nothing while they are secret."""
    if game._is_secret(game.states):
        return 0
    return int(revealed_hash(game.variant.rulesets[0], game.states[0], game.seat))


def screen_of(tmp_path: Path, game: SeatedGame) -> str:
    """Everything that the person can get to see before a decision: table, moves, hints, help."""
    sitting, out = session(tmp_path, game, Person("t", "h", "?", "rules prices", "7777", "u", "s"), bots={})
    sitting.pass_forced = False
    assert not sitting.run()
    return re.sub(r"in \d+\.\d s", "in some time", out.getvalue())


@pytest.mark.parametrize("players", [2, 3])
def test_the_screen_shows_nothing_that_the_seat_may_not_see(case: GameCase, players: int, tmp_path: Path) -> None:
    differing = 0
    game = short_game(case.name, players - 1, players)
    rng = np.random.default_rng(1)
    while not game.over:
        if game.on_turn and len(game.decisions) % 2 == 0:
            world = other_world(game, int(rng.integers(2**62)))
            assert screen_of(tmp_path, world) == screen_of(tmp_path, game)
            differing += world.states.tobytes()[8:] != game.states.tobytes()[8:]  # but for the generator
        game.take(at_random(game, rng))
    assert differing >= 4


@pytest.mark.parametrize("players", [2, 3])
def test_what_is_told_of_a_decision_is_the_same_in_all_worlds_that_the_seat_takes_for_possible(
    case: GameCase, players: int
) -> None:
    """Any action in any world that leads to what the person sees must be told in the same words."""
    rng = np.random.default_rng(2)
    others_hidden = own = others = 0
    for seed in range(3):
        game = short_game(case.name, seed % players, players, seed)
        while not game.over:
            before, player = a_copy(game), game.player
            action = at_random(game, rng)
            told, seen = game.take(action), game._seen(game.states)
            for generator in range(3):
                for other_action in np.flatnonzero(other_world(before, generator).mask):
                    world = other_world(before, generator)
                    told_there = world.take(int(other_action))
                    if world._seen(world.states) == seen and shown_to(world) == shown_to(game):
                        assert told_there == told
                        own += player == game.seat
                        others += player != game.seat
                        others_hidden += player != game.seat and world.states.tobytes()[8:] != game.states.tobytes()[8:]
    assert own >= 10
    assert others >= 50
    assert others_hidden >= 50


def test_other_players_cards_are_counted_and_own_ones_named() -> None:
    game = short_game("card", seat=0)
    drawn: dict[int, list[str]] = {0: [], 1: []}
    rng = np.random.default_rng(3)
    while not game.over:
        player = game.player
        drawn[player] += [line for line in game.take(at_random(game, rng)) if "draw" in line.split(":")[0]]
    assert drawn[0]
    assert drawn[1]
    assert all(any(kind in line for kind in KINDS) and line.startswith("  you draw ") for line in drawn[0])
    assert all(re.fullmatch(r"  player_1 draws [12] cards?", line) for line in drawn[1])


def test_B29_what_others_placed_is_told_when_all_have_placed(tmp_path: Path) -> None:
    game = short_game("board", seat=1, players=3)
    rng = np.random.default_rng(4)
    told: list[str] = []
    secret: dict[int, list[str]] = {}
    revealed = 0
    while not game.over:
        placing, player = bool(game.states[0].phase == PLACE), game.player
        if rng.random() < 0.2:  # as after a resume or an undo
            game = game.rewound(len(game.decisions))
        drawn = list(game.states[0].drawn[player])
        number = int(game.states[0].placed)
        told = game.take(at_random(game, rng))
        if placing and player != game.seat:
            assert not any(line.startswith(f"player_{player}:") for line in told)
            secret.setdefault(player, []).append(BOARD_KINDS[drawn[number]])
        decided = [line for line in told if " decided: " in line]
        if placing and game.states[0].phase != PLACE:
            assert len(decided) == 2
            for other, kinds in secret.items():
                (line,) = [line for line in decided if line.startswith(f"player_{other} decided: ")]
                assert re.findall(r"(\S+) at \w+", line) == kinds
            secret.clear()
            revealed += 1
        else:
            assert not decided
    assert revealed == 2  # rounds


def test_notes_say_what_an_action_brings_and_never_what_chance_would_bring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "SAMPLES", 24)
    rng = np.random.default_rng(5)
    notes: dict[str, set[str]] = {}
    for seed in range(2):
        game = new_game(find_game("card").variant(2, {"max_turns": 30}), seed, 0, ["random"])
        while not game.over:
            if game.on_turn:
                for option in game.options():
                    notes.setdefault(option.name.split()[0], set()).add(option.note)
                    if option.name.startswith("mine"):
                        check_mining(game, option)
            game.take(at_random(game, rng))
    assert any(re.fullmatch(r"brings \w+ \$\d000(, \w+ \$\d000)*; \+\$\d+000", note) for note in notes["mine"])
    assert notes["reveal"] == notes["draw"] == {""}
    assert "+$1000" in notes["hire"]


def check_mining(game: SeatedGame, option: Option) -> None:
    """C11 by hand: the leftmost face-up cards of the resource, one a worker."""
    state, ruleset = game.states[0], game.variant.rulesets[0]
    resource = ("gas", "charcoal", "oil", "gold", "diamond").index(option.name.split()[1])
    values = [
        int(ruleset.card_value[number])
        for number, face_up in zip(state.row, state.face_up, strict=True)
        if number >= 0 and face_up and ruleset.card_resource[number] == resource
    ][: int(state.workers[game.seat])]
    wanted = ", ".join(f"{option.name.split()[1]} ${value}000" for value in values) or "nothing"
    assert option.note.removeprefix("brings ").split(";")[0] == wanted


# ---------------------------------------------------------------- what is typed


OPTIONS = [
    Option(number, 10 * number, name, "")
    for number, name in enumerate(
        ("draw 0", "draw 1", "mine gas", "mine gold", "hire worker", "hire salesman gas", "hire salesman salesman"), 1
    )
]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("4", "mine gold"),
        (" 04 ", "mine gold"),
        ("mine gold", "mine gold"),
        ("MINE  Gold", "mine gold"),
        ("mine go", "mine gold"),
        ("m go", "mine gold"),
        ("hi w", "hire worker"),
        ("hire salesman g", "hire salesman gas"),
        ("draw 1", "draw 1"),
        ("h", "h"),
        ("hint", "h"),
        ("u", "u"),
        ("undo", "u"),
        ("U!", "u!"),
        ("q", "s"),
        ("quit", "s"),
        ("?", "?"),
        ("t", "t"),
    ],
)
def test_moves_and_commands_are_understood(typed: str, wanted: str) -> None:
    answer = understood(typed, OPTIONS)
    assert (answer.name if isinstance(answer, Option) else answer) == wanted


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("0", "there is no move 0; the moves are 1 to 7"),
        ("8", "there is no move 8; the moves are 1 to 7"),
        ("9" * 5000, "there is no move 999999999"),
        ("-1", "'-1' is no move now"),
        ("mine", "'mine' could be: mine gas, mine gold"),
        ("mine oil", "'mine oil' is no move now"),
        ("mine gold now", "'mine gold now' is no move now"),
        ("\x1b[A", r"'\x1b[A' is no move now"),
        ("", ""),
        ("²", "'²' is no move now"),
    ],
)
def test_what_is_not_understood_is_answered(typed: str, message: str) -> None:
    with pytest.raises(NotUnderstood) as error:
        understood(typed, OPTIONS)
    assert str(error.value).startswith(message)


def test_enter_takes_the_only_move() -> None:
    assert understood("", OPTIONS[:1]) is OPTIONS[0]


def test_the_menu_groups_moves_by_their_first_word_and_fits() -> None:
    options = [Option(n, n, f"{verb} {n}", "x" * (n * 7 % 90)) for n, verb in enumerate("aaaabbbbccccc", 1)]
    lines = menu(options, WIDTH)
    assert max(map(len, lines)) <= WIDTH
    assert re.sub(r"\s+", "", "".join(lines)) == re.sub(r"\s+", "", "".join(f"{o.number}{o}" for o in options))
    firsts = [re.findall(r"\b([abc]) \d", line) for line in lines]
    assert all(len(set(found)) <= 1 for found in firsts)


# ---------------------------------------------------------------- a session


@both_games
def test_a_game_is_played_to_its_end_and_its_record_is_in_order(game: str, tmp_path: Path) -> None:
    record, screen = finished(tmp_path, short_game(game, players=3))
    path = tmp_path / "record.jsonl"
    write_records(path, [record])
    assert next(read_records(path)).lines == record.lines
    assert record.header["agents"] == ["random", "person", "random"]
    assert "Final scores" in screen
    for player, score in enumerate(record.end["scores"]):
        who = f"player_{player}" + (" (you)" if player == 1 else "")
        won = " +(wins|shares the win)" if player in record.end["winners"] else " *"
        assert re.search(rf"^ *{re.escape(who)} +(random|person) +\${score}{won}$", screen, re.M)
    assert screen.count(" wins") + screen.count("shares the win") == len(record.end["winners"])
    assert "Taken back" not in screen
    sheet = screen.partition("Where the points came from\n")[2].partition("\nscore ")[0].splitlines()[2:]
    rows = [[int(amount.replace("-", "$0")[1:]) for amount in re.findall(r" (-|\$\d+)", line)] for line in sheet]
    assert [sum(column) for column in zip(*filter(None, rows), strict=True)] == (record.end["scores"] if sheet else [])


def test_moves_are_taken_by_number_and_by_name(tmp_path: Path) -> None:
    game = short_game("card", seat=0)
    names = [option.name for option in game.options()]
    done, screen, sitting = played(tmp_path, game, "2", "draw", "dr 1")
    assert not done
    own = [name for player, name in sitting.game.decisions if player == 0]
    assert own[:2] == [names[1], "draw 1"]
    assert "'draw' could be: draw 0, draw 1, draw 2" in screen
    assert f"you: {names[1]}" in screen


def test_others_moves_are_told(tmp_path: Path) -> None:
    _, screen, sitting = played(tmp_path, short_game("card", seat=0), "1", "1")
    for player, name in sitting.game.decisions:
        assert f"{'you' if player == 0 else f'player_{player}'}: {name}" in screen


def test_help_names_every_command(tmp_path: Path) -> None:
    _, screen, _ = played(tmp_path, short_game("card"), "?")
    for key in COMMANDS:
        assert (f"\n  {key} " in screen) == (key != "m")


def test_the_table_is_shown_whole_once_a_turn_and_when_asked_for(tmp_path: Path) -> None:
    title = ": seen by player_0"
    _, screen, _ = played(tmp_path, short_game("card", seat=0), "1")  # reveal; then draw or act
    assert screen.count(title) == 1
    _, screen, _ = played(tmp_path, short_game("card", seat=0), "1", "t")
    assert screen.count(title) == 2


def test_a_short_window_leaves_out_the_tallest_part_where_that_helps(tmp_path: Path) -> None:
    def screen(**console: Any) -> str:
        sitting, out = session(tmp_path, short_game("card", seat=0), Person(), force_terminal=True, **console)
        sitting.run()
        return out.getvalue()

    assert "salesman" in re.sub(r"(?s).*discovers", "", screen(height=60)) or "supply" in screen(height=60)
    assert "supply" not in screen(height=24)
    assert "t players shows the rest of the table" in screen(height=24)
    assert "supply" in screen(height=9)  # nothing would help


@both_games
def test_hints_rank_the_moves(game: str, tmp_path: Path) -> None:
    sitting = short_game(game, seat=0)
    options = sitting.options()
    _, screen, session_after = played(tmp_path, sitting, "h")
    assert re.search(r"\d+ simulations in \d+\.\d s", " ".join(screen.split()))
    best = options[-1]
    rows = [line for line in screen.splitlines() if re.match(rf" *{best.number} +{best.name} ", line)]
    assert re.search(r" [+-]\$\d+ +\d+% +\d+%$", rows[-1].rstrip())
    assert session_after.game.decisions == sitting.decisions


def advice(*rows: tuple[float, float]) -> Advice:
    """What is expected of some moves, as (margin, share of the win)."""
    margins, wins = np.array(rows).T
    return Advice(list(range(len(rows))), margins, wins, wins, 10, 0.1)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [(6.0, 0.7), (4.0, 0.6)],
            "a: you can expect to end $6000 ahead of X. The next move, b, costs you $2000 of that.",
        ),
        ([(-6.5, 0.2), (-6.52, 0.2)], "a: you can expect to end $6500 behind X. The next move, b, is about as good."),
        ([(1.0, 0.6), (1.9, 0.5)], "ahead of X. The next move, b, may bring $900 more, but wins less often."),
        ([(1.0, 0.6), (1.9, 0.7)], "The search prefers it, though another look expects $900 more of b."),
        ([(1.0, 0.6)], "a: you can expect to end $1000 ahead of X."),
    ],
)
def test_a_hint_has_its_reason_in_dollars(rows: list[tuple[float, float]], told: str) -> None:
    assert reason(find_game("card"), ["a", "b"][: len(rows)], advice(*rows), "X").endswith(told)


def test_hints_count_margins_from_the_mean_of_the_others() -> None:
    """Plain search counts scores, guided search margins; of a finished game both are known."""
    variant = find_game("card").variant(3)
    scores = np.array([[8.0, 1.0, 2.0], [4.0, 1.0, 2.0]])
    found = SearchResult(np.array([4, 2]), np.array([3, 1]), scores, np.full((2, 3), 1 / 3), 4, 99, 0.1)
    assert hints._of_a_search(SearchAgent(10), found)[0].tolist() == [5.5, -3.5, -2.0]
    assert hints._of_a_search(hint_search(variant, "10"), found)[0].tolist() == [7.0, 1.0, 2.0]
    position = Position(variant, 1)
    position.play_at_random(1)
    margins, wins = hints._at_the_end(position)
    own, *others = (score / 1000 for score in position.scores())
    assert margins[0] == own - np.mean(others)
    assert sum(wins) == 1
    assert [player for player in range(3) if wins[player]] == position.winners()


@both_games
def test_every_move_has_an_expected_margin_and_the_true_game_plays_no_part(game: str, tmp_path: Path) -> None:
    """The search is asked the same in another world that the person can't tell from this one."""
    sitting = short_game(game, seat=0, players=3)
    rng = np.random.default_rng(3)
    while not (sitting.on_turn and len(sitting.decisions) > 12 and sitting.forced is None):
        sitting.take(at_random(sitting, rng))
    search = hint_search(sitting.variant, "100")
    found = advise(search, sitting, 7)
    assert sorted(found.actions) == sitting.position.legal_actions()
    assert found.visits[0] == found.visits.max()
    assert abs(found.visits.sum() - 1) < 1e-9
    assert (np.diff(found.margins[1:]) <= 0).all()
    assert ((found.win_shares >= 0) & (found.win_shares <= 1)).all()
    world = other_world(sitting, 5)
    again = advise(search, world, 7)
    assert again.margins.tolist() == found.margins.tolist()
    assert search.budget.simulations == 100


def test_hints_come_from_guided_search_or_where_no_model_fits_from_plain_search(tmp_path: Path) -> None:
    game = find_game("card")
    tables = game.read_components(None).as_json()
    tables["salesmen"]["gas"] = 9
    own, oya = game.variant(2, None, tables), game.variant(2, "oya")
    assert isinstance(hint_search(game.variant(2), "10"), GuidedAgent)
    assert search_told(hint_search(game.variant(2), "10"), game.variant(2)) == "guided search"
    assert search_told(hint_search(oya, "10"), oya) == "guided search, whose model learnt with edition dlp, not oya"
    assert type(hint_search(own, "10")) is SearchAgent
    sitting, out = session(tmp_path, new_game(own, 3, 0, ["random"]), Person("h"))
    sitting.hints = hint_search(own, "20")
    assert not sitting.run()
    assert "By plain search, since no model fits this table;" in " ".join(out.getvalue().split())


# ---------------------------------------------------------------- what is explained


@pytest.mark.parametrize("players", [2, 4])
def test_the_parts_of_a_table_have_names(case: GameCase, players: int, tmp_path: Path) -> None:
    game = short_game(case.name, 0, players)
    view = game.variant.game.room("render")
    parts = [part for part in fitted(game.text(), WIDTH) if part.drawn]
    assert len(parts) == len(view.PARTS)
    _, screen, _ = played(tmp_path, game, *(f"t {name}" for name in view.PARTS))
    for part in [part for part in fitted(game.text(), 100) if part.drawn]:
        assert screen.count("\n".join(part.lines)) == 2
    signs = " ".join(sign for sign, _ in view.SIGNS).split()
    assert len(signs) == len(set(signs))


def test_m_shows_the_map_and_nothing_else(tmp_path: Path) -> None:
    game = short_game("board", 0)
    sitting, out = session(tmp_path, game, Person("m"), force_terminal=True, width=WIDTH, color_system=None)
    assert not sitting.run()
    *_, shown = out.getvalue().split("2  side New York\n")
    lines = shown.rstrip("\n").splitlines()
    assert len(lines) == 23  # with the prompt below it fits into the window
    assert "exchange" not in shown
    assert all(f" {area} " in shown for area in game.variant.components.areas)
    assert "m" not in Guide(find_game("card").variant(2)).commands


def test_rules_tell_what_holds_in_this_game(tmp_path: Path) -> None:
    tables = find_game("card").read_components(None).as_json()
    tables["salesmen"]["gas"] = 9
    game = new_game(find_game("card").variant(2, {"edition": "oya"}, tables), 3, 0, ["random"])
    _, screen, _ = played(tmp_path, game, "rules", "rules c10", "rules C99", "rules prices")
    for told in (
        "How to play, in three minutes",
        "edition: oya (one of dlp, oya, digital (C9, C13, C14))",
        "with eight in hand: an action",
        "max_turns: 400",
        "C10. Paying.",
        "there is no rule 'c99'; the rules are C1 to C23",
    ):
        assert told in screen
    assert len(re.findall(r"^gas +10 +3 \$1000, 4 \$2000, 3 \$3000 +\$9000 *$", screen, re.M)) == 2
    assert "To try it" not in screen
    board = new_game(find_game("board").variant(2, {"salesman_cards": True}), 3, 0, ["random"])
    _, screen, _ = played(tmp_path, board, "rules")
    assert re.search(r"^Tokyo +\$3000 +- +\$4000 +- +\$5000 *$", screen, re.M)
    assert re.search(r"^salesman card +\$4000 +\$5000 +\$6000 +\$7000 +\$8000 *$", screen, re.M)
    assert "salesman_cards: yes" in screen


def test_every_rule_can_be_asked_for(case: GameCase) -> None:
    page = handbook.page(f"{case.name}/rules.md")
    numbers = handbook.rule_numbers(case.game)
    assert numbers == [f"{case.name[0].upper()}{number}" for number in range(1, len(numbers) + 1)]
    assert f"{numbers[-1]}." in page
    for number in numbers:
        text = handbook.rule(case.game, number.lower()).markup
        assert text.startswith(f"**{number}.")
        assert len(re.findall(r"^\*\*[BC]\d+\.", text, re.M)) == 1


def test_a_game_without_pages_signs_prices_and_sources_is_played_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = short_game("card", seat=0)
    for name in ("SIGNS", "PARTS", "prices"):
        monkeypatch.delattr(game.variant.game.room("render"), name)
    monkeypatch.delattr(game.variant.game.room("chronicle"), "sources")
    for folder in ("PAGES", "DOCS"):  # in a wheel and in a checkout
        monkeypatch.setattr(handbook, folder, tmp_path)
    sitting, out = session(tmp_path, game, First("?", "rules", "rules 7", "rules prices", "t"))
    assert sitting.run()
    assert "the page card/rules.md is not installed" in out.getvalue()
    assert "there is no rule '7'; Siberia: The Card Game has no page of rules" in out.getvalue()
    assert "Where the points came from" not in out.getvalue()


# ---------------------------------------------------------------- moves without a choice


class Last(Person):
    """Goes on with the last move for ever."""

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        found = re.search(r"1 to (\d+)", prompt)
        return found[1] if found else ""


@both_games
def test_a_move_without_a_choice_is_made_and_told(game: str, tmp_path: Path) -> None:
    """The same game as if the person had been asked for it."""
    asked, _ = session(tmp_path, short_game(game, seat=0), everything := Last())
    asked.pass_forced = False
    assert asked.run()
    sitting, out = session(tmp_path, short_game(game, seat=0), choices := Last())
    assert sitting.run()
    assert sitting.game.record().lines == asked.game.record().lines
    own = [line for line in sitting.game.record().lines if line.get("player") == 0 and "legal" in line]
    forced = [line for line in own if len(line["legal"]) == 1]
    assert forced
    assert len(everything.prompts) == len(own)
    assert len(choices.prompts) == len(own) - len(forced)
    told = re.findall(r"^you: (.*?)  .*\(the only move\)$", re.sub(r"\n    ", " ", out.getvalue()), re.M)
    assert told == [line["action"] for line in forced]


def test_undo_takes_back_what_followed_without_a_choice_too(tmp_path: Path) -> None:
    game = short_game("card", seat=0, seed=1)
    rng = np.random.default_rng(1)
    while not (game.on_turn and game.forced is not None and game.last_own_decision() is not None):
        game.take(at_random(game, rng))
    choice = game.last_own_decision()
    assert choice is not None
    sitting, _ = session(tmp_path, game, Person("u!", "s"))
    assert not sitting.run()
    assert len(sitting.game.decisions) == choice
    assert sitting.game.forced is None


# ---------------------------------------------------------------- several people


def shared_game(name: str, players: int = 2, seed: int = 3) -> SeatedGame:
    """A short game of Ann and Bob, and of random players if there are more."""
    variant = find_game(name).variant(players, {"max_turns": 12} if name == "card" else {"max_rounds": 2})
    return new_game(variant, seed, [0, 1], ["random"], ["Ann", "Bob"])


class Pair(Person):
    """Ann and Bob, who hand over when they are asked to and go on with the first move for ever."""

    def __call__(self, prompt: str) -> str:
        if self.script:
            return super().__call__(prompt)
        return "" if "Enter" in prompt else "1"


@pytest.mark.parametrize("players", [2, 3])
def test_each_of_several_people_sees_their_own_side_of_the_table(case: GameCase, players: int, tmp_path: Path) -> None:
    """Between two clearings of the screen everything is seen by one person, and told to that one."""
    sitting, out = session(
        tmp_path, shared_game(case.name, players), Pair(), force_terminal=True, color_system=None, height=200
    )
    cleared: list[int] = []
    sitting.next_person = lambda: cleared.append(1)
    assert sitting.run()
    scenes = out.getvalue().split(play.CLEAR)
    assert len(scenes) == len(cleared) + 1
    assert len(scenes) >= 4
    names = itertools.cycle(["Ann", "Bob"])
    for scene, name in zip(scenes, names, strict=False):
        other = {"Ann": "Bob", "Bob": "Ann"}[name]
        assert f"seen by {name}" in scene
        assert f"seen by {other}" not in scene
        assert f"Hand of {other}" not in scene
        assert f"To be placed by {other}" not in scene
        assert not re.search(rf"^{name}: ", scene, re.M)
        assert not re.search(rf"^  {other} draws? .*/", scene, re.M)
    assert any(re.search(r"^Ann: ", scene, re.M) for scene in scenes[1::2])
    assert any(re.search(r"^Bob: ", scene, re.M) for scene in scenes[2::2])
    assert "player_0" not in out.getvalue()
    record = sitting.game.record()
    assert record.header["agents"][:2] == ["person Ann", "person Bob"]


def test_what_was_taken_back_is_not_told_to_the_next_person(tmp_path: Path) -> None:
    sitting, out = session(tmp_path, shared_game("card"), Pair("", "reveal 3", "draw 1", "u!", "draw 2", "", "", "s"))
    assert not sitting.run()
    before, after = out.getvalue().split("taken back: draw 1")
    assert "you: draw 1" in before
    assert "Ann: draw 2" in after
    assert "Ann: draw 1" not in after
    assert "Ann: reveal 3" in after


@pytest.mark.parametrize("script", [["s"], ["", "1", "s"], [], ["", "draw 0", "", "s"]])
def test_people_can_leave_between_two_turns_and_resume(script: list[str], tmp_path: Path) -> None:
    sitting, _ = session(tmp_path, shared_game("card"), Person(*script))
    assert not sitting.run()
    resumed, _ = load_game(sitting.save_path)
    assert resumed.people == (0, 1)
    assert resumed.names == ("Ann", "Bob")
    assert resumed.decisions == sitting.game.decisions


def test_a_name_is_shown_wherever_its_seat_was() -> None:
    game = new_game(find_game("board").variant(3), 3, 2, ["random"], ["Bartholomew"])
    text = game.text()
    assert "player_2" not in text
    assert "seen by Bartholomew" in text
    heading, _, row = text.partition("│ money")[0].splitlines()[-2:] + [text.partition("│ money")[2].splitlines()[0]]
    assert "│ Bartholomew (you)  │" in heading
    assert len(heading) == len("│ money" + row)
    assert game.called(2) == "you"
    assert game.called(0) == "player_0"


def test_long_names_are_cut_off_in_grids_only() -> None:
    lines = "│ ▸player_0 (you)  │ player_1         │\nHand of player_1: none"
    assert renamed(lines, ["Bartholomew", "Bo"]) == "│ ▸Bartholom (you) │ Bo               │\nHand of Bo: none"


# ---------------------------------------------------------------- the score sheet


@pytest.mark.parametrize(
    ("name", "players", "rules"),
    [
        ("card", 2, {"max_turns": 60}),
        ("card", 4, {"max_turns": 100, "edition": "digital"}),
        ("board", 2, {"max_rounds": 12}),
        ("board", 4, {"max_rounds": 14, "salesman_cards": True}),
    ],
)
def test_C16_B21_B25_the_sources_of_points_add_up_to_the_scores(name: str, players: int, rules: dict[str, Any]) -> None:
    variant = find_game(name).variant(players, rules)
    agent = make_agent("greedy")
    agent.start(variant, 1)
    game, steps = Recorder(variant, 5, ["greedy"] * players), []
    while not game.over:
        before, action = copy_states(game.states), agent.act(game.position.view())
        game.act(action)
        steps.append((before, action, copy_states(game.states)))
    sources = score_sources(variant, steps)
    totals = [sum(source.points[player] for source in sources) * variant.game.score_unit for player in range(players)]
    assert totals == game.position.scores()
    assert len(sources) >= 4
    assert len({source.name for source in sources}) == len(sources)
    assert {source.rules for source in sources} <= {"C11, C16", "C6, C13", "C13", "C16", "B21", "B25"}
    for source in sources if name == "board" else ():
        resource, place = re.split(" sold (?:in|by) ", source.name)
        number = ("gas", "charcoal", "oil", "gold", "diamond").index(resource)
        prices = {**variant.components.exchanges, "card": list(variant.components.salesman_cards.values())}
        assert all(points % prices[place][number] == 0 for points in source.points)


# ---------------------------------------------------------------- undo


def test_a_move_that_brought_nothing_new_is_taken_back_at_once(tmp_path: Path) -> None:
    game = short_game("board", seat=0)
    for _ in range(5):  # the sides; the first counters are drawn with the last of them
        game.take(int(np.flatnonzero(game.mask)[0]))
    before = game.decisions
    _, screen, sitting = played(tmp_path, game, "place research", "place research", "u", "u")
    assert screen.count("taken back: place research") == 2
    assert sitting.game.decisions == before
    assert sitting.looks_ahead == 0


def test_what_could_not_be_foreseen_is_not_taken_back_without_a_word(tmp_path: Path) -> None:
    game = short_game("card", seat=0)
    first = game.options()[0].name
    assert first.startswith("reveal")
    _, screen, sitting = played(tmp_path, game, first, "u")
    assert [name for _, name in sitting.game.decisions] == [first]
    assert "u! takes your decision back all the same" in " ".join(screen.split())
    _, screen, sitting = played(tmp_path, game.rewound(0), first, "u!", "u")
    assert sitting.game.decisions == []
    assert sitting.looks_ahead == 1
    assert "there is no decision of yours to take back" in screen
    assert load_game(sitting.save_path)[1] == 1


def test_looks_ahead_are_told_at_the_end(tmp_path: Path) -> None:
    _, screen = finished(tmp_path, short_game("card", seat=0), "1", "u!", "1", "1", "u!")
    assert "Taken back with knowledge of what followed: 2 decisions." in screen


@both_games
def test_the_record_knows_nothing_of_moves_taken_back(game: str, tmp_path: Path) -> None:
    """The same game as if the moves that stand had been made at once; the others answer them alike."""
    plain, _ = finished(tmp_path, short_game(game, seat=0))
    undone, _ = finished(tmp_path, short_game(game, seat=0), "1", "2", "u!", "1", "1", "1", "u!", "u!")
    assert undone.lines == plain.lines


@both_games
def test_taking_everything_back_leads_to_the_first_decision(game: str, tmp_path: Path) -> None:
    sitting = short_game(game, seat=1)
    _, _, after = played(tmp_path, sitting, *["1"] * 6, *["u!"] * 6)
    again = short_game(game, seat=1)
    while not again.on_turn:
        again.take(after._move_of(again.player) if again is after.game else next_bot_move(again))
    assert after.game.states.tobytes() == again.states.tobytes()
    assert after.game.decisions == again.decisions


def next_bot_move(game: SeatedGame) -> int:
    """What a random player answers, computed without a session."""
    bot = RandomAgent()
    bot.start(game.variant, play.derived_seed(game.seed, play.FIRST_BOT_STREAM + game.player, len(game.decisions)))
    return bot.act(game.view())


# ---------------------------------------------------------------- saves


@both_games
def test_the_game_is_saved_after_every_decision(game: str, tmp_path: Path) -> None:
    saved: list[int] = []

    class Watching(Person):
        def __call__(self, prompt: str) -> str:
            saved.append(len(load_game(tmp_path / "game.save.json")[0].decisions))
            return super().__call__(prompt)

    sitting, _ = session(tmp_path, short_game(game), Watching("1", "1", "1"))
    assert not sitting.run()
    assert len(saved) == 4
    assert saved == sorted(set(saved))
    assert saved[-1] == len(sitting.game.decisions)


@both_games
@pytest.mark.parametrize("stop", [EOFError, KeyboardInterrupt, "s"])
def test_a_resumed_game_goes_on_as_it_would_have(game: str, stop: Any, tmp_path: Path) -> None:
    plain, _ = finished(tmp_path, short_game(game, players=3))
    sitting, _ = session(tmp_path, short_game(game, players=3), Person("1", "1", stop))
    try:
        assert not sitting.run()
    except KeyboardInterrupt:
        assert stop is KeyboardInterrupt
    resumed, looks_ahead = load_game(sitting.save_path)
    assert looks_ahead == 0
    assert resumed.seat == 1
    assert resumed.states.tobytes() == sitting.game.states.tobytes()
    assert finished(tmp_path, resumed)[0].lines == plain.lines


def test_a_game_with_components_of_its_own_is_resumed(tmp_path: Path) -> None:
    tables = find_game("card").read_components(None).as_json()
    tables["salesmen"]["gas"] = 9
    game = new_game(find_game("card").variant(2, {"edition": "oya"}, tables), 9, 0, ["random"])
    save_game(tmp_path / "save", game)
    resumed, _ = load_game(tmp_path / "save")
    assert resumed.header == game.header
    assert resumed.variant.components == game.variant.components


def saved(tmp_path: Path) -> tuple[Path, str]:
    game = short_game("card")
    rng = np.random.default_rng(6)
    for _ in range(8):
        game.take(at_random(game, rng))
    path = tmp_path / "game.save.json"
    save_game(path, game)
    return path, path.read_text(encoding="utf-8")


def test_a_save_that_is_cut_off_or_changed_anywhere_is_refused(tmp_path: Path) -> None:
    path, text = saved(tmp_path)
    rng = np.random.default_rng(7)
    damages = [text[:length] for length in rng.integers(0, len(text) - 2, 20)]
    for place in rng.integers(0, len(text) - 1, 60):
        sign = "0" if text[place] != "0" else "1"
        damages.append(text[:place] + sign + text[place + 1 :])
    for damaged in damages:
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(ConfigurationError, match=r"^save: ") as error:
            load_game(path)
        assert "\n" not in str(error.value)
        assert path.read_text(encoding="utf-8") == damaged


def resealed(text: str, **changes: Any) -> str:
    """A save that was changed on purpose, with the right digest."""
    content = {**json.loads(text), **changes}
    del content["check"]
    return json.dumps({**content, "check": saves._check(content)})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda text: "", "is no saved game, or is damaged"),
        (lambda text: "[1]", "is no saved game, or is damaged"),
        (lambda text: "[" * 100_000, "is no saved game, or is damaged"),
        (lambda text: "\x00\xff", "is no saved game, or is damaged"),
        (lambda text: '{"format": "siberia-record/1"}', "has the format 'siberia-record/1'; this version reads"),
        (lambda text: '{"format": "siberia-save/1"}', "is damaged or has been edited"),
        (lambda text: resealed(text, seat="1"), "seat is '1'"),
        (lambda text: resealed(text, seat=2), "seat: 2; a game of 2 has the seats 0 to 1"),
        (lambda text: resealed(text, decisions=[["draw 0"]]), "a decision is not the name of an action"),
        (lambda text: resealed(text, decisions=["draw 0", "fly"]), "decision 1, 'draw 0', is not legal there"),
        (lambda text: resealed(text, decisions=[]), "by a version of the suite that plays this game otherwise"),
        (lambda text: resealed(text, header={}), "its header: expected a header"),
        (
            lambda text: resealed(text, header={**json.loads(text)["header"], "game": "chess"}),
            'its header: no game "chess"',
        ),
        (
            lambda text: resealed(text, header={**json.loads(text)["header"], "num_players": 9}),
            "its header: num_players: 9",
        ),
    ],
)
def test_a_foreign_save_is_refused_in_one_line(
    tmp_path: Path, content: Callable[[str], str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, text = saved(tmp_path)
    path.write_text(content(text), encoding="utf-8")
    before = contents(tmp_path)
    assert message in refused(capsys, "card", "--resume", str(path))
    assert contents(tmp_path) == before


def test_a_save_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text = saved(tmp_path)

    def killed(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(ConfigurationError, match=r"save: can't write .*: No space left on device"):
        save_game(path, short_game("card"))
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert path.read_text(encoding="utf-8") == text


# ---------------------------------------------------------------- other players that fail


class Failing(Agent):
    """Raises, or gives what it is told to give."""

    name = "failing"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, view: View) -> int:
        if isinstance(self.answer, BaseException):
            raise self.answer
        answer: int = self.answer
        return answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ValueError("no idea\nat all"), r"player_0 \(random\) has failed: ValueError: no idea at all; "),
        (SystemExit(3), r"player_0 \(random\) has failed: SystemExit: 3; "),
        (9999, r"player_0 \(random\) has chosen 9999, which is not legal; "),
        (-1, r"has chosen -1, which is not legal; "),
        (None, r"has chosen None, which is not legal; "),
        (True, r"has chosen True, which is not legal; "),
    ],
)
def test_a_player_that_fails_ends_the_game_and_the_save_stays(tmp_path: Path, answer: Any, message: str) -> None:
    sitting, out = session(tmp_path, short_game("card"), Person(), {0: Failing(answer)})
    how_to_go_on = r"the game is saved; go on with: \S*siberia play card --resume \S+"
    with pytest.raises(SiberiaError, match=message + how_to_go_on) as error:
        sitting.run()
    assert load_game(sitting.save_path)[0].decisions == []
    shown = out.getvalue() + str(error.value)
    assert "\n" not in str(error.value)
    assert not any(kind in shown for kind in KINDS)  # the legal actions could show the other one's hand


@pytest.mark.parametrize(("how", "reason"), [("raise", "ValueError: no idea, really"), ("odd error", "OddError")])
def test_a_player_that_cannot_be_started_is_told_in_one_line(how: str, reason: str) -> None:
    spec = f"tests.faulty:Unwilling:{how}"
    game = new_game(find_game("card").variant(2), 1, 1, [spec])
    with pytest.raises(SiberiaError) as error:
        seat_agents(game)
    assert str(error.value) == f"player_0 ({spec}) can't be started: {reason}"


# ---------------------------------------------------------------- thinking


def test_a_spinner_shows_after_a_while_and_typed_text_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(RandomAgent):
        def act(self, view: View) -> int:
            seen_before = out.getvalue().count("is thinking")
            give_up = time.monotonic() + PATIENCE
            while out.getvalue().count("is thinking") == seen_before and time.monotonic() < give_up:
                time.sleep(0.01)
            return super().act(view)

    monkeypatch.setattr(play, "PATIENCE", 0.01)
    forgotten: list[int] = []
    sitting, out = session(tmp_path, short_game("card"), Person(), {0: Slow()}, force_terminal=True)
    sitting.forget = lambda: forgotten.append(1)
    assert not sitting.run()
    assert "player_0 (random) is thinking" in out.getvalue()
    assert forgotten


def test_ctrl_c_is_heard_while_another_player_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "PATIENCE", 0.01)
    heard, thought = threading.Event(), threading.Event()

    def think() -> None:
        heard.wait(PATIENCE)
        thought.set()

    def busy() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_background(think, busy)
    assert not thought.is_set()
    heard.set()


# ---------------------------------------------------------------- windows of 80 columns


def test_views_lose_nothing_but_filling_in_80_columns(case: GameCase) -> None:
    for players in (2, 3, 4):
        variant, found = positions(case.game, players, players, case.short)
        for states in found[:: max(1, len(found) // 8)]:
            game = SeatedGame(variant, 0, ["x"] * players, players - 1)
            game.states[:] = states
            text = game.text()
            parts = fitted(text, WIDTH)
            lines = [line for part in parts for line in part.lines]
            assert max(map(len, lines)) <= WIDTH
            assert text_signs(lines) == text_signs(text.splitlines())
            assert [line for part in fitted(text, 100) for line in part.lines] == text.splitlines()


def text_signs(lines: list[str]) -> str:
    """Everything but filling and frames."""
    return re.sub(r"[ ─│┌┐└┘├┤┬┴┼▒]", "", "".join(lines))


def test_no_sentence_is_torn_that_fits_into_a_line(case: GameCase) -> None:
    variant, found = positions(case.game, 3, 3, case.short)
    texts = [variant.game.room("render").ansi(variant, states, 0, 1) for states in found[::20]]
    written = [line for text in texts for line in text.splitlines() if LINES.isdisjoint(line)]
    whole = re.sub(r"\n  (?=\S)", " ", "\n".join(written))
    for line in whole.splitlines():
        shown = in_lines(line, WIDTH)
        assert " ".join("".join(f" {part}" for part in shown).split()) == " ".join(line.split())
        assert max(map(len, shown)) <= WIDTH
        for sentence in re.split(r"(?<=[.;]) ", line):
            assert len(sentence) > WIDTH - 2 or any(sentence in part for part in shown)
        assert not any(re.search(r" \d+$", part) for part in shown[:-1])


def test_a_long_sentence_ends_its_line_with_a_clause() -> None:
    told = "Turn 1 of at most 402: Ann pays for 'mine gold', a card showing gold completes it, or two others."
    assert in_lines(told, WIDTH) == [
        "Turn 1 of at most 402: Ann pays for 'mine gold',",
        "  a card showing gold completes it, or two others.",
    ]
    assert in_lines("x" * 100, WIDTH) == ["x" * 80, "  " + "x" * 20]
    assert in_lines("", WIDTH) == [""]


def test_narrow_maps_keep_their_lines_together() -> None:
    """Every line that goes up or down meets one in the next row, in any width."""
    variant = find_game("board").variant(2)
    text = SeatedGame(variant, 1, ["x", "x"], 0).text()
    down, up = set("│┌┐├┤┬┼"), set("│└┘├┤┴┼▲")
    for width, height in ((100, 50), (90, 50), (80, 50), (79, 50), (80, 24), (80, 23), (100, 1)):
        map_part = next(part for part in fitted(text, width) if part.drawn)
        low = lowered(map_part, height)
        assert len(low.lines) <= max(height, 22)
        assert text_signs(list(low.lines)) == text_signs(list(map_part.lines))
        rows = [line.ljust(100) for line in low.lines]
        for above, below in pairwise(rows):
            for column, sign in enumerate(above):
                assert (sign in down | {"▲"}) == (below[column] in up), (width, column, above, below)


# ---------------------------------------------------------------- the command


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that bad input is answered with."""
    capsys.readouterr()
    assert main(["play", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("siberia: ")
    assert err.count("\n") == 1
    return err


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("chess", "no game 'chess'"),
        ("card --seat 2", "--seat: 2; a game of 2 has the seats 0 to 1"),
        ("card --seat -1", "--seat: -1"),
        ("card --seat first", "--seat: 'first'; give the number of a seat"),
        ("card --seat 0,1", "--seat: 2 seats for one person without --names; give one for each"),
        ("card --seat 1 --names Ann,Bob", "--seat: 1 seat for 2 names; give one for each"),
        ("card --seat 1,1 --names Ann,Bob", "--seat: '1,1' has a seat twice"),
        ("card --names Ann,ann", "--names: 'Ann,ann' has a name twice; they have to differ"),
        ("card --names Ann,", "--names: ''; a name has 1 to 12 characters"),
        ("card --names Maximilianus1", "--names: 'Maximilianus1'; a name has 1 to 12 characters"),
        ("card --names [red]", "--names: '[red]'; a name has 1 to 12 characters: letters"),
        ("card --names You", "--names: 'You' would be taken for somebody else"),
        ("card --names player_1", "--names: 'player_1' would be taken for somebody else"),
        ("card --names Ann,Bob,Cyd", "--names: 3 people for a game of 2; see --players"),
        ("card --names Ann,Bob --against greedy", "--against: people take all seats; leave the option out"),
        ("card --resume game.save.json --names Ann", "--names: a resumed game keeps its own; leave the option out"),
        ("card --players 5", "num_players: 5"),
        ("card --against nobody", "no agent 'nobody'"),
        ("card --against random,random", "--against: 2 agents for 1 seat; name 1"),
        ("card --players 4 --against random,random", "--against: 2 agents for 3 seats; name 1, or 3 (one a seat)"),
        ("card --against learned:none.npz", "model: there is no file none.npz"),
        ("card --hints 0", "search budget: 0; at least 1 simulation"),
        ("card --seed -1", "seed: -1"),
        ("card --rules edition=x", "edition"),
        ("card --components none.json", "none.json"),
        ("card --out there.jsonl", "--out: there.jsonl is there already"),
        ("card --out none/game.jsonl", "--out: there is no folder none"),
        ("card --out kept.jsonl", "--out: kept.save.json keeps a game; go on with it (--resume kept.save.json)"),
        ("card --resume none.json", "save: can't read none.json: No such file or directory"),
        ("card --resume .", "save: can't read .: Is a directory"),
        ("card --resume game.save.json --seat 1", "--seat: a resumed game keeps its own; leave the option out"),
        ("card --resume game.save.json --against greedy", "--against: a resumed game keeps its own"),
        ("board --resume game.save.json", "--resume: game.save.json keeps a game of card, not of board"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    arguments: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    Path("there.jsonl").touch()
    Path("kept.save.json").touch()
    before = contents(tmp_path)
    assert message in refused(capsys, *arguments.split())
    assert contents(tmp_path) == before


def test_agents_sit_in_the_order_of_the_seats_behind_the_person() -> None:
    variant = find_game("card").variant(4)
    assert new_game(variant, 1, 1, ["random", "greedy", "learned:x"]).agents == (
        "learned:x",
        "person",
        "random",
        "greedy",
    )
    assert new_game(variant, 1, 3, ["greedy"]).agents == ("greedy", "greedy", "greedy", "person")
    assert new_game(variant, 1, [2, 0], ["random", "greedy"], ["Ann", "Bob"]).agents == (
        "person Bob",
        "greedy",
        "person Ann",
        "random",
    )


def test_games_without_a_name_overwrite_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("play-card-1.jsonl").touch()
    Path("play-card-2.save.json").touch()
    assert sit_down.new_files("card", None) == (Path("play-card-3.jsonl"), Path("play-card-3.save.json"))
    assert sit_down.resumed_record(Path("play-card-2.save.json"), None) == Path("play-card-2.jsonl")
    assert sit_down.resumed_record(Path("play-card-1.save.json"), None) == Path("play-card-1-2.jsonl")


def test_help_teaches_by_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"siberia play {game} " in " ".join(out.split()) for game in GAMES)
    assert max(map(len, out.splitlines())) <= WIDTH


def test_a_game_that_ended_before_its_record_was_written_is_resumed_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    game = short_game("card")
    rng = np.random.default_rng(8)
    while not game.over:
        game.take(at_random(game, rng))
    save_game(Path("play-card-1.save.json"), game)
    assert main(["play", "card", "--resume", "play-card-1.save.json"]) == 0
    assert "play-card-1.jsonl: the record of the game" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["play-card-1.jsonl"]
    assert next(read_records("play-card-1.jsonl")).lines == game.record().lines


def test_a_record_that_cannot_be_written_leaves_the_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", StringIO("1\n" * 1000))

    def refuse(*arguments: Any) -> int:
        raise ConfigurationError("records: can't write it")

    monkeypatch.setattr(sit_down, "write_records", refuse)
    assert main(["play", "card", "--against", "random", "--rules", "max_turns=4"]) == 2
    assert capsys.readouterr().err.endswith("siberia: records: can't write it\n")
    assert load_game(Path("play-card-1.save.json"))[0].over


# ---------------------------------------------------------------- in a real terminal

PROMPT = "? for help):"


def at_the_table(folder: Path, *arguments: str, **settings: str) -> Terminal:
    """The command `siberia play` in a terminal of its own."""
    return Terminal(folder, PROMPT, "-m", "siberia_experiments.cli", "play", *arguments, **settings)


_compiled: set[str] = set()  #: games that have been played here


@pytest.fixture
def compiled(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Plays a game here once, with a hint, so that nothing is left to compile for a program with a deadline."""

    def play_here(game: str, *options: str) -> None:
        if game in _compiled:
            return
        _compiled.add(game)
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path_factory.mktemp("compiled"))
            patch.setattr("sys.stdin", StringIO("1\nh\nu!\n" + "1\n" * 200))
            assert main(["play", game, *options, "--hints", "25"]) == 0

    return play_here


@both_games
def test_in_a_real_terminal_a_game_is_played_left_resumed_and_finished(
    game: str, tmp_path: Path, compiled: Callable[..., None]
) -> None:
    options = ("--against", "random", "--seat", "1", "--seed", "3", "--rules", SHORT[game])
    compiled(game, *options)
    with at_the_table(tmp_path, game, *options, "--hints", "25") as terminal:
        assert "You are player_1; you play against player_0 (random)." in plain(terminal.wait())
        assert "you: " in plain(terminal.type("1"))
        assert "guided search" in plain(terminal.type("h"))
        assert "taken back: " in plain(terminal.type("u!"))
        assert "you: " in plain(terminal.type({"card": "rev 3\t", "board": "place rese\t"}[game]))
        assert "there is no move 77" in plain(terminal.type("77"))
        save = f"play-{game}-1.save.json"
        keys, code = {"card": ("s\n", 0), "board": (CTRL_C, 130)}[game]
        assert f"siberia play {game} --resume {save}" in plain(terminal.press(keys))
        assert terminal.code() == code
        assert "Traceback" not in terminal.screen
        assert re.search(r"\x1b\[[0-9;]*3[0-9]m", terminal.screen)  # colours
    assert [path.name for path in tmp_path.iterdir()] == [save]
    with at_the_table(tmp_path, game, "--resume", save, "--out", "mine.jsonl", NO_COLOR="1") as terminal:
        seen = terminal.wait()
        assert "player_1" in seen
        while terminal.child.poll() is None and "Final scores" not in seen:
            seen = terminal.type("1")
        assert "mine.jsonl: the record of the game" in plain(seen + terminal.wait())
        assert terminal.code() == 0
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", terminal.screen)
        assert "Traceback" not in terminal.screen
    assert [path.name for path in tmp_path.iterdir()] == ["mine.jsonl"]
    (record,) = read_records(tmp_path / "mine.jsonl")
    assert record.header["agents"] == ["random", "person"]


def test_in_a_real_terminal_ctrl_c_is_heard_while_another_player_thinks(
    tmp_path: Path, compiled: Callable[..., None]
) -> None:
    compiled("card", "--against", "random", "--seed", "3", "--rules", SHORT["card"])
    options = ("--against", "tests.faulty:Pondering", "--seat", "1", "--seed", "3", "--rules", SHORT["card"])
    with at_the_table(tmp_path, "card", *options) as terminal:
        terminal.wait("is thinking")
        assert "siberia play card --resume play-card-1.save.json" in plain(terminal.press(CTRL_C))
        assert terminal.code() == 130
        assert "Traceback" not in terminal.screen
    assert load_game(tmp_path / "play-card-1.save.json")[0].decisions == []


def test_in_a_real_terminal_ctrl_c_in_the_same_breath_as_a_move_is_heard(
    tmp_path: Path, compiled: Callable[..., None]
) -> None:
    options = ("--against", "random", "--seed", "3", "--rules", SHORT["card"])
    compiled("card", *options)
    with at_the_table(tmp_path, "card", *options) as terminal:
        terminal.wait()
        assert "siberia play card --resume play-card-1.save.json" in plain(terminal.press("1\n" + CTRL_C))
        assert terminal.code() == 130
        assert "Traceback" not in terminal.screen


def test_in_a_real_terminal_two_people_share_the_keyboard(tmp_path: Path, compiled: Callable[..., None]) -> None:
    compiled("card", "--against", "random", "--seed", "3", "--rules", SHORT["card"])
    options = ("--names", "Ann,Bob", "--seed", "3", "--rules", SHORT["card"])
    with at_the_table(tmp_path, "card", *options) as terminal:
        assert "Ann, press Enter to see your table" in plain(terminal.wait("(s quits):"))
        assert "Hand of Ann: " in plain(terminal.type(""))
        terminal.type("1")
        terminal.send("draw 2\n")
        terminal.wait("Enter hides the table for Bob's turn (u undoes, s quits):")
        terminal.send("\n")
        _, cleared, after = terminal.wait("(s quits):").partition(play.CLEAR)
        assert cleared
        assert "Bob, press Enter to see your table" in plain(after)
        assert "Hand of " not in after
        assert "Ann: draw 2" in plain(terminal.type(""))
        terminal.send(UP + CTRL_C)
        assert "draw 2" not in plain(terminal.wait("--resume"))
        assert terminal.code() == 130


def test_a_killed_terminal_loses_nothing(tmp_path: Path, compiled: Callable[..., None]) -> None:
    options = ("--against", "random", "--seed", "3", "--rules", SHORT["card"])
    compiled("card", *options)
    with at_the_table(tmp_path, "card", *options) as terminal:
        terminal.wait()
        terminal.type("1")
        os.kill(terminal.child.pid, signal.SIGKILL)
        terminal.code()
    (save,) = (path for path in tmp_path.iterdir() if path.suffix == ".json")
    resumed, _ = load_game(save)
    assert len(resumed.decisions) == 1
    assert resumed.on_turn


@pytest.fixture
def piped(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Runs the command without a terminal, with the given input."""

    def run(text: str, *arguments: str) -> tuple[int, str]:
        with subprocess.Popen(
            [sys.executable, "-m", "siberia_experiments.cli", "play", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": import_path(), "COLUMNS": str(WIDTH)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            out, err = outcome(process, text.encode())
        assert b"Traceback" not in err, err.decode()
        return process.returncode, out.decode()

    return run


def test_in_a_pipe_there_are_no_controls_and_the_end_of_input_leaves_the_game_saved(
    tmp_path: Path, piped: Callable[..., tuple[int, str]], compiled: Callable[..., None]
) -> None:
    compiled("card", "--against", "random", "--rules", "max_turns=6")
    code, out = piped("1\nnonsense \xff\n", "card", "--against", "random", "--rules", "max_turns=6")
    assert code == 0
    assert "\x1b" not in out
    *lines, how_to_go_on = out.splitlines()
    assert "siberia play card --resume play-card-1.save.json" in how_to_go_on  # a command is not broken into lines
    assert max(map(len, lines)) <= WIDTH + len(PROMPT) + 1
    assert len(load_game(tmp_path / "play-card-1.save.json")[0].decisions) == 1
