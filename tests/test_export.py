"""Policies trained in PyTorch by anybody, saved as models of the suite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from siberia_agents.learned import load_model
from siberia_agents.registry import make_agent
from siberia_env.errors import ConfigurationError, ModelError
from siberia_env.game import find_game
from siberia_experiments.training.export import save_policy
from tests.games import GameCase


def test_a_saved_policy_says_what_the_network_says(case: GameCase, tmp_path: Path) -> None:
    game = case.game
    layers = (nn.Linear(game.observation_size, 16), nn.ReLU(), nn.Dropout(), nn.Linear(16, game.num_actions))
    network = nn.Sequential(nn.Flatten(), nn.Sequential(*layers)).eval()
    save_policy(network, tmp_path / "model.npz", case.name, (2, 4))
    seen = np.random.default_rng(1).random((5, game.observation_size), np.float32)
    with torch.no_grad():
        expected = network(torch.from_numpy(seen)).numpy()
    np.testing.assert_allclose(load_model(tmp_path / "model.npz").logits(seen), expected, atol=1e-5)
    agent = make_agent(f"learned:{tmp_path / 'model.npz'}")
    agent.start(game.variant(4))
    with pytest.raises(ModelError, match="players 2, 4, the games to be played have players 3"):
        agent.start(game.variant(3))


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), "the network takes 4 numbers and gives 2; "),
        (nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), "linear layers .* it has Tanh"),
        (nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.Linear(3, 2)), "it has LayerNorm"),
        (nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)), "linear layers with biases and ReLU between"),
        (nn.Sequential(nn.Linear(4, 3), nn.ReLU()), "linear layers with biases and ReLU between"),
        (nn.Linear(4, 3, bias=False), "linear layers with biases"),
        (nn.Identity(), "linear layers with biases"),
    ],
)
def test_other_networks_are_refused(network: nn.Module, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=message):
        save_policy(network, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_another_game_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no game 'chess'"):
        save_policy(nn.Identity(), tmp_path / "model.npz", "chess")


def test_a_count_of_players_that_there_is_not_is_refused(tmp_path: Path) -> None:
    game = find_game("card")
    with pytest.raises(ConfigurationError, match="num_players: 5"):
        save_policy(nn.Linear(game.observation_size, game.num_actions), tmp_path / "model.npz", num_players=(2, 5))
    assert not list(tmp_path.iterdir())
