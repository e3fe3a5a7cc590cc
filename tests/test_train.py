"""Training runs: options, what a run leaves behind, the same run twice, going on after a kill."""

from __future__ import annotations

import csv
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th

from siberia_agents.learned import FORMAT, load_model
from siberia_env.errors import ConfigurationError, ModelError, SiberiaError
from siberia_env.game import GAMES, find_game
from siberia_experiments.training import run as train
from siberia_experiments.training.league import Mix
from siberia_experiments.training.run import (
    GAME_SETTINGS,
    Progress,
    Training,
    TrainOptions,
    checkpoint_path,
    draw_curve,
)
from tests.processes import PATIENCE, import_path, wait_until

both_games = pytest.mark.parametrize("game", GAMES)

#: Eight iterations of 256 decisions: a second or two.
TINY = TrainOptions(
    decisions=2048,
    num_envs=16,
    steps=16,
    batch_size=64,
    epochs=2,
    network=(16, 8),
    threads=1,
    checkpoint_seconds=0.0,
    evaluation_games=4,
    seed=3,
)


@pytest.fixture(autouse=True)
def early_past_selves(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Past selves from the second iteration on, so that short runs have some; the threads as they were."""
    monkeypatch.setattr(train, "NEW_PAST_SELF", 2)
    threads = th.get_num_threads()
    yield
    th.set_num_threads(threads)


def finish(training: Training) -> list[Progress]:
    """Carry a run to its end."""
    return list(training.run())


def weights(folder: Path) -> bytes:
    """All numbers of the saved model."""
    model = load_model(folder / "model.npz")
    return b"".join(array.tobytes() for layer in (*model.policy, *model.value) for array in layer)


def names(folder: Path) -> list[str]:
    """The files and folders of a run."""
    return sorted(path.name for path in folder.iterdir())


def shrink(monkeypatch: pytest.MonkeyPatch, **small: Any) -> None:
    """Give `TrainOptions` other defaults."""
    before = TrainOptions.__init__.__defaults__ or ()
    names = [option.name for option in fields(TrainOptions)]
    changed = tuple(small.get(name, default) for name, default in zip(names, before, strict=True))
    monkeypatch.setattr(TrainOptions.__init__, "__defaults__", changed)


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decisions": None}, "one budget: minutes or decisions"),
        ({"minutes": 1.0}, "one budget: minutes or decisions"),
        ({"decisions": 0}, "decisions: 0; it has to be more than 0"),
        ({"decisions": -5}, "decisions: -5"),
        ({"decisions": None, "minutes": 0}, "minutes: 0"),
        ({"decisions": None, "minutes": float("nan")}, "minutes: nan"),
        ({"decisions": None, "minutes": float("inf")}, "minutes: inf"),
        ({"num_envs": 0}, "num_envs: 0"),
        ({"steps": 0}, "steps: 0"),
        ({"batch_size": 1}, "batch_size: 1; at least 2"),
        ({"epochs": 0}, "epochs: 0"),
        ({"threads": 0}, "threads: 0"),
        ({"evaluation_games": 0}, "evaluation_games: 0"),
        ({"learning_rate": 0.0}, "learning_rate: 0"),
        ({"learning_rate": float("nan")}, "learning_rate: nan"),
        ({"clip_range": -0.1}, "clip_range: -0.1"),
        ({"reward_scale": 0.0}, "reward_scale: 0.0"),
        ({"entropy": -0.1}, "entropy: -0.1"),
        ({"value_weight": float("nan")}, "value_weight: nan"),
        ({"gae_lambda": 1.5}, "gae_lambda: 1.5"),
        ({"network": ()}, "network: ()"),
        ({"network": (8, 0)}, "network: (8, 0)"),
        ({"mix": Mix(0.6, 0.6)}, "at most 1 together"),
        ({"mix": Mix(-0.1, 0.2)}, "0 or more"),
        ({"mix": Mix(float("nan"), 0.2)}, "0 or more"),
        ({"mix": Mix(kept=0)}, "at least one past self"),
        ({"seed": -1}, "seed: -1"),
        ({"seed": 2**32}, "seed: 4294967296; for training at most"),
        ({"reward": "money"}, "reward: no 'money'; there are win, margin, score"),
        ({"game": "chess"}, "no game 'chess'"),
        ({"num_players": 5}, "num_players: 5"),
        ({"num_players": 1}, "num_players: 1"),
        ({"rules": {"edition": "gold"}}, "gold"),
        ({"game": "board", "rules": {"edition": "dlp"}}, "no option 'edition'; the options are sides"),
        ({"game": "board", "rules": {"sides": ["Tokyo"]}}, "sides: expected 5 exchanges"),
        ({"game": "board", "components": {"workers": 10}}, "workers: no such table"),
        ({"game": "board", "num_players": 5}, "num_players: 5"),
    ],
)
def test_a_run_that_can_not_be_is_refused_and_leaves_nothing(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(ConfigurationError) as raised:
        Training(replace(TINY, **changes), folder)
    assert message in str(raised.value)
    assert not folder.exists()


def test_a_folder_that_can_not_be_written_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for folder in (file, file / "below", file / "further" / "below", Path("/proc/none/of/this")):
        with pytest.raises(ConfigurationError, match="output folder: can't write into"):
            Training(TINY, folder)
    assert file.read_text() == "mine"
    assert names(tmp_path) == ["file"]


# ---------------------------------------------------------------- a run


@pytest.mark.parametrize(("game", "players"), [("card", 2), ("card", 3), ("board", 2), ("board", 4)])
def test_a_run_leaves_model_curve_checkpoint_and_log(tmp_path: Path, game: str, players: int) -> None:
    options = replace(TINY, game=game, num_players=players, decisions=1000, evaluation_seconds=0.0)
    training = Training(options, tmp_path / "run")
    progress = finish(training)
    assert names(training.folder) == ["checkpoint.pt", "curve.csv", "model.npz", "tensorboard"]
    assert any((training.folder / "tensorboard").iterdir())
    assert [state.decisions for state in progress] == [256, 512, 768, 1024]
    assert [state.part for state in progress] == [0.256, 0.512, 0.768, 1.0]
    assert all(0 < state.env_part < 1 for state in progress)
    assert all(state.speed > 0 for state in progress)
    assert [state.seconds for state in progress] == sorted(state.seconds for state in progress)
    with (training.folder / "curve.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["opponent"] for row in rows] == ["random", "greedy"] * 4
    assert [int(row["decisions"]) for row in rows] == [256, 256, 512, 512, 768, 768, 1024, 1024]
    for row in rows:
        assert 0 <= float(row["low"]) <= float(row["win_rate"]) <= float(row["high"]) <= 1
    model, played = load_model(training.model_path), find_game(game)
    assert (model.game, model.num_players) == (game, (players,))
    assert model.trained["decisions"] == 1024
    assert model.trained["options"]["network"] == [16, 8]
    assert model.trained["rules"] == played.variant(players).rules_as_json()
    shapes = [layer[0].shape for layer in model.policy]
    assert shapes == [(played.observation_size, 16), (16, 8), (8, played.num_actions)]
    assert finish(training) == []
    picture = tmp_path / "curve.png"
    draw_curve(training.curve, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


@both_games
def test_the_saved_model_is_the_network_that_was_trained(tmp_path: Path, game: str) -> None:
    training = Training(replace(TINY, game=game, decisions=256), tmp_path)
    finish(training)
    model, policy = load_model(training.model_path), training.learner.policy
    policy.brain_floats = False
    th.backends.mkldnn.matmul.fp32_precision = "ieee"
    observation = np.random.default_rng(1).random((5, find_game(game).observation_size)).astype(np.float32)
    with th.no_grad():
        seen = th.as_tensor(observation)
        logits = policy.get_distribution(seen).distribution.logits.numpy()  # type: ignore[union-attr]
        values = policy.predict_values(seen).numpy()[:, 0]
    own = model.logits(observation)
    own = own - own.max(axis=1, keepdims=True)
    own -= np.log(np.exp(own).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(own, logits, atol=1e-5)
    paid = values / training.options.reward_scale
    np.testing.assert_allclose(model.values(observation), paid, atol=1e-5)


@both_games
def test_training_starts_from_a_model_of_another_player_count(tmp_path: Path, game: str) -> None:
    first = Training(replace(TINY, game=game, decisions=256), tmp_path / "two")
    finish(first)
    path = tmp_path / "two" / "model.npz"
    second = Training(replace(TINY, game=game, num_players=3, start_from=str(path)), tmp_path / "three")
    for (weight, bias), (other_weight, other_bias) in zip(
        first.model().policy + first.model().value, second.model().policy + second.model().value, strict=True
    ):
        np.testing.assert_allclose(weight, other_weight, rtol=1e-6)
        np.testing.assert_allclose(bias, other_bias, rtol=1e-6)


def test_a_model_that_training_cannot_start_from_is_refused(tmp_path: Path) -> None:
    finish(Training(replace(TINY, game="card", decisions=256), tmp_path / "card"))
    path = str(tmp_path / "card" / "model.npz")
    with pytest.raises(ModelError, match="is a model of the game 'card', not of 'board'"):
        Training(replace(TINY, game="board", start_from=path), tmp_path / "other")
    with pytest.raises(ModelError, match=r"has the network \(16, 8\), training \(8, 8\)"):
        Training(replace(TINY, game="card", network=(8, 8), start_from=path), tmp_path / "other")


def test_minutes_end_a_run_too(tmp_path: Path) -> None:
    training = Training(replace(TINY, decisions=None, minutes=0.002), tmp_path)
    progress = finish(training)
    assert progress[-1].part == 1.0
    assert all(state.part < 1 for state in progress[:-1])
    assert progress[-1].seconds >= 0.12


@both_games
def test_the_same_seed_gives_the_same_weights_and_another_one_others(tmp_path: Path, game: str) -> None:
    for name, options in (("one", TINY), ("again", TINY), ("other", replace(TINY, seed=4))):
        training = Training(replace(options, game=game, decisions=1024), tmp_path / name)
        finish(training)
        assert training.league.past
    assert weights(tmp_path / "one") == weights(tmp_path / "again")
    assert weights(tmp_path / "one") != weights(tmp_path / "other")


def test_evaluating_more_often_does_not_change_the_run(tmp_path: Path) -> None:
    for name, seconds in (("seldom", 1e9), ("often", 0.0)):
        finish(Training(replace(TINY, decisions=1024, evaluation_seconds=seconds), tmp_path / name))
    assert weights(tmp_path / "seldom") == weights(tmp_path / "often")


# ---------------------------------------------------------------- going on


RUN = """
import sys
from dataclasses import replace
from pathlib import Path
from siberia_experiments.training import run as train
from tests.test_train import TINY
train.NEW_PAST_SELF = 2
for _ in train.Training(replace(TINY, game=sys.argv[1]), Path(sys.argv[2])).run():
    print("one more", flush=True)
    sys.stdin.readline()
"""


@both_games
def test_a_killed_run_goes_on_and_ends_like_one_that_was_not(tmp_path: Path, game: str) -> None:
    """A kill between two checkpoints: what came after the last one is played again, bit for bit."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    finish(Training(replace(TINY, game=game), whole))
    with subprocess.Popen(
        [sys.executable, "-c", RUN, game, str(killed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": import_path()},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for _ in range(3):
                wait_until(lambda: bool(select.select([process.stdout], [], [], 0)[0]), "an iteration", process.pid)
                assert process.stdout.readline() == b"one more\n"
                process.stdin.write(b"\n")
                process.stdin.flush()
            time.sleep(0.02)  # into the next iteration
        finally:
            process.kill()
        assert process.wait(PATIENCE) == -signal.SIGKILL
    training = Training.resume(killed, game)
    assert 768 <= training.learner.num_timesteps < 2048
    assert training.iteration == training.learner.num_timesteps // 256
    assert training.league.past
    assert training.league is training.learner.seating
    finish(training)
    assert training.learner.num_timesteps == 2048
    assert weights(killed) == weights(whole)


SIDES = ["New York", "Hong Kong", "Toronto", "Mumbai", "Sao Paulo"]


@pytest.mark.parametrize(
    ("game", "rules", "salesmen"),
    [("card", {"edition": "oya"}, "salesmen"), ("board", {"sides": SIDES, "salesman_cards": True}, "salesman_cards")],
)
def test_a_run_keeps_its_own_rules_and_components(
    tmp_path: Path, game: str, rules: dict[str, Any], salesmen: str
) -> None:
    tables = find_game(game).read_components(None).as_json()
    tables[salesmen]["gas"] = 9
    finish(Training(replace(TINY, game=game, decisions=256, rules=rules, components=tables), tmp_path))
    assert load_model(tmp_path / "model.npz").trained["options"]["components"] == tables
    resumed = Training.resume(tmp_path, game, decisions=512)
    assert getattr(resumed.variant.components, salesmen)["gas"] == 9
    assert resumed.variant.rules == find_game(game).variant(2, rules).rules
    assert [state.decisions for state in finish(resumed)] == [512]


def test_a_run_can_be_given_a_larger_budget(tmp_path: Path) -> None:
    finish(Training(replace(TINY, decisions=256), tmp_path))
    assert finish(Training.resume(tmp_path, "card")) == []
    training = Training.resume(tmp_path, "card", decisions=512)
    assert training.part() == 0.5
    assert [state.decisions for state in finish(training)] == [512]
    assert [point.decisions for point in training.curve] == [256, 512]
    training = Training.resume(tmp_path, "card", decisions=None, minutes=1e-6)
    assert training.part() >= 1
    with pytest.raises(ConfigurationError, match="decisions: -1"):
        Training.resume(tmp_path, "card", decisions=-1)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of one iteration."""
    folder = tmp_path_factory.mktemp("finished")
    finish(Training(replace(TINY, decisions=256), folder))
    return folder


def resume_refused(folder: Path, content: Any, game: str = "card") -> str:
    """The one line that a checkpoint with this content is refused with."""
    folder.mkdir(exist_ok=True)
    path = checkpoint_path(folder)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        th.save(content, path)
    with pytest.raises(SiberiaError) as raised:
        Training.resume(folder, game)
    message = str(raised.value)
    assert isinstance(raised.value, ModelError)
    assert message.startswith("resume: ")
    assert "\n" not in message
    return message


def test_a_damaged_checkpoint_is_refused(finished: Path, tmp_path: Path) -> None:
    whole = checkpoint_path(finished).read_bytes()
    for damaged in (b"", b"not a checkpoint", whole[:100], whole[: len(whole) // 2], whole[:-1], whole[1:]):
        assert "is no checkpoint, or is damaged" in resume_refused(tmp_path / "run", damaged)


def test_a_checkpoint_of_something_else_is_refused(finished: Path, tmp_path: Path) -> None:
    whole = th.load(checkpoint_path(finished), weights_only=False)
    folder = tmp_path / "run"
    assert "no checkpoint" in resume_refused(folder, [1, 2])
    assert "no checkpoint" in resume_refused(folder, {"weights": th.zeros(3)})
    assert "has format 'siberia-checkpoint/9'" in resume_refused(folder, {**whole, "format": "siberia-checkpoint/9"})
    assert "observation version abc" in resume_refused(folder, {**whole, "observation": "abc"})
    assert "observation version None" in resume_refused(folder, {k: v for k, v in whole.items() if k != "observation"})
    board = {**whole, "options": replace(whole["options"], game="board")}
    assert "a run of the game 'board', not of 'card'" in resume_refused(folder, board)
    assert "a run of the game 'card', not of 'board'" in resume_refused(folder, whole, "board")
    assert "observation version" in resume_refused(folder, board, "board")
    for part in ("policy", "optimizer", "games", "league", "torch", "decisions"):
        assert "damaged" in resume_refused(folder, {key: value for key, value in whole.items() if key != part})
    assert "damaged" in resume_refused(folder, {**whole, "league": b"nonsense"})
    assert "damaged" in resume_refused(folder, {**whole, "options": replace(whole["options"], network=(4,))})


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no checkpoint in"):
        Training.resume(tmp_path / "nothing", "card")
    assert not (tmp_path / "nothing").exists()


def test_a_checkpoint_is_written_as_a_whole(finished: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A write that breaks off leaves the last whole checkpoint and model in place."""
    training = Training(replace(TINY, decisions=512), tmp_path)
    for _ in training.run():
        break
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}

    def break_off(content: Any, path: Path) -> None:
        path.write_bytes(b"half of a")
        raise OSError("disk full")

    monkeypatch.setattr(th, "save", break_off)
    with pytest.raises(OSError, match="disk full"):
        training.save()
    assert checkpoint_path(tmp_path).read_bytes() == before["checkpoint.pt"]
    assert json.loads(str(np.load(training.model_path)["metadata"]))["format"] == FORMAT
    monkeypatch.undo()
    assert Training.resume(tmp_path, "card").learner.num_timesteps == 256


def test_settings_are_the_games_own_unless_given(tmp_path: Path) -> None:
    board = Training(replace(TINY, game="board"), tmp_path / "board").learner
    assert (board.ent_coef, board.gae_lambda, board.reward_scale) == (0.005, 0.9, np.float32(0.2))
    given = Training(replace(TINY, game="board", entropy=0.5, reward_scale=2.0), tmp_path / "given")
    assert (given.learner.ent_coef, given.learner.reward_scale) == (0.5, np.float32(2.0))
    kept = given.model().trained["options"]
    assert (kept["entropy"], kept["gae_lambda"], kept["reward_scale"]) == (0.5, 0.9, 2.0)


def test_a_resumed_run_keeps_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(Training(replace(TINY, decisions=256), tmp_path))
    kept = GAME_SETTINGS["card"]["entropy"]
    monkeypatch.setitem(GAME_SETTINGS, "card", {"entropy": 0.7, "gae_lambda": 0.1, "reward_scale": 3.0})
    assert Training.resume(tmp_path, "card").learner.ent_coef == kept


def test_scaled_rewards_are_what_is_booked(tmp_path: Path) -> None:
    booked = []
    for scale in (1.0, 0.5):
        training = Training(replace(TINY, reward_scale=scale, decisions=256), tmp_path / str(scale))
        finish(training)
        booked.append(training.learner.rollout_buffer.seat_rewards.copy())
    assert booked[0].any()
    np.testing.assert_array_equal(booked[0] * np.float32(0.5), booked[1])
