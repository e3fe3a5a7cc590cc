"""Imitates the agents of a table: `python docs/examples/imitate_from_parquet.py games.parquet imitated.npz 10`."""

import sys
from itertools import pairwise
from pathlib import Path

import torch as th

from siberia_agents.learned import Model
from siberia_experiments.data.parquet import read_decisions


def imitate(table: str, passes: int, width: int = 256) -> Model:
    """A policy that has seen the decisions in `table` so many times."""
    data = read_decisions(table, ["observation", "action_mask", "action"])
    free = data["action_mask"].sum(axis=1) > 1  # a forced decision teaches nothing
    seen, legal, chosen = (th.from_numpy(data[name][free]) for name in ("observation", "action_mask", "action"))
    sizes = (seen.shape[1], width, width, legal.shape[1])
    layers = [th.nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes)]
    network = th.nn.Sequential(layers[0], th.nn.ReLU(), layers[1], th.nn.ReLU(), layers[2])
    optimizer = th.optim.Adam(network.parameters(), lr=1e-3)
    for number in range(passes):
        for rows in th.randperm(len(chosen)).split(512):  # type: ignore[no-untyped-call]
            logits = network(seen[rows]).masked_fill(legal[rows] == 0, -1e9)
            loss = th.nn.functional.cross_entropy(logits, chosen[rows])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        print(f"pass {number + 1}: loss {loss.item():.3f} at its end")
    weights = [(layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy()) for layer in layers]
    players = (data.about["num_players"],)
    return Model(data.about["game"], players, weights, {"policy": legal.shape[1]}, {"table": table, "passes": passes})


if __name__ == "__main__":
    th.manual_seed(0)
    imitate(sys.argv[1], int(sys.argv[3])).save(Path(sys.argv[2]))
