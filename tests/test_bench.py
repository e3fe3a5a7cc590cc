"""The measuring functions measure something; how much is for `siberia bench` to show."""

from __future__ import annotations

import os
from functools import partial
from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch as th

from siberia_agents import learned
from siberia_agents.search.agent import SearchResult
from siberia_env.game import GAMES, Game, find_game
from siberia_env.installation import install_command
from siberia_env.view import View
from siberia_experiments import bench
from siberia_experiments.console import console
from tests.test_agents import small_model
from tests.test_train import shrink

SECONDS = 0.01

each_game = pytest.mark.parametrize("game", [find_game(name) for name in GAMES], ids=GAMES)


def sane(number: float) -> bool:
    """Whether it may be a rate or a duration."""
    return isfinite(number) and number > 0


@each_game
@pytest.mark.parametrize("observations", [True, False])
@pytest.mark.parametrize("games", [1, 256])
def test_batch_rates(game: Game, observations: bool, games: int) -> None:
    rate = bench.batch_rate(game, observations, games)
    assert sane(rate(SECONDS))
    assert sane(rate(0.0))


@each_game
def test_the_pettingzoo_rate(game: Game) -> None:
    assert sane(bench.aec_rate(game)(SECONDS))


@each_game
def test_the_rates_of_one_seats_games(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "BATCH", 16)
    monkeypatch.setattr(bench, "SYNCHRONOUS", 2)
    assert all(map(sane, bench.gym_vector_rates(game, SECONDS, 2)))


@each_game
def test_searches_are_counted_by_simulated_decision(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SIMULATIONS", 20)
    results = []

    class Noted(bench.SearchAgent):
        def search(self, view: View) -> SearchResult:
            results.append(super().search(view))
            return results[-1]

    monkeypatch.setattr(bench, "SearchAgent", Noted)
    rate = bench.search_rate(game)
    assert len(results) == 1  # what is compiled or allocated in the first one is not measured
    clock = iter(range(100))
    monkeypatch.setattr(bench, "time", SimpleNamespace(perf_counter=lambda: float(next(clock))))
    counted = rate(3.0)
    simulations, decisions = (
        sum(getattr(result, name) for result in results[1:]) for name in ("simulations", "decisions")
    )
    assert len(results) == 3  # until the clock, asked at 1, 2 and 3 seconds, says that it is enough
    assert simulations == 2 * 20
    assert counted == decisions / 3
    assert decisions > 10 * simulations
    assert len(results[1].scores[0]) == bench.PLAYERS
    assert results[1].visits.tolist() != results[2].visits.tolist() or results[1].decisions != results[2].decisions


@each_game
def test_guided_searches_are_counted_by_simulation(game: Game) -> None:
    for players in (2, bench.PLAYERS):
        assert sane(bench.guided_rate(game, players)(SECONDS))


@each_game
def test_the_model_that_guides_is_the_suites_where_there_is_one(
    game: Game, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(learned, "SHIPPED", tmp_path)
    variant = game.variant(bench.PLAYERS)
    random_one = bench.guide(variant)
    assert [weight.shape[1] for weight, _ in random_one.layers] == [*bench.NETWORK, game.num_actions + 10]
    random_one.check_fits(variant)
    shipped = small_model(bench.PLAYERS, game=game.name)
    shipped.save(tmp_path / f"{game.name}_{bench.PLAYERS}.npz")
    assert np.array_equal(bench.guide(variant).layers[0][0], shipped.layers[0][0])


@each_game
def test_copies_and_memory(game: Game) -> None:
    assert sane(bench.copy_nanoseconds(game, 1000))
    megabytes = bench.batch_megabytes(game, 1000)
    states_and_masks = 1000 * (game.state_dtype.itemsize + game.num_actions) / 1e6
    assert states_and_masks < megabytes < states_and_masks + 0.2
    assert bench.batch_megabytes(game, 2000) == pytest.approx(2 * megabytes)


@each_game
def test_the_start_is_measured_cold_then_warm(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the program runs in this process, which has its kernels compiled."""
    folders = []

    def run(command: list[str], env: dict[str, str], **options: Any) -> None:
        assert options["check"]
        folders.append(env["NUMBA_CACHE_DIR"])
        assert os.path.isdir(folders[-1])
        exec(command[-1], {})

    monkeypatch.setattr("subprocess.run", run)
    cold, warm = bench.start_seconds(game)
    assert sane(cold)
    assert sane(warm)
    assert folders[0] == folders[1] != os.environ.get("NUMBA_CACHE_DIR")


@each_game
def test_our_training_is_timed_beside_that_of_stable_baselines3(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)
    monkeypatch.setattr(th, "set_num_threads", lambda threads: None)
    rates = bench.training_rates(game, 64)
    assert rates is not None
    assert all(map(sane, rates))


def test_other_libraries_are_measured_where_they_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "PEER_SIMULATIONS", 50)
    for peer, needs in (
        (bench.openspiel_rollouts, ("pyspiel",)),
        (bench.openspiel_python, ("pyspiel",)),
        (bench.openspiel_search, ("pyspiel",)),
        (bench.texas_holdem, ("rlcard", "pettingzoo.classic.texas_holdem_v4")),
        (bench.catanatron, ("catanatron",)),
        (bench.fastcatan, ("fastcatan",)),
    ):
        installed = all(bench._import(name) is not None for name in needs)
        rate = peer()
        assert (rate is not None) == installed
        if rate is not None:
            assert sane(rate(SECONDS))


class CatanOfThree:
    """Stands in for Catanatron, which few machines have: a game is won by the third decision."""

    Color = ("red", "blue", "orange", "white")
    players: ClassVar[list[str]] = []

    def __init__(self, players: list[str], seed: int) -> None:
        assert seed > 0  # 0 asks for a random one
        CatanOfThree.players = players
        self.decisions = 0

    @staticmethod
    def RandomPlayer(color: str) -> str:
        return color

    def winning_color(self) -> str | None:
        return None if self.decisions < 3 else "red"

    def play_tick(self) -> None:
        assert self.decisions < 3
        self.decisions += 1


def test_games_of_catan_are_counted_by_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(CatanOfThree, "Game", CatanOfThree, raising=False)
    monkeypatch.setattr(bench, "_import", lambda name: CatanOfThree)
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    rate = bench.catanatron()
    assert rate is not None
    assert rate(3.0) == 2 * 3 / 3  # two games until the clock, asked at 1, 2 and 3 seconds, says that it is enough
    assert len(CatanOfThree.players) == bench.PLAYERS
    monkeypatch.setattr(bench, "CATAN_DECISIONS", 2)
    assert rate(3.0) == 2 * 2 / 3


class BatchOfCatan:
    """Stands in for fastcatan, which needs Python 3.12, with its arrays and calls; legal actions are any."""

    MASK_WORDS = 5
    played: ClassVar[list[int]] = []

    def __init__(self, number: int, seed: int) -> None:
        assert seed > 0
        self.legal = np.zeros((number, 64 * self.MASK_WORDS), np.uint8)
        self.random = np.random.default_rng(seed)

    def reset(self) -> None:
        self.legal[:] = self.random.random(self.legal.shape) < 0.02
        self.legal[np.arange(len(self.legal)), self.random.integers(64 * self.MASK_WORDS, size=len(self.legal))] = 1

    def write_masks(self, masks: Any) -> None:
        assert (masks.shape, masks.dtype) == ((len(self.legal), self.MASK_WORDS), np.uint64)
        masks[:] = np.packbits(self.legal, axis=1, bitorder="little").view(np.uint64)

    def step_autoreset(self, actions: Any, ended: Any) -> None:
        assert (actions.dtype, ended.dtype, len(ended)) == (np.uint32, np.uint8, len(self.legal))
        assert self.legal[np.arange(len(actions)), actions].all()
        BatchOfCatan.played.append(len(actions))
        self.reset()


def test_a_batch_of_catan_is_counted_by_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in refuses an action that is not in the mask, wherever in the mask the actions are."""
    clock = iter(range(100))
    monkeypatch.setattr(bench, "_import", lambda name: SimpleNamespace(BatchedEnv=BatchOfCatan, MASK_WORDS=5))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    BatchOfCatan.played.clear()
    rate = bench.fastcatan()
    assert rate is not None
    assert len(BatchOfCatan.played) == 1  # what is compiled or allocated in the first call is not measured
    assert rate(3.0) == 2 * bench.BATCH / 3
    assert BatchOfCatan.played == [bench.BATCH] * 3


def test_actions_are_drawn_evenly_from_masks_of_bits() -> None:
    masks = np.zeros((20_000, 3), np.uint64)
    legal = [0, 5, 63, 64, 127, 128, 191]
    for action in legal:
        masks[:, action // 64] |= np.uint64(1) << np.uint64(action % 64)
    actions = np.zeros(len(masks), np.uint32)
    bench.sample_bits(masks, np.uint64(7), 3, actions)
    found, counts = np.unique(actions, return_counts=True)
    assert found.tolist() == legal
    assert abs(counts - len(masks) / len(legal)).max() < 5 * np.sqrt(len(masks) / len(legal))


@each_game
def test_absent_libraries_are_named_as_such(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_import", lambda name: None)
    monkeypatch.setattr(bench, "start_seconds", lambda game: (12.25, 1.25))
    monkeypatch.setattr(bench, "training_rates", lambda game: None)
    monkeypatch.setattr(bench, "copy_nanoseconds", partial(bench.copy_nanoseconds, rounds=1000))
    monkeypatch.setattr(bench, "LARGE_BATCH", 2048)
    monkeypatch.setattr(bench, "SIMULATIONS", 50)
    assert bench.openspiel_rollouts() is bench.openspiel_python() is bench.texas_holdem() is bench.catanatron() is None
    assert bench.openspiel_search() is bench.fastcatan() is None
    with console.capture() as shown:
        bench.bench(game, SECONDS, 1)
    text = shown.get()
    assert text.count("not installed") == {"card": 7, "board": 8}[game.name]
    for fact in (
        "batch, masks only",
        "search",
        "a state, bytes",
        bench.GUIDED.format(2),
        bench.GUIDED.format(4),
        "import to first step",
        "12.2",
        "1.25",
    ):
        assert fact in text
    assert "MaskablePPO" not in text
    *lines, install = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert install == install_command("bench")


def test_ratios_are_ours_by_theirs() -> None:
    rows = [
        bench.Row("batch, masks only", 19e6, "hearts, Python", 8e6, 1.8),
        bench.Row("alone", 1e6, "nobody", None, 12.0),
    ]
    with console.capture() as shown:
        console.print(bench._table(find_game("card"), rows))
    text = shown.get()
    (row,) = [line for line in text.splitlines() if "masks only" in line]
    assert row.split()[-4:] == ["Python", "8,000,000", "2.4", "1.8"]
    assert text.count("not installed") == 1
    assert max(map(len, text.splitlines())) <= 80


def test_a_goal_may_be_a_rate_of_ours() -> None:
    rows = [bench.Row("search", 6.5e6, "hearts, C++ ISMCTS", 2e6, None, 5e6)]
    with console.capture() as shown:
        console.print(bench._table(find_game("card"), rows))
    text = shown.get()
    (row,) = [line for line in text.splitlines() if "search  " in line]
    assert row.split()[-4:] == ["2,000,000", "3.2", "5", "M"]
    assert max(map(len, text.splitlines())) <= 80
    assert "decision that is simulated counts" in " ".join(text.split())


def test_every_game_has_goals() -> None:
    assert set(bench.LIMITS) == set(GAMES)
    for comparison in bench.comparisons():
        assert set(comparison.goals) <= set(GAMES)
    for game in GAMES:
        goals = {comparison.peer_name: comparison.goals.get(game) for comparison in bench.comparisons()}
        assert goals["hearts, C++"]
        assert goals["Catan, C++"]
        assert goals["texas_holdem"]
    floors = {comparison.what: comparison.floors for comparison in bench.comparisons() if comparison.floors}
    assert floors == {"search": {"card": 5e6}}
