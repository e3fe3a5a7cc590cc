"""Rewrites a model for a changed observation, so that it need not be trained again.

`python -m siberia_experiments.training.carry_over card OLD.npz NEW.npz` makes a new file from an old one.

A model file describes the observation that the model was trained on: the name, shape and unit of each block. From
that and from the current blocks, the model's first layer is rewritten:

- The weights of a number that still exists move to its new place. Blocks are matched by name, numbers by their
  index in the block.
- If a block has another unit, its weights are multiplied by the new unit over the old one.
- A new number gets zero weights, so the model ignores it until it is trained further.
- A number that no longer exists must have been constant. Its value, given with `--constant`, goes into the bias.

The rewritten model gives the same outputs as the old one wherever neither observation was clipped. A file in
half precision stays in half precision, and rounds what has changed to three digits.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from siberia_agents.learned import Layers, Model, layout_version, model_of, observation_layout, read_model_file
from siberia_env.errors import ModelError, SiberiaError
from siberia_env.game import Game, find_game

#: One number of an observation: the name of its block, and its index along each axis of the block.
Number = tuple[str, tuple[int, ...]]

_CONSTANT = re.compile(r"(\w+)\[(\d+(?:,\d+)*)\]=(.+)")
_MOST_NAMES = 4  #: most names that an error message lists


@dataclass(frozen=True)
class Place:
    """Where a number lies in the flat vector (`index`), and the quantity that a value of 1 stands for (`unit`)."""

    index: int
    unit: float


@dataclass(frozen=True)
class Changes:
    """How many numbers of an observation were carried over in each way."""

    moved: int
    rescaled: int
    new: int
    constant: int

    def __str__(self) -> str:
        return (
            f"{self.moved} numbers keep their weights, {self.rescaled} have rescaled ones, {self.new} are new, "
            f"{self.constant} went into the bias"
        )


def places(layout: Iterable[Sequence[Any]]) -> dict[Number, Place]:
    """Find where each number of a layout (`observation_layout`) lies, in the order of the vector."""
    found: dict[Number, Place] = {}
    for name, shape, unit, _ in layout:
        for index in np.ndindex(*shape):
            found[name, index] = Place(len(found), unit)
    return found


def name_of(number: Number) -> str:
    """A number in the form that the command line uses: `unseen_counters[20]`, `tiles[3,9]`."""
    block, index = number
    return f"{block}[{','.join(map(str, index))}]"


def carried_layers(
    layers: Layers, before: Mapping[Number, Place], after: Mapping[Number, Place], constants: Mapping[Number, float]
) -> Layers:
    """Rewrite the first layer of a network from the numbers `before` to the numbers `after`.

    Args:
        layers: the network.
        before: the observation that the network was trained on.
        after: the observation that the network will be given.
        constants: for each number of `before` that is not in `after`, the value it always had.
    """
    (weight, bias), *others = layers
    carried = np.zeros((len(after), weight.shape[1]), np.float32)
    for number, place in after.items():
        if number in before:
            old = before[number]
            carried[place.index] = weight[old.index] * np.float32(place.unit / old.unit)
    shifted = bias.copy()
    for number, value in constants.items():
        shifted += weight[before[number].index] * np.float32(value)
    return [(carried, shifted), *others]


def carry_over(
    game: Game, path: Path, layout: Any = None, constants: Mapping[Number, float] | None = None
) -> tuple[Model, bool, Changes]:
    """Rewrite the model at `path` for the observation that `game` has now.

    Args:
        game: the game that the model is for.
        path: the model's file.
        layout: the blocks that the model was trained on (`observation_layout`), if its file does not hold them.
        constants: the value of each number that no longer exists.

    Returns:
        The model, whether its file stores half precision, and what has changed.

    Raises:
        ModelError: the file can't be used, its layout is not known, or the constants are not the ones needed.
    """
    file = read_model_file(path, check_version=False)
    metadata, constants = file.metadata, constants or {}
    if metadata["game"] != game.name:
        raise ModelError(f"model: {path} is for the game {metadata['game']!r}, not for {game.name!r}")
    layout = metadata.get("layout") if layout is None else layout
    if layout is None:
        raise ModelError(f"model: {path} does not hold the layout it was trained on; give it with --layout")
    if layout_version(layout, game.num_actions) != metadata["observation"]:
        raise ModelError(
            f"model: {path} was trained on observation version {metadata['observation']}, and this layout with the "
            f"actions of today is version {layout_version(layout, game.num_actions)}"
        )
    before, after = places(layout), places(observation_layout(game))
    if not file.layers or file.layers[0][0].shape[:1] != (len(before),):
        raise ModelError(f"model: {path} is damaged: its network doesn't have the {len(before)} inputs of its layout")
    gone = before.keys() - after.keys()
    for numbers, what in (
        (gone - constants.keys(), "no longer exists; give its value with --constant"),
        (constants.keys() - gone, "is given as a constant, but is not a number that no longer exists"),
    ):
        if numbers:
            names = sorted(map(name_of, numbers))
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            raise ModelError(f"model: {path}: {', '.join(names[:_MOST_NAMES])}{more} {what}")
    layers = carried_layers(file.layers, before, after, constants)
    trained = metadata["trained"]
    history = [*trained.get("carried_over_from", []), metadata["observation"]]
    described = {**metadata, "trained": {**trained, "carried_over_from": history}}
    kept = [number for number in after if number in before]
    rescaled = sum(after[number].unit != before[number].unit for number in kept)
    changes = Changes(len(kept) - rescaled, rescaled, len(after) - len(kept), len(gone))
    return model_of(path, replace(file, metadata=described, layers=layers)), file.half, changes


def read_layout(path: Path) -> Any:
    """Read the layout in a JSON file.

    Raises:
        ModelError: the file can't be read, or is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"layout: {path} can't be read ({' '.join(str(error).split())})") from error


def read_constant(text: str) -> tuple[Number, float]:
    """Read a constant in the form that the command line uses: `unseen_counters[20]=1`.

    Raises:
        ModelError: `text` is not a constant.
    """
    found = _CONSTANT.fullmatch(text)
    try:
        value = float(found[3]) if found else np.nan
    except ValueError:
        value = np.nan
    if not found or not np.isfinite(value):
        raise ModelError(f"constant: {text!r}; it is BLOCK[INDEX]=VALUE, as in unseen_counters[20]=1")
    return (found[1], tuple(map(int, found[2].split(",")))), value


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite one model, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m siberia_experiments.training.carry_over",
        description="Rewrite a model for the observation that the game has now.",
    )
    parser.add_argument("game", help="name of the game that the model plays")
    parser.add_argument("old", type=Path, help="file of the model to rewrite")
    parser.add_argument("new", type=Path, help="file for the rewritten model; it may be the same file")
    parser.add_argument(
        "--layout",
        type=Path,
        help="JSON file with the observation blocks that the model was trained on, each as [name, shape, unit, "
        "signed]. Only a model whose file does not hold them needs this option.",
    )
    parser.add_argument(
        "--constant",
        action="append",
        default=[],
        metavar="BLOCK[INDEX]=VALUE",
        help="constant value of a number that the observation no longer has. Give this option once for each such "
        "number.",
    )
    options: Any = parser.parse_args(arguments)
    try:
        game = find_game(options.game)
        layout = None if options.layout is None else read_layout(options.layout)
        model, half, changes = carry_over(game, options.old, layout, dict(map(read_constant, options.constant)))
        model.save(options.new, half)
    except SiberiaError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{options.new}: {changes}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
