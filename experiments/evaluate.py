"""Plays agents against each other: `siberia evaluate card --agents learned:runs/demo-card/model.npz,greedy`."""

from __future__ import annotations

from collections.abc import Sequence

from siberia_agents.interface import Agent
from siberia_agents.learned import Model, load_model, shipped_model
from siberia_agents.registry import make_agent
from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant
from siberia_experiments.console import counting
from siberia_experiments.match import Results, play_deals, seat_orders

SHIPPED = "shipped"  #: stands for the model that comes with the suite


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


def evaluate(
    variant: Variant,
    agents: Sequence[Agent],
    games: int,
    seed: int = 0,
    named: int | None = None,
    judge: Model | None = None,
) -> Results:
    """Play at least `games` games behind a progress bar, each deal in every seat order.

    Args:
        variant: what is played.
        agents: one a seat.
        games: least number of games.
        seed: decides everything that is random.
        named: how many of the agents are different entrants; the others are further seats of the last of them. By
            default all are different.
        judge: the model that measures luck, if luck is to be measured.
    """
    entrants = [min(place, (named or len(agents)) - 1) for place in range(len(agents))]
    names = " - ".join(agent.name for agent in agents)
    orders = len(seat_orders(entrants))
    with counting(names, -(-games // orders) * orders) as bar:
        return play_deals(
            variant, agents, games, seed, lambda ended: bar.advance(bar.task_ids[0], ended), entrants, judge
        )


def find_judge(text: str, variant: Variant) -> Model:
    """The model that measures luck in games of `variant`: the file `text`, or the suite's own model for `SHIPPED`.

    Raises:
        ModelError: there is no such model, or it can't say what share of the win a seat may expect.
    """
    model = shipped_model(variant) if text == SHIPPED else load_model(text)
    model.check_fits(variant)
    model.head("shares")
    return model
