"""What Python says of games that `web/tests/engine.mjs` plays in TypeScript: `python -m tests.web_cases OUT.json`.

Records with the bytes of every state, what agents choose under given seeds, and which component tables and records are
refused.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from siberia_agents.registry import make_agent
from siberia_agents.search.guided import GuidedAgent
from siberia_env.common.notation import chronicle_of
from siberia_env.errors import ConfigurationError, RecordError, SiberiaError
from siberia_env.game import Variant, find_game
from siberia_env.position import Position
from siberia_env.records import Recorder, replay
from siberia_env.records.format import Record
from siberia_env.seeds import derived_seed
from siberia_env.view import view_state
from tests.board.helpers import GIVEN_SIDES
from tests.board.varied import LARGE, ROW
from tests.records import golden_lines

#: `LARGE` with names that are no numbers, which the page does not take for places.
NAMED = replace(
    LARGE,
    areas={f"at {area}": tuple(f"at {other}" for other in others) for area, others in LARGE.areas.items()},
    arrows=tuple(f"at {area}" for area in LARGE.arrows),
)
#: Game, players, rules, components: what is recorded.
RECORDED: tuple[tuple[str, int, dict[str, Any], Any], ...] = (
    ("card", 2, {}, None),
    ("card", 3, {"edition": "oya"}, None),
    ("card", 4, {"edition": "digital"}, None),
    ("card", 2, {"edition": "digital", "max_turns": 30}, None),
    ("card", 3, {"max_turns": 41}, None),
    ("board", 2, {}, None),
    ("board", 3, {"sides": "random", "salesman_cards": True}, None),
    ("board", 4, {"sides": GIVEN_SIDES}, None),
    ("board", 2, {"salesman_cards": True, "max_rounds": 5}, NAMED),
    ("board", 3, {"sides": "random", "max_rounds": 7}, ROW),
)

#: Who is asked, and at how many decisions of a game.
ASKED = {
    "random": 12,
    "greedy": 12,
    "heuristic": 12,
    "learned": 12,
    "search:60": 4,
    "search:80:playout=greedy:returns=margin:scale=7.5": 2,
    "search:70:playout=heuristic:returns=both:exploration=0.3:split=false": 2,
    "guided:1": 2,
    "guided:100": 4,
    "guided:120:batch=5:worlds=2:temperature=0.9:first_play=0.2": 2,
    "level:easy": 2,
    "level:hard": 4,
    "level:best": 4,
}
SEEDS = (70, 2**64 - 5, 2**53 + 1)


def played(variant: Variant, seed: int) -> tuple[Recorder, list[np.ndarray[Any, Any]]]:
    """A recorded game, and its states before every decision and at its end."""
    recorder = Recorder(variant, seed, [f"agent {seat}" for seat in range(variant.num_players)])
    random, states, number = np.random.default_rng(seed % 1000), [], 0
    plan = make_agent("heuristic")
    while not recorder.over:
        states.append(recorder.states.copy())
        legal = np.flatnonzero(recorder.mask)
        number += 1
        action = plan.act(view_state(variant, recorder.states, 0)) if number % 3 else int(random.choice(legal))
        recorder.act(action)
    return recorder, [*states, recorder.states.copy()]


def as_text(record: Record) -> str:
    """A record as it stands in a file."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in record.lines)


def choices(variant: Variant, states: list[np.ndarray[Any, Any]], seed: int) -> Iterator[dict[str, Any]]:
    """What each agent chooses at some decisions."""
    free = [at for at, state in enumerate(states[:-1]) if Position.from_states(variant, state).action_mask().sum() > 1]
    for spec, count in ASKED.items():
        agent = make_agent(spec)
        for number, at in enumerate(free[3 :: max(1, len(free) // count)][:count]):
            view = view_state(variant, states[at], 0)
            own = derived_seed(seed, 3 + view.player, at)
            agent.start(variant, own)
            yield {"spec": spec, "at": at, "player": view.player, "seed": str(own), "action": int(agent.act(view))}
            if spec == "guided:100" and number == 0:
                guided = GuidedAgent(64)
                guided.start(variant, own)
                found = guided.search(view)
                yield {
                    "analyse": 64,
                    "at": at,
                    "player": view.player,
                    "seed": str(own),
                    "actions": found.actions.tolist(),
                    "visits": found.visits.tolist(),
                    "margins": [float(row[view.player]) for row in found.scores],
                    "shares": [float(row[view.player]) for row in found.win_shares],
                }


def other_seed(record: Record) -> dict[str, Any]:
    """The record with a seed that gives other outcomes, and the states of its replay."""
    changed = Record(({**record.header, "seed": 123456}, *record.lines[1:]))
    decisions = replay(changed)
    return {"record": as_text(changed), "last": encoded(decisions[-1].after), "first": encoded(decisions[0].states)}


def encoded(states: np.ndarray[Any, Any]) -> str:
    """Bytes for JSON."""
    return base64.b64encode(states.tobytes()).decode()


def games() -> Iterator[dict[str, Any]]:
    """Every recorded game."""
    for number, (name, players, rules, components) in enumerate(RECORDED):
        variant = find_game(name).variant(players, rules, components)
        seed = SEEDS[number % len(SEEDS)] - number
        recorder, states = played(variant, seed)
        record = recorder.record()
        position = Position.from_states(variant, states[len(states) // 2].copy())
        yield {
            "game": name,
            "players": players,
            "rules": rules,
            "components": None if components is None else variant.components.as_json(),
            "ruleset": encoded(variant.rulesets),
            "seed": str(seed),
            "record": as_text(record),
            "states": [encoded(state) for state in states],
            "observations": [
                base64.b64encode(position.observation_tensor(seat).tobytes()).decode() for seat in range(players)
            ],
            "sample": encoded(position.resample_from_infostate(0, 99).states),
            "forced": other_seed(record),
            "choices": list(choices(variant, states, seed)),
        }


# ---------------------------------------------------------------- what is refused


def edited(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy of a JSON value with another value at a place; `...` takes the entry away."""
    copy = json.loads(json.dumps(value))
    place = copy
    for key in path[:-1]:
        place = place[key]
    if new is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = new
    return copy


TABLES: dict[str, tuple[tuple[tuple[Any, ...], Any], ...]] = {
    "card": (
        (("workers",), 9),
        (("workers",), True),
        (("workers",), ...),
        (("extra",), 1),
        (("salesmen", "gas"), 99),
        (("salesmen", "gas"), 100),
        (("salesmen", "gas"), "4"),
        (("resource_cards", "gas"), [1, 1, 1, 2, 2, 2, 2, 3, 3, 9]),
        (("resource_cards", "gas"), [9, 1, 1, 2, 2, 2, 2, 3, 3, 1]),
        (("resource_cards", "gas", 2), 0),
        (("resource_cards", "gas"), [1]),
        (("resource_cards", "gas"), {"0": 1}),
        (("resource_cards", "tin"), [1]),
        (("action_cards", "gas/worker"), 5),
        (("action_cards",), None),
    ),
    "board": (
        (("counters", "manager"), 20),
        (("counters", "manager"), 121),
        (("counters", "gas/worker"), -1),
        (("investment_tiles", "gas"), 30),
        (("cubes", "gas"), 0),
        (("cubes",), {"gas": 0, "charcoal": 0, "oil": 5, "gold": 5, "diamond": 5}),
        (("exchanges", "Tokyo"), [1, 2, 3]),
        (("exchanges", "Tokyo"), [9, 9, 9, 9, 9]),
        (("exchanges", "Tokyo", 0), 100),
        (("exchanges", "Osaka"), [1, 1, 1, 1, 1]),
        (("exchange_tiles", 0), ["Tokyo", "Tokyo"]),
        (("exchange_tiles", 0), ["New York", "Tokyo"]),
        (("exchange_tiles", 0), ["Tokyo"]),
        (("exchange_tiles", 0), ["Tokyo", "London"]),
        (("exchange_tiles",), []),
        (("arrows",), ["Yamal"]),
        (("arrows",), ["Nowhere"]),
        (("arrows",), []),
        (("areas", "Amur"), ["Khabarovsk"]),
        (("areas", "Amur"), ["Khabarovsk", "Amur"]),
        (("areas", "Tokyo"), []),
        (("areas", " Amur"), []),
        (("areas", "a,b"), []),
        (("salesman_cards", "oil"), 0),
        (("salesman_cards", "oil"), 12),
    ),
}

RULES: dict[str, tuple[dict[str, Any], ...]] = {
    "card": (
        {"edition": "dlp"},
        {"edition": "nope"},
        {"max_turns": 0},
        {"max_turns": 10_001},
        {"max_turns": True},
        {"x": 1},
    ),
    "board": (
        {"sides": "all"},
        {"sides": ["Tokyo"]},
        {"sides": ["Tokyo", "London", "Shanghai", "Sydney", "Tokyo"]},
        {"sides": ["Tokyo", "Hong Kong", "Shanghai", "Sydney", "Zurich"]},
        {"salesman_cards": 1},
        {"max_rounds": 1},
    ),
}


def tables(name: str) -> Iterator[dict[str, Any]]:
    """Component tables and options, with the ruleset that they give, or nothing where they are refused."""
    game = find_game(name)
    box = game.variant(2).components.as_json()
    cases: list[tuple[Any, dict[str, Any]]] = [(edited(box, path, new), {}) for path, new in TABLES[name]]
    for given, rules in [*cases, *((None, rules) for rules in RULES[name])]:
        for players in (2, 4):
            try:
                ruleset = encoded(game.variant(players, rules, given).rulesets)
            except ConfigurationError:
                ruleset = ""
            yield {"components": given, "rules": rules, "players": players, "ruleset": ruleset}


def damaged(name: str) -> Iterator[dict[str, Any]]:
    """Records with an error, and the line that Python names."""
    lines = golden_lines(name)
    decision = next(number for number, line in enumerate(lines) if "action" in line)
    draw = next(number for number, line in enumerate(lines) if line.get("event") == "draw")
    changes: list[tuple[tuple[Any, ...], Any]] = [
        ((0, "format"), "siberia-record/2"),
        ((0, "game"), "chess"),
        ((0, "num_players"), 5),
        ((0, "seed"), -1),
        ((0, "seed"), 2**64),
        ((0, "rules"), {}),
        ((0, "agents"), ["a"]),
        ((0, "components", "extra"), 1),
        ((0, "more"), 1),
        ((1,), ...),
        ((1, "event"), "draw"),
        ((decision, "player"), 3),
        ((decision, "action"), "fly"),
        ((decision, "legal"), []),
        ((decision, "legal", 0), "fly"),
        ((decision, "more"), 1),
        ((decision,), ...),
        ((draw, "player"), 9),
        ((draw, "event"), "drew"),
        ((draw,), ...),
        ((-1,), ...),
        ((-1, "scores", 0), 1),
        ((-1, "winners"), []),
        ((-1, "truncated"), "no"),
        ((-2,), {"event": "end"}),
    ]
    for path, new in changes:
        changed = edited(lines, path, new)
        try:
            replay(Record(tuple(changed)))
        except (RecordError, SiberiaError, IndexError) as error:
            yield {
                "record": "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in changed),
                "error": str(error),
            }
        else:
            raise AssertionError(f"not refused: {path} {new}")
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    for broken, error in (
        ("", "line 1"),
        ("hello\n", "line 1"),
        ("[1]\n", "line 1"),
        ('{"format": 1, "format": 2}\n', "line 1"),
        (text.replace('"player": 0', '"player": 0.5', 1), "line"),
        (text[: len(text) // 2], "line"),
        (text + text, "line"),
    ):
        yield {"record": broken, "error": error}


def main() -> None:
    """Write the cases."""
    names = ("card", "board")
    assert all(chronicle_of(find_game(name)) for name in names)
    cases = {
        "games": list(games()),
        "tables": {name: list(tables(name)) for name in names},
        "damaged": {name: list(damaged(name)) for name in names},
    }
    Path(sys.argv[1]).write_text(json.dumps(cases), encoding="utf-8")


if __name__ == "__main__":
    main()
