"""What the page shall do when it opens, in the form of its own saves (`web/src/play/saves.ts`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from siberia_agents.registry import AGENTS
from siberia_env.game import Variant

MACHINE = "machine:"  #: in front of an agent that plays on the machine, not in the browser
IN_BROWSER = ("random", "greedy", "heuristic", "learned", "search", "guided", "level")


def game_plan(variant: Variant, seed: int, agents: Sequence[str], person: str) -> dict[str, Any]:
    """The plan of a game that begins at once.

    Args:
        variant: what is played.
        seed: decides every chance outcome.
        agents: who plays, one spec a seat, `person` among them.
        person: the spec that stands for the person.
    """
    box = variant.game.variant(variant.num_players).components.as_json()
    tables = variant.components.as_json()
    seats = []
    for spec in agents:
        if spec == person:
            seats.append({"kind": "person", "name": "You", "agent": ""})
        else:
            seats.append({"kind": "agent", "name": spec, "agent": spec if plays_in_browser(spec) else MACHINE + spec})
    setup = {
        "game": variant.game.name,
        "rules": variant.rules_as_json(),
        "components": None if tables == box else tables,
        "seed": str(seed),
        "seats": seats,
    }
    return {"game": variant.game.name, "setup": setup}


def plays_in_browser(spec: str) -> bool:
    """Whether the page plays this agent itself: one of the suite's, without a file of the machine's or threads."""
    name, *parts = spec.split(":")
    if name not in IN_BROWSER or name not in AGENTS:
        return False
    if name == "learned":
        return all("=" in part for part in parts)
    return not any(part.startswith(("model=", "threads=")) for part in parts)
