"""A tournament's folder: the settings, and every game that was played. A game is written whole or not at all.

`settings.json` says what is played. A tournament only continues under the same settings, or with more games:
the games of a shorter tournament are the first ones of a longer one. `games.csv` has a row for
each seat, `moves.csv` has the time that moves took, `forfeits.csv` has the reasons for forfeits. A game counts when its
rows stand in `games.csv`, which is written last. If a kill leaves a game that is not complete there, its rows are
dropped.

`agents.json` has digests of the files that the agents played from in these games. If a file has changed, the games of
its agent are dropped before the new digest is written. After a kill in between, the next run drops them again, and
nothing else is lost.
"""

from __future__ import annotations

import csv
import fcntl
import json
import os
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any

from siberia_env.errors import ConfigurationError
from siberia_env.files import read_bytes, read_json
from siberia_experiments.tournament.agent_files import Digests, changed_files
from siberia_experiments.tournament.game import NOBODY, Result, Task

SETTINGS = "settings.json"
GAMES = "games.csv"
MOVES = "moves.csv"
FORFEITS = "forfeits.csv"
AGENTS = "agents.json"
SUMMARY = "summary.csv"
PICTURES = ("ratings.png", "scores.png", "seats.png")

FORMAT = "siberia-tournament/1"

COLUMNS = {
    GAMES: ("game", "deal", "seat", "agent", "score", "win_share", "forfeit"),
    MOVES: ("game", "seat", "moves", "seconds"),
    FORFEITS: ("game", "seat", "agent", "reason"),
}

LARGEST_SETTINGS, LARGEST_TABLE = 2**24, 2**31  #: bytes
MOST_POINTS, MOST_MOVES = 2**31, 10**6  #: of a seat in one game, far beyond what the rules allow
LONGEST_SETTING = 80  #: most characters of a setting that an error message shows

Row = list[str]


class Ledger:
    """The folder of one tournament, held by one process at a time.

    Attributes:
        folder: where the folder is.
        results: every game in the folder, by number.
        changes: agents that have changed since their games were played, with the files that differ.
        grows: whether the folder's settings ask for fewer games than are wanted now.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, Any],
        specs: tuple[str, ...],
        players: int,
        task: Callable[[int], Task],
        digests: Mapping[str, Digests],
        fresh: bool = False,
    ) -> None:
        """Open `folder`, or make it.

        Args:
            folder: where the folder is.
            settings: what is played, as JSON has it.
            specs: the agents, by number.
            players: number of seats in a game.
            task: returns the game of a number; raises `IndexError` if there is no such game.
            digests: digests of the files that each agent plays from now.
            fresh: whether a tournament that is in the folder is thrown away first.

        Raises:
            ConfigurationError: the folder can't be written, is in use, holds a tournament with other settings, is
                damaged, or doesn't say which files its agents played from.
        """
        self.folder = folder
        self.specs = specs
        self._players = players
        self._task = task
        self._digests = digests
        self.results: dict[int, Result] = {}
        self.changes: dict[str, list[str]] = {}
        self.grows = False
        self._settings = settings
        self._files: dict[str, int] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            self._take(fresh)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the folder for other processes."""
        for file in (*self._files.values(), self._lock):
            os.close(file)
        self._files = {}

    def add(self, result: Result) -> None:
        """Write a game into the folder.

        Raises:
            ConfigurationError: the folder can't be written.
        """
        rows = self._rows(result)
        try:
            for name in (FORFEITS, MOVES, GAMES):
                if rows[name]:
                    self._append(name, as_csv(rows[name]))
        except OSError as error:
            raise self._unwritable(error) from error
        self.results[result.task.game] = result

    def drop_changed(self) -> dict[str, int]:
        """Drop the games of the agents in `changes` and what was made from them; return how many each agent loses.

        Raises:
            ConfigurationError: the folder can't be written.
        """
        lost: dict[str, int] = {}
        for spec in self.changes:
            number = self.specs.index(spec)
            lost[spec] = sum(number in result.task.seating for result in self.results.values())
        stale = {self.specs.index(spec) for spec in self.changes}
        self.results = {game: result for game, result in self.results.items() if stale.isdisjoint(result.task.seating)}
        self.finish()
        self._remove(SUMMARY, *PICTURES)
        self._note_digests()
        self.changes = {}
        return lost

    def grow(self) -> None:
        """Note that more games are wanted than before. What was made from the games so far is removed.

        Raises:
            ConfigurationError: the folder can't be written.
        """
        self._remove(SUMMARY, *PICTURES)
        self._note_settings()
        self.grows = False

    def finish(self) -> None:
        """Put the rows in the order of the games, which may have ended in another order.

        Raises:
            ConfigurationError: the folder can't be written.
        """
        self.results = dict(sorted(self.results.items()))
        self._rewrite(self.results.values())

    def write(self, name: str, text: str) -> None:
        """Write the file `name` as a whole or not at all.

        Raises:
            ConfigurationError: the folder can't be written.
        """
        temporary = self.folder / f".{name}.partial"
        if name in self._files:
            os.close(self._files.pop(name))
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(self.folder / name)
        except OSError as error:
            raise self._unwritable(error) from error

    def _remove(self, *names: str) -> None:
        try:
            for name in names:
                (self.folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def _take(self, fresh: bool) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigurationError(f"--out: another process plays the tournament in {self.folder}") from error
        there = (self.folder / SETTINGS).exists()
        if there and fresh:
            self._check_ours()  # other programs call a file settings.json too
            self._remove(SUMMARY, *PICTURES, GAMES, MOVES, FORFEITS, AGENTS)
            self._note_digests()
            self._note_settings()
        elif there:
            self._compare()
        elif (self.folder / GAMES).exists():
            raise ConfigurationError(f"--out: {self.folder} holds {GAMES} but no {SETTINGS}; name another folder")
        else:
            self._note_digests()
            self._note_settings()
        self.results = self._read()
        self.changes = self._find_changes()
        self.finish()

    def _note_digests(self) -> None:
        self.write(AGENTS, json.dumps(self._digests, indent=1) + "\n")

    def _note_settings(self) -> None:
        self.write(SETTINGS, json.dumps(self._settings, indent=1) + "\n")

    def _check_ours(self) -> None:
        """Raise `ConfigurationError` unless the folder holds a tournament, of any version and settings."""
        path = self.folder / SETTINGS
        try:
            ours = read_json(read_bytes(path, LARGEST_SETTINGS))["format"].startswith(FORMAT.partition("/")[0])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            ours = False
        if not ours:
            raise ConfigurationError(f"--fresh: {path} is not of a tournament; name another folder")

    def _find_changes(self) -> dict[str, list[str]]:
        """Find the agents that have changed since the folder's games, with the files that differ."""
        path = self.folder / AGENTS
        if not path.exists():  # the folder is from a version of the suite that did not write it
            doubtful = [spec for spec in self.specs if self._digests[spec]]
            if doubtful and self.results:
                raise ConfigurationError(
                    f"--out: {self.folder} has no {AGENTS}, so nobody can tell whether the games of {doubtful[0]} were "
                    "played from the files that are there now; name another folder"
                )
            self._note_digests()
            return {}
        try:
            before = read_json(read_bytes(path, LARGEST_SETTINGS))
            found = {spec: changed_files(before[spec], self._digests[spec]) for spec in self.specs}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(f"--out: {path} is damaged; name another folder") from error
        return {spec: files for spec, files in found.items() if files}

    def _compare(self) -> None:
        """Raise `ConfigurationError` unless the folder's settings are the given ones, or ask for fewer games."""
        path = self.folder / SETTINGS
        try:
            theirs = read_json(read_bytes(path, LARGEST_SETTINGS))
            differing = [name for name in self._settings if theirs[name] != self._settings[name]]
            games = int(theirs["games"])
        except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
            raise ConfigurationError(f"--out: {path} is damaged; name another folder") from error
        if differing == ["games"]:
            if games > self._settings["games"]:
                raise ConfigurationError(
                    f"--games: {self.folder} holds a tournament of {games} games, more than {self._settings['games']}; "
                    f"give --games {games} or more, --fresh to start over, or another folder"
                )
            self.grows = True
        elif differing:
            name = differing[0]
            before, now = told(theirs[name]), told(self._settings[name])
            raise ConfigurationError(
                f"--out: {self.folder} holds a tournament with {name} {before}, not {now}; "
                "go on with the settings it began with, give --fresh to start over, or name another folder"
            )

    def _read(self) -> dict[int, Result]:
        """Read every complete game in the folder, by number."""
        rows = {name: self._read_rows(name) for name in COLUMNS}
        moves = {(row[0], row[1]): row for row in rows[MOVES]}
        reasons = {(row[0], row[1]): row[3] for row in rows[FORFEITS]}
        results: dict[int, Result] = {}
        for start in range(0, len(rows[GAMES]) - self._players + 1, self._players):
            group = rows[GAMES][start : start + self._players]
            try:
                result = self._result(group, moves, reasons)
                fits = result.task.game not in results and self._rows(result)[GAMES] == group
            except (ValueError, KeyError, IndexError, StopIteration, OverflowError) as error:
                raise self._damaged(start) from error
            if not fits or not _is_possible(result):
                raise self._damaged(start)
            results[result.task.game] = result
        return results

    def _read_rows(self, name: str) -> list[Row]:
        """Read the complete rows of a file, without its header; none if the file does not exist."""
        path = self.folder / name
        try:
            text = read_bytes(path, LARGEST_TABLE).decode()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"--out: can't read {path}; name another folder") from error
        whole = text[: text.rfind("\n") + 1]  # a kill may have left the beginning of a row
        try:
            header, *rows = list(csv.reader(StringIO(whole, newline=""))) or [list(COLUMNS[name])]
        except csv.Error as error:
            raise ConfigurationError(f"--out: {path} is damaged ({error}); name another folder") from error
        if header != list(COLUMNS[name]):
            raise ConfigurationError(f"--out: {path} line 1: its columns are not {','.join(COLUMNS[name])}")
        return [row if len(row) == len(header) else [""] * len(header) for row in rows]

    def _result(
        self, group: list[Row], moves: Mapping[tuple[str, str], Row], reasons: Mapping[tuple[str, str], str]
    ) -> Result:
        """Read the game whose rows in `games.csv` are `group`.

        Raises any error of parsing and looking up if the rows are not a game.
        """
        task = self._task(int(group[0][0]))
        times = [moves[row[0], row[2]] for row in group]
        forfeit = next((int(row[2]) for row in group if row[6] == "1"), NOBODY)
        return Result(
            task=task,
            scores=tuple(int(row[4]) for row in group),
            win_shares=tuple(float(row[5]) for row in group),
            forfeit=forfeit,
            reason="" if forfeit == NOBODY else reasons[group[0][0], str(forfeit)],
            moves=tuple(int(row[2]) for row in times),
            seconds=tuple(float(row[3]) for row in times),
        )

    def _rows(self, result: Result) -> dict[str, list[Row]]:
        """Return the rows of a game in each file."""
        game, seats = str(result.task.game), range(self._players)
        agents = [self.specs[number] for number in result.task.seating]
        deal = str(result.task.deal)
        return {
            GAMES: [
                [
                    game,
                    deal,
                    str(seat),
                    agents[seat],
                    str(result.scores[seat]),
                    number(result.win_shares[seat]),
                    forfeit,
                ]
                for seat, forfeit in ((seat, str(int(seat == result.forfeit))) for seat in seats)
            ],
            MOVES: [[game, str(seat), str(result.moves[seat]), number(result.seconds[seat])] for seat in seats],
            FORFEITS: [[game, str(seat), agents[seat], result.reason] for seat in seats if seat == result.forfeit],
        }

    def _rewrite(self, results: Iterable[Result]) -> None:
        """Reduce the files to exactly `results`, all of which they hold already."""
        rows: dict[str, list[Row]] = {name: [list(columns)] for name, columns in COLUMNS.items()}
        for result in results:
            for name, more in self._rows(result).items():
                rows[name] += more
        for name in (GAMES, MOVES, FORFEITS):  # in this order, a game that counts always has its other rows
            path, text = self.folder / name, as_csv(rows[name])
            if (name != FORFEITS or len(rows[name]) > 1 or path.exists()) and not (
                path.exists() and path.read_bytes() == text.encode()
            ):
                self.write(name, text)

    def _append(self, name: str, text: str) -> None:
        path, rest = self.folder / name, text.encode()
        if name not in self._files:
            if not path.exists():
                self.write(name, as_csv([COLUMNS[name]]))
            self._files[name] = os.open(path, os.O_WRONLY | os.O_APPEND)
        while rest:
            rest = rest[os.write(self._files[name], rest) :]

    def _damaged(self, row: int) -> ConfigurationError:
        return ConfigurationError(
            f"--out: {self.folder / GAMES} lines {row + 2} to {row + 1 + self._players} don't hold a game of this "
            f"tournament with its rows in {MOVES} and {FORFEITS}; name another folder"
        )

    def _unwritable(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(f"--out: can't write into {self.folder}: {error.strerror}")


def _is_possible(result: Result) -> bool:
    """Whether a game can have ended so: scores and times that can be, and a win divided as they say."""
    if any(abs(score) > MOST_POINTS for score in result.scores):
        return False
    if any(not 0 <= moves <= MOST_MOVES for moves in result.moves):
        return False
    if not all(0 <= seconds < inf for seconds in result.seconds):
        return False
    players = len(result.scores)
    if result.forfeit == NOBODY:
        won = [score == max(result.scores) for score in result.scores]
        return result.win_shares == tuple(each / sum(won) for each in won)
    return result.reason.isprintable() and result.win_shares == tuple(
        0.0 if seat == result.forfeit else 1 / (players - 1) for seat in range(players)
    )


def as_csv(rows: Iterable[Iterable[str]]) -> str:
    """Write rows as the text of a CSV file."""
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def number(value: float) -> str:
    """The shortest text that reads back as exactly `value`."""
    return repr(value).removesuffix(".0")


def told(value: Any) -> str:
    """A setting, as an error message shows it."""
    text = json.dumps(value)
    return text if len(text) <= LONGEST_SETTING else "others"
