"""Checkpoint files: what goes in comes out, and whatever else a file holds is refused without running any of it."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siberia_env.errors import ModelError
from siberia_experiments.training import checkpoint
from siberia_experiments.training.checkpoint import (
    FORMAT,
    LENGTH,
    TYPES,
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)

DATA = {"options": {"game": "card", "rules": {}}, "iteration": 3, "random": 2**127, "curve": [[1, 0.5], [2, 0.25]]}
ARRAYS = {
    "policy.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "states": np.arange(5, dtype=np.uint8),
    "step": np.array(7.0, np.float32),
    "nothing": np.zeros((0, 3), np.int64),
}


def saved(tmp_path: Path) -> Path:
    path = tmp_path / "checkpoint"
    save_checkpoint(path, DATA, ARRAYS)
    return path


def same(one: Checkpoint, data: Any, arrays: Any) -> bool:
    return (
        one.data == data
        and list(one.arrays) == list(arrays)
        and all(
            one.arrays[name].dtype == array.dtype
            and one.arrays[name].shape == array.shape
            and one.arrays[name].tobytes() == array.tobytes()
            for name, array in arrays.items()
        )
    )


def forged(path: Path, description: bytes, rest: bytes = b"", length: int | None = None) -> Path:
    """A file with a digest that fits, whatever it holds: what somebody can make who means harm."""
    size = len(description) if length is None else length
    body = size.to_bytes(LENGTH, "little") + description + rest
    path.write_bytes(f"{FORMAT} {hashlib.sha256(body).hexdigest()}\n".encode() + body)
    return path


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    loaded = load_checkpoint(saved(tmp_path))
    assert same(loaded, DATA, ARRAYS)
    assert all(array.flags.writeable for array in loaded.arrays.values())


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)
NUMBERS = st.builds(
    lambda kind, shape, seed: (
        np.random.default_rng(seed)
        .integers(0, 2, (*shape, np.dtype(kind).itemsize), dtype=np.uint8)
        .view(kind)
        .reshape(shape)
    ),
    st.sampled_from(TYPES),
    st.lists(st.integers(1, 3), max_size=3),
    st.integers(0, 2**32),
)


@settings(max_examples=50, deadline=None)
@given(data=st.dictionaries(st.text(), PLAIN, max_size=4), arrays=st.dictionaries(st.text(), NUMBERS, max_size=3))
def test_every_checkpoint_comes_back_as_it_was(
    data: Any, arrays: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("checkpoint") / "checkpoint"
    save_checkpoint(path, data, arrays)
    assert same(load_checkpoint(path), data, arrays)


def test_a_flipped_bit_anywhere_is_noticed(tmp_path: Path) -> None:
    path = saved(tmp_path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match=r"damaged|no checkpoint"):
            load_checkpoint(path)


def test_a_checkpoint_that_is_cut_off_is_noticed(tmp_path: Path) -> None:
    path = saved(tmp_path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelError, match=r"damaged|no checkpoint"):
            load_checkpoint(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(ModelError, match="damaged"):
        load_checkpoint(path)


class Planted:
    """Its pickle makes a folder when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_a_planted_checkpoint_runs_nothing(tmp_path: Path) -> None:
    path, ran = tmp_path / "checkpoint", tmp_path / "ran"
    planted = pickle.dumps(Planted(ran))
    for content in (planted, f"{FORMAT} {hashlib.sha256(planted).hexdigest()}\n".encode() + planted):
        path.write_bytes(content)
        with pytest.raises(ModelError):
            load_checkpoint(path)
    forged(path, json.dumps({"data": {}, "arrays": [["a", "|O", [1]]]}).encode(), planted)
    with pytest.raises(ModelError, match="damaged"):
        load_checkpoint(path)
    assert not ran.exists()


@pytest.mark.parametrize(
    "description",
    [
        b"",
        b"[]",
        b"{}",
        b'{"data": [], "arrays": []}',
        b'{"data": {}, "arrays": [["a", "<f4"]]}',
        b'{"data": {}, "arrays": [["a", "<f4", [-1]]]}',
        b'{"data": {}, "arrays": [["a", "<f4", [true]]]}',
        b'{"data": {}, "arrays": [["a", "<f4", [1.0]]]}',
        b'{"data": {}, "arrays": [["a", "<f4", 4]]}',
        b'{"data": {}, "arrays": [["a", ["<f4"], [0]]]}',
        b'{"data": {}, "arrays": [[["a"], "<f4", [0]]]}',
        b'{"data": {}, "arrays": [["a", "<f4", [1099511627776, 1048576]]]}',
        b'{"data": {}, "arrays": [["a", "<f4", [0, 1e400]]]}',
        b'{"data": {}, "arrays": [["a", "<f4", [0, 1180591620717411303424]]]}',
        b'{"data": {}, "arrays": [["a", "<f4", [0]], ["a", "<f4", [0]]]}',
        b'{"data": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b'}, "arrays": []}',
        b'{"data": {"a": ' + b"9" * 10_000 + b'}, "arrays": []}',
        b"\xff\xfe",
    ],
)
def test_a_forged_description_is_refused(tmp_path: Path, description: bytes) -> None:
    with pytest.raises(ModelError, match="damaged: its parts don't fit together"):
        load_checkpoint(forged(tmp_path / "checkpoint", description))


def test_a_forged_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="damaged"):
        load_checkpoint(forged(tmp_path / "checkpoint", b"{}", length=2**63))


def test_an_endless_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "LARGEST", 2**20)
    with pytest.raises(ModelError, match="can't read /dev/zero: it holds more than"):
        load_checkpoint("/dev/zero")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no file"):
        load_checkpoint(tmp_path / "checkpoint")


@pytest.mark.parametrize("value", [{1: 2}, {"a": {1}}, {"a": [b"b"]}, {"a": np.float32(1)}, {"a": Path("b")}])
def test_what_json_would_change_is_refused_at_once(tmp_path: Path, value: Any) -> None:
    with pytest.raises(TypeError, match="checkpoint: data"):
        save_checkpoint(tmp_path / "checkpoint", value, {})
    assert not list(tmp_path.iterdir())


def test_an_array_of_objects_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="array of object"):
        save_checkpoint(tmp_path / "checkpoint", {}, {"a": np.array([object()])})
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_last_checkpoint_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()

    def full(file: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match=r"can't write .*: No space left on device"):
        save_checkpoint(path, {}, ARRAYS)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["checkpoint"]
