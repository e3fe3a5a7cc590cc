"""Decisions in a Parquet file: a row for each decision, in a schema that docs/data.md describes (extra `data`).

`write_games` writes one, `read_decisions` reads one of these files into numpy arrays. pandas, Polars and Hugging Face
`datasets` read them by themselves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env import __version__
from siberia_env.errors import ConfigurationError, missing_extra
from siberia_env.game import Variant, block_slices
from siberia_env.spelling import did_you_mean
from siberia_experiments.data.decisions import COLUMNS, PlayedGame

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise missing_extra("data", "Parquet", error.name) from error

FORMAT = "siberia-decisions/1"
META = b"siberia"  #: the key in the file's metadata under which JSON tells what was played
NAMES = tuple(column.name for column in COLUMNS)
ROWS_AT_ONCE = 8192  #: least rows of a row group; a whole number of games


def schema_of(variant: Variant) -> Any:
    """The Arrow schema of decisions in games of `variant`, without metadata."""
    game, players = variant.game, variant.num_players
    lists = {
        "list of O float32": pa.list_(pa.float32(), game.observation_size),
        "list of A int8": pa.list_(pa.int8(), game.num_actions),
        "list of A int64, or null": pa.list_(pa.int64()),  # some readers can't have null in lists of a fixed length
        "list of P float64": pa.list_(pa.float64(), players),
        "list of P int64": pa.list_(pa.int64(), players),
    }
    plain = {"int64": pa.int64(), "uint64": pa.uint64(), "float64": pa.float64(), "string": pa.string()}
    types = lists | plain | {"bool": pa.bool_()}
    return pa.schema(pa.field(column.name, types[column.kind], nullable=column.name == "visits") for column in COLUMNS)


def told_of(variant: Variant, agents: Sequence[str], games: int, seed: int) -> dict[str, Any]:
    """What the metadata of a file says about its games."""
    return {
        "format": FORMAT,
        "version": __version__,
        "game": variant.game.name,
        "num_players": variant.num_players,
        "rules": variant.rules_as_json(),
        "components": variant.components.as_json(),
        "agents": list(agents),
        "games": games,
        "seed": seed,
        "actions": list(variant.action_names),
        "blocks": {name: [part.start, part.stop] for name, part in block_slices(variant.game.blocks).items()},
    }


def write_games(path: Path, variant: Variant, games: Iterable[PlayedGame], about: Mapping[str, Any]) -> int:
    """Write a row for each decision of `games` into the file `path`, whole or not at all; return how many rows.

    Args:
        path: the file; one that is there is replaced.
        variant: what is played.
        games: the games. They may be played while they are written.
        about: what the metadata says (`told_of`).

    Raises:
        ConfigurationError: the file can't be written.
    """
    schema = schema_of(variant).with_metadata({META: json.dumps(about).encode()})
    target = Path(os.path.realpath(path))
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    rows = 0
    try:
        if target.exists() and not target.is_file():
            raise PermissionError(0, "it is no file that may be overwritten")
        try:
            with half.open("xb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
                waiting: list[PlayedGame] = []
                for game in games:
                    waiting.append(game)
                    rows += len(game.choices)
                    if sum(len(other.choices) for other in waiting) >= ROWS_AT_ONCE:
                        writer.write_table(_table(waiting, schema))
                        waiting = []
                if waiting:
                    writer.write_table(_table(waiting, schema))
            with half.open("rb") as written:
                os.fsync(written.fileno())
            half.replace(target)
        finally:
            half.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(f"--out: can't write {path}: {error.strerror or error}") from error
    return rows


def _table(games: Sequence[PlayedGame], schema: Any) -> Any:
    """The rows of `games` as an Arrow table."""
    pairs = [(game, step, choice) for game in games for step, choice in enumerate(game.choices)]

    def fixed(values: Sequence[Any], dtype: Any) -> Any:
        """A column of lists of one length: from an array, which takes a hundredth of the time of single lists."""
        array = np.asarray(values, dtype)
        return pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])

    columns = {
        "game": [game.number for game, _, _ in pairs],
        "seed": [game.seed for game, _, _ in pairs],
        "step": [step for _, step, _ in pairs],
        "player": [choice.player for _, _, choice in pairs],
        "agent": [game.agents[choice.player] for game, _, choice in pairs],
        "observation": fixed([choice.observation for _, _, choice in pairs], np.float32),
        "action_mask": fixed([choice.mask for _, _, choice in pairs], np.int8),
        "action": [choice.action for _, _, choice in pairs],
        "action_name": [choice.name for _, _, choice in pairs],
        "visits": [choice.visits for _, _, choice in pairs],
        "return": [game.returns[choice.player] for game, _, choice in pairs],
        "score": [game.scores[choice.player] for game, _, choice in pairs],
        "returns": fixed([game.returns for game, _, _ in pairs], np.float64),
        "scores": fixed([game.scores for game, _, _ in pairs], np.int64),
        "hit_limit": [game.hit_limit for game, _, _ in pairs],
    }
    arrays = [
        values if isinstance(values, pa.Array) else pa.array(values, schema.field(name).type)
        for name, values in columns.items()
    ]
    return pa.Table.from_arrays(
        [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)], schema=schema
    )


# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class Decisions:
    """The decisions in a file. N rows.

    Attributes:
        about: what the file says about its games (docs/data.md).
        columns: an array for each column that was asked for, by name: [N], or [N, length] for lists. `visits` is -1 in
            rows without a search.
    """

    about: dict[str, Any]
    columns: dict[str, NDArray[Any]]

    def __len__(self) -> int:
        return min(map(len, self.columns.values()), default=0)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.columns[column]


def read_decisions(path: str | Path, columns: Sequence[str] = NAMES) -> Decisions:
    """Read a file that `siberia record --format parquet` has written.

    Args:
        path: the file.
        columns: those to read; all by default.

    Raises:
        ConfigurationError: the file can't be read, is damaged or no such file, or a column does not exist.
    """
    for name in columns:
        if name not in NAMES:
            raise ConfigurationError(
                f"data: no column {name!r}{did_you_mean(name, NAMES)}; there are {', '.join(NAMES)}"
            )
    try:
        with Path(path).open("rb") as file:
            parquet = pq.ParquetFile(file)
            about = _about(path, parquet)
            table = parquet.read(list(columns))
            read = {name: _array(table[name], name, about) for name in columns}
    except ConfigurationError:
        raise
    except pa.ArrowException as error:
        raise _damaged(path, error) from error
    except OSError as error:
        if error.strerror is None:  # Arrow's own, such as a page that can't be unpacked
            raise _damaged(path, error) from error
        raise ConfigurationError(f"data: can't read {path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, MemoryError) as error:
        raise _damaged(path, error) from error
    return Decisions(about, read)


def _damaged(path: str | Path, error: Exception) -> ConfigurationError:
    why = " ".join(str(error).split())
    return ConfigurationError(f"data: {path} is damaged, or no Parquet file: {why[:200]}")


def _about(path: str | Path, parquet: Any) -> dict[str, Any]:
    """What the file says about its games.

    Raises:
        ConfigurationError: the file is of another format.
    """
    schema = parquet.schema_arrow
    try:
        about = json.loads((schema.metadata or {})[META])
        known = about["format"] == FORMAT
    except (KeyError, ValueError, TypeError):
        raise ConfigurationError(f"data: {path} is a Parquet file, but has no decisions of this suite") from None
    if not known:
        raise ConfigurationError(f"data: {path} has the format {about['format']!r}; this version reads {FORMAT!r}")
    missing = [name for name in NAMES if name not in schema.names]
    if missing:
        raise ConfigurationError(f"data: {path} lacks the columns {', '.join(missing)}")
    return dict(about)


def _array(column: Any, name: str, about: Mapping[str, Any]) -> NDArray[Any]:
    """A column as an array [N] or [N, length]."""
    if name == "visits":
        actions = len(about["actions"])
        rows = np.full((len(column), actions), -1, np.int64)
        searched = column.is_valid().to_numpy()
        rows[searched] = column.combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, actions)
        return rows
    if pa.types.is_fixed_size_list(column.type):
        width = column.type.list_size
        return np.ascontiguousarray(column.combine_chunks().flatten().to_numpy(zero_copy_only=False)).reshape(-1, width)
    return np.asarray(column.to_numpy())
