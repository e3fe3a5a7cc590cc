"""What RLlib is given, as far as that needs no Ray: trajectories by seat, options, errors (see also `on_ray.py`)."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from siberia_env import vector
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError
from siberia_env.vector import VectorEnv
from siberia_experiments.cli import main
from siberia_experiments.rllib.options import (
    FORMAT,
    OPTIONS,
    Options,
    Settings,
    checkpoints,
    game_settings,
    options_from_json,
    stored_options,
)
from siberia_experiments.rllib.show import next_lines
from siberia_experiments.rllib.trajectories import Book, Trajectories
from tests.games import GameCase
from tests.processes import run_python

GAMES_AT_ONCE = 6


def played(
    env: VectorEnv, seed: int, steps: int
) -> tuple[Trajectories, int, list[tuple[int, ...]], dict[int, NDArray[np.float32]]]:
    """Random games, booked, and the book's count; beside them each decision and each game's reward, noted slowly."""
    step, book = env.reset(seed), Book(env.num_envs)
    number = list(range(env.num_envs))
    decisions: list[tuple[int, ...]] = []  # (game, seat) in the order of play, and the standing then
    outcome: dict[int, NDArray[np.float32]] = {}
    actions = np.zeros(env.num_envs, np.int64)
    for age in range(steps):
        standing = env.standing()
        free = np.flatnonzero(step.num_legal > 1)
        seats = step.player[free].copy()
        book.decide(free, seats, standing[free, seats])
        decisions += [
            (number[row], int(seat), float(standing[row, seat])) for row, seat in zip(free, seats, strict=True)
        ]
        engine.sample_batch(step.mask, step.num_legal, np.uint64(seed), age, actions)
        step = env.step(actions)
        for row in np.flatnonzero(step.terminated):
            book.end(int(row), step.reward[row].copy())
            outcome[number[row]] = step.reward[row].copy()
            number[row] = max(number) + 1
    return book.close(), book.count, decisions, outcome


def test_trajectories_are_those_of_a_slow_recomputation(case: GameCase) -> None:
    """Seat by seat and game by game, with what each decision is paid; for games that end and games that go on."""
    for players in (2, 3):
        env = vector.make(case.name, GAMES_AT_ONCE, players, rules=case.medium, reward="margin")
        found, count, decisions, outcome = played(env, 5, case.medium_steps + 10)
        by_seat: dict[tuple[int, int], list[int]] = {}
        for place, (game, seat, _) in enumerate(decisions):
            by_seat.setdefault((game, seat), []).append(place)
        assert len(found.games) == len(by_seat)
        assert len(found.order) == len(decisions)
        for number, (game, seat) in enumerate(zip(found.games, found.seats, strict=True)):
            places = by_seat[int(game), int(seat)]
            here = slice(found.starts[number], found.starts[number + 1])
            assert found.order[here].tolist() == places
            standing = [decisions[place][2] for place in places]
            after = float(outcome[int(game)][seat]) if int(game) in outcome else standing[-1]
            assert found.rewards[here] == pytest.approx(np.diff([*standing, after]), abs=1e-5)
            assert bool(found.ended[number]) is (int(game) in outcome)
        assert set(found.ended.tolist()) == {True, False}
        assert count == len(decisions) - np.count_nonzero(~found.ended)


def test_rewards_of_a_game_add_up_whoever_made_the_last_move(case: GameCase) -> None:
    """To the reward less the standing at the first decision, for every seat of every game that has ended."""
    env = vector.make(case.name, GAMES_AT_ONCE, 3, rules=case.medium, reward="margin")
    found, _, decisions, outcome = played(env, 9, case.medium_steps + 10)
    for number in np.flatnonzero(found.ended):
        here = slice(found.starts[number], found.starts[number + 1])
        first = decisions[found.order[here][0]][2]
        final = float(outcome[int(found.games[number])][found.seats[number]])
        assert found.rewards[here].sum() == pytest.approx(final - first, abs=1e-4)


def test_a_rollout_without_free_decisions_has_no_trajectories() -> None:
    found = Book(3).close()
    assert (len(found.order), found.starts.tolist(), len(found.games)) == (0, [0], 0)


# ---------------------------------------------------------------- options and folders


def test_options_survive_json() -> None:
    options = Options("board", (2, 4), {"sides": "random"}, seed=3, minutes=1.0, settings=Settings(network=(8, 9)))
    assert options_from_json(json.loads(json.dumps(options.as_json()))) == options


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"minutes": None}, "minutes or decisions"),
        ({"decisions": 5}, "minutes or decisions"),
        ({"minutes": 0.0}, "minutes: 0.0"),
        ({"workers": 0}, "workers: 0"),
        ({"workers": 5000}, "at most 4096"),
        ({"games": 0}, "games: 0"),
        ({"games": 1, "num_players": (2, 3)}, "at least one for each"),
        ({"learners": -1}, "learners: -1"),
        ({"gpus": -0.5}, "gpus: -0.5"),
        ({"num_players": ()}, "one player count or more"),
        ({"num_players": (2, 2)}, "one player count or more"),
        ({"num_players": (5,)}, "5"),
        ({"seed": 2**31}, "2**31 - 1"),
        ({"game": "chess"}, "chess"),
        ({"rules": {"edition": "none"}}, "edition"),
    ],
)
def test_invalid_options_are_refused_in_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message.replace("*", r"\*")):
        replace(Options(minutes=1.0), **changes).check()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rollout": 0}, "rollout: 0"),
        ({"batch_size": 1}, "batch_size: 1"),
        ({"batch_size": 10**6}, "rollout of a worker"),
        ({"epochs": 0}, "epochs"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"entropy": -1.0}, "entropy"),
        ({"gae_lambda": 1.5}, "gae_lambda"),
        ({"network": ()}, "network"),
        ({"network": (10**6,)}, "network"),
        ({"reward": "fame"}, "reward"),
    ],
)
def test_invalid_settings_are_refused_in_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        replace(Settings(), **changes).check()


def test_a_game_from_outside_begins_with_the_card_games_settings() -> None:
    assert game_settings("board").reward_scale < game_settings("card").reward_scale


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other"}', json.dumps({"format": FORMAT, "settings": {}})]
)
def test_a_damaged_run_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / OPTIONS).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"--resume: .* is damaged"):
        stored_options(tmp_path)
    assert (tmp_path / OPTIONS).read_text(encoding="utf-8") == text
    assert checkpoints(tmp_path) == []


def test_a_run_that_is_not_there_is_refused_without_ray(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rllib", "card", "--resume", "--out", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"siberia: --resume: there is no run in {tmp_path / 'none'}\n"
    assert main(["rllib", "card", "--resume", "--seed", "3"]) == 2
    assert "--seed: a resumed run keeps its own" in capsys.readouterr().err
    assert main(["rllib", "card", "--workers", "0"]) == 2
    assert "workers: 0" in capsys.readouterr().err


def test_the_end_of_a_run_names_commands(tmp_path: Path) -> None:
    lines = next_lines(Options("board", (3,), {"sides": "random"}), Path("runs/cluster"))
    assert lines[1].endswith(
        "evaluate board --players 3 --rules sides=random --agents learned:runs/cluster/model.npz,random"
    )
    assert next_lines(Options(), Path("a,b"))[0].endswith("copy the file to another name.")


# ---------------------------------------------------------------- without Ray

BLOCK = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "ray":
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Absent())
from siberia_experiments.cli import main
"""


def test_without_ray_the_error_names_the_extra_and_nothing_is_left(tmp_path: Path) -> None:
    out = tmp_path / "run"
    program = BLOCK + (
        f"assert main(['rllib', 'card', '--out', {str(out)!r}]) == 2\n"
        f"assert main(['tournament', 'card', '--games', '2', '--ray', 'local', '--out', {str(out)!r}]) == 2\n"
        "import siberia_experiments.rllib.throughput as throughput, siberia_experiments.rllib.demo as demo\n"
        "assert throughput.main(['card']) == 2\n"
        f"assert demo.main(['card', '--out', {str(out)!r}]) == 2\n"
    )
    told = run_python("-c", program).stderr.splitlines()
    assert [line.partition(":")[0] for line in told] == ["siberia", "siberia", "throughput", "rllib-demo"]
    for line in told:
        assert "needs the optional extra 'ray' (ray is not installed): " in line
        assert "-m pip install" in line
        assert "[ray]" in line or "ray[rllib]" in line, "a checkout installs its extra, a wheel what the extra asks for"
    assert not out.exists()


def test_no_module_that_needs_no_ray_loads_it() -> None:
    program = BLOCK + (
        "import siberia_experiments.rllib.options, siberia_experiments.rllib.show\n"
        "import siberia_experiments.rllib.trajectories, siberia_experiments.tournament.run\n"
        "print('loaded')"
    )
    assert run_python("-c", program).stdout == "loaded\n"
    assert "ray" not in sys.modules
