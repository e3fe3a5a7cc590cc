"""One seat's decisions as a Minari data set, as if the seat had played in the suite's Gymnasium environment.

`minari.load_dataset(NAME)` reads it, and `recover_environment()` makes the environment, with the same agents as
opponents (extra `data`).
"""

from __future__ import annotations

import copy
import shutil
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from siberia_env import __version__
from siberia_env.errors import ConfigurationError, missing_extra
from siberia_env.game import Variant
from siberia_env.gym import SiberiaEnv
from siberia_experiments.data.decisions import PlayedGame

try:
    import minari
    import PIL  # noqa: F401 - Minari stores data with it and does not ask for it
    import pyarrow  # noqa: F401 - likewise
    from minari.data_collector import EpisodeBuffer
    from minari.storage.datasets_root_dir import get_dataset_path
except ImportError as error:
    raise missing_extra("data", "Minari", error.name) from error

STORAGE = "arrow"
ASIDE = ".replaced"  #: ends the name of a data set that is being replaced


def write_minari(
    name: str, variant: Variant, specs: Sequence[str], games: Iterable[PlayedGame], seat: int, force: bool
) -> Path:
    """Write the decisions of `seat` into the Minari data set `name`, whole or not at all; return its folder.

    An episode is a game. Its observations are those of `SiberiaEnv`, with the one at the end of the game as the last,
    and its rewards are those of `reward="win"`. A game in which the seat decides nothing is left out.

    Args:
        name: such as `siberia/card-heuristic-v0`.
        variant: what is played.
        specs: the agents by seat.
        games: the games. They may be played while they are written.
        seat: whose decisions.
        force: whether a data set of this name is replaced.

    Raises:
        ConfigurationError: the seat does not exist, the name is none or is taken, or the folder can't be written.
    """
    if not 0 <= seat < variant.num_players:
        raise ConfigurationError(f"--seat: {seat}; the seats are 0 to {variant.num_players - 1}")
    folder = Path(get_dataset_path()) / name
    try:
        minari.dataset.minari_dataset.parse_dataset_id(name)
    except (ValueError, TypeError):  # the second is Minari's where the version is missing
        raise ConfigurationError(
            f"--out: {name!r} is no name of a Minari data set; it is like siberia/card-heuristic-v0"
        ) from None
    if folder.exists() and not force:
        raise ConfigurationError(
            f"--out: there is a data set {name} in {folder}; give --force to replace it, or another name"
        )
    env = SiberiaEnv(variant.game, variant.num_players, seat=seat, rules=variant.rules_as_json())
    env.spec = _spec(variant, specs, seat)
    try:
        with _replacing(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an author and the like, which nobody asked for
            minari.create_dataset_from_buffers(
                name,
                _episodes(games, seat),
                env=env if env.spec is not None else None,
                eval_env=env.spec,
                observation_space=env.observation_space,
                action_space=env.action_space,
                algorithm_name=specs[seat],
                description=(
                    f"{variant.game.title}, {variant.num_players} players, seat {seat}: {specs[seat]} against "
                    f"{', '.join(_others(specs, seat))}"
                ),
                requirements=[f"siberia-env=={__version__}"],
                data_format=STORAGE,
            )
    except OSError as error:
        raise ConfigurationError(f"--out: can't write {folder}: {error.strerror or error}") from error
    return folder


def _others(specs: Sequence[str], seat: int) -> list[str]:
    """The agents of the other seats, in the order in which they sit after `seat`."""
    return [*specs[seat + 1 :], *specs[:seat]]


def _spec(variant: Variant, specs: Sequence[str], seat: int) -> Any:
    """The Gymnasium spec of the environment, which makes it anew; None for a game without an id."""
    own = [spec for spec in gymnasium.registry.values() if spec.kwargs.get("game") == variant.game.name]
    if not own:
        return None
    spec = copy.deepcopy(max(own, key=lambda known: known.version or 0))
    spec.kwargs.update(num_players=variant.num_players, seat=seat, rules=variant.rules_as_json())
    tables = variant.components.as_json()
    if tables != variant.game.read_components(None).as_json():
        spec.kwargs["components"] = tables
    if set(_others(specs, seat)) != {"random"}:  # the environment's own opponents play at random
        spec.kwargs["opponents"] = _others(specs, seat)
    return spec


def _episodes(games: Iterable[PlayedGame], seat: int) -> Iterator[Any]:
    for game in games:
        own = [choice for choice in game.choices if choice.player == seat]
        if not own:
            continue
        ends = np.arange(1, len(own) + 1) == len(own)
        yield EpisodeBuffer(
            seed=game.seed,
            observations={
                "observation": np.stack([*(choice.observation for choice in own), game.last[seat]]),
                "action_mask": np.stack([*(choice.mask for choice in own), np.zeros_like(own[0].mask)]),
            },
            actions=np.array([choice.action for choice in own], np.int64),
            rewards=list(np.where(ends, game.returns[seat], 0.0)),
            terminations=list(ends),
            truncations=[False] * len(own),
        )


@contextmanager
def _replacing(folder: Path) -> Iterator[None]:
    """Put `folder` aside, if it is there, while a new one is written; bring it back if that fails."""
    aside = folder.with_name(folder.name + ASIDE)
    if folder.exists():
        shutil.rmtree(aside, ignore_errors=True)
        folder.rename(aside)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if aside.exists():
            aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)
