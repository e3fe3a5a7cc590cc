"""`make data-check`: three libraries read the same table, and a policy learnt from one beats `greedy` (minutes)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from siberia_agents.registry import make_agent
from siberia_env.game import GAMES, find_game
from siberia_experiments.cli import main as siberia
from siberia_experiments.data.decisions import COLUMNS
from siberia_experiments.data.parquet import read_decisions
from siberia_experiments.evaluate import line_up
from siberia_experiments.match import play_deals
from tests.processes import ROOT, import_path

GAMES_TO_LEARN_FROM, PASSES, GAMES_TO_MEASURE = 800, 10, 2000


def check_readers(path: Path) -> None:
    """Compare every column of the table as each library reads it."""
    import datasets
    import polars

    frame = pd.read_parquet(path)
    columns = {
        "pandas": {name: frame[name].tolist() for name in frame.columns},
        "Polars": polars.read_parquet(path).to_dict(as_series=False),
        "datasets": datasets.load_dataset(
            "parquet", data_files=str(path), split="train", cache_dir=str(path.parent / "cache")
        ).to_dict(),
    }
    ours = read_decisions(path)
    for library, read in columns.items():
        assert list(read) == [column.name for column in COLUMNS], library
        for name, values in read.items():
            own = ours[name]
            if name == "visits":
                searched = own.max(axis=1) >= 0
                assert [value is not None for value in values] == searched.tolist(), library
                values, own = [value for value in values if value is not None], own[searched]
            assert np.array_equal(np.array([np.asarray(value) for value in values]), own), (library, name)
        print(f"{path.name}: {library} reads {len(ours)} rows of {len(read)} columns, equal to what was written")


def check_learning(game: str, folder: Path) -> None:
    """Learn from `heuristic` by the example of the docs, and let the policy play."""
    table, model = folder / f"{game}.parquet", folder / f"{game}.npz"
    line = ["record", game, "--agents", "heuristic", "--games", str(GAMES_TO_LEARN_FROM), "--seed", "1"]
    started = time.monotonic()
    assert siberia([*line, "--out", str(table)]) == 0
    print(f"{game}: written in {time.monotonic() - started:.0f} s, {table.stat().st_size / 1e6:.1f} MB")
    started = time.monotonic()
    example = [sys.executable, str(ROOT / "docs/examples/imitate_from_parquet.py"), str(table), str(model), str(PASSES)]
    subprocess.run(example, check=True, env={**os.environ, "PYTHONPATH": import_path()})
    print(f"{game}: learnt in {time.monotonic() - started:.0f} s")
    variant = find_game(game).variant(2)
    for other in ("random", "greedy", "heuristic"):
        agents = [*line_up([f"learned:{model}"], 2)[:1], make_agent(other)]
        rate = play_deals(variant, agents, GAMES_TO_MEASURE, 5).win_rate(0)
        print(
            f"{game}: the imitator wins {100 * rate.value:.1f}% [{100 * rate.low:.1f}, {100 * rate.high:.1f}] "
            f"against {other}, {GAMES_TO_MEASURE} games"
        )
        assert other == "heuristic" or rate.low > 0.5


def main(parts: Sequence[str]) -> None:
    """Check the `readers` or the `learning`, as `parts` say, in a folder that is removed at the end."""
    folder = Path(tempfile.mkdtemp())
    try:
        for game in GAMES if "readers" in parts else ():
            path = folder / f"read-{game}.parquet"
            line = ["record", game, "--players", "3", "--agents", "search:20,greedy,random", "--games", "5"]
            assert siberia([*line, "--out", str(path)]) == 0
            check_readers(path)
        if "learning" in parts:
            check_learning("card", folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:] or ["readers", "learning"])
