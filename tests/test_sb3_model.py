"""A model of stable-baselines3 as an agent: it plays as its policy says, and a strange file is refused unread."""

from __future__ import annotations

import io
import pickle
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN
from stable_baselines3.common.env_util import make_vec_env as make_singles

from siberia_agents.learned import load_model
from siberia_agents.registry import agent_files, make_agent
from siberia_agents.sb3_model import Sb3Agent, load_sb3_model
from siberia_env import vector
from siberia_env.errors import ModelError
from siberia_env.game import find_game
from siberia_env.sb3 import SelfPlayVecEnv, make_vec_env
from siberia_env.view import view_games
from siberia_experiments.cli import main
from siberia_experiments.training.sb3_ppo import SelfPlayPolicy, SelfPlayPPO
from tests.games import GameCase

RECTIFIED = {"net_arch": {"pi": [12, 8], "vf": [4]}, "activation_fn": th.nn.ReLU}


def save(path: Path, game_id: str = "siberia/Card-v0", policy: str = "MlpPolicy", **kwargs: Any) -> Any:
    """An untrained MaskablePPO, saved."""
    if policy == "MlpPolicy":
        envs: Any = make_vec_env(game_id, 2, seed=1)
    else:
        envs = make_singles(game_id, 2, seed=1, env_kwargs={"render_mode": None})
    learner = MaskablePPO(policy, envs, seed=3, device="cpu", policy_kwargs=kwargs or None)
    learner.save(path)
    return learner


@pytest.mark.parametrize("policy", ["MlpPolicy", "MultiInputPolicy"])
@pytest.mark.parametrize("network", [{}, RECTIFIED, {"net_arch": []}], ids=["tanh", "relu", "linear"])
def test_the_agent_plays_what_the_policy_says(
    case: GameCase, policy: str, network: dict[str, Any], tmp_path: Path
) -> None:
    learner = save(tmp_path / "model.zip", case.gym_id, policy, **network)
    agent = make_agent(f"learned:{tmp_path / 'model.zip'}")
    games = vector.make(case.name, 64, 3, seed=2)
    agent.start(games.variant)
    step = games.reset()
    for _ in range(6):
        seen: Any = step.observation
        if policy == "MultiInputPolicy":
            seen = {"observation": step.observation, "action_mask": step.mask}
        said, _ = learner.predict(seen, action_masks=step.mask, deterministic=True)
        views = view_games(games.variant, games.states, np.arange(64), step.observation, step.mask, step.player)
        answers = agent.act_batch(views)
        assert np.array_equal(answers, said)
        assert agent.act(views.view(5)) == said[5]
        step = games.step(answers)


def test_self_play_saves_agents_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = SelfPlayVecEnv(vector.make("card", 8, seed=1))
    learner = SelfPlayPPO(SelfPlayPolicy, games, n_steps=8, batch_size=32, n_epochs=1, device="cpu").learn(64)
    learner.save(tmp_path / "model.zip")
    spec = f"learned:{tmp_path / 'model.zip'}:temperature=1"
    assert main(["evaluate", "card", "--agents", f"{spec},random", "--games", "4", "--players", "3"]) == 0
    assert "learned" in capsys.readouterr().out
    assert agent_files(spec, find_game("card").variant(3)) == [tmp_path / "model.zip"]


def test_a_rectified_model_can_be_saved_as_one_of_the_suites_own(tmp_path: Path) -> None:
    save(tmp_path / "model.zip", **RECTIFIED)
    model = load_sb3_model(tmp_path / "model.zip")
    model.save(tmp_path / "model.npz")
    seen = np.random.default_rng(1).random((7, find_game("card").observation_size), np.float32)
    np.testing.assert_allclose(load_model(tmp_path / "model.npz").logits(seen), model.logits(seen), atol=1e-6)
    save(tmp_path / "tanh.zip")
    with pytest.raises(ModelError, match=r"rectified hidden units.*activation_fn"):
        load_sb3_model(tmp_path / "tanh.zip").save(tmp_path / "tanh.npz")
    assert not (tmp_path / "tanh.npz").exists()


def test_a_model_for_another_game_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "model.zip")
    with pytest.raises(ModelError, match="one for the game card, the games to be played are of board"):
        Sb3Agent(tmp_path / "model.zip").start(find_game("board").variant(2))


# ---------------------------------------------------------------- files that are not such models


def repacked(path: Path, **changed: bytes | None) -> Path:
    """The archive with other content under some names; None leaves the name out."""
    other = path.with_name("other.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            content = changed.get(name.replace(".", "_"), old.read(name))
            if content is not None:
                new.writestr(name, content)
    return other


class Harm:
    """Runs code when somebody unpickles it."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("harm"),)


def with_pickle(path: Path, pickled: bytes) -> Path:
    """The archive with another pickle where the weights are described."""
    with zipfile.ZipFile(path) as archive:
        weights = zipfile.ZipFile(io.BytesIO(archive.read("policy.pth")))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as new:
        for name in weights.namelist():
            new.writestr(name, pickled if name.endswith("data.pkl") else weights.read(name))
    return repacked(path, policy_pth=packed.getvalue())


def test_reading_a_file_runs_no_code_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "model.zip")
    for harmful in (Harm(), {"action_net.weight": Harm()}):
        with pytest.raises(ModelError, match=r"names pathlib\.Path\.touch|names .*getattr|no weights need"):
            load_sb3_model(with_pickle(tmp_path / "model.zip", pickle.dumps(harmful, protocol=2)))
    assert not (tmp_path / "harm").exists()


def test_files_that_are_no_such_model_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    save(path)
    text = tmp_path / "text.zip"
    text.write_text("no archive")
    cut = tmp_path / "cut.zip"
    cut.write_bytes(path.read_bytes()[:5000])
    shutil.copy(path, tmp_path / "kept.zip")
    for wrong in (
        text,
        cut,
        repacked(path, policy_pth=None),
        repacked(path, policy_pth=b"nothing"),
        repacked(path, data=b"{"),
        with_pickle(path, pickle.dumps([1, 2])),
        with_pickle(path, pickle.dumps({"action_net.weight": 3})),
    ):
        with pytest.raises(ModelError, match=r"is not a model saved by stable-baselines3, or is damaged") as caught:
            make_agent(f"learned:{wrong}")
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == (tmp_path / "kept.zip").read_bytes()
    with pytest.raises(ModelError, match=r"there is no file none\.zip"):
        make_agent("learned:none.zip")
    with pytest.raises(ModelError, match="can't read"):
        make_agent(f"learned:{tmp_path.rename(tmp_path.with_suffix('.zip'))}")


def test_networks_that_no_agent_can_be_made_of_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "elu.zip", activation_fn=th.nn.ELU)
    with pytest.raises(ModelError, match="its hidden units are run through ELU, not Tanh or ReLU"):
        load_sb3_model(tmp_path / "elu.zip")
    DQN("MultiInputPolicy", make_singles("siberia/Card-v0", env_kwargs={"render_mode": None}), buffer_size=10).save(
        tmp_path / "dqn.zip"
    )
    with pytest.raises(ModelError, match="not one that an agent can be made of"):
        load_sb3_model(tmp_path / "dqn.zip")
    MaskablePPO("MlpPolicy", "CartPole-v1", device="cpu").save(tmp_path / "pole.zip")
    with pytest.raises(ModelError, match=r"takes 4 numbers and gives 2, which fits the observation .* of no game"):
        load_sb3_model(tmp_path / "pole.zip")


def test_weights_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    learner = save(tmp_path / "model.zip")
    with th.no_grad():
        learner.policy.action_net.bias[3] = float("nan")
    learner.save(tmp_path / "nan.zip")
    with pytest.raises(ModelError, match="weights of its network are not finite numbers"):
        load_sb3_model(tmp_path / "nan.zip")
