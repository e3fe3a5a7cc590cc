"""Plays agents against each other: `siberia evaluate card --agents learned:runs/demo-card/model.npz,greedy`."""

from __future__ import annotations

from collections.abc import Sequence

from siberia_agents.interface import Agent
from siberia_agents.registry import make_agent
from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant
from siberia_experiments.console import counting
from siberia_experiments.match import Results, play_games


def line_up(specs: Sequence[str], num_players: int) -> list[Agent]:
    """Make an agent for every seat. The last agent named takes the remaining seats.

    Raises:
        ConfigurationError: no agent is named, more agents than seats are named, or an agent is unknown.
    """
    if not 1 <= len(specs) <= num_players:
        raise ConfigurationError(f"agents: {len(specs)} named for {num_players} seats; name 1 to {num_players}")
    return [make_agent(spec) for spec in (*specs, *[specs[-1]] * (num_players - len(specs)))]


def alone_against(agent: Agent, spec: str, num_players: int) -> list[Agent]:
    """Return `agent` in the first place and agents that `spec` describes in all other places."""
    return [agent, *(make_agent(spec) for _ in range(num_players - 1))]


def evaluate(variant: Variant, agents: Sequence[Agent], games: int, seed: int = 0) -> Results:
    """Play `games` games with rotating seats behind a progress bar."""
    names = " - ".join(agent.name for agent in agents)
    with counting(names, games) as bar:
        return play_games(variant, agents, games, seed, lambda ended: bar.advance(bar.task_ids[0], ended))
