"""Tournaments: who meets whom on which deals, forfeits, folders that survive a kill, tables and pictures."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from siberia_agents import learned as learned_module
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError
from siberia_env.game import GAMES, Variant, find_game
from siberia_env.position import Position
from siberia_env.view import View
from siberia_experiments.cli import main
from siberia_experiments.match import derived_seed
from siberia_experiments.statistics import wilson, wilson_of_deals
from siberia_experiments.tournament import game as referee_module
from siberia_experiments.tournament import store as ledger_module
from siberia_experiments.tournament.game import NOBODY, Clock, Referee, Result, Setting, Task
from siberia_experiments.tournament.plots import draw, ratings
from siberia_experiments.tournament.run import Outcome, Schedule, Tournament, line_ups, rounding
from siberia_experiments.tournament.store import Ledger
from siberia_experiments.tournament.summary import COLUMNS, Played, first_reasons
from siberia_experiments.tournament.tables import tables
from tests import faulty
from tests.compiling import compile_first
from tests.games import GameCase
from tests.processes import PATIENCE, children, import_path, wait_until
from tests.test_agents import small_model

FAULTY = "tests.faulty:Faulty:"


def short(case: GameCase, players: int = 2) -> Variant:
    """Games that are over soon."""
    return case.game.variant(players, case.short)


def referee(variant: Variant, *specs: str, seed: int = 1, move_seconds: float = 60.0) -> Referee:
    """A referee in this process."""
    return Referee(Setting(variant, specs, seed, move_seconds), Clock([0.0] * Clock.SIZE), variant.new_states())


def played(results: list[Result]) -> list[tuple[Any, ...]]:
    """What of `results` does not depend on the machine."""
    return [(result.task, result.scores, result.win_shares, result.forfeit, result.moves) for result in results]


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------- who meets whom


@pytest.mark.parametrize(
    ("agents", "players", "expected"),
    [
        (2, 2, {"01"}),
        (4, 2, {"01", "02", "03", "12", "13", "23"}),
        (4, 3, {"012", "013", "023", "123"}),
        (2, 3, {"001", "011"}),
        (2, 4, {"0001", "0011", "0111"}),
        (3, 4, {"0012", "0112", "0122"}),
    ],
)
def test_line_ups_are_all_combinations_or_give_everybody_a_seat(agents: int, players: int, expected: set[str]) -> None:
    found = ["".join(map(str, line_up)) for line_up in line_ups(agents, players)]
    assert set(found) == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize(("agents", "players"), [(5, 3), (6, 4), (7, 2), (3, 4)])
def test_agents_take_turns_evenly(agents: int, players: int) -> None:
    line_up_count = Counter(dict.fromkeys(range(agents), 0))
    for line_up in line_ups(agents, players):
        line_up_count.update(set(line_up))
        assert max(line_up_count.values()) - min(line_up_count.values()) <= 2


@pytest.mark.parametrize(("agents", "players", "asked"), [(2, 3, 100), (5, 3, 61), (3, 4, 1), (4, 2, 24), (2, 4, 15)])
def test_every_deal_is_played_in_every_seat_order_of_its_line_up(agents: int, players: int, asked: int) -> None:
    schedule = Schedule(agents, players, asked)
    tasks = [schedule.task(game) for game in range(schedule.games)]
    assert [task.game for task in tasks] == list(range(schedule.games))
    deals: dict[int, list[tuple[int, ...]]] = {}
    for task in tasks:
        deals.setdefault(task.deal, []).append(task.seating)
    assert list(deals) == list(range(schedule.blocks))
    order = line_ups(agents, players)
    for deal, seatings in deals.items():
        assert sorted(seatings) == sorted(set(permutations(order[deal % len(order)])))
    assert schedule.games - len(deals[schedule.blocks - 1]) < asked <= schedule.games
    for game in (-1, schedule.games):
        with pytest.raises(IndexError):
            schedule.task(game)


def test_seat_orders_of_a_block_share_the_deal(case: GameCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The states at the first decision are equal, byte for byte, and others in the next block."""
    first: dict[int, bytes] = {}
    look = Position.view

    def noting(position: Position) -> View:
        first.setdefault(task.game, position.serialize())
        return look(position)

    monkeypatch.setattr(Position, "view", noting)
    schedule = Schedule(2, 3, 7)
    table = referee(short(case, 3), "greedy", "random", seed=4)
    for game in range(schedule.games):
        task = schedule.task(game)
        table.play(task)
    deals = [{first[game] for game in first if schedule.task(game).deal == deal} for deal in range(schedule.blocks)]
    assert [len(states) for states in deals] == [1] * schedule.blocks
    assert len(set.union(*deals)) == schedule.blocks
    expected = case.game.variant(3, case.short).new_states()
    seed = np.uint64(derived_seed(4, referee_module.DEALS, 0))
    engine.deal_at(table.setting.variant.rulesets, expected, 0, seed, 1, 0)
    assert deals[1] == {expected.tobytes()}


# ---------------------------------------------------------------- games


def test_a_game_is_the_same_whatever_was_played_before(case: GameCase) -> None:
    variant, schedule = case.game.variant(3, case.medium), Schedule(2, 3, 12)
    tasks = [schedule.task(game) for game in range(schedule.games)]
    table = referee(variant, "random", "greedy")
    forwards = [table.play(task) for task in tasks]
    assert played(forwards) == played([table.play(task) for task in reversed(tasks)][::-1])
    assert played(forwards) == played([referee(variant, "random", "greedy").play(task) for task in tasks])
    assert played(forwards) != played([referee(variant, "random", "greedy", seed=2).play(task) for task in tasks])


def test_scores_shares_and_times_are_those_of_the_game(case: GameCase) -> None:
    variant = case.game.variant(2, case.short)
    for result in (referee(variant, "greedy", "random").play(Task(game, game, (0, 1))) for game in range(6)):
        assert all(score % 1000 == 0 for score in result.scores)
        best = [score == max(result.scores) for score in result.scores]
        assert result.win_shares == tuple(won / sum(best) for won in best)
        assert (result.forfeit, result.reason) == (NOBODY, "")
        assert sum(result.moves) > 20
        assert all(0 < seconds < 60 for seconds in result.seconds)


def test_copies_of_an_agent_have_random_numbers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    monkeypatch.setattr(referee_module.Agent, "start", lambda agent, variant, seed: seeds.append(seed))
    table = referee(find_game("card").variant(4, {"max_turns": 4}), "greedy", "learned")
    for game in range(3):
        table.play(Task(game, 0, (0, 0, 0, 0)))
    assert len(set(seeds)) == 12


# ---------------------------------------------------------------- forfeits


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("raise", "ValueError: no idea, really"),
        ("odd error", "OddError"),
        ("unprintable", "ValueError: ? and ?"),
        ("exit", "SystemExit: 3"),
        ("illegal", "illegal action "),
        ("float", "answered with float, not with the number of an action"),
        ("none", "answered with NoneType, not with the number of an action"),
        ("text", "answered with str, not with the number of an action"),
        ("odd", "answered with Odd, not with the number of an action"),
        ("true", "answered with True; actions are 0 to "),
        ("far", "answered with 1180591620717411303424; actions are 0 to "),
        ("endless", "answered with int; actions are 0 to "),
        ("below", "answered with -2147483648; actions are 0 to "),
        ("dawdle", "took longer than 0.15 s for a move"),
    ],
)
def test_who_does_not_keep_to_the_rules_forfeits_that_game_only(
    how: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]  # on a clock that goes on while somebody sleeps only, however busy the machine is
    monkeypatch.setattr(referee_module, "monotonic", lambda: now[0])
    monkeypatch.setattr(faulty, "time", SimpleNamespace(sleep=lambda seconds: now.__setitem__(0, now[0] + seconds)))
    variant = find_game("card").variant(3, {"max_turns": 12})
    schedule = Schedule(3, 3, 12)
    specs = (f"{FAULTY}{how}", "greedy", "random")
    table = referee(variant, *specs, seed=3, move_seconds=0.15 if how == "dawdle" else 60)
    results = [table.play(schedule.task(game)) for game in range(schedule.games)]
    harmless = referee(variant, f"{FAULTY}never", "greedy", "random", seed=3)
    forfeits = [result for result in results if result.forfeit != NOBODY]
    assert 0 < len(forfeits) < len(results)
    for result in results:
        if result.forfeit == NOBODY:
            assert played([result]) == played([harmless.play(result.task)])
        else:
            assert result.task.seating[result.forfeit] == 0
            assert result.reason.startswith(reason)
            assert result.win_shares == tuple(0.0 if seat == result.forfeit else 0.5 for seat in range(3))
            assert result.moves[result.forfeit] == 2
            assert result.scores == table.play(result.task).scores == referee_module.standing(variant, table.states)
    assert first_reasons(results, specs) == {specs[0]: (len(forfeits), forfeits[0].reason)}


def test_compiling_does_not_count_as_thinking(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(referee_module, "monotonic", lambda: now)
    desk = [0.0] * Clock.SIZE
    clock = Clock(desk)
    clock.start(2)
    assert (desk[Clock.SINCE], desk[Clock.ASKED]) == (100, 2)
    now = 101.0
    clock.pause()
    clock.pause()
    assert desk[Clock.SINCE] == 0
    now = 500.0
    clock.resume()
    assert desk[Clock.SINCE] == 0
    clock.resume()
    assert desk[Clock.SINCE] == 499
    now = 501.0
    assert clock.stop() == 2
    assert (desk[Clock.SINCE], desk[Clock.ASKED]) == (0, NOBODY)
    clock.pause()
    now = 600.0
    clock.resume()
    assert desk[Clock.SINCE] == 0  # nobody is asked


def test_the_clock_is_told_of_compiling() -> None:
    table = referee(find_game("card").variant(2, {"max_turns": 4}), "tests.faulty:Compiling", "greedy")
    told: list[str] = []
    pause, resume = table.clock.pause, table.clock.resume
    table.clock.pause = lambda: (told.append("pause"), pause())[1]  # type: ignore[method-assign, func-returns-value]
    table.clock.resume = lambda: (told.append("resume"), resume())[1]  # type: ignore[method-assign, func-returns-value]
    table.play(Task(0, 0, (0, 1)))
    assert told.count("pause") == told.count("resume") > 0


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gready", "no agent 'gready'"),
        ("tests.faulty:Unwilling:refuse", "tests.faulty:Unwilling:refuse: not this game"),
        ("tests.faulty:Unwilling:raise", "can't be started: ValueError: no idea, really"),
        ("tests.faulty:Unwilling:exit", "can't be started: SystemExit: 3"),
    ],
)
def test_agents_that_cant_be_started_are_found_out(spec: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        referee(find_game("card").variant(2), "greedy", spec).check(1)


# ---------------------------------------------------------------- the folder


@pytest.fixture
def some(tmp_path: Path) -> tuple[Tournament, list[Result]]:
    """A small tournament with forfeits, and its games; nothing is written yet."""
    variant = find_game("card").variant(2, {"max_turns": 8})
    tournament = Tournament(variant, ["random", f"{FAULTY}raise", "greedy"], 12, tmp_path / "it", seed=3)
    table = referee(variant, *tournament.setting.specs, seed=3)
    results = [table.play(tournament.schedule.task(game)) for game in range(tournament.schedule.games)]
    assert any(result.forfeit != NOBODY for result in results)
    return tournament, results


def opened(tournament: Tournament) -> Ledger:
    return tournament._ledger(tournament.digests())


def write(tournament: Tournament, results: list[Result]) -> dict[str, bytes]:
    """Write `results` into the tournament's folder and give all files."""
    ledger = opened(tournament)
    for result in results:
        ledger.add(result)
    ledger.close()
    return contents(tournament.folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_games_are_written_with_the_columns_that_are_promised(some: tuple[Tournament, list[Result]]) -> None:
    tournament, results = some
    files = write(tournament, results)
    assert sorted(files) == ["agents.json", "forfeits.csv", "games.csv", "moves.csv", "settings.json"]
    assert files["games.csv"].splitlines()[0] == b"game,deal,seat,agent,score,win_share,forfeit"
    rows = rows_of(tournament.folder / "games.csv")
    assert len(rows) == 2 * len(results)
    for number, row in enumerate(rows):
        result, seat = results[number // 2], number % 2
        assert int(row["game"]) == result.task.game
        assert int(row["deal"]) == result.task.deal
        assert int(row["seat"]) == seat
        assert row["agent"] == tournament.setting.specs[result.task.seating[seat]]
        assert int(row["score"]) == result.scores[seat]
        assert float(row["win_share"]) == result.win_shares[seat]
        assert row["forfeit"] == str(int(result.forfeit == seat))
    reasons = rows_of(tournament.folder / "forfeits.csv")
    assert [row["reason"] for row in reasons] == [result.reason for result in results if result.forfeit != NOBODY]


def test_games_that_end_in_another_order_give_the_same_file(some: tuple[Tournament, list[Result]]) -> None:
    tournament, results = some
    expected = write(tournament, results)
    for path in tournament.folder.iterdir():
        path.unlink()
    ledger = opened(tournament)
    for result in results[::-1]:
        ledger.add(result)
    ledger.finish()
    ledger.close()
    assert contents(tournament.folder) == expected


@pytest.mark.parametrize("name", ["games.csv", "forfeits.csv", "moves.csv"])
def test_a_kill_at_any_byte_loses_no_game_and_none_is_there_twice(
    some: tuple[Tournament, list[Result]], name: str
) -> None:
    """A game is written in the order reasons, times, rows: cut anywhere in it, the games before it remain."""
    tournament, results = some
    last = max(number for number, result in enumerate(results) if result.forfeit != NOBODY)
    before = write(tournament, results[:last])
    ledger = opened(tournament)
    stages = {}
    append = ledger._append

    def noting(file: str, text: str) -> None:
        stages[file] = contents(tournament.folder)
        append(file, text)

    ledger._append = noting  # type: ignore[method-assign]
    ledger.add(results[last])
    ledger.close()
    whole = contents(tournament.folder)
    assert list(stages) == ["forfeits.csv", "moves.csv", "games.csv"]
    for length in range(len(before.get(name, b"")), len(whole[name]) + 1):
        for file, content in {**stages[name], name: whole[name][:length]}.items():
            (tournament.folder / file).write_bytes(content)
        ledger = opened(tournament)
        complete = name == "games.csv" and length == len(whole[name])
        assert list(ledger.results.values()) == results[: last + complete]
        ledger.close()
        left = contents(tournament.folder)
        assert {file: left[file] for file in ("games.csv", "moves.csv")} == {
            file: (whole if complete else before)[file] for file in ("games.csv", "moves.csv")
        }


def test_a_folder_is_gone_on_with_under_the_same_settings_only(some: tuple[Tournament, list[Result]]) -> None:
    tournament, results = some
    files = write(tournament, results[:3])
    same = {"variant": tournament.setting.variant, "specs": tournament.setting.specs, "games": 12, "seed": 3}
    others: list[tuple[dict[str, Any], str]] = [
        ({"seed": 4}, "a tournament with seed 3, not 4"),
        ({"games": 10}, "a tournament of 12 games, more than 10; give --games 12 or more, --fresh to start over"),
        ({"specs": ("random", "greedy")}, "a tournament with agents "),
        ({"move_seconds": 5.0}, "a tournament with move_seconds 60.0, not 5.0"),
        ({"variant": find_game("card").variant(3, {"max_turns": 8})}, "a tournament with players 2, not 3"),
        ({"variant": find_game("card").variant(2)}, "a tournament with rules "),
        ({"variant": find_game("board").variant(2)}, 'a tournament with game "card", not "board"'),
    ]
    for changes, message in others:
        with pytest.raises(ConfigurationError, match=message):
            Tournament(folder=tournament.folder, **{**same, **changes}).run()
    assert contents(tournament.folder) == files
    ledger = opened(Tournament(folder=tournament.folder, **{**same, "games": 11}))  # the same after rounding
    ledger.close()


def longer_than(tournament: Tournament, games: int, folder: Path | None = None) -> Tournament:
    """The same tournament with more games, there or in another folder."""
    setting = tournament.setting
    return Tournament(setting.variant, setting.specs, games, folder or tournament.folder, setting.seed)


def test_more_games_go_on_with_those_that_are_there(some: tuple[Tournament, list[Result]], tmp_path: Path) -> None:
    """The folder ends as if all had been asked for at once, whatever was made from fewer games."""
    tournament, results = some
    write(tournament, results)
    tournament.run()
    longer, whole = longer_than(tournament, 24), longer_than(tournament, 24, tmp_path / "whole")
    table = referee(longer.setting.variant, *longer.setting.specs, seed=3)
    more = [table.play(longer.schedule.task(game)) for game in range(12, 24)]
    ledger = opened(longer)
    assert (ledger.grows, sorted(ledger.results)) == (True, list(range(12)))
    ledger.grow()
    assert not (longer.folder / "summary.csv").exists()
    for result in more:
        ledger.add(result)
    ledger.close()
    assert contents(longer.folder) == write(whole, [*results, *more])
    with pytest.raises(ConfigurationError, match="a tournament of 24 games, more than 12"):
        tournament.run()


def test_only_the_missing_games_of_a_tournament_that_grows_are_played(some: tuple[Tournament, list[Result]]) -> None:
    tournament, results = some
    write(tournament, results)
    times = rows_of(tournament.folder / "moves.csv")
    outcome = longer_than(tournament, 13).run()
    assert len(outcome.results) == 14
    assert rows_of(tournament.folder / "moves.csv")[: len(times)] == times


def test_a_kill_while_a_tournament_grows_costs_nothing(
    some: tuple[Tournament, list[Result]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was made from fewer games goes first, then the settings change."""
    tournament, results = some
    write(tournament, results)
    (tournament.folder / "summary.csv").write_text("of fewer games")
    longer = longer_than(tournament, 24)
    ledger = opened(longer)
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ledger.grow()
    ledger.close()
    assert not (longer.folder / "summary.csv").exists()
    ledger = opened(longer)
    assert (ledger.grows, len(ledger.results)) == (True, 12)
    ledger.grow()
    ledger.close()
    ledger = opened(longer)
    assert (ledger.grows, len(ledger.results)) == (False, 12)
    ledger.close()


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("games", "fresh"), [(24, False), (12, True)])
def test_agents_that_cant_be_started_leave_a_tournament_as_it_was(tmp_path: Path, games: int, fresh: bool) -> None:
    """Whether it was to grow or to start over."""
    specs = ["greedy", "tests.faulty:Unwilling:die"]
    variant = find_game("card").variant(2, {"max_turns": 8})
    files = write(Tournament(variant, specs, 12, tmp_path / "it", seed=3), [])
    with pytest.raises(ConfigurationError, match="Unwilling:die can't be started"):
        Tournament(variant, specs, games, tmp_path / "it", 3).run(fresh=fresh)
    assert contents(tmp_path / "it") == files


def test_a_fresh_start_throws_away_the_tournament_and_nothing_else(
    some: tuple[Tournament, list[Result]], tmp_path: Path
) -> None:
    """Be it one of another game, or damaged."""
    tournament, results = some
    write(tournament, results)
    tournament.run()
    (tournament.folder / "notes.txt").write_text("mine")
    (tournament.folder / "games.csv").write_text("nonsense\n")
    other = Tournament(find_game("board").variant(2, {"max_rounds": 1}), ["random", "greedy"], 2, tournament.folder)
    with pytest.raises(ConfigurationError, match=r"holds a tournament with .*give --fresh to start over"):
        other.run()
    with pytest.raises(ConfigurationError, match="its columns are not"):
        tournament.run()
    other.run(fresh=True)
    assert (tournament.folder / "notes.txt").read_text() == "mine"
    assert len(rows_of(tournament.folder / "games.csv")) == 2 * other.schedule.games
    assert {path.name for path in tournament.folder.iterdir()} == {
        "agents.json",
        "games.csv",
        "moves.csv",
        "notes.txt",
        "settings.json",
        "summary.csv",
    }


@pytest.mark.parametrize("settings", ["{}", '{"format": "editor/1"}', '{"format": 3}', "[", "[]"])
def test_a_fresh_start_removes_nothing_of_other_programs(some: tuple[Tournament, list[Result]], settings: str) -> None:
    tournament, _ = some
    tournament.folder.mkdir()
    (tournament.folder / "settings.json").write_text(settings)
    (tournament.folder / "games.csv").write_text("theirs")
    files = contents(tournament.folder)
    with pytest.raises(ConfigurationError, match=r"--fresh: .*settings\.json is not of a tournament; name another"):
        tournament._ledger(tournament.digests(), fresh=True)
    assert contents(tournament.folder) == files


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("games.csv", b"game,deal", b"deal,game"),
        ("games.csv", b"\n1,0,", b"\n1,1,"),
        ("games.csv", b"\n1,0,", b"\n0,0,"),
        ("games.csv", b"\n1,0,", b"\n99,0,"),
        ("games.csv", b"\n1,0,0,", b"\n1,0,x,"),
        ("games.csv", b"\n0,0,0,random", b"\n0,0,0,greedy"),
        ("games.csv", b"\n1,0,0,", b"\n1,0,"),
        ("games.csv", b"\n1,0,0,", b"\n\xff,0,0,"),
        ("games.csv", b"\n1,0,0,", b"\n" + b"1" * 200_000 + b",0,0,"),
        ("moves.csv", b"\n1,0,", b"\n5,0,"),
        ("forfeits.csv", b"\n0,1,tests", b"\n0,0,tests"),
        ("agents.json", b"{", b"["),
        ("agents.json", b'"greedy": {}', b'"greedy": []'),
        ("agents.json", b'"greedy"', b'"gready"'),
        ("settings.json", b"{", b"["),
        ("settings.json", b'"seed"', b'"sead"'),
    ],
)
def test_a_damaged_folder_is_refused_and_left_as_it_is(
    some: tuple[Tournament, list[Result]], name: str, before: bytes, after: bytes
) -> None:
    tournament, results = some
    files = write(tournament, results)
    content = files[name]
    assert before in content
    (tournament.folder / name).write_bytes(content.replace(before, after, 1))
    damaged = contents(tournament.folder)
    with pytest.raises(ConfigurationError, match=r"name another folder|line 1: its columns"):
        tournament.run()
    assert contents(tournament.folder) == damaged


def test_a_folder_is_used_by_one_process_at_a_time(some: tuple[Tournament, list[Result]]) -> None:
    tournament, _ = some
    first = opened(tournament)
    with pytest.raises(ConfigurationError, match="another process plays the tournament"):
        opened(tournament)
    first.close()
    opened(tournament).close()


def test_games_without_settings_are_not_gone_on_with(some: tuple[Tournament, list[Result]]) -> None:
    tournament, results = some
    write(tournament, results)
    (tournament.folder / "settings.json").unlink()
    with pytest.raises(ConfigurationError, match=r"holds games\.csv but no settings\.json"):
        opened(tournament)


def test_a_full_disk_is_told_in_one_line(
    some: tuple[Tournament, list[Result]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament, results = some
    ledger = opened(tournament)

    def full(*arguments: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger_module.os, "write", full)
    with pytest.raises(ConfigurationError, match=r"can't write into .*: No space left on device"):
        ledger.add(results[0])
    ledger.close()


# ---------------------------------------------------------------- agents that change

OWN_AGENT = """
from siberia_agents.interface import Agent

class Mine(Agent):
    def __init__(self, file=""):
        pass

    def act(self, view):
        return view.legal_actions[{which}]
"""


def own_agent(which: int) -> None:
    """Write an agent into the current directory that always takes the first legal action (0), or the last (-1)."""
    Path("tournament_mine.py").write_text(OWN_AGENT.format(which=which), encoding="utf-8")


CHANGING = ("learned:my/m.npz", "greedy", "random", "tournament_mine:Mine")


@pytest.fixture
def changing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tournament]:
    """A tournament in which two agents play from files; nothing is written yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # which the current directory is added to
    Path("my").mkdir()
    small_model(seed=1).save(Path("my/m.npz"))
    own_agent(0)
    yield Tournament(find_game("card").variant(2, {"max_turns": 8}), CHANGING, 24, Path("it"), seed=3)
    sys.modules.pop("tournament_mine", None)


def games_of(tournament: Tournament, *specs: str) -> set[int]:
    """The games in which one of `specs` plays."""
    numbers = {tournament.setting.specs.index(spec) for spec in specs}
    games = range(tournament.schedule.games)
    return {game for game in games if numbers & set(tournament.schedule.task(game).seating)}


def times_of(folder: Path, games: set[int]) -> list[dict[str, str]]:
    """The rows of moves.csv of `games`; a game that is played again has other times."""
    return [row for row in rows_of(folder / "moves.csv") if int(row["game"]) in games]


def test_the_games_of_changed_agents_are_played_anew_and_no_others(
    changing: Tournament, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["tournament", "card", "--agents", ",".join(CHANGING), "--games", "24", "--seed", "3"]
    line += ["--rules", "max_turns=8", "--jobs", "1", "--out"]
    assert main([*line, "it"]) == 0
    assert "changed" not in capsys.readouterr().out
    before = contents(changing.folder)
    others = set(range(24)) - games_of(changing, "learned:my/m.npz")
    kept = times_of(changing.folder, others)

    small_model(seed=2).save(Path("my/m.npz"))
    assert main([*line, "it"]) == 0
    told = capsys.readouterr().out.splitlines()[0]
    assert told == "learned:my/m.npz: my/m.npz changed since its games were played; playing 12 games anew"
    assert times_of(changing.folder, others) == kept
    after = contents(changing.folder)
    assert after["games.csv"] != before["games.csv"]
    assert after["summary.csv"] != before["summary.csv"]

    own_agent(-1)
    others = set(range(24)) - games_of(changing, "tournament_mine:Mine")
    kept = times_of(changing.folder, others)
    assert main([*line, "it"]) == 0
    told = capsys.readouterr().out.splitlines()[0]
    path = "tournament_mine.py"
    assert told == f"tournament_mine:Mine: {path} changed since its games were played; playing 12 games anew"
    assert times_of(changing.folder, others) == kept

    assert main([*line, "new"]) == 0
    assert (Path("new") / "games.csv").read_bytes() == (Path("it") / "games.csv").read_bytes()
    capsys.readouterr()
    monkeypatch.setattr("siberia_experiments.tournament.run.Workers", None)  # nothing is left to play
    assert main([*line, "it"]) == 0
    assert "changed" not in capsys.readouterr().out


def test_the_same_contents_in_another_place_are_no_change(changing: Tournament) -> None:
    noted = changing.digests()
    assert [list(digests) for digests in noted.values()] == [["my/m.npz"], [], [], ["tournament_mine.py"]]
    moved = {spec: {f"elsewhere/{path}": digest for path, digest in files.items()} for spec, files in noted.items()}
    changing._ledger(noted).close()
    ledger = changing._ledger(moved)
    assert ledger.changes == {}
    ledger.close()


def written(tournament: Tournament) -> dict[str, bytes]:
    """Games that nobody played, for what becomes of folders."""
    players = tournament.setting.variant.num_players
    ledger = opened(tournament)
    for game in range(tournament.schedule.games):
        nothing = (0,) * players
        forfeit = game % 3 - 1
        share = 1 / (players if forfeit == NOBODY else players - 1)
        shares = tuple(0.0 if seat == forfeit else share for seat in range(players))
        ledger.add(Result(tournament.schedule.task(game), nothing, shares, forfeit, "why", nothing, nothing))
    ledger.close()
    for name in ("summary.csv", "ratings.png", "scores.png", "seats.png"):
        (tournament.folder / name).touch()
    return contents(tournament.folder)


@pytest.mark.parametrize("step", range(9))
def test_a_kill_while_games_are_dropped_costs_no_other_games(
    changing: Tournament, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Dropping games replaces three files, removes four and writes the digests last: it may end after any of these."""
    written(changing)
    small_model(seed=2).save(Path("my/m.npz"))
    done = 0

    def killed_in_time(act: Any) -> Any:
        def acting(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            if done == step:
                raise KeyboardInterrupt
            done += 1
            return act(*arguments, **options)

        return acting

    ledger = opened(changing)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed_in_time(Path.replace))
        patch.setattr(Path, "unlink", killed_in_time(Path.unlink))
        if step < 8:
            with pytest.raises(KeyboardInterrupt):
                ledger.drop_changed()
        else:
            assert ledger.drop_changed() == {"learned:my/m.npz": 12}
    ledger.close()
    assert done == step

    ledger = opened(changing)
    assert ledger.changes == ({} if step == 8 else {"learned:my/m.npz": ["my/m.npz"]})
    ledger.drop_changed()
    assert set(ledger.results) == set(range(24)) - games_of(changing, "learned:my/m.npz")
    ledger.close()
    names = {path.name for path in changing.folder.iterdir() if not path.name.endswith(".partial")}
    assert names == {"agents.json", "forfeits.csv", "games.csv", "moves.csv", "settings.json"}
    ledger = opened(changing)
    assert ledger.changes == {}
    assert len(ledger.results) == 12
    ledger.close()


def test_a_folder_goes_on_in_the_middle_of_playing_anew(changing: Tournament) -> None:
    written(changing)
    own_agent(-1)
    ledger = opened(changing)
    assert ledger.drop_changed() == {"tournament_mine:Mine": 12}
    again = min(games_of(changing, "tournament_mine:Mine"))
    ledger.add(Result(changing.schedule.task(again), (1000, 0), (1.0, 0.0), NOBODY, "", (5, 5), (0.1, 0.1)))
    ledger.close()
    ledger = opened(changing)
    assert ledger.changes == {}
    assert len(ledger.results) == 13
    assert ledger.results[again].scores == (1000, 0)
    ledger.close()


def test_a_changed_agent_that_cant_be_started_leaves_the_folder_as_it_is(changing: Tournament) -> None:
    files = written(changing)
    small_model(4).save(Path("my/m.npz"))
    with pytest.raises(ConfigurationError, match="trained for players 4"):
        changing.run()
    assert contents(changing.folder) == files


def test_an_agent_whose_file_is_gone_is_told_of_and_the_folder_left_as_it_is(changing: Tournament) -> None:
    files = written(changing)
    Path("my/m.npz").unlink()
    with pytest.raises(ConfigurationError, match=r"agent 'learned:my/m\.npz': can't read my/m\.npz: No such file"):
        changing.run()
    assert contents(changing.folder) == files


def test_a_file_that_changes_while_games_are_played_is_told_of(
    changing: Tournament, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The games may be of either file, so the next call plays them anew."""
    add = Ledger.add

    def adding(ledger: Ledger, result: Result) -> None:
        add(ledger, result)
        if result.task.game == 20:
            small_model(seed=2).save(Path("my/m.npz"))

    monkeypatch.setattr(Ledger, "add", adding)
    changing.run(resamples=5)
    told = "learned:my/m.npz: my/m.npz changed while games were played; the same command plays them anew\n"
    assert told in capsys.readouterr().out
    monkeypatch.setattr(Ledger, "add", add)
    changing.run(resamples=5)
    told = "learned:my/m.npz: my/m.npz changed since its games were played; playing 12 games anew\n"
    assert capsys.readouterr().out == told


def test_a_folder_that_does_not_say_what_files_its_agents_had_is_refused(changing: Tournament) -> None:
    """As folders of earlier versions don't."""
    files = written(changing)
    (changing.folder / "agents.json").unlink()
    with pytest.raises(ConfigurationError, match=r"has no agents\.json, so nobody can tell .* of learned:my/m\.npz"):
        changing.run()
    del files["agents.json"]
    assert contents(changing.folder) == files


def test_a_folder_of_an_earlier_version_goes_on_where_no_agent_has_files(changing: Tournament) -> None:
    plain = replace_specs(changing, ("greedy", "random", "search:10"))
    files = written(plain)
    (plain.folder / "agents.json").unlink()
    ledger = opened(plain)
    assert len(ledger.results) == plain.schedule.games
    ledger.close()
    assert contents(plain.folder) == files


def replace_specs(tournament: Tournament, specs: tuple[str, ...]) -> Tournament:
    """The same tournament of other agents."""
    return Tournament(tournament.setting.variant, specs, tournament.asked, tournament.folder, tournament.setting.seed)


@pytest.mark.parametrize("spec", ["learned", "learned:temperature=0.5", "guided:50"])
def test_another_shipped_model_is_a_change(changing: Tournament, monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    Path("models").mkdir()
    monkeypatch.setattr(learned_module, "SHIPPED", Path("models"))
    small_model(seed=1).save(Path("models/card_2.npz"))
    small_model(3, seed=1).save(Path("models/card_3.npz"))
    shipped = replace_specs(changing, (spec, "greedy", "random"))
    written(shipped)
    small_model(3, seed=2).save(Path("models/card_3.npz"))
    ledger = opened(shipped)
    assert ledger.changes == {}
    ledger.close()
    small_model(seed=2).save(Path("models/card_2.npz"))
    ledger = opened(shipped)
    assert ledger.changes == {spec: ["models/card_2.npz"]}
    ledger.close()


# ---------------------------------------------------------------- processes


def runs(process: int) -> bool:
    """Whether there is a process of that number (and not just its remains)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_processes_play_the_same_games_as_one(case: GameCase, tmp_path: Path) -> None:
    variant = case.game.variant(3, case.short)
    tournament = Tournament(variant, ["random", "greedy"], 12, tmp_path / "it", seed=5)
    outcome = tournament.run(jobs=2, resamples=5)
    table = referee(variant, "random", "greedy", seed=5)
    expected = [table.play(tournament.schedule.task(game)) for game in range(12)]
    assert played(outcome.results) == played(expected)
    assert [row["score"] for row in rows_of(tmp_path / "it/games.csv")] == [
        str(score) for result in expected for score in result.scores
    ]
    assert multiprocessing.active_children() == []


def test_who_hangs_or_ends_its_process_forfeits_that_game_only(tmp_path: Path) -> None:
    """The games are those in which the three just raise an error: the same ones are forfeited, in the same position."""
    variant, ways = find_game("card").variant(2, {"max_turns": 10}), ("hang", "die", "leave")
    tournament = Tournament(variant, [f"{FAULTY}{how}" for how in ways], 6, tmp_path / "it", 10, move_seconds=4)
    table = referee(variant, *(f"{FAULTY}{how}" for how in ("raise", "none", "float")), seed=10)
    expected = [table.play(tournament.schedule.task(game)) for game in range(6)]
    outcome = tournament.run(jobs=2, resamples=5)
    without_moves = [row[:-1] for row in played(outcome.results)]
    assert without_moves == [row[:-1] for row in played(expected)]
    assert first_reasons(outcome.results, ways) == {
        "hang": (1, "took longer than 4 s for a move"),
        "die": (1, "its process was ended by SIGSEGV"),
        "leave": (1, "its process ended with exit code 5"),
    }
    assert len(rows_of(tmp_path / "it/forfeits.csv")) == 3


def test_nothing_is_written_for_an_agent_that_ends_its_process_when_started(tmp_path: Path) -> None:
    tournament = Tournament(find_game("card").variant(2), ["greedy", "tests.faulty:Unwilling:die"], 2, tmp_path / "it")
    with pytest.raises(ConfigurationError, match="Unwilling:die can't be started: its process was ended by SIGSEGV"):
        tournament.run()
    assert not (tmp_path / "it").exists()


def test_a_killed_tournament_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "t1"
    line = ["tournament", "card", "--agents", "random,greedy", "--players", "3", "--games", "200", "--seed", "7"]
    line += ["--jobs", "2", "--out", "t1"]
    compile_first("card")
    process = subprocess.Popen(
        [sys.executable, "-m", "siberia_experiments.cli", *line],
        env={**os.environ, "PYTHONPATH": import_path()},
        stdout=subprocess.DEVNULL,
    )

    def under_way() -> bool:
        assert process.poll() is None
        return (folder / "games.csv").exists() and (folder / "games.csv").read_bytes().count(b"\n") >= 20

    try:
        wait_until(under_way, "twenty games", process.pid)
        workers = children(process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    lines = (folder / "games.csv").read_text().splitlines(keepends=True)
    kept = {row["game"] for row in rows_of(folder / "games.csv")} - {lines[-1].split(",")[0]}
    assert 5 <= len(kept) < 200
    times = [row for row in rows_of(folder / "moves.csv") if row["game"] in kept]
    for worker in workers:
        wait_until(lambda worker=worker: not runs(worker), "the end of a process of the tournament", worker)  # type: ignore[misc]

    assert main(line) == 0
    printed = capsys.readouterr().out
    table = referee(find_game("card").variant(3), "random", "greedy", seed=7)
    schedule = Schedule(2, 3, 200)
    expected = Tournament(find_game("card").variant(3), ["random", "greedy"], 200, tmp_path / "other", 7)
    write(expected, [table.play(schedule.task(game)) for game in range(schedule.games)])
    assert (folder / "games.csv").read_bytes() == (tmp_path / "other/games.csv").read_bytes()
    assert [row for row in rows_of(folder / "moves.csv") if row["game"] in kept] == times  # not played again

    assert "201 games (200 asked for, rounded up to whole deals): 67 deals" in printed
    assert {"ratings.png", "scores.png", "seats.png", "summary.csv"} <= {path.name for path in folder.iterdir()}
    monkeypatch.setattr("siberia_experiments.tournament.run.Workers", None)  # nothing is left to play
    files = contents(folder)
    assert main(line) == 0
    assert capsys.readouterr().out == printed
    assert {**contents(folder), **dict.fromkeys(files)} == dict.fromkeys(files)
    assert all(contents(folder)[name] == files[name] for name in files if not name.endswith(".png"))


# ---------------------------------------------------------------- what comes out


@pytest.fixture
def finished(some: tuple[Tournament, list[Result]]) -> Outcome:
    tournament, results = some
    write(tournament, results)
    return tournament.run(resamples=20)


def test_the_summary_is_what_the_games_say(some: tuple[Tournament, list[Result]], finished: Outcome) -> None:
    tournament, results = some
    rows = rows_of(tournament.folder / "summary.csv")
    assert ",".join(rows[0]) == (
        "agent,games,win_share,win_low,win_high,mean_score,rating,rating_low,rating_high,ms_per_move"
    )
    assert tuple(rows[0]) == COLUMNS
    games, moves = rows_of(tournament.folder / "games.csv"), rows_of(tournament.folder / "moves.csv")
    forfeited = {row["game"] for row in games if row["forfeit"] == "1"}
    assert forfeited
    ratings = [float(row["rating"]) for row in rows]
    assert ratings == sorted(ratings, reverse=True)
    for row in rows:
        own = [game for game in games if game["agent"] == row["agent"]]
        taken = [time for game, time in zip(games, moves, strict=True) if game["agent"] == row["agent"]]
        scores = [int(game["score"]) for game in own if game["game"] not in forfeited]
        assert int(row["games"]) == len(own) == 2 * len(results) // 3
        assert float(row["win_share"]) == pytest.approx(sum(float(game["win_share"]) for game in own) / len(own))
        assert float(row["win_low"]) <= float(row["win_share"]) <= float(row["win_high"])
        assert float(row["mean_score"]) == pytest.approx(sum(scores) / len(scores), abs=0.06)
        milliseconds = 1000 * sum(float(time["seconds"]) for time in taken) / sum(int(time["moves"]) for time in taken)
        assert float(row["ms_per_move"]) == pytest.approx(milliseconds, abs=1e-4)
        assert float(row["rating_low"]) <= float(row["rating"]) <= float(row["rating_high"])
    assert sum(ratings) == pytest.approx(3000, abs=0.1)


def test_pairs_are_counted_by_encounters() -> None:
    """Two copies of agent 0 against agent 1, and a game that agent 2 forfeits."""
    players = Played(
        specs=("a", "b", "c", "d"),
        entrant=np.array([(0, 1, 0), (0, 1, 2)]),
        deal=np.array([0, 1]),
        scores=np.array([(5, 3, 3), (1, 2, 9)]),
        win_shares=np.array([(1, 0, 0), (0.5, 0.5, 0)]),
        forfeit=np.array([(False,) * 3, (False, False, True)]),
        moves=np.ones((2, 3), np.int64),
        seconds=np.ones((2, 3)),
    )
    pairs = players.pairs()
    assert pairs[0, 1] == (1 + 0.5 + 0.5) / 3
    assert pairs[0, 1] + pairs[1, 0] == 1
    assert (pairs[0, 2], pairs[2, 0], pairs[1, 2]) == (1, 0, 1)
    assert np.isnan(pairs[3]).all()
    assert np.isnan(pairs.diagonal()).all()
    assert players.seat(0).value == 0.75
    assert players.scores_of(0).tolist() == [5, 3]


def test_shares_of_independent_games_have_about_wilsons_interval() -> None:
    random = np.random.default_rng(1)
    wins = (random.random(1000) < 0.3).astype(float)
    found = wilson_of_deals(wins, np.ones(1000), np.arange(1000) % 4)
    expected = wilson(float(wins.sum()), 1000)
    assert (found.low, found.value, found.high) == pytest.approx(
        (expected.low, expected.value, expected.high), abs=0.002
    )


def test_the_interval_of_a_share_follows_the_variance_between_deals() -> None:
    """Deals that always give one win in two games say much more than deals that give two or none."""
    line_up = np.zeros(200, np.int64)
    level = wilson_of_deals(np.ones(200), np.full(200, 2), line_up)
    swinging = wilson_of_deals(np.tile([0.0, 2.0], 100), np.full(200, 2), line_up)
    assert level.value == swinging.value == 0.5
    alone, doubled = wilson(100, 200), wilson(200, 400)
    assert swinging.high - swinging.low == pytest.approx(alone.high - alone.low, rel=0.02)
    assert level.high - level.low < (doubled.high - doubled.low) / 5
    halves = wilson_of_deals(np.repeat([0.0, 2.0], 100), np.full(200, 2), np.repeat([0, 1], 100))
    assert halves.high - halves.low == pytest.approx(level.high - level.low, rel=0.01)  # the line-ups differ, no deal
    for wins in (0.0, 2.0):
        assert wilson_of_deals(np.full(9, wins), np.full(9, 2), np.zeros(9)) == wilson(9 * wins, 18)
    few = wilson_of_deals(np.array([1.0]), np.array([2]), np.zeros(1))
    assert (few.low, few.high) == pytest.approx((wilson(1, 2).low, wilson(1, 2).high))


def test_tables_say_everything(finished: Outcome) -> None:
    console = Console(width=80, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    for table in tables(finished, "A title", find_game("card"), 80):
        console.print(table)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    best = finished.lines[0]
    assert f"{best.rating:.0f} [{best.rating_low:.0f}, {best.rating_high:.0f}]" in text
    assert f"{100 * best.win_share:.1f}% [" in text
    (count, _), *_ = first_reasons(finished.results, finished.played.specs).values()
    assert f"{FAULTY}raise forfeited {count} game" in text
    assert "first: ValueError: no idea, really" in " ".join(text.split())
    for heading in ("A title", "Ahead of the other", "Seats", "advantage in points"):
        assert heading in text


def test_pictures_are_drawn(finished: Outcome, tmp_path: Path) -> None:
    odd = replace(finished.lines[0], agent=r"learned:$\no$.npz")  # a path is no formula
    ratings(replace(finished, lines=[odd, *finished.lines[1:]]), "A title").savefig(tmp_path / "odd.png")
    drawn = draw(finished, tmp_path, "A title")
    assert tuple(path.name for path in drawn) == ledger_module.PICTURES
    for path in drawn:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 5000


def test_without_matplotlib_there_are_no_pictures_and_a_line_says_so(
    some: tuple[Tournament, list[Result]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(*some)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "siberia_experiments.tournament.plots")
    line = f"tournament card --agents random,{FAULTY}raise,greedy --games 12 --seed 3 --rules max_turns=8 --out it"
    assert main(line.split()) == 0
    assert "no pictures: drawing pictures needs the optional extra 'train'" in " ".join(capsys.readouterr().out.split())
    assert not list((tmp_path / "it").glob("*.png"))


def test_json_has_what_the_tables_and_files_say_and_stdout_nothing_else(
    some: tuple[Tournament, list[Result]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    write(*some)
    monkeypatch.chdir(tmp_path)
    line = f"tournament card --agents random,{FAULTY}raise,greedy --games 12 --seed 3 --rules max_turns=8 --out it"
    assert main([*line.split(), "--json"]) == 0
    out, err = capfd.readouterr()
    found = json.loads(out)
    assert "Ahead of the other" in err
    assert (found["command"], found["game"], found["games"], found["folder"]) == ("tournament", "card", 12, "it")
    for row, agent in zip(rows_of(tmp_path / "it/summary.csv"), found["agents"], strict=True):
        assert (row["agent"], int(row["games"])) == (agent["agent"], agent["games"])
        for column, value in {
            "win_share": agent["win_share"]["value"],
            "win_low": agent["win_share"]["low"],
            "win_high": agent["win_share"]["high"],
            "mean_score": agent["mean_score"],
            "rating": agent["rating"]["value"],
        }.items():
            assert (float(row[column]) if row[column] else None) == pytest.approx(value, abs=0.06)
    assert len(found["pairs"]) == 6
    assert [seat["seat"] for seat in found["seats"]] == [0, 1]
    (forfeit,) = found["forfeits"]
    assert (forfeit["agent"], forfeit["first_reason"]) == (f"{FAULTY}raise", "ValueError: no idea, really")


def test_a_wide_screen_shows_whole_names(finished: Outcome) -> None:
    name = "learned:some/where/in/a/folder/that/is/far/from/here/model.npz"
    specs = tuple(name if spec == "greedy" else spec for spec in finished.played.specs)
    lines = [replace(line, agent=name) if line.agent == "greedy" else line for line in finished.lines]
    renamed = replace(finished, lines=lines, played=replace(finished.played, specs=specs))
    for width, whole in ((80, False), (200, True)):
        console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
        for table in list(tables(renamed, "A title", find_game("card"), width))[:2]:
            console.print(table)
        text = console.export_text()
        assert text.count(name) == (2 if whole else 0)
        assert ("..." in text) != whole


def test_help_teaches_by_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"siberia tournament {game} " in " ".join(out.split()) for game in GAMES)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("chess", "no game 'chess'"),
        ("card --players 5", "num_players: 5"),
        ("card --agents greedy", "agents: 1 named; a tournament needs at least 2"),
        ("card --agents greedy,random,greedy", "agents: 'greedy' is named twice"),
        ("card --agents greedy,ran\x07dom", "holds characters that can't be written"),
        ("card --games 0", "games: 0; at least 1"),
        ("card --jobs 0", "jobs: 0; at least 1"),
        ("card --move-seconds 0", "move-seconds: 0.0; it has to be more than 0"),
        ("card --move-seconds nan", "move-seconds: nan; it has to be more than 0"),
        ("card --seed -1", "seed: -1"),
        ("card --rules edition=gold", "no edition 'gold'"),
        ("card --agents greedy,gready", "no agent 'gready'"),
    ],
)
def test_bad_input_is_told_in_one_line_and_nothing_is_written(
    line: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tournament", *line.split(" ")]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("siberia: ")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cant_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    tournament = Tournament(find_game("card").variant(2), ["random", "greedy"], 2, tmp_path / "file")
    with pytest.raises(ConfigurationError, match="--out: can't write into"):
        opened(tournament)


def test_it_is_said_when_games_are_rounded_up(tmp_path: Path) -> None:
    variant = find_game("card").variant(3)
    agents = ["a", "b", "c", "d"]
    assert rounding(Tournament(variant, agents, 12, tmp_path)).startswith("12 games: 2 deals")
    more = rounding(Tournament(variant, agents, 13, tmp_path))
    assert more.startswith("18 games (13 asked for, rounded up to whole deals): 3 deals")
