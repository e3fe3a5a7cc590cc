"""A web module under wasmtime: its functions by name, and its memory as numpy arrays."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import wasmtime
from numpy.typing import NDArray

from siberia_agents.search import puct
from siberia_agents.search.agent import CHUNK, SearchAgent, logarithms
from siberia_agents.search.guided import GuidedAgent
from siberia_env.game import Game, States, Variant, find_game
from siberia_experiments.web.build import STATIC
from siberia_experiments.web.entries import ARRAY, Entry, entries_of

MEGABYTES = 96
ALIGNMENT = 64
NODES = 1 << 16


class WebModule:
    """The committed module of a game, running.

    Arrays are made by `array` and `put` and stay where they are: memory does not grow any more.
    """

    def __init__(self, game: str) -> None:
        config = wasmtime.Config()
        config.wasm_simd = True
        engine = wasmtime.Engine(config)
        self.game: Game = find_game(game)
        self.store = wasmtime.Store(engine)
        self.module = wasmtime.Module.from_file(engine, str(STATIC / f"{game}.wasm"))
        self.exports: Any = wasmtime.Instance(self.store, self.module, []).exports(self.store)
        memory = self.exports["memory"]
        memory.grow(self.store, MEGABYTES * 16 - memory.size(self.store))
        address = ctypes.cast(memory.data_ptr(self.store), ctypes.c_void_p).value
        assert address is not None
        size = memory.data_len(self.store)
        self.memory: NDArray[np.uint8] = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
        self.base = address
        self.top = self.exports["reserve"](self.store, 1 << 20)
        self.entries: dict[str, Entry] = {entry.name: entry for entry in entries_of(self.game)}

    def array(self, shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """A new array in the module's memory, all zero."""
        dtype = np.dtype(dtype)
        start = -(-self.top // ALIGNMENT) * ALIGNMENT
        size = int(np.prod(shape)) * dtype.itemsize
        self.top = start + size
        assert self.top <= len(self.memory), "the module's memory is full"
        self.memory[start : self.top] = 0
        return self.memory[start : self.top].view(dtype).reshape(shape)

    def put(self, values: NDArray[Any]) -> NDArray[Any]:
        """A copy of an array in the module's memory."""
        array = self.array(values.shape, values.dtype)
        array.view(np.uint8).reshape(-1)[:] = np.frombuffer(values.tobytes(), np.uint8)
        return array

    def call(self, name: str, **given: Any) -> Any:
        """Call a function with its arguments by name: numbers, and arrays of the module's memory."""
        arguments = []
        for argument, kind in self.entries[name].arguments.items():
            value = given[argument]
            if ARRAY.fullmatch(kind):
                value = value.__array_interface__["data"][0] - self.base
            elif kind == "u64":
                value = int(np.uint64(value).astype(np.int64))
            elif kind == "f64":
                value = float(value)
            else:
                value = int(value)
            arguments.append(value)
        return self.exports[f"wasm_{name}"](self.store, *arguments)


class WebSearch:
    """The arrays of a search in a module, with the options of a Python agent that has been started."""

    def __init__(self, module: WebModule, variant: Variant, agent: SearchAgent) -> None:
        self.module, self.agent, self.trees = module, agent, agent._trees[0]
        game, players = variant.game, variant.num_players
        put, array = module.put, module.array
        self.given: dict[str, Any] = {
            "rulesets": put(variant.rulesets),
            "states": put(np.zeros_like(self.trees.states)),
            "nodes": array(NODES, self.trees.nodes.dtype),
            "num_nodes": NODES,
            "used": array(1, np.int64),
            "paths": put(self.trees.paths),
            "mask": array(game.num_actions, np.int8),
            "sums": array(self.trees.sums.shape, np.float64),
            "decisions": array(1, np.int64),
            "trees": self.trees.trees,
            "players": players,
            "split": agent.split,
            "exploration": agent.exploration,
        }
        if isinstance(agent, GuidedAgent):
            self._guided(agent)
        else:
            self.given |= {
                "logarithms": put(logarithms(1 << 16)),
                "num_logarithms": 1 << 16,
                "playout": agent.playout,
                "returns": agent.returns,
                "scale": agent.scale,
            }

    def _guided(self, agent: GuidedAgent) -> None:
        trees: Any = self.trees
        network, space, shares, margins = trees.networks
        put = self.module.put
        flights = {f"flight_{name}": put(getattr(trees.flights, name)) for name in puct.Flights._fields}
        self.given |= flights | {
            "num_states": len(trees.states),
            "logits": put(trees.logits),
            "num_logits": len(trees.logits),
            "logits_used": put(np.ones(1, np.int64)),
            "numbers": put(network.numbers),
            "num_numbers": len(network.numbers),
            "widths": put(network.widths),
            "num_widths": len(network.widths),
            "units": put(space.units),
            "active": put(space.active),
            "values": put(space.values),
            "width": space.units.shape[1],
            "batch": len(space.units),
            "shares": shares,
            "margins": margins,
            "first_play": agent.first_play,
            "temperature": agent.temperature,
            "worlds": agent.worlds,
        }

    def run(self, sample: States, player: int, seed: int, simulations: int) -> None:
        """Search from a sample, as `Tree.think` does without an end before the budget's."""
        given, call = self.given, self.module.call
        given["states"][0] = sample[0]
        given["sums"][:], given["decisions"][:] = 0, 0
        if "logits_used" in given:
            given["logits_used"][:] = 1
        call("plant", **given)
        done = 0
        name = "grow_guided" if "logits_used" in given else "grow"
        while done < simulations:
            end = min(done + CHUNK, simulations)
            before, done = done, call(name, **given, player=player, seed=seed, begin=done, end=end)
            assert done > before, "too few nodes"

    def same_as_python(self) -> bool:
        """Whether every node, sum and count is that of the Python agent's last search."""
        trees, given = self.trees, self.given
        used = int(trees.used[0])
        return bool(
            used == given["used"][0]
            and trees.nodes[:used].tobytes() == given["nodes"][:used].tobytes()
            and trees.sums.tobytes() == given["sums"].tobytes()
            and trees.decisions[0] == given["decisions"][0]
        )
