"""Training runs: options, what a run leaves behind, the same run twice, going on after a kill."""

from __future__ import annotations

import csv
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th

from siberia_agents.learned import FORMAT, load_model
from siberia_env.errors import ConfigurationError, ModelError
from siberia_env.game import GAMES, find_game
from siberia_experiments.statistics import wilson
from siberia_experiments.training import ppo
from siberia_experiments.training import run as train
from siberia_experiments.training.checkpoint import load_checkpoint, save_checkpoint
from siberia_experiments.training.league import Mix
from siberia_experiments.training.ppo import Settings
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

#: Some iterations of 128 decisions to learn from: a second or two.
SMALL = Settings(num_envs=16, rollout=128, batch_size=32, network=(16, 8), imitate=0)
TINY = TrainOptions(decisions=2048, settings=SMALL, threads=1, checkpoint_seconds=0.0, evaluation_games=4, seed=3)


def tiny(**changes: Any) -> TrainOptions:
    """`TINY` with other options or settings."""
    own = {name: changes.pop(name) for name in [*changes] if hasattr(SMALL, name)}
    return replace(TINY, settings=replace(SMALL, **own), **changes)


@pytest.fixture(autouse=True)
def early_past_selves(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Past selves from the second iteration on, so that short runs have some; the threads as they were."""
    monkeypatch.setattr(ppo, "NEW_PAST_SELF", 2)
    threads = th.get_num_threads()
    yield
    th.set_num_threads(threads)


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs of the command line take no time, whatever it asks for."""
    small = Settings(num_envs=8, rollout=96, batch_size=32, network=(8,), imitate=100)
    monkeypatch.setattr(train, "GAME_SETTINGS", dict.fromkeys(GAMES, small))
    monkeypatch.setattr(train, "TrainOptions", partial(TrainOptions, evaluation_games=4))


def finish(training: Training) -> list[Progress]:
    """Carry a run to its end."""
    return list(training.run())


def weights(folder: Path) -> bytes:
    """All numbers of the saved model."""
    model = load_model(folder / "model.npz")
    return b"".join(array.tobytes() for layer in model.layers for array in layer)


def names(folder: Path) -> list[str]:
    """The files and folders of a run."""
    return sorted(path.name for path in folder.iterdir())


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
        ({"rollout": 0}, "rollout: 0"),
        ({"batch_size": 1}, "batch_size: 1; at least 2"),
        ({"epochs": 0}, "epochs: 0"),
        ({"threads": 0}, "threads: 0"),
        ({"evaluation_games": 0}, "evaluation_games: 0"),
        ({"learning_rate": 0.0}, "learning_rate: 0"),
        ({"learning_rate": float("nan")}, "learning_rate: nan"),
        ({"clip_range": -0.1}, "clip_range: -0.1"),
        ({"reward_scale": 0.0}, "reward_scale: 0.0"),
        ({"entropy": (0.1, -0.1)}, "entropy: (0.1, -0.1)"),
        ({"entropy": (0.1,)}, "two weights of 0 or more"),
        ({"value_weight": float("nan")}, "value_weight: nan"),
        ({"gae_lambda": 1.5}, "gae_lambda: 1.5"),
        ({"keep": -0.5}, "keep: -0.5"),
        ({"imitate": -1}, "imitate: -1"),
        ({"network": ()}, "network: ()"),
        ({"network": (8, 0)}, "network: (8, 0)"),
        ({"simulations": 8, "considered": 8}, "considered: 8; 2 actions or more, and fewer than"),
        ({"simulations": 8, "considered": 1}, "considered: 1"),
        ({"considered": 8}, "fewer than the 0 simulations"),
        ({"simulations": 8, "search_plays": True}, "search_plays: name the number of actions"),
        ({"mix": Mix(plans=0.6, past=0.6)}, "those of plans and past selves together too"),
        ({"mix": Mix(alone=-0.1)}, "shares are 0 to 1"),
        ({"mix": Mix(alone=float("nan"))}, "shares are 0 to 1"),
        ({"mix": Mix(kept=0)}, "at least one past self"),
        ({"mix": Mix(focus=-1.0)}, "focus has to be 0 or more"),
        ({"device": "abacus"}, "device: 'abacus' is not here; here are cpu"),
        ({"device": "cuda:9"}, "device: 'cuda:9' is not here; here are cpu"),
        ({"device": "meta"}, "device: 'meta' is not here; here are cpu"),
        ({"seed": -1}, "seed: -1"),
        ({"seed": 2**32}, "seed: 4294967296; for training at most"),
        ({"reward": "money"}, "reward: no 'money'; there are win, margin, score"),
        ({"game": "chess"}, "no game 'chess'"),
        ({"num_players": (5,)}, "num_players: 5"),
        ({"num_players": (2, 1)}, "num_players: 1"),
        ({"num_players": (2, 2)}, "one player count or more, each once"),
        ({"num_players": ()}, "one player count or more, each once"),
        ({"rules": {"edition": "gold"}}, "gold"),
        ({"game": "board", "rules": {"edition": "dlp"}}, "no option 'edition'; the options are sides"),
        ({"game": "board", "rules": {"sides": ["Tokyo"]}}, "sides: expected 5 exchanges"),
        ({"game": "board", "components": {"workers": 10}}, "workers: no such table"),
        ({"game": "board", "num_players": (5,)}, "num_players: 5"),
    ],
)
def test_a_run_that_can_not_be_is_refused_and_leaves_nothing(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(ConfigurationError) as raised:
        Training(tiny(**changes), folder)
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


@pytest.mark.parametrize(("game", "players"), [("card", (2,)), ("card", (2, 3, 4)), ("board", (3,)), ("board", (4, 2))])
def test_a_run_leaves_model_curve_checkpoint_and_log(tmp_path: Path, game: str, players: tuple[int, ...]) -> None:
    options = tiny(game=game, num_players=players, decisions=1000, evaluation_seconds=0.0)
    training = Training(options, tmp_path / "run")
    progress = finish(training)
    assert names(training.folder) == ["checkpoint.bin", "curve.csv", "model.npz", "tensorboard"]
    assert any((training.folder / "tensorboard").iterdir())
    decisions = [state.decisions for state in progress]
    assert decisions == sorted(set(decisions))
    assert all(count % 16 == 0 for count in decisions), "a rollout is a number of steps of all games"
    assert decisions[-2] < 1000 <= decisions[-1]
    assert [state.part for state in progress] == [min(1.0, count / 1000) for count in decisions]
    assert all(0 < state.learnt_part < 1 for state in progress)
    assert all(state.speed > 0 for state in progress)
    assert [state.seconds for state in progress] == sorted(state.seconds for state in progress)
    with (training.folder / "curve.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    told = [(int(row["decisions"]), int(row["players"]), row["opponent"]) for row in rows]
    for point in training.curve:
        measured = [(count, opponent) for decisions, count, opponent in told if decisions == point.decisions]
        assert {(count, plan) for count in players for plan in ("greedy", "heuristic")} <= set(measured)
    assert {opponent for _, _, opponent in told} == {"greedy", "heuristic", "past"}
    for row in rows:
        assert 0 <= float(row["low"]) <= float(row["win_rate"]) <= float(row["high"]) <= 1
    model, played = load_model(training.model_path), find_game(game)
    assert (model.game, model.num_players) == (game, tuple(sorted(players)))
    assert model.trained["options"]["settings"]["network"] == [16, 8]
    assert model.trained["rules"] == played.variant(players[0]).rules_as_json()
    shapes = [layer[0].shape for layer in model.layers]
    outputs = played.num_actions + 1 + 4 + 4 + 1
    assert shapes == [(played.observation_size, 16), (16, 8), (8, outputs)]
    assert finish(training) == []
    picture = tmp_path / "curve.png"
    draw_curve(training.curve, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


@both_games
def test_the_saved_model_is_the_averaged_network(tmp_path: Path, game: str) -> None:
    training = Training(tiny(game=game, decisions=256), tmp_path)
    finish(training)
    model, size = load_model(training.model_path), find_game(game).observation_size
    observation = np.random.default_rng(1).random((5, size)).astype(np.float32)
    with th.no_grad():
        heads = training.learner.average(th.from_numpy(observation))
    np.testing.assert_allclose(model.logits(observation), heads.policy.numpy(), atol=1e-5)
    np.testing.assert_allclose(model.margins(observation), heads.margins.numpy(), atol=1e-5)
    present = th.full((5,), 3)
    shares = ppo.log_shares(heads.shares, present).exp()[:, :3].numpy()
    np.testing.assert_allclose(model.shares(observation, 3), shares, atol=1e-5)


@both_games
def test_training_starts_from_a_model_of_another_player_count(tmp_path: Path, game: str) -> None:
    first = Training(tiny(game=game, decisions=256), tmp_path / "two")
    finish(first)
    path = tmp_path / "two" / "model.npz"
    second = Training(tiny(game=game, num_players=(3,), start_from=str(path)), tmp_path / "three")
    for (weight, bias), (other_weight, other_bias) in zip(first.model().layers, second.model().layers, strict=True):
        assert np.array_equal(weight, other_weight)
        assert np.array_equal(bias, other_bias)


def test_a_policy_without_other_heads_stays_while_they_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of an earlier format has a policy alone. Its other heads learn first, and hardly move the policy."""
    model = Training(tiny(), tmp_path / "one").model()
    policy = model.heads["policy"]
    *hidden, (weight, bias) = model.layers
    path = tmp_path / "policy.npz"
    replace(model, layers=[*hidden, (weight[:, :policy], bias[:policy])], heads={"policy": policy}).save(path)
    monkeypatch.setattr(train, "WARM_UP", 1200)
    training = Training(tiny(start_from=str(path), learning_rate=1e-2), tmp_path / "two")
    learner = training.learner
    observation = th.from_numpy(np.random.default_rng(1).random((64, 432)).astype(np.float32))
    with th.no_grad():
        before = learner.network(observation)
    while learner.decisions < 1200:
        learner.iterate(0.0)
    with th.no_grad():
        after = learner.network(observation)
    likelihood = before.policy.log_softmax(dim=1)
    distance = (likelihood.exp() * (likelihood - after.policy.log_softmax(dim=1))).sum(dim=1).mean()
    assert float(distance) < 0.02
    assert float((after.margins - before.margins).abs().mean()) > 0.02


def test_a_model_that_training_cannot_start_from_is_refused(tmp_path: Path) -> None:
    finish(Training(tiny(game="card", decisions=256), tmp_path / "card"))
    path = str(tmp_path / "card" / "model.npz")
    with pytest.raises(ModelError, match="is a model of the game 'card', not of 'board'"):
        Training(tiny(game="board", start_from=path), tmp_path / "other")
    with pytest.raises(ModelError, match=r"has the network \(16, 8\), training \(8, 8\)"):
        Training(tiny(game="card", network=(8, 8), start_from=path), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_minutes_end_a_run_too(tmp_path: Path) -> None:
    training = Training(tiny(decisions=None, minutes=0.002), tmp_path)
    progress = finish(training)
    assert progress[-1].part == 1.0
    assert all(state.part < 1 for state in progress[:-1])
    assert progress[-1].seconds >= 0.12


@both_games
def test_the_same_seed_gives_the_same_weights_and_another_one_others(tmp_path: Path, game: str) -> None:
    for name, seed in (("one", 3), ("again", 3), ("other", 4)):
        training = Training(tiny(game=game, num_players=(2, 3), decisions=1024, seed=seed), tmp_path / name)
        finish(training)
        assert training.learner.league.past
    assert weights(tmp_path / "one") == weights(tmp_path / "again")
    assert weights(tmp_path / "one") != weights(tmp_path / "other")


def test_evaluating_more_often_does_not_change_the_run(tmp_path: Path) -> None:
    for name, seconds in (("seldom", 1e9), ("often", 0.0)):
        finish(Training(tiny(decisions=1024, evaluation_seconds=seconds), tmp_path / name))
    assert weights(tmp_path / "seldom") == weights(tmp_path / "often")


# ---------------------------------------------------------------- going on


RUN = """
import sys
from pathlib import Path
from siberia_experiments.training import ppo, run as train
from tests.test_train import tiny
ppo.NEW_PAST_SELF = 2
for _ in train.Training(tiny(game=sys.argv[1]), Path(sys.argv[2])).run():
    print("one more", flush=True)
    sys.stdin.readline()
"""


def test_a_killed_run_goes_on_and_ends_like_one_that_was_not(tmp_path: Path) -> None:
    """A kill between two checkpoints: what came after the last one is played again, bit for bit."""
    game, whole, killed = "board", tmp_path / "whole", tmp_path / "killed"
    finish(Training(tiny(game=game), whole))
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
    assert training.learner.updates >= 3
    assert training.learner.decisions < 2048
    assert training.learner.league.past
    finish(training)
    assert training.learner.decisions >= 2048
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
    finish(Training(tiny(game=game, decisions=256, rules=rules, components=tables), tmp_path))
    assert load_model(tmp_path / "model.npz").trained["options"]["components"] == tables
    resumed = Training.resume(tmp_path, game, decisions=512)
    (variant,) = resumed.variants
    assert getattr(variant.components, salesmen)["gas"] == 9
    assert variant.rules == find_game(game).variant(2, rules).rules
    assert finish(resumed)[-1].decisions >= 512


def test_a_run_can_be_given_a_larger_budget(tmp_path: Path) -> None:
    first = finish(Training(tiny(decisions=256), tmp_path))[-1].decisions
    assert finish(Training.resume(tmp_path, "card")) == []
    training = Training.resume(tmp_path, "card", decisions=2 * first)
    assert training.part() == 0.5
    last = finish(training)[-1].decisions
    assert [point.decisions for point in training.curve] == [first, last]
    training = Training.resume(tmp_path, "card", decisions=None, minutes=1e-6)
    assert training.part() >= 1
    with pytest.raises(ConfigurationError, match="decisions: -1"):
        Training.resume(tmp_path, "card", decisions=-1)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of one iteration."""
    folder = tmp_path_factory.mktemp("finished")
    finish(Training(tiny(decisions=256), folder))
    return folder


def resume_refused(folder: Path, game: str = "card") -> str:
    """The one line with which the checkpoint in `folder` is refused."""
    with pytest.raises(ModelError) as raised:
        Training.resume(folder, game)
    message = str(raised.value)
    assert "\n" not in message
    return message


def test_a_damaged_checkpoint_is_refused(finished: Path, tmp_path: Path) -> None:
    whole, path = checkpoint_path(finished).read_bytes(), checkpoint_path(tmp_path)
    for damaged in (b"", b"not a checkpoint", whole[:100], whole[: len(whole) // 2], whole[:-1], whole[1:]):
        path.write_bytes(damaged)
        message = resume_refused(tmp_path)
        assert "is no checkpoint" in message or "is damaged" in message


def test_a_checkpoint_of_something_else_is_refused(finished: Path, tmp_path: Path) -> None:
    whole, path = load_checkpoint(checkpoint_path(finished)), checkpoint_path(tmp_path)

    def refused(game: str = "card", **changes: Any) -> str:
        save_checkpoint(path, {**whole.data, **changes}, whole.arrays)
        return resume_refused(tmp_path, game)

    assert "has format 'siberia-run/9'" in refused(run="siberia-run/9")
    assert "has format None" in refused(run=None)
    assert "observation version abc" in refused(observation="abc")
    assert "games of another version" in refused(states="abc")
    board = {**whole.data["options"], "game": "board"}
    assert "a run of the game 'board', not of 'card'" in refused(options=board)
    assert "a run of the game 'card', not of 'board'" in refused("board")
    assert "observation version" in refused("board", options=board)
    own = whole.data["options"]
    wrong = [{**own, "settings": {**own["settings"], **change}} for change in ({"colour": 1}, {"num_envs": "many"})]
    for options in (None, [], {}, {**own, "colour": "red"}, {**own, "game": "chess"}, *wrong):
        assert "is damaged" in refused(options=options)
    for name in ("seconds", "evaluated", "best_rate", "best_trained", "curve", "parts"):
        for nonsense in ("nonsense", [1, 2], None):
            assert "is damaged" in refused(**{name: nonsense})


class Planted:
    """Its pickle makes a folder when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_a_planted_checkpoint_runs_no_code(finished: Path, tmp_path: Path) -> None:
    """Whatever torch or pickle would run when it reads the file."""
    ran, file, path = tmp_path / "ran", tmp_path / "planted", checkpoint_path(tmp_path)
    th.save({"format": "siberia-checkpoint/1", "options": Planted(ran)}, file)
    for content in (pickle.dumps(Planted(ran)), file.read_bytes()):
        path.write_bytes(content)
        assert "is no checkpoint" in resume_refused(tmp_path)
    whole = load_checkpoint(checkpoint_path(finished))
    planted = np.frombuffer(pickle.dumps(Planted(ran)), np.uint8)
    for name in whole.arrays:
        save_checkpoint(path, whole.data, {**whole.arrays, name: planted})
        resume_refused(tmp_path)
    assert not ran.exists()


def test_a_checkpoint_whose_parts_do_not_fit_together_is_refused(finished: Path, tmp_path: Path) -> None:
    whole, path = load_checkpoint(checkpoint_path(finished)), checkpoint_path(tmp_path)
    for part in whole.data["parts"]["state"]:
        state = {name: value for name, value in whole.data["parts"]["state"].items() if name != part}
        save_checkpoint(path, {**whole.data, "parts": {**whole.data["parts"], "state": state}}, whole.arrays)
        assert "is damaged" in resume_refused(tmp_path)
    for name, array in whole.arrays.items():
        if array.ndim > 0:
            save_checkpoint(path, whole.data, {**whole.arrays, name: array[:-1]})
            assert "is damaged" in resume_refused(tmp_path), name


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no checkpoint in"):
        Training.resume(tmp_path / "nothing", "card")
    assert not (tmp_path / "nothing").exists()


def test_a_checkpoint_is_written_as_a_whole(finished: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A write that breaks off leaves the last whole checkpoint and model in place."""
    training = Training(tiny(decisions=512), tmp_path)
    for _ in training.run():
        break
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}

    def break_off(file: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", break_off)
    with pytest.raises(ModelError, match=r"can't write .*No space left on device"):
        training.save()
    assert checkpoint_path(tmp_path).read_bytes() == before["checkpoint.bin"]
    assert json.loads(str(np.load(training.model_path)["metadata"]))["format"] == FORMAT
    monkeypatch.undo()
    assert Training.resume(tmp_path, "card").learner.updates == 1


def test_settings_are_the_games_own_unless_given(tmp_path: Path) -> None:
    for game in GAMES:
        own = Training(replace(tiny(game=game), settings=None, threads=1), tmp_path / game)
        assert own.settings == GAME_SETTINGS[game] == own.options.settings
        own.learner.close()
    given = Training(tiny(game="board", entropy=(0.5, 0.25), reward_scale=2.0), tmp_path / "given")
    kept = given.model().trained["options"]["settings"]
    assert (kept["entropy"], kept["gae_lambda"], kept["reward_scale"]) == ([0.5, 0.25], 0.95, 2.0)


def test_a_resumed_run_keeps_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(Training(tiny(decisions=256), tmp_path))
    monkeypatch.setitem(GAME_SETTINGS, "card", Settings(reward_scale=3.0))
    assert Training.resume(tmp_path, "card").settings == SMALL


def test_a_resumed_run_that_started_from_a_model_still_imitates_nobody(tmp_path: Path) -> None:
    """Nor does it in a whole run, so both come to the same policy."""
    Training(tiny(), tmp_path / "first").save()
    options = tiny(decisions=1024, imitate=10_000, start_from=str(tmp_path / "first" / "model.npz"))
    finish(Training(options, tmp_path / "whole"))
    broken = Training(options, tmp_path / "broken").run()
    next(broken)
    broken.close()
    resumed = Training.resume(tmp_path / "broken", "card")
    assert resumed.settings.imitate == 0
    finish(resumed)
    assert weights(tmp_path / "broken") == weights(tmp_path / "whole")
    assert load_model(tmp_path / "broken" / "model.npz").trained["options"]["settings"]["imitate"] == 0


def test_a_checkpoint_of_another_kind_of_device_goes_on_with_numbers_of_its_own(tmp_path: Path) -> None:
    """A GPU's generator keeps 16 bytes, a CPU's 5056. Neither takes the other's, so each is seeded from it."""
    player, again = (Training(tiny(), tmp_path / name).learner.player for name in ("one", "two"))
    state = {**player.state(), "generator": np.arange(16, dtype=np.uint8)}
    drawn = []
    for one in (player, again):
        one.restore(state)
        drawn.append(th.rand(4, generator=one.generator))
    assert th.equal(*drawn)
    state["generator"][0] = 1
    player.restore(state)
    assert not th.equal(drawn[0], th.rand(4, generator=player.generator))


def test_a_clearly_worse_policy_does_not_take_the_place_of_the_best(tmp_path: Path) -> None:
    """One that may be as good does, so that chance doesn't choose; so does a better one."""
    training = Training(tiny(decisions=256), tmp_path)
    models = [replace(training.model(), trained={"number": number}) for number in range(5)]
    for model, rate in zip(models, (0.30, 0.50, 0.48, 0.20, 0.60), strict=True):
        training._keep_best(model, [wilson(400 * rate, 400)])
        assert training.best is not None
        kept = training.best.trained["number"]
        assert kept == {0: 0, 1: 1, 2: 2, 3: 2, 4: 4}[model.trained["number"]]
