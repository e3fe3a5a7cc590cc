"""Plays one game of a tournament. A clock runs for every agent, and an agent that breaks the rules forfeits.

An agent forfeits the game when it raises an exception, takes longer than its time, or answers with anything but the
number of a legal action. The game ends there. The other agents share the win equally, because a position that nobody
may play on decides nothing between them. The scores are recorded as they stand.

The clock and the state lie in memory that the watching process reads too. If a process no longer answers, the watching
process can tell which agent is on the move, since when, and what the scores were
(`siberia_experiments.tournament.pool`).
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from numba.core import event

from siberia_agents.interface import Agent
from siberia_agents.registry import is_own, make_agent
from siberia_env.errors import ConfigurationError, IllegalActionError, SiberiaError
from siberia_env.game import States, Variant
from siberia_env.position import Position
from siberia_experiments.faults import described, shortened, shown_as
from siberia_experiments.match import derived_seed
from siberia_experiments.tournament.agent_process import AgentProcess, ForfeitError, RefusedError, over_time

T = TypeVar("T")

MOVE_SECONDS = 60.0  #: time limit for a move, unless another one is asked for
MEMORY = 4096  #: megabytes for the process of an agent of the user's own
NOBODY = -1  #: stands in place of a seat or an entrant

# Streams of random numbers that follow from the tournament's seed.
DEALS, AGENTS = 0, 1


@dataclass(frozen=True)
class Setting:
    """What all games of a tournament have in common.

    Attributes:
        variant: the game, with its players, rules and components.
        specs: the agents' specs (`siberia_agents.registry.make_agent`), by number.
        seed: decides everything that is random.
        move_seconds: time limit for a move, and for an agent's `start`.
        memory: limit of the memory of each process of an agent of the user's own, in megabytes.
    """

    variant: Variant
    specs: tuple[str, ...]
    seed: int
    move_seconds: float
    memory: int = MEMORY


@dataclass(frozen=True)
class Task:
    """A game to play: its number, its deal, and which agent sits in each seat."""

    game: int
    deal: int
    seating: tuple[int, ...]


@dataclass(frozen=True)
class Result:
    """The result of a game. Tuples have an entry for each seat.

    Attributes:
        task: which game it is.
        scores: scores as people count them (`Game.score_unit`); after a forfeit as they stood.
        win_shares: 1/k for each of k winners; after a forfeit equal shares for all others.
        forfeit: the seat that forfeited, or `NOBODY`.
        reason: why the seat forfeited, in one line.
        moves: number of decisions; 0 if the game's process had to be ended.
        seconds: time that the decisions took.
    """

    task: Task
    scores: tuple[int, ...]
    win_shares: tuple[float, ...]
    forfeit: int
    reason: str
    moves: tuple[int, ...]
    seconds: tuple[float, ...]


class Clock:
    """Times one call of an agent. The time for compiling, or for waiting for it, does not count.

    Attributes:
        desk: three shared float64. The first says since when the clock runs (`time.monotonic`, 0 while it stands
            still), the second is the number of the game (written by the watching process), the third is the seat
            that is asked.
    """

    SINCE, GAME, ASKED = range(3)
    SIZE = 3

    def __init__(self, desk: Any) -> None:
        self.desk = desk
        self._lock = threading.RLock()
        self._compiling = 0
        self._stopped_at = 0.0
        self._started = 0.0
        desk[self.ASKED] = NOBODY
        event.register("numba:compiler_lock", _Compiling(self))

    def start(self, asked: int) -> None:
        """Start the clock for the seat `asked`."""
        self.desk[self.ASKED] = asked
        self._started = self.desk[self.SINCE] = monotonic()

    def stop(self) -> float:
        """Stop the clock, and return the seconds since `start`."""
        seconds = monotonic() - self._started
        self.desk[self.SINCE] = 0.0
        self.desk[self.ASKED] = NOBODY
        return seconds

    def pause(self) -> None:
        """Pause the clock, because compiling begins."""
        with self._lock:
            self._compiling += 1
            if self._compiling == 1:
                self._stopped_at = monotonic()
                self.desk[self.SINCE] = 0.0

    def resume(self) -> None:
        """Let the clock run on if no other compilation is under way."""
        with self._lock:
            self._compiling -= 1
            if self._compiling == 0:
                self._started += monotonic() - self._stopped_at
                if self.desk[self.ASKED] != NOBODY:
                    self.desk[self.SINCE] = self._started


class _Compiling(event.Listener):  # type: ignore[misc]
    """Pauses a clock while numba compiles or reads its cache."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_start(self, event: Any) -> None:
        self.clock.pause()

    def on_end(self, event: Any) -> None:
        self.clock.resume()


def rounded(seconds: Sequence[float]) -> tuple[float, ...]:
    """Round times to whole microseconds."""
    return tuple(round(time, 6) for time in seconds)


def standing(variant: Variant, states: States) -> tuple[int, ...]:
    """Every seat's score in `states[0]`, as people count it."""
    return tuple(Position.from_states(variant, states).scores())


def forfeited(
    variant: Variant,
    task: Task,
    seat: int,
    reason: str,
    states: States,
    moves: Sequence[int] = (),
    seconds: Sequence[float] = (),
) -> Result:
    """Return the result of a game that `seat` forfeits in the position `states[0]`."""
    players = variant.num_players
    return Result(
        task=task,
        scores=standing(variant, states),
        win_shares=tuple(0.0 if other == seat else 1 / (players - 1) for other in range(players)),
        forfeit=seat,
        reason=reason,
        moves=tuple(moves) or (0,) * players,
        seconds=rounded(seconds) or (0.0,) * players,
    )


class Referee:
    """Plays games of a tournament, one at a time. A game follows from its number, whatever was played before.

    The referee asks agents for one decision at a time, never in batches. So what an agent does in one game can't
    change what it does in another, and a game is the same wherever and whenever it is played.
    """

    def __init__(
        self, setting: Setting, clock: Clock, states: States, make: Callable[[str, Setting], Agent] | None = None
    ) -> None:
        """Play games of `setting`.

        Args:
            setting: the tournament's setting.
            clock: times the agents' answers.
            states: an array of one state, in which the games are played.
            make: makes an agent from its spec; None makes every agent in this process.
        """
        self.setting = setting
        self._make = make or (lambda spec, setting: make_agent(spec))
        self.clock = clock
        self.states = states
        self.position = Position.from_states(setting.variant, states)
        self.deals = derived_seed(setting.seed, DEALS, 0)
        self.agent_seed = derived_seed(setting.seed, AGENTS, 0)
        self._agents: dict[tuple[int, int], Agent] = {}
        self._checked: set[int] = set()
        self.cold: set[int] = set()  # agents that must not be asked for a move before the games

    def agent(self, number: int, copy: int = 0) -> Agent:
        """Return agent `number`. An agent that holds several seats has several copies, numbered by `copy`.

        An agent whose process has ended between two games is made anew.

        Raises:
            SiberiaError: the agent can't be made.
            ForfeitError: it has failed while it was made in a process of its own.
        """
        agent = self._agents.get((number, copy))
        if agent is None or (isinstance(agent, AgentProcess) and agent.has_ended()):
            self._drop((number, copy))
            agent = self._agents[number, copy] = self._make(self.setting.specs[number], self.setting)
            if isinstance(agent, AgentProcess) and number in self._checked:
                self._prepare(number, agent)
        return agent

    def _seated(self, number: int, copy: int) -> Agent:
        """Return an agent for a game. One that can no longer be made in its own process forfeits, the others play on.

        Raises:
            SiberiaError: an agent of this process can't be made.
            ForfeitError: one of another process can't.
        """
        try:
            return self.agent(number, copy)
        except SiberiaError as error:
            if is_own(self.setting.specs[number]) and number in self._checked:
                raise ForfeitError(described(error)) from error
            raise

    def _prepare(self, number: int, agent: AgentProcess) -> None:
        """Have a new process load what it needs, so that its first move is not late. What it answers doesn't matter."""
        agent.start_first(self.setting.variant)
        if number not in self.cold:
            position = Position(self.setting.variant, self.deals)
            try:
                agent.act_first(position.view())
            except ForfeitError:
                self.cold.add(number)

    def _drop(self, holder: tuple[int, int]) -> None:
        """Forget an agent, because its state is unknown; the next game gets a new one."""
        agent = self._agents.pop(holder, None)
        if isinstance(agent, AgentProcess):
            agent.close()

    def close(self) -> None:
        """End the agents' processes."""
        for holder in list(self._agents):
            self._drop(holder)

    def check(self, number: int) -> None:
        """Make agent `number` and start it for the tournament's game.

        Raises:
            ConfigurationError: the agent can't be made or started.
        """
        spec = self.setting.specs[number]
        self.clock.start(number)
        try:
            agent = self.agent(number)
            if isinstance(agent, AgentProcess):
                agent.start_first(self.setting.variant)
            else:
                agent.start(self.setting.variant, 0)
            self._checked.add(number)
        except SiberiaError as error:
            raise ConfigurationError(f"agents: {spec}: {error}") from error
        except RefusedError as error:
            raise ConfigurationError(f"agents: {spec}: {error.told}") from error
        except ForfeitError as error:
            raise ConfigurationError(f"agents: {spec} can't be started: {error}") from error
        except BaseException as error:  # an agent's code can raise anything
            raise ConfigurationError(f"agents: {spec} can't be started: {described(error)}") from error
        finally:
            self.clock.stop()

    def warm_up(self, number: int) -> None:
        """Ask agent `number` for a first move, so that what it needs is loaded. The answer doesn't matter."""
        self.position.deal(self.deals)
        agent = self.agent(number)
        try:
            if isinstance(agent, AgentProcess):  # it watches its own time
                agent.act_first(self.position.view())
            else:
                self._timed(number, agent.act, self.position.view())
        except ForfeitError:
            self.cold.add(number)
            self._drop((number, 0))

    def play(self, task: Task) -> Result:
        """Play a game to its end, or until an agent forfeits.

        Raises:
            SiberiaError: an agent can't be made, or no longer.
        """
        variant, position = self.setting.variant, self.position
        players = variant.num_players
        holders = [(number, task.seating[:seat].count(number)) for seat, number in enumerate(task.seating)]
        agents: list[Agent] = []
        moves, seconds = [0] * players, [0.0] * players
        position.deal(self.deals, task.deal)
        seat = NOBODY
        try:
            for seat in range(players):
                agents.append(self._seated(*holders[seat]))
            for seat, agent in enumerate(agents):
                self._timed(seat, agent.start, variant, derived_seed(self.agent_seed, task.game, seat))
            while not position.is_terminal():
                view = position.view()
                seat = view.player
                answer, took = self._timed(seat, agents[seat].act, view)
                self._apply(answer)
                moves[seat] += 1
                seconds[seat] += took
        except ForfeitError as error:
            self._drop(holders[seat])
            return forfeited(variant, task, seat, str(error), self.states, moves, seconds)
        winners = position.winners()
        shares = tuple((player in winners) / len(winners) for player in range(players))
        return Result(task, tuple(position.scores()), shares, NOBODY, "", tuple(moves), rounded(seconds))

    def _timed(self, asked: int, call: Callable[..., T], *arguments: Any) -> tuple[T, float]:
        """Make an agent's `call`, and return its answer and the seconds it took.

        Raises:
            ForfeitError: the call raised an exception, or took too long.
        """
        self.clock.start(asked)
        try:
            answer = call(*arguments)
        except ForfeitError:
            raise
        except BaseException as error:  # an agent's code can raise anything, SystemExit too
            raise ForfeitError(described(error)) from error
        finally:
            seconds = self.clock.stop()
        if seconds > self.setting.move_seconds:
            raise ForfeitError(over_time(self.setting.move_seconds))
        return answer, seconds

    def _apply(self, answer: Any) -> None:
        """Take the action that an agent answered with.

        Raises:
            ForfeitError: the answer is not an action, or not a legal one.
        """
        last = self.setting.variant.game.num_actions - 1
        try:
            action = operator.index(answer)
        except BaseException as error:  # an answer is the agent's own object, which may do anything
            raise ForfeitError(f"answered with {type(answer).__name__}, not with the number of an action") from error
        if isinstance(answer, bool) or not 0 <= action <= last:
            raise ForfeitError(shortened(f"answered with {shown_as(answer)}; actions are 0 to {last}"))
        try:
            self.position.apply_action(action)
        except IllegalActionError as error:
            raise ForfeitError(f"illegal action {action} ({self.position.action_to_string(action)})") from error
