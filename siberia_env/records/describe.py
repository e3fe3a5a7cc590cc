"""A record told to a person, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from siberia_env.common.notation import chronicle_of
from siberia_env.position import Position
from siberia_env.records.format import Record, record_variant
from siberia_env.records.replay import Decision, replay


def describe(record: Record, comment: Callable[[Decision], str] | None = None) -> Iterator[str]:
    """The record in lines for a reader: who played what, what chance brought, how it ended.

    Args:
        record: what to tell.
        comment: gives a text to put under a decision, or none.

    Raises:
        RecordError: see `replay`.
    """
    decisions = replay(record)
    variant, header, end = record_variant(record), record.header, record.end
    chronicle = chronicle_of(variant.game)
    agents = header["agents"]
    options = ", ".join(f"{name} {_told(value)}" for name, value in header["rules"].items())
    yield f"{variant.game.title}, {variant.num_players} players, {options}, seed {header['seed']}"
    yield ", ".join(f"player {player}: {name}" for player, name in enumerate(agents))
    for event in takewhile(lambda line: "event" in line, record.lines[1:]):
        yield from (f"  {text}" for text in chronicle.describe_event(event))
    for decision in decisions:
        player, notes = decision.player, []
        if remark := chronicle.remark(variant, decision.states, decision.after, decision.action):
            notes.append(remark)
        before, after = (
            Position.from_states(variant, states).scores()[player] for states in (decision.states, decision.after)
        )
        if before != after:
            notes.append(f"score {variant.game.score_text(after)}")
        yield f"player {player} ({agents[player]}): {decision.name}" + (f" [{'; '.join(notes)}]" if notes else "")
        if comment is not None and (text := comment(decision)):
            yield f"    {text}"
        for event in decision.events:
            yield from (f"  {text}" for text in chronicle.describe_event(event))
    scores = map(variant.game.score_text, end["scores"])
    totals = ", ".join(f"player {player} ({agents[player]}) {total}" for player, total in enumerate(scores))
    yield ("the game is broken off at its limit: " if end["truncated"] else "the game is over: ") + totals
    yield "won by " + " and ".join(f"player {player} ({agents[player]})" for player in end["winners"])


def _told(value: Any) -> str:
    """The value of a rule option, for a reader."""
    if isinstance(value, list):
        return " + ".join(map(str, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
