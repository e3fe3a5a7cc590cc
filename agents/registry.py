"""The suite's agents by name, and the form in which the command line names an agent (a *spec*):

    NAME[:ARGUMENT][:OPTION=VALUE]...            greedy, learned:runs/mine/model.npz:temperature=1
    MODULE:CLASS[:ARGUMENT][:OPTION=VALUE]...    my_agents:Cautious:8, for your own agent

A part that is not OPTION=VALUE continues the part before it, so a path may contain colons. A spec never contains a
comma, because commas separate specs.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from siberia_agents.greedy import GreedyAgent
from siberia_agents.heuristic import HeuristicAgent
from siberia_agents.interface import Agent
from siberia_agents.learned import shipped_file
from siberia_agents.levels import check_level, spec_of_level
from siberia_agents.random_agent import RandomAgent
from siberia_agents.sb3_model import learned_agent
from siberia_agents.search.agent import SearchAgent
from siberia_agents.search.guided import GuidedAgent
from siberia_agents.search.ismcts import PLAYOUTS, RETURNS
from siberia_agents.search.visits import ShowsVisits
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.game import Variant
from siberia_env.spelling import did_you_mean
from siberia_env.view import BatchView, View

T = TypeVar("T")

OPTIONS_FORM = "[:OPTION=VALUE]..."
OWN_FORM = f"MODULE:CLASS[:ARGUMENT]{OPTIONS_FORM}"

TRUTH = {"true": True, "false": False}
KINDS: Mapping[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@dataclass(frozen=True)
class Option:
    """An option of an agent.

    Attributes:
        kind: `int`, `float`, `bool`, `str`, or the words to choose from.
        meaning: what the option does, for the table of options in docs/agents.md.
    """

    kind: type | tuple[str, ...]
    meaning: str

    @property
    def values(self) -> str:
        """The values that the option takes, in words."""
        return " or ".join(self.kind) if isinstance(self.kind, tuple) else KINDS[self.kind]

    def read(self, text: str) -> Any:
        """Return the value that is written as `text`.

        Raises:
            ValueError: this option has no such value.
        """
        value: Any
        if isinstance(self.kind, tuple):
            value = text if text in self.kind else None
        elif self.kind is bool:
            value = TRUTH.get(text)
        else:
            value = self.kind(text)
        if value is None or (self.kind is float and not isfinite(value)):
            raise ValueError(f"{text!r} is not {self.values}")
        return value


@dataclass(frozen=True)
class Entry:
    """An agent of the suite, and what its spec may contain.

    Attributes:
        build: makes the agent from the argument (a string, left out if the spec has none) and the options by name.
            It refuses values that are out of range with a `ConfigurationError`.
        meaning: how the agent plays, for the table of agents in docs/agents.md.
        argument: what the argument is, in capitals; empty if the agent takes none. Every argument is optional.
        options: the options by name. Each is a keyword of `build`, which also gives its default.
        model: which part of a spec names the file of a saved model: `argument`, or the name of an option. Empty if
            the agent needs no model. If it needs one and the spec names none, it plays the one that comes with the
            suite.
    """

    build: Callable[..., Agent]
    meaning: str
    argument: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    model: str = ""

    def default(self, option: str) -> Any:
        """The value that an option has if the spec leaves it out."""
        return inspect.signature(self.build).parameters[option].default


class LevelAgent(Agent):
    """Plays as the agent that has the level in the game at hand.

    Args:
        level: one of `NAMES`.

    Attributes:
        agent: who plays, from the first `start` on.

    Raises:
        ConfigurationError: there is no such level.
    """

    name = "level"
    agent: Agent

    def __init__(self, level: str = "medium") -> None:
        self.level = check_level(level)
        self._spec = ""

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Find who plays, and start it."""
        spec = spec_of_level(self.level, variant)
        if spec != self._spec:
            self.agent, self._spec = make_agent(spec), spec
        self.agent.start(variant, seed)

    def act(self, view: View) -> int:
        """The agent's action."""
        return self.agent.act(view)

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """The agent's action in each game."""
        return self.agent.act_batch(views)

    def act_with_visits(self, view: View) -> tuple[int, NDArray[np.int64] | None]:
        """The agent's action, and the visits of its search if it searches."""
        return self.agent.act_with_visits(view) if isinstance(self.agent, ShowsVisits) else (self.agent.act(view), None)


#: The suite's own agents by name.
AGENTS: dict[str, Entry] = {
    "random": Entry(RandomAgent, "plays a random legal action; all are equally likely"),
    "greedy": Entry(GreedyAgent, "takes the best bargain at hand, by a fixed plan for each game"),
    "heuristic": Entry(HeuristicAgent, "follows a stronger plan for each game, with weights found by playing matches"),
    "learned": Entry(
        learned_agent,
        "plays a trained policy: the saved model FILE (a .zip is one of stable-baselines3), or the model that comes "
        "with the suite for the game and the number of players",
        "FILE",
        {"temperature": Option(float, "0 always plays the likeliest action; higher values play more at random")},
        model="argument",
    ),
    "search": Entry(
        SearchAgent,
        "runs an information-set Monte Carlo tree search; BUDGET is what a decision gets: a number of simulations "
        "(1000 by default), or a time such as 0.5s",
        "BUDGET",
        {
            "exploration": Option(float, "weight of actions that the search has tried little"),
            "playout": Option(PLAYOUTS, "agent that plays simulated games to their end"),
            "returns": Option(RETURNS, "what the search maximises"),
            "scale": Option(float, "margin at which a win counts 73%, in points (here thousands of dollars)"),
            "split": Option(bool, "whether the search tells situations apart by what is shown of secret decisions"),
            "threads": Option(int, "number of threads"),
        },
    ),
    "guided": Entry(
        GuidedAgent,
        "runs the same search as `search`, but with a trained policy as its prior, and the win shares that the "
        "model expects in place of playouts; BUDGET is a number of simulations (200 by default) or a time such as 0.5s",
        "BUDGET",
        {
            "model": Option(str, "file of a saved model; by default the model that comes with the suite"),
            "exploration": Option(float, "weight of the policy's prior"),
            "first_play": Option(float, "how much lower the search values an action that it has not tried yet"),
            "temperature": Option(float, "temperature of the prior; above 1 the prior is flatter"),
            "worlds": Option(int, "number of others' decisions in a simulation for which the network is asked anew"),
            "split": Option(bool, "whether the search tells situations apart by what is shown of secret decisions"),
            "batch": Option(int, "number of simulations under way at the same time, 1 to 64"),
            "threads": Option(int, "number of threads"),
        },
        model="model",
    ),
    "level": Entry(
        LevelAgent,
        "plays as the agent that was measured at a level for the game and the number of players; LEVEL is easy, medium "
        "(the default), hard or best",
        "LEVEL",
    ),
}


def short_form(name: str) -> str:
    """The form in which a spec of the agent `name` begins, such as `learned[:FILE]`."""
    argument = AGENTS[name].argument
    return f"{name}[:{argument}]" if argument else name


def form(name: str) -> str:
    """The form of a spec of the agent `name`, such as `learned[:FILE][:OPTION=VALUE]...`."""
    return short_form(name) + (OPTIONS_FORM if AGENTS[name].options else "")


def spec_with_file(name: str, path: Path) -> str | None:
    """Return the spec of the agent `name` with the file `path` as its argument; None if no spec can say that."""
    # A path that looks like an option is written as ./a=b.
    for text in (str(path), os.path.join(".", path), os.path.abspath(path)):
        spec = f"{name}:{text}"
        try:
            parts = _read_parts(spec, text.split(":"), form(name))
        except ConfigurationError:
            continue
        if parts == ([text], {}) and "," not in spec and spec == spec.strip():
            return spec
    return None


def make_agent(spec: str) -> Agent:
    """Make the agent that `spec` describes.

    The module of the user's own agent is looked for in the current directory too, in every process that calls this.
    So a spec can be sent to a worker process as a string.

    Raises:
        ConfigurationError: there is no such agent, its argument or options are invalid, or its module can't be
            imported or has no such agent.
        ModelError: the saved model can't be used.
    """
    name, *parts = spec.split(":")
    if name in AGENTS:
        return _suite_agent(spec, name, parts)
    if _is_own(name, parts):
        return _own_agent(spec, name, parts[0], parts[1:])
    raise ConfigurationError(f"no agent {name!r}{did_you_mean(name, AGENTS)}; {_the_agents()}")


def agent_files(spec: str, variant: Variant) -> list[Path]:
    """List the files outside the suite's code that decide how the agent of a spec plays.

    When one of them changes, the agent may play differently. For an agent of the suite, the list holds the saved
    model that it plays. For the user's own agent, it holds the file of its module and every file that its argument or
    an option names. This does not make the agent.

    Raises:
        ConfigurationError: there is no such agent, or its module does not exist.
        ModelError: no model for `variant` comes with the suite, and the spec names none.
    """
    name, *parts = spec.split(":")
    if name in AGENTS:
        entry = AGENTS[name]
        if entry.build is LevelAgent:
            argument, _ = _read_parts(spec, parts, form(name))
            level = argument[0] if argument else entry.default("level")
            return agent_files(spec_of_level(level, variant), variant)
        if not entry.model:
            return []
        argument, options = _read_parts(spec, parts, form(name))
        named = argument[0] if entry.model == "argument" and argument else options.get(entry.model)
        return [shipped_file(variant) if named is None else Path(named)]
    if not _is_own(name, parts):
        raise ConfigurationError(f"no agent {name!r}{did_you_mean(name, AGENTS)}; {_the_agents()}")
    argument, options = _read_parts(spec, parts[1:], OWN_FORM)
    return [*_module_file(spec, name), *(Path(text) for text in (*argument, *options.values()) if os.path.isfile(text))]


def is_own(spec: str) -> bool:
    """Whether `spec` names a class of a module, which making the agent would import."""
    name, *parts = spec.split(":")
    return name not in AGENTS and _is_own(name, parts)


def _is_own(name: str, parts: Sequence[str]) -> bool:
    """Whether a spec with these parts names the user's own agent."""
    return bool(parts) and ("." in name or parts[0][:1].isupper())


def _the_agents() -> str:
    return f"the agents are {', '.join(AGENTS)}, or MODULE:CLASS for one of your own"


def _read_parts(spec: str, parts: Sequence[str], spec_form: str) -> tuple[list[str], dict[str, str]]:
    """Split the `parts` of `spec` after its name into the argument, if there is one, and the options."""
    argument: list[str] = []
    options: dict[str, str] = {}
    last = None
    for part in parts:
        option, equals, value = part.partition("=")
        is_option = equals and option.isidentifier()
        if not part or (is_option and not value):
            raise ConfigurationError(f"agent {spec!r}: a part of it is empty; the form is {spec_form}")
        if is_option:
            if option in options:
                raise ConfigurationError(f"agent {spec!r}: {option} is given twice")
            options[option], last = value, option
        elif last is not None:
            options[last] += f":{part}"
        else:
            argument.append(part)
    return [":".join(argument)] if argument else [], options


# ---------------------------------------------------------------- the suite's agents


def _suite_agent(spec: str, name: str, parts: Sequence[str]) -> Agent:
    entry = AGENTS[name]
    argument, given = _read_parts(spec, parts, form(name))
    if argument and not entry.argument:
        raise ConfigurationError(f"agent {name!r} takes no argument; got {argument[0]!r}")
    options = {}
    for option, text in given.items():
        if option not in entry.options:
            there_are = f"its options are {', '.join(entry.options)}" if entry.options else "it has none"
            guess = did_you_mean(option, entry.options)
            raise ConfigurationError(f"agent {name!r} has no option {option!r}{guess}; {there_are}")
        try:
            options[option] = entry.options[option].read(text)
        except ValueError:
            raise ConfigurationError(
                f"agent {name!r}: {option}: {text!r} is not {entry.options[option].values}"
            ) from None
    return entry.build(*argument, **options)


# ---------------------------------------------------------------- the user's own agents


def _own_agent(spec: str, module_name: str, class_name: str, parts: Sequence[str]) -> Agent:
    """Make an agent of the user's own class, which gets the argument and the options as strings."""
    argument, options = _read_parts(spec, parts, OWN_FORM)
    maker = _find_class(spec, _import_module(spec, module_name), class_name)
    signature = inspect.signature(maker)
    try:
        signature.bind(*argument, **options)
    except TypeError as error:
        raise ConfigurationError(f"agent {spec!r}: {error}; it is made by {class_name}{signature}") from None
    try:
        return maker(*argument, **options)
    except SiberiaError:
        raise
    except Exception as error:
        raise ConfigurationError(f"agent {spec!r}: {class_name} can't be made: {_one_line(error)}") from error


def _import_module(spec: str, name: str) -> ModuleType:
    return _looked_for(spec, name, importlib.import_module)


def _module_file(spec: str, name: str) -> list[Path]:
    """Find the file of a module without importing anything, its packages neither; empty if it has no file."""
    found = _looked_for(spec, name, _find_without_import)
    return [Path(found.origin)] if found.has_location and found.origin is not None else []


def _find_without_import(name: str) -> ModuleSpec:
    """Find a module as the import system would, package by package, and run none of their code.

    Raises:
        ModuleNotFoundError: there is no such module, or one of its packages is none.
    """
    parts = name.split(".")
    places: list[str] | None = None
    found: ModuleSpec | None = None
    for depth in range(len(parts)):
        full = ".".join(parts[: depth + 1])
        finders = [finder.find_spec for finder in sys.meta_path if hasattr(finder, "find_spec")]
        found = None
        with suppress(KeyError):  # a folder without __init__.py in another one, whose parent is not imported
            found = next(filter(None, (find(full, places) for find in finders)), None)
        if found is None and places is not None:
            folders = [os.path.join(place, parts[depth]) for place in places]
            if any(map(os.path.isdir, folders)):
                found = ModuleSpec(full, None, is_package=True)
                found.submodule_search_locations = folders
        if found is None:
            raise ModuleNotFoundError(f"No module named {full!r}", name=full)
        places = None if found.submodule_search_locations is None else list(found.submodule_search_locations)
        if places is None and depth < len(parts) - 1:
            raise ModuleNotFoundError(f"{full!r} is not a package", name=".".join(parts[: depth + 2]))
    assert found is not None
    return found


def _looked_for(spec: str, name: str, look: Callable[[str], T]) -> T:
    """Return what `look` finds for the module `name`, which is looked for in the current directory first."""
    if not all(part.isidentifier() for part in name.split(".")) or name.endswith(".py"):
        raise ConfigurationError(
            f"agent {spec!r}: {name!r} is not the name of a module; a file agents/mine.py here is agents.mine"
        )
    here = os.getcwd()
    if here not in sys.path:  # so that the command `siberia` finds what `python -m` would find
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return look(name)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            raise _no_module(spec, missing) from None
        raise ConfigurationError(f"agent {spec!r}: {name} can't be imported: {_one_line(error)}") from error


def _no_module(spec: str, name: str) -> ConfigurationError:
    return ConfigurationError(
        f"agent {spec!r}: there is no module {name!r} in {os.getcwd()} or on Python's path; {_the_agents()}"
    )


def _find_class(spec: str, module: ModuleType, name: str) -> type[Agent]:
    found = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, Agent):
        return found
    if found is not None:
        raise ConfigurationError(
            f"agent {spec!r}: {name} is not a class derived from Agent (from siberia_agents.interface import Agent)"
        )
    agents = [
        key
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Agent) and value is not Agent
    ]
    there_are = f"its agents are {', '.join(agents)}" if agents else "it has no agents"
    raise ConfigurationError(f"agent {spec!r}: module {module.__name__!r} has no class {name!r}; {there_are}")


def _one_line(error: BaseException) -> str:
    """Say what went wrong in code outside the suite, and in which line."""
    told = " ".join(f"{type(error).__name__}: {error}".split())
    own = (__file__, importlib.__file__, "<frozen importlib")
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith(own):
            return f"{told} ({Path(frame.filename).name}, line {frame.lineno})"
    return told
