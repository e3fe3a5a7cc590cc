"""The agents there are, by name."""

from __future__ import annotations

from collections.abc import Callable

from siberia_agents.greedy import GreedyAgent
from siberia_agents.interface import Agent
from siberia_agents.learned import LearnedAgent
from siberia_agents.random_agent import RandomAgent
from siberia_env.errors import ConfigurationError

#: name -> builder; what follows a colon on the command line is given to the builder.
AGENTS: dict[str, Callable[..., Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "learned": LearnedAgent,
}


def make_agent(spec: str) -> Agent:
    """The agent that `spec` describes: a name, or a name and its argument (`learned:runs/demo-card/model.npz`).

    Raises:
        ConfigurationError: there is no agent of that name, or its argument is missing or too much.
        ModelError: a saved model that can't be used.
    """
    name, colon, argument = spec.partition(":")
    if name not in AGENTS:
        raise ConfigurationError(f"no agent {name!r}; the agents are {', '.join(AGENTS)}")
    if name == "learned" and not argument:
        raise ConfigurationError("agent 'learned' needs a model file: learned:PATH")
    if name != "learned" and colon:
        raise ConfigurationError(f"agent {name!r} takes no argument; got {argument!r}")
    return AGENTS[name](argument) if argument else AGENTS[name]()
