"""The agents there are, by name, and how one is written on the command line (a *spec*):

    NAME[:ARGUMENT][:OPTION=VALUE]...            greedy, learned:runs/mine/model.npz:temperature=1
    MODULE:CLASS[:ARGUMENT][:OPTION=VALUE]...    my_agents:Cautious:8, for an agent of one's own

A part that is no OPTION=VALUE goes on with what stands before it, so that a path may hold colons. A comma never
belongs to a spec: it stands between two of them.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from siberia_agents.greedy import GreedyAgent
from siberia_agents.heuristic import HeuristicAgent
from siberia_agents.interface import Agent
from siberia_agents.learned import LearnedAgent, shipped_file
from siberia_agents.random_agent import RandomAgent
from siberia_agents.search.agent import SearchAgent
from siberia_agents.search.guided import GuidedAgent
from siberia_agents.search.ismcts import PLAYOUTS, RETURNS
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.game import Variant

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
        meaning: what it does, for the table of agents.
    """

    kind: type | tuple[str, ...]
    meaning: str

    @property
    def values(self) -> str:
        """The values it takes, in words."""
        return " or ".join(self.kind) if isinstance(self.kind, tuple) else KINDS[self.kind]

    def read(self, text: str) -> Any:
        """The value written as `text`.

        Raises:
            ValueError: it is none of this option.
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
    """An agent of the suite, and what its spec may say.

    Attributes:
        build: makes the agent from the argument (a string, left out where none is given) and the options by name;
            refuses values out of range with a `ConfigurationError`.
        meaning: how it plays, for the table of agents.
        argument: what the argument is, in capitals; empty if it takes none. All arguments may be left out.
        options: by name; each is a keyword of `build`, which also has its default.
        model: where a spec names the file of a saved model: `argument`, or an option. Empty if the agent plays without
            one; where it plays with one and none is named, it plays the one that comes with the suite.
    """

    build: Callable[..., Agent]
    meaning: str
    argument: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    model: str = ""

    def default(self, option: str) -> Any:
        """The value of an option that isn't given."""
        return inspect.signature(self.build).parameters[option].default


#: The suite's own agents by name.
AGENTS: dict[str, Entry] = {
    "random": Entry(RandomAgent, "any legal action, each as likely as the others"),
    "greedy": Entry(GreedyAgent, "the best bargain at hand, by a fixed plan for each game"),
    "heuristic": Entry(HeuristicAgent, "a stronger plan for each game, its weights found by matches"),
    "learned": Entry(
        LearnedAgent,
        "a trained policy: the saved model FILE, or else the one that comes with the suite for the game and the "
        "number of players",
        "FILE",
        {"temperature": Option(float, "0 plays the likeliest action; from there on up more and more by chance")},
        model="argument",
    ),
    "search": Entry(
        SearchAgent,
        "information-set Monte Carlo tree search; a decision gets 1000 simulations, or half a second as 0.5s",
        "BUDGET",
        {
            "exploration": Option(float, "the weight of what has been tried little"),
            "playout": Option(PLAYOUTS, "how simulated games are played to their end"),
            "returns": Option(RETURNS, "what is maximised"),
            "scale": Option(float, "of the margin, thousands"),
            "split": Option(bool, "whether what is shown of secret decisions tells situations apart"),
            "threads": Option(int, "that search side by side"),
        },
    ),
    "guided": Entry(
        GuidedAgent,
        "the same search with a trained policy for its prior and its value in place of playouts",
        "BUDGET",
        {
            "model": Option(str, "a saved model, in place of the one that comes with the suite"),
            "exploration": Option(float, "the weight of the policy's prior"),
            "first_play": Option(float, "how much worse an action not tried yet is taken to be"),
            "temperature": Option(float, "above 1 the prior is flatter"),
            "scale": Option(float, "of the margin, thousands"),
            "split": Option(bool, "whether what is shown of secret decisions tells situations apart"),
            "threads": Option(int, "that search side by side"),
        },
        model="model",
    ),
}


def short_form(name: str) -> str:
    """How a spec of the agent called `name` begins: `learned[:FILE]`."""
    argument = AGENTS[name].argument
    return f"{name}[:{argument}]" if argument else name


def form(name: str) -> str:
    """How a spec of the agent called `name` is written: `learned[:FILE][:OPTION=VALUE]...`."""
    return short_form(name) + (OPTIONS_FORM if AGENTS[name].options else "")


def spec_with_file(name: str, path: Path) -> str | None:
    """The spec of the agent called `name` with the file `path` for its argument; None if no spec can say that."""
    for text in (str(path), os.path.join(".", path), os.path.abspath(path)):  # one that looks like an option: ./a=b
        spec = f"{name}:{text}"
        try:
            parts = _read_parts(spec, text.split(":"), form(name))
        except ConfigurationError:
            continue
        if parts == ([text], {}) and "," not in spec and spec == spec.strip():
            return spec
    return None


def make_agent(spec: str) -> Agent:
    """The agent that `spec` describes.

    The module of an agent of one's own is looked for in the current directory too, in whatever process this is
    called: a spec may travel to a worker process as the string that it is.

    Raises:
        ConfigurationError: there is no such agent, its argument or options are not as it takes them, or its module
            can't be imported or has no such agent.
        ModelError: a saved model that can't be used.
    """
    name, *parts = spec.split(":")
    if name in AGENTS:
        return _suite_agent(spec, name, parts)
    if _is_own(name, parts):
        return _own_agent(spec, name, parts[0], parts[1:])
    raise ConfigurationError(f"no agent {name!r}; {_the_agents()}")


def agent_files(spec: str, variant: Variant) -> list[Path]:
    """The files outside the suite's code that decide how the agent of a spec plays: when they change, it may change.

    Of an agent of the suite, that is the saved model it plays; of one's own, the file of its module, and every file
    that its argument or an option names. The agent is not made.

    Raises:
        ConfigurationError: there is no such agent, or its module is not there.
        ModelError: no model for `variant` comes with the suite, and the spec names none.
    """
    name, *parts = spec.split(":")
    if name in AGENTS:
        entry = AGENTS[name]
        if not entry.model:
            return []
        argument, options = _read_parts(spec, parts, form(name))
        named = argument[0] if entry.model == "argument" and argument else options.get(entry.model)
        return [shipped_file(variant) if named is None else Path(named)]
    if not _is_own(name, parts):
        raise ConfigurationError(f"no agent {name!r}; {_the_agents()}")
    argument, options = _read_parts(spec, parts[1:], OWN_FORM)
    return [*_module_file(spec, name), *(Path(text) for text in (*argument, *options.values()) if os.path.isfile(text))]


def _is_own(name: str, parts: Sequence[str]) -> bool:
    """Whether a spec of these parts is that of an agent of one's own."""
    return bool(parts) and ("." in name or parts[0][:1].isupper())


def _the_agents() -> str:
    return f"the agents are {', '.join(AGENTS)}, or MODULE:CLASS for one of your own"


def _read_parts(spec: str, parts: Sequence[str], spec_form: str) -> tuple[list[str], dict[str, str]]:
    """The argument, if there is one, and the options among the `parts` of `spec` after its name."""
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
            raise ConfigurationError(f"agent {name!r} has no option {option!r}; {there_are}")
        try:
            options[option] = entry.options[option].read(text)
        except ValueError:
            raise ConfigurationError(
                f"agent {name!r}: {option}: {text!r} is not {entry.options[option].values}"
            ) from None
    return entry.build(*argument, **options)


# ---------------------------------------------------------------- agents of one's own


def _own_agent(spec: str, module_name: str, class_name: str, parts: Sequence[str]) -> Agent:
    """An object of a class of one's own; argument and options are given to it as strings."""
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
    """The file of a module, which is not imported (the packages that it lies in are); none if it has none."""
    found = _looked_for(spec, name, importlib.util.find_spec)
    if found is None:
        raise _no_module(spec, name)
    return [Path(found.origin)] if found.has_location and found.origin is not None else []


def _looked_for(spec: str, name: str, look: Callable[[str], T]) -> T:
    """What `look` gives for the module `name`, in the current directory first."""
    if not all(part.isidentifier() for part in name.split(".")) or name.endswith(".py"):
        raise ConfigurationError(
            f"agent {spec!r}: {name!r} is not the name of a module; a file agents/mine.py here is agents.mine"
        )
    here = os.getcwd()
    if here not in sys.path:  # the command `siberia` finds what `python -m` would find
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
    """What went wrong in somebody else's code, and in which line of it."""
    told = " ".join(f"{type(error).__name__}: {error}".split())
    own = (__file__, importlib.__file__, "<frozen importlib")
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith(own):
            return f"{told} ({Path(frame.filename).name}, line {frame.lineno})"
    return told
