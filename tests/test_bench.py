"""The measuring functions measure something; how much is for `siberia bench` to show."""

from __future__ import annotations

import os
from functools import partial
from math import isfinite
from typing import Any

import pytest
import torch as th

from siberia_env.card.game import GAME
from siberia_experiments import bench
from siberia_experiments.display import console
from tests.test_train import shrink

SECONDS = 0.01


def sane(number: float) -> bool:
    """Whether it may be a rate or a duration."""
    return isfinite(number) and number > 0


@pytest.mark.parametrize("observations", [True, False])
@pytest.mark.parametrize("games", [1, 256])
def test_batch_rates(observations: bool, games: int) -> None:
    rate = bench.batch_rate(GAME, observations, games)
    assert sane(rate(SECONDS))
    assert sane(rate(0.0))


def test_the_pettingzoo_rate() -> None:
    assert sane(bench.aec_rate(GAME)(SECONDS))


def test_copies_and_memory() -> None:
    assert sane(bench.copy_nanoseconds(GAME, 1000))
    megabytes = bench.batch_megabytes(GAME, 1000)
    assert 1000 * GAME.state_dtype.itemsize / 1e6 < megabytes < 1.5
    assert bench.batch_megabytes(GAME, 2000) == pytest.approx(2 * megabytes)


def test_the_start_is_measured_cold_then_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the program runs in this process, which has its kernels compiled."""
    folders = []

    def run(command: list[str], env: dict[str, str], **options: Any) -> None:
        assert options["check"]
        folders.append(env["NUMBA_CACHE_DIR"])
        assert os.path.isdir(folders[-1])
        exec(command[-1], {})

    monkeypatch.setattr("subprocess.run", run)
    cold, warm = bench.start_seconds(GAME)
    assert sane(cold)
    assert sane(warm)
    assert folders[0] == folders[1] != os.environ.get("NUMBA_CACHE_DIR")


def test_the_games_part_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = th.get_num_threads()
    small: dict[str, Any] = {"num_envs": 8, "steps": 8, "batch_size": 32, "network": (4,), "threads": 1}
    shrink(monkeypatch, **small)
    monkeypatch.setattr(bench, "TRAINING_DECISIONS", 64)
    share = bench.training_share(GAME)
    th.set_num_threads(threads)
    assert share is not None
    assert 0 < share < 1


def test_other_libraries_are_measured_where_they_are_installed() -> None:
    for peer, needs in (
        (bench.openspiel_rollouts, ("pyspiel",)),
        (bench.openspiel_python, ("pyspiel",)),
        (bench.texas_holdem, ("rlcard", "pettingzoo.classic.texas_holdem_v4")),
    ):
        installed = all(bench._import(name) is not None for name in needs)
        rate = peer()
        assert (rate is not None) == installed
        if rate is not None:
            assert sane(rate(SECONDS))


def test_absent_libraries_are_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_import", lambda name: None)
    monkeypatch.setattr(bench, "start_seconds", lambda game: (12.25, 1.25))
    monkeypatch.setattr(bench, "training_share", lambda game: None)
    monkeypatch.setattr(bench, "copy_nanoseconds", partial(bench.copy_nanoseconds, rounds=1000))
    monkeypatch.setattr(bench, "LARGE_BATCH", 2048)
    assert bench.openspiel_rollouts() is bench.openspiel_python() is bench.texas_holdem() is None
    with console.capture() as shown:
        bench.bench(GAME, SECONDS, 1)
    text = shown.get()
    assert text.count("not installed") == 5
    for fact in ("batch, masks only", "a state, bytes", "import to first step", "12.2", "1.25"):
        assert fact in text
    assert "MaskablePPO" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_ratios_are_ours_by_theirs() -> None:
    rows = [
        bench.Row("batch, masks only", 19e6, "hearts, Python", 8e6, 1.8),
        bench.Row("alone", 1e6, "nobody", None, 12.0),
    ]
    with console.capture() as shown:
        console.print(bench._table(GAME, rows))
    text = shown.get()
    (row,) = [line for line in text.splitlines() if "masks only" in line]
    assert row.split()[-4:] == ["Python", "8,000,000", "2.4", "1.8"]
    assert text.count("not installed") == 1
    assert max(map(len, text.splitlines())) <= 80
