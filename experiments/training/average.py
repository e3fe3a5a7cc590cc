"""A model whose weights are the mean of other models', which may play better than each of them.

That holds for models that one run began and others took further (Wortsman and others, "Model soups: averaging weights
of multiple fine-tuned models improves accuracy without increasing inference time", 2022). Networks that were trained
apart have nothing in common, and their mean plays badly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from siberia_agents.learned import Model
from siberia_env.errors import ConfigurationError, ModelError


def average(models: Sequence[Model], weights: Sequence[float]) -> Model:
    """The weighted mean of `models`, one or more of the same shape for the same game and player counts.

    What the last model tells of its training goes with it; `averaged` in it has the seed and weight of each run that
    the models come from, those of models that are means themselves included.

    Args:
        models: the models.
        weights: how much of each, above 0; they are divided by their sum.

    Raises:
        ConfigurationError: no models, not a weight for each, or a weight that is not above 0.
        ModelError: the models are not alike.
    """
    if not models or len(models) != len(weights) or not all(0 < weight < math.inf for weight in weights):
        raise ConfigurationError(f"average: weights {list(weights)} for {len(models)} models; one above 0 for each")
    kinds = [(model.game, model.num_players, model.heads, [w.shape for w, _ in model.layers]) for model in models]
    if any(kind != kinds[0] for kind in kinds):
        raise ModelError("average: the models differ in game, player counts, heads or layers")
    parts = np.array(weights, np.float64) / max(weights)  # so that their sum is finite
    parts /= parts.sum()

    def mean(layer: int, place: int) -> np.ndarray:
        together = sum(part * model.layers[layer][place] for part, model in zip(parts, models, strict=True))
        return np.asarray(together, np.float32)

    weight_of: dict[Any, float] = {}
    for part, model in zip(parts, models, strict=True):
        alone = [{"seed": model.trained.get("options", {}).get("seed"), "weight": 1.0}]
        for run in model.trained.get("averaged", alone):
            weight_of[run["seed"]] = weight_of.get(run["seed"], 0.0) + float(part) * run["weight"]
    told = [{"seed": seed, "weight": weight} for seed, weight in weight_of.items()]
    layers = [(mean(layer, 0), mean(layer, 1)) for layer in range(len(models[0].layers))]
    return replace(models[-1], layers=layers, trained={**models[-1].trained, "averaged": told})


def read_weighted(text: str) -> tuple[Path, float]:
    """`FILE=WEIGHT`, or `FILE` alone, which weighs 1.

    Raises:
        ConfigurationError: the weight is no number above 0.
    """
    name, equals, weight = text.rpartition("=")
    if not equals:
        return Path(text), 1.0
    try:
        number = float(weight)
    except ValueError:
        number = math.nan
    if not name or not 0 < number < math.inf:
        raise ConfigurationError(f"average: {text!r}; name a model, or MODEL=WEIGHT with a weight above 0, such as 0.4")
    return Path(name), number
