"""Models carried over to another observation: they play as before, and what can't be carried over is refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from siberia_agents.greedy import greedy_batch
from siberia_agents.learned import (
    Layers,
    LearnedAgent,
    Model,
    forward,
    head_sizes,
    layout_version,
    load_model,
    observation_layout,
    observation_version,
    read_model_file,
)
from siberia_env import vector
from siberia_env.core import engine
from siberia_env.errors import ModelError
from siberia_env.game import GAMES, block_slices, find_game
from siberia_experiments.training.carry_over import main

WIDTH = 16
STRETCH = 1.5  #: the unit of `scores` was larger by this
EXTRA = {"scores[4]": 0.5, "weather[0]": 1.0, "weather[1]": 0.0}  #: constant numbers that have gone since
CONSTANTS = [f"--constant={number}={value}" for number, value in EXTRA.items()]


def old_layout(game: str) -> list[list[Any]]:
    """Today's layout the other way round, without `margin`, with a longer `scores` of another unit, and a new block."""
    blocks = [block for block in observation_layout(find_game(game)) if block[0] != "margin"]
    for block in blocks:
        if block[0] == "scores":
            block[1:3] = [[5], block[2] * STRETCH]
    return [["weather", [2], 7, False], *reversed(blocks)]


def as_it_was(game: str, observation: NDArray[np.float32]) -> NDArray[np.float32]:
    """Observations of today as the old layout has them."""
    slices = block_slices(find_game(game).blocks)
    weather = np.tile(np.float32([1, 0]), (len(observation), 1))
    half = np.full((len(observation), 1), 0.5, np.float32)
    parts = [weather]
    for name in reversed(slices):
        if name == "scores":
            parts += [observation[:, slices[name]] / np.float32(STRETCH), half]
        elif name != "margin":
            parts.append(observation[:, slices[name]])
    return np.concatenate(parts, axis=1)


def observations(game: str) -> NDArray[np.float32]:
    """What the players on turn see in games that greedy and random players share."""
    env = vector.make(game, 32, 3, seed=11)
    step, seen = env.reset(), []
    plan, chance = np.zeros(32, np.int64), np.zeros(32, np.int64)
    for draw in range(200):
        seen.append(step.observation.copy())
        greedy_batch(env.variant.rulesets, env.states, step.mask, plan)
        engine.sample_batch(step.mask, step.num_legal, np.uint64(5), draw, chance)
        step = env.step(np.where((np.arange(32) + draw) % 4 == 0, chance, plan))
    return np.concatenate(seen)


def save_old(path: Path, game: str, half: bool = False, hold_layout: bool = True) -> Layers:
    """Save a model with random weights that was trained on the old layout; its layers as they are stored."""
    random, layout = np.random.default_rng(3), old_layout(game)
    inputs = sum(int(np.prod(shape)) for _, shape, _, _ in layout)
    heads = head_sizes(find_game(game))
    layers = [
        (random.normal(0, 0.3, (a, b)).astype(np.float32), random.normal(0, 1, b).astype(np.float32))
        for a, b in pairwise((inputs, WIDTH, sum(heads.values())))
    ]
    Model(game, (3,), layers, heads, {"seed": 3}).save(path, half)
    rewrite(
        path,
        observation=layout_version(layout, find_game(game).num_actions),
        layout=layout if hold_layout else None,
    )
    return read_model_file(path, check_version=False).layers


def rewrite(path: Path, **changes: Any) -> None:
    """Change parts of what a saved model says of itself; None takes a part out."""
    with np.load(path) as saved:
        parts = dict(saved)
    told = {**json.loads(str(parts["metadata"])), **changes}
    parts["metadata"] = np.array(json.dumps({name: value for name, value in told.items() if value is not None}))
    np.savez(path, allow_pickle=False, **parts)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("game", GAMES)
def test_a_carried_model_gives_the_outputs_it_gave(
    game: str, half: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.npz", tmp_path / "new.npz"
    layers = save_old(old, game, half)
    assert main([game, str(old), str(new), *CONSTANTS]) == 0
    size = find_game(game).observation_size
    assert capsys.readouterr().out == (
        f"{new}: {size - 8} numbers keep their weights, 4 have rescaled ones, 4 are new, 3 went into the bias\n"
    )
    model = load_model(new)
    seen = observations(game)
    slices = block_slices(find_game(game).blocks)
    seen = seen[(seen[:, slices["scores"]] < 1).all(axis=1)]
    assert len(seen) > 1000
    assert np.ptp(seen[:, slices["scores"]]) > 0.1
    assert np.ptp(seen[:, slices["margin"]]) > 0.2
    before = as_it_was(game, seen)
    tolerance = 2e-2 if half else 1e-4
    outputs = forward(layers, before)
    assert np.ptp(outputs) > 5
    assert np.allclose(model.logits(seen), outputs[:, model.head("policy")], atol=tolerance)
    assert np.allclose(model.margins(seen), outputs[:, model.head("margins")], atol=tolerance)
    assert read_model_file(new).half is half


@pytest.mark.parametrize("game", GAMES)
def test_a_carried_model_plays_and_tells_where_it_comes_from(game: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save_old(path, game)
    with pytest.raises(ModelError, match=r"carry it over \(python -m siberia_experiments.training.carry_over\)"):
        load_model(path)
    assert main([game, str(path), str(path), *CONSTANTS]) == 0
    model = load_model(path)
    version = layout_version(old_layout(game), find_game(game).num_actions)
    assert model.trained == {"seed": 3, "carried_over_from": [version]}
    assert model.num_players == (3,)
    games = vector.make(game, 4, 3)
    LearnedAgent(model).start(games.variant)


@pytest.mark.parametrize("game", GAMES)
def test_saved_models_hold_the_layout_they_were_trained_on(game: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save_old(path, game)
    assert main([game, str(path), str(path), *CONSTANTS]) == 0
    metadata = read_model_file(path).metadata
    blocks = find_game(game).blocks
    assert metadata["layout"] == [[block.name, list(block.shape), block.unit, block.signed] for block in blocks]
    version = layout_version(metadata["layout"], find_game(game).num_actions)
    assert version == metadata["observation"] == observation_version(find_game(game))


def test_a_model_without_a_layout_is_carried_over_by_a_file_of_blocks(tmp_path: Path) -> None:
    path, layout = tmp_path / "model.npz", tmp_path / "layout.json"
    save_old(path, "card")
    assert main(["card", str(path), str(tmp_path / "one.npz"), *CONSTANTS]) == 0
    save_old(path, "card", hold_layout=False)
    layout.write_text(json.dumps(old_layout("card")), encoding="utf-8")
    assert main(["card", str(path), str(tmp_path / "two.npz"), "--layout", str(layout), *CONSTANTS]) == 0
    one, two = load_model(tmp_path / "one.npz"), load_model(tmp_path / "two.npz")
    assert np.array_equal(one.layers[0][0], two.layers[0][0])
    assert np.array_equal(one.layers[0][1], two.layers[0][1])


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({}, ["chess", "OLD", "NEW"], "no game 'chess'"),
        ({}, ["board", "OLD", "NEW"], "OLD is for the game 'card', not for 'board'"),
        ({}, ["card", "NONE", "NEW"], "there is no file NONE"),
        ({}, ["card", "OLD", "NEW"], "OLD: scores[4], weather[0], weather[1] no longer exists; give its value"),
        ({}, ["card", "OLD", "NEW", *CONSTANTS[1:]], "OLD: scores[4] no longer exists; give its value"),
        ({}, ["card", "OLD", "NEW", *CONSTANTS, "--constant=seat[0]=1"], "OLD: seat[0] is given as a constant"),
        ({}, ["card", "OLD", "NEW", "--constant=scores=1"], "constant: 'scores=1'; it is BLOCK[INDEX]=VALUE"),
        ({}, ["card", "OLD", "NEW", "--constant=scores[4]=one"], "constant: 'scores[4]=one'"),
        ({}, ["card", "OLD", "NEW", "--constant=scores[4]=inf"], "constant: 'scores[4]=inf'"),
        ({"layout": None}, ["card", "OLD", "NEW"], "OLD does not hold the layout it was trained on; give it with"),
        ({"layout": [["hand", [15], 4, False]]}, ["card", "OLD", "NEW"], "with the actions of today is version"),
        ({"observation": "0123"}, ["card", "OLD", "NEW"], "OLD was trained on observation version 0123"),
        ({}, ["card", "OLD", "NEW", "--layout", "NONE"], "layout: NONE can't be read"),
        ({}, ["card", "OLD", "NEW", "--layout", "OLD"], "layout: OLD can't be read"),
        ({}, ["card", "OLD", "NONE/NEW", *CONSTANTS], "model: can't write NONE/NEW"),
    ],
)
def test_what_can_not_be_carried_over_is_refused_in_one_line(
    changes: dict[str, Any],
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    save_old(Path("OLD.npz"), "card")
    rewrite(Path("OLD.npz"), **changes)
    Path("OLD.npz").rename("OLD")
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert told.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["OLD"]


def test_networks_of_another_width_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.npz"
    layout = old_layout("card")
    save_old(path, "card")
    longer = [*layout, ["more", [1], 1, False]]
    rewrite(path, layout=longer, observation=layout_version(longer, find_game("card").num_actions))
    assert main(["card", str(path), str(path), *CONSTANTS]) == 2
    assert "its network doesn't have the" in capsys.readouterr().err
