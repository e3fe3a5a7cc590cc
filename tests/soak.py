"""Plays random games of both games, a thousand million decisions by default, and checks each: `python -m tests.soak`.

The games cover all numbers of players, editions, options, several boxes, short limits, and styles of play that lead to
rare positions. The work is split into jobs. A job has one variant and one style, which follow from its number. Its
games follow from the seed, the job's number and their own number, so any game can be played again by itself. The checks
are in `tests/card/invariants.py`, `tests/board/invariants.py` and `tests/soak_loop.py`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from siberia_env.board.components import ACTIONS
from siberia_env.board.components import KINDS as COUNTER_KINDS
from siberia_env.board.components import Components as BoardComponents
from siberia_env.card.components import EDITIONS, KINDS, SYMBOLS
from siberia_env.card.components import Components as CardComponents
from siberia_env.game import GAMES, MAX_PLAYERS, Variant, find_game
from tests import soak_loop
from tests.board import invariants as board_invariants
from tests.board.helpers import ALL_SIDES
from tests.board.varied import LARGE, ROW, SMALL
from tests.card import invariants as card_invariants
from tests.soak_loop import BROKEN, DECISION, GAME, HIT_LIMIT, IN_A_SAMPLE, SAMPLES, SEAT
from tests.soak_loop import GAMES as GAMES_PLAYED

DECISIONS = 10**9
DECISIONS_OF_A_JOB = 1_000_000
STOPPED = 130  #: exit code after Ctrl-C
SAMPLES_EVERY = 2000  #: decisions between two checks of samples
ACTIONS_SHOWN = 12  #: last actions shown of a game in which an invariant is broken

# ---------------------------------------------------------------- what is played

#: Only as many action cards as three players need for the deal. Most resource cards lie open from the start.
FEW_CARDS = CardComponents(
    action_cards=dict.fromkeys(KINDS, 1) | {"gas/worker": 4, "oil/salesman": 3},
    resource_cards={"gas": (1, 2, 2), "charcoal": (1, 5), "oil": (9, 1), "gold": (), "diamond": (4, 5, 5)},
    workers=4,
)
#: Some kinds and a resource are missing. Some salesmen are worth less than the cards, others much more.
ODD_CARDS = CardComponents(
    action_cards={kind: (7, 0, 5, 3, 1)[index % 5] for index, kind in enumerate(KINDS)},
    resource_cards={"gas": (1,) * 12, "charcoal": (), "oil": (2, 99), "gold": (3, 3, 4) * 4, "diamond": (1, 50)},
    salesmen={symbol: (1, 99, 3)[index % 3] for index, symbol in enumerate(SYMBOLS)},
    workers=7,
)
#: Hands take up almost all action cards.
TIGHT_CARDS = CardComponents(
    action_cards={kind: 2 if index % 2 else 1 for index, kind in enumerate(KINDS)} | {"oil/worker": 4}
)
#: Only as many counters as four players need, and five tiles, none of them the manager's.
TIGHT_BOARD = BoardComponents(
    counters={kind: 3 if index % 5 else 2 for index, kind in enumerate(COUNTER_KINDS)} | {"manager": 8},
    investment_tiles={action: int(action in ("worker", "salesman", "gas", "oil", "investor")) for action in ACTIONS},
)

#: For each table the box and the most turns.
CARD_TABLES: tuple[tuple[Any, int], ...] = (
    (None, 400),
    (FEW_CARDS, 400),
    (ODD_CARDS, 150),
    (None, 17),
    (TIGHT_CARDS, 400),
    (FEW_CARDS, 9),
)
#: For each table the box and the most rounds.
BOARD_TABLES: tuple[tuple[Any, int], ...] = (
    (None, 60),
    (SMALL, 30),
    (ROW, 60),
    (LARGE, 40),
    (None, 3),
    (TIGHT_BOARD, 60),
    (SMALL, 1),
)
#: A style avoids the actions whose names begin with one of its words. The first style avoids nothing. The next ones
#: don't mine, keep their hands full, and play their hands empty.
CARD_STYLES: tuple[tuple[str, ...], ...] = (
    (),
    ("mine", "reveal"),
    ("draw 0", "mine", "hire"),
    ("draw",),
    ("keep hidden", "draw 0", "draw 1", "hire"),
)
#: The first style avoids nothing. The next ones are miners and collectors.
BOARD_STYLES: tuple[tuple[str, ...], ...] = (
    (),
    ("place research", "pass", "stop"),
    ("pass", "act", "wildcard none"),
    ("place resource", "place person", "pass"),
    ("place research", "pass", "stop", "pawn F", "act investor", "act salesman"),
)

INVARIANTS: Mapping[str, Any] = {"card": card_invariants, "board": board_invariants}
KINDS_OF_INVARIANTS = {"card": card_invariants.CardInvariant, "board": board_invariants.BoardInvariant}


@cache
def tables_to_play(game: str) -> tuple[tuple[int, dict[str, Any], Any], ...]:
    """List the players, rules and box of every variant that is played."""
    found: list[tuple[int, dict[str, Any], Any]] = []
    if game == "card":
        for box, limit in CARD_TABLES:
            for edition in EDITIONS:
                found += [(players, {"edition": edition, "max_turns": limit}, box) for players in players_of(box)]
    else:
        for number, (box, limit) in enumerate(BOARD_TABLES):
            for index, sides in enumerate(ALL_SIDES if box in (None, LARGE) else ("choose", "random")):
                for players in range(2, MAX_PLAYERS + 1):
                    cards = (players + index + number) % 2 == 0
                    found.append((players, {"sides": sides, "salesman_cards": cards, "max_rounds": limit}, box))
                    if box is None:
                        found.append((players, {**found[-1][1], "salesman_cards": not cards}, box))
    return tuple(found)


def players_of(box: Any) -> range:
    """How many players a box of the card game allows."""
    most = MAX_PLAYERS if box is None else min(box.num_action_cards // 5, box.workers, MAX_PLAYERS)
    return range(2, most + 1)


def styles_of(game: str) -> tuple[tuple[str, ...], ...]:
    """The styles of play. For each, the beginnings of the names of actions that are drawn again."""
    return CARD_STYLES if game == "card" else BOARD_STYLES


@dataclass(frozen=True)
class Job:
    """Some games of one variant in one style."""

    game: str
    seed: int
    number: int
    decisions: int
    first: int = 0  #: the number of the first game

    @property
    def table(self) -> tuple[int, dict[str, Any], Any]:
        """Players, rules and box."""
        tables = tables_to_play(self.game)
        return tables[self.number % len(tables)]

    @property
    def style(self) -> tuple[str, ...]:
        """The beginnings of the names of actions that are drawn again."""
        styles = styles_of(self.game)
        lap, place = divmod(self.number, len(tables_to_play(self.game)))
        return styles[(lap + place) % len(styles)]

    @cached_property
    def variant(self) -> Variant:
        """The variant."""
        return find_game(self.game).variant(*self.table)


def longest_game(variant: Variant) -> int:
    """The most decisions that a game can have.

    In the card game a turn has five: discover, choose, pay three cards. In the board game the sides take five. In a
    round, a player has six decisions for placing and two for each of six counters at research. It has at most 16 turns
    of seven decisions, because each turn takes a counter off the panel and a wildcard puts one on. A pass and ten
    surplus counters come on top.
    """
    ruleset = variant.rulesets[0]
    if "max_turns" in ruleset.dtype.names:
        return 5 * int(ruleset.max_turns)
    return 5 + int(ruleset.max_rounds) * variant.num_players * (6 + 12 + 2 * 16 * 7 + 1 + 10)


@dataclass
class Findings:
    """The findings of a job, or of many jobs."""

    decisions: int = 0
    games: int = 0
    hit_limit: int = 0
    samples: int = 0
    tally: Any = field(default_factory=lambda: np.zeros(soak_loop.TALLY_SIZE, np.int64))
    broken: tuple[str, ...] = ()  #: the lines about a broken invariant

    def add(self, other: Findings) -> None:
        """Add the findings of another job."""
        self.decisions += other.decisions
        self.games += other.games
        self.hit_limit += other.hit_limit
        self.samples += other.samples
        self.tally += other.tally
        self.broken += other.broken


# ---------------------------------------------------------------- one job


def invariant_name(game: str, number: int) -> str:
    """The name of a broken invariant. The name says so if only a sample breaks it."""
    inside, number = divmod(number, IN_A_SAMPLE)
    kinds: Any = KINDS_OF_INVARIANTS[game] if number < min(soak_loop.CommonInvariant) else soak_loop.CommonInvariant
    return kinds(number).name + (" in a sample" if inside else "")


def play(variant: Variant, job: Job, states: Any = None) -> Findings:
    """Play a job's games until it has its decisions or an invariant is broken."""
    game = variant.game
    if states is None:
        states = variant.new_states(soak_loop.NUM_STATES)
    longest = longest_game(variant)
    avoided = np.array([name.startswith(job.style) if job.style else False for name in variant.action_names], np.int8)
    history, report = np.zeros(longest + 1, np.int64), np.zeros(soak_loop.REPORT_SIZE, np.int64)
    findings = Findings()
    findings.decisions = soak_loop.soak(
        variant.rulesets,
        states,
        states.view(np.uint64).reshape(soak_loop.NUM_STATES, -1),
        states["score" if job.game == "card" else "money"],
        np.zeros((2, game.num_actions), np.int8),
        np.zeros((2, game.observation_size), np.float32),
        np.uint64(job.seed),
        job.number,
        job.first,
        job.decisions,
        longest,
        SAMPLES_EVERY - 1,  # an odd number, so that samples and masks are not always checked together
        avoided,
        findings.tally,
        history,
        report,
    )
    findings.games, findings.hit_limit = int(report[GAMES_PLAYED]), int(report[HIT_LIMIT])
    findings.samples = int(report[SAMPLES]) * variant.num_players
    if report[BROKEN]:
        made, seat = int(report[DECISION]), int(report[SEAT])
        names = [variant.action_names[action] for action in history[max(made - ACTIONS_SHOWN, 0) : made]]
        findings.broken = (
            f"{job.game} game: {invariant_name(job.game, int(report[BROKEN]))} is broken after decision {made}",
            f"  seed {job.seed}, job {job.number}, game {int(report[GAME])}"
            + (f"; looked at from seat {seat}" if seat >= 0 else ""),
            f"  players {variant.num_players}, rules {variant.rules_as_json()}",
            f"  box {'as published' if job.table[2] is None else job.table[2].as_json()}",
            f"  last decisions: {', '.join(names)}",
            f"  again: python -m tests.soak --game {job.game} --seed {job.seed} --job {job.number} "
            f"--first {int(report[GAME])} --decisions 1",
        )
    return findings


def run_job(job: Job) -> tuple[str, Findings]:
    """Run one job, in any process."""
    return job.game, play(job.variant, job)


# ---------------------------------------------------------------- all jobs


def all_jobs(games: Sequence[str], seed: int, decisions: int) -> Iterator[Job]:
    """Yield jobs with `decisions` decisions for each game, the games in turn.

    If the decisions suffice, every variant is played in every style.
    """
    numbers = {}
    for game in games:
        least = len(tables_to_play(game)) * len(styles_of(game))
        numbers[game] = max(-(-decisions // DECISIONS_OF_A_JOB), min(least, -(-decisions // 500)))
    for number in range(max(numbers.values())):
        for game in games:
            if number < numbers[game]:
                yield Job(game, seed, number, -(-decisions // numbers[game]))


def ignore_interrupts() -> None:
    """Ignore Ctrl-C, which the first process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_jobs(
    jobs: Sequence[Job], processes: int, totals: Mapping[str, Findings], progress: Progress | None = None
) -> None:
    """Run the jobs, and add their findings to `totals`. A broken invariant ends the run."""
    wanted = sum(job.decisions for job in jobs)
    task = progress.add_task("", total=wanted) if progress is not None else None

    def book(game: str, findings: Findings) -> bool:
        totals[game].add(findings)
        if progress is not None and task is not None:
            progress.update(task, completed=sum(total.decisions for total in totals.values()))
        return not findings.broken

    pending = list(reversed(jobs))
    first = {job.game: job for job in reversed(jobs)}  # compiled here; other processes load them from the cache
    for job in first.values():
        pending.remove(job)
        if not book(*run_job(job)):
            return
    if processes == 1:
        while pending and book(*run_job(pending.pop())):
            pass
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), ignore_interrupts) as pool:
        running: set[Future[tuple[str, Findings]]] = set()
        going_on = True
        while running or (pending and going_on):
            while going_on and pending and len(running) < 2 * processes:
                running.add(pool.submit(run_job, pending.pop()))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                going_on = book(*future.result()) and going_on


def tell(console: Console, totals: Mapping[str, Findings], seconds: float, processes: int) -> None:
    """Print what was played, and how often rare things happened."""
    for game, total in totals.items():
        console.print(
            f"{game} game: {total.decisions:,} decisions in {total.games:,} games ({total.hit_limit:,} ended by the "
            f"limit), {total.samples:,} positions of samples"
        )
        for number, event in enumerate(INVARIANTS[game].EVENTS):
            console.print(f"  {int(total.tally[number]):>15,}  {event}")
    decisions = sum(total.decisions for total in totals.values())
    console.print(
        f"{decisions:,} checked decisions in {seconds:,.0f} s: {decisions / seconds:,.0f} a second "
        f"with {processes} {'process' if processes == 1 else 'processes'}"
    )


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def positive(text: str) -> int:
    """Read a whole number of 1 or more from the command line."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}; it has to be 1 at least")
    return number


def from_zero(text: str) -> int:
    """Read a whole number from 0 to 2**63 - 1 from the command line."""
    number = int(text)
    if not 0 <= number < 2**63:
        raise argparse.ArgumentTypeError(f"{text}; it has to be 0 to 2**63 - 1")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what the command line asks for; return 1 if an invariant is broken."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description="Play random games and check the state after every decision."
    )
    parser.add_argument(
        "--decisions",
        type=positive,
        default=DECISIONS,
        help="number of decisions in all, divided equally among the games (default: %(default)s)",
    )
    parser.add_argument("--seed", type=from_zero, default=0, help="seed that decides every game (default: %(default)s)")
    parser.add_argument(
        "--processes",
        type=positive,
        default=processors(),
        help="number of processes (default: the number of processors)",
    )
    parser.add_argument("--game", choices=GAMES, help="play only this game")
    parser.add_argument("--job", type=from_zero, help="run only the job with this number; this option needs --game")
    parser.add_argument(
        "--first",
        type=from_zero,
        default=0,
        help="number of the game with which that job begins (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    if options.job is not None and options.game is None:
        parser.error("--job: needs --game")
    if options.job is None and options.first:
        parser.error("--first: needs --job")

    console = Console(soft_wrap=True, highlight=False)
    games = (options.game,) if options.game else GAMES
    if options.job is not None:
        jobs = [Job(options.game, options.seed, options.job, options.decisions, options.first)]
    else:
        jobs = list(all_jobs(games, options.seed, -(-options.decisions // len(games))))
    processes = min(options.processes, len(jobs))
    totals = {game: Findings() for game in games}
    columns = (
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} decisions"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    start = time.perf_counter()
    stopped = False
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            run_jobs(jobs, processes, totals, progress)
    except KeyboardInterrupt:
        stopped = True
        console.print("stopped; so far:")
    tell(console, totals, time.perf_counter() - start, processes)
    broken = [line for total in totals.values() for line in total.broken]
    for line in broken:
        console.print(line, markup=False)
    return 1 if broken else STOPPED if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
