"""Game records of both games: what is written, what is read back, and what is refused.

What only one game has, its chance lines first of all, is tested in its own folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import siberia_env.game as game_module
from siberia_env.board.components import Components as BoardComponents
from siberia_env.card.components import Components as CardComponents
from siberia_env.common.notation import Chronicle, chronicle_of
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError, IllegalActionError, RecordError
from siberia_env.game import GAMES, Variant, find_game, game_names, is_game, register_game
from siberia_env.records import (
    Decision,
    Record,
    Recorder,
    describe,
    play_and_record,
    read_records,
    record_variant,
    replay,
    write_records,
)
from tests.board.helpers import ALL_SIDES
from tests.board.retelling import Retelling as BoardRetelling
from tests.card.retelling import Retelling as CardRetelling
from tests.records import (
    Damage,
    Lines,
    as_text,
    at_random,
    change_decision,
    change_event,
    check_damage,
    decision_line,
    event_line,
    golden_lines,
    golden_record,
    golden_text,
    golden_texts,
    insert,
    leaves,
    random_record,
    read_text,
    refused,
    refused_at_once,
    remove,
    seen_by_all,
    without_seed,
)
from tests.table import PLAYER_COUNTS

CARD, BOARD = find_game("card"), find_game("board")
SHUFFLE_IN_A_DRAW = 37  # with this seed a stack runs out in the middle of a draw, for 2, 3 and 4 players
PLACEMENTS = 12  # decisions after which a missing or doubled one is noticed: alike placements can stand for each other
SHORT = {"card": {"max_turns": 8}, "board": {"max_rounds": 1}}

FEW_CARDS = CardComponents(
    action_cards=dict.fromkeys(CardComponents().action_cards, 1),
    resource_cards={"gas": (1, 2), "charcoal": (), "oil": (), "gold": (3,), "diamond": (4, 5)},
    workers=3,
)
MANY_CARDS = CardComponents(
    action_cards={**CardComponents().action_cards, "gas/worker": 10, "diamond/investor": 0, "oil/salesman": 2},
    resource_cards={**CardComponents().resource_cards, "gas": (5,) * 10},
    salesmen={**CardComponents().salesmen, "gas": 9, "worker": 1},
)
SMALL_MAP = BoardComponents(
    cubes={"gas": 9, "charcoal": 7, "oil": 0, "gold": 5, "diamond": 2},
    investment_tiles={**dict.fromkeys(BoardComponents().investment_tiles, 0), "worker": 2, "gas": 3},
    exchanges={**BoardComponents().exchanges, "Frankfurt": (0, 0, 9, 9, 9), "London": (7, 0, 0, 0, 0)},
    arrows=("Shore",),
    areas={"Shore": ("Hill", "Lake"), "Hill": ("Shore", "Lake"), "Lake": ("Shore", "Hill", "Moor"), "Moor": ("Lake",)},
    salesman_cards={**BoardComponents().salesman_cards, "charcoal": 12},
)
ONE_ROUND = replace(SMALL_MAP, cubes={"gas": 9, "charcoal": 7, "oil": 0, "gold": 0, "diamond": 0})
LARGE_MAP = BoardComponents(
    counters={**dict.fromkeys(BoardComponents().counters, 5), "manager": 20},
    investment_tiles=dict.fromkeys(BoardComponents().investment_tiles, 4),
    cubes=dict.fromkeys(BoardComponents().cubes, 24),
    arrows=("Field 0", "Field 9"),
    areas={f"Field {number}": (f"Field {(number + 1) % 16}", f"Field {(number - 1) % 16}") for number in range(16)},
)


def variants() -> Iterator[Any]:
    for players in PLAYER_COUNTS:
        for edition in ("dlp", "oya", "digital"):
            yield pytest.param(CARD.variant(players, edition), SHUFFLE_IN_A_DRAW, id=f"card-{players}-{edition}")
        yield pytest.param(CARD.variant(players, {"max_turns": 20}), 3, id=f"card-{players}-truncated")
        for sides in ALL_SIDES:
            name = sides if isinstance(sides, str) else "given"
            rules = {"sides": sides, "salesman_cards": players != 3}
            yield pytest.param(BOARD.variant(players, rules), players, id=f"board-{players}-{name}")
        yield pytest.param(BOARD.variant(players, {"max_rounds": 2}), 3, id=f"board-{players}-truncated")
    yield pytest.param(CARD.variant(3, None, MANY_CARDS), 5, id="card-custom components")
    yield pytest.param(CARD.variant(2, {"max_turns": 60}, FEW_CARDS), 6, id="card-small variant")
    yield pytest.param(BOARD.variant(2, {"salesman_cards": True}, SMALL_MAP), 5, id="board-small map")
    yield pytest.param(BOARD.variant(3, None, ONE_ROUND), 7, id="board-three reserves empty from the beginning")
    yield pytest.param(BOARD.variant(4, {"sides": "random"}, LARGE_MAP), 6, id="board-large map")


every_variant = pytest.mark.parametrize(("variant", "seed"), list(variants()))
every_game = pytest.mark.parametrize("game", GAMES)


def two_players(game: str) -> Variant:
    """A short game of two players."""
    return find_game(game).variant(2, SHORT[game])


# ---------------------------------------------------------------- writing


@every_game
def test_the_golden_record_is_written_letter_by_letter(game: str) -> None:
    assert as_text(golden_record(game).lines) == golden_text(game), (
        "if the change is meant, write the files anew: python -m tests.records"
    )


@pytest.mark.parametrize(
    ("game", "rules", "tables", "events"),
    [
        (
            "card",
            ["edition", "max_turns"],
            ["action_cards", "resource_cards", "salesmen", "workers"],
            {
                "setup": ["event", "row", "face_up", "hands"],
                "draw": ["event", "player", "cards"],
                "shuffle": ["event", "cards"],
                "refill": ["event", "slots"],
            },
        ),
        (
            "board",
            ["sides", "salesman_cards", "max_rounds"],
            [
                "counters",
                "investment_tiles",
                "cubes",
                "exchanges",
                "exchange_tiles",
                "arrows",
                "areas",
                "salesman_cards",
            ],
            {
                "setup": ["event", "areas", "reserve", "tiles"],
                "draw": ["event", "player", "counters"],
                "tile": ["event", "tile"],
            },
        ),
    ],
)
def test_keys_stand_in_the_order_of_the_format(
    game: str, rules: list[str], tables: list[str], events: dict[str, list[str]]
) -> None:
    variant = find_game(game).variant(2)
    record = random_record(variant, SHUFFLE_IN_A_DRAW)
    header, *rest = (json.loads(text) for text in as_text(record.lines).splitlines())
    assert list(header) == ["format", "game", "num_players", "seed", "rules", "components", "agents"]
    assert list(header["rules"]) == rules
    assert list(header["components"]) == tables
    assert header["components"] == variant.components.as_json()
    missing = {**events, "end": ["event", "scores", "winners", "truncated"]}
    for line in rest:
        if "event" in line:
            assert list(line) == missing.pop(line["event"], list(line))
        else:
            assert list(line) == ["player", "action", "legal"]
    assert not missing, "the game has every kind of line"


@every_game
def test_a_player_can_not_change_the_game_behind_its_back(game: str) -> None:
    def meddle(states: Any, i: int, mask: Any) -> int:
        action = int(np.flatnonzero(mask)[0])
        states[:] = 0
        mask[:] = 0
        return action

    record = play_and_record(two_players(game), meddle, 1, ["a", "b"])
    assert replay(record)


@every_game
@pytest.mark.parametrize("action", [-1, 10**30, "reveal 3", "side Tokyo", 1.0, None, True, "one too many", "not now"])
def test_an_illegal_action_is_refused_and_nothing_happens(game: str, action: Any) -> None:
    recorder = Recorder(two_players(game), 7, ["a", "b"])
    first = recorder.variant.action_names[int(np.flatnonzero(recorder.mask)[0])]
    given = {"one too many": len(recorder.mask), "not now": int(np.flatnonzero(recorder.mask == 0)[0])}.get(
        action, action
    )
    before = recorder.states.tobytes()
    with pytest.raises(IllegalActionError, match=f"action .*: not legal; player 0 may: {first}, "):
        recorder.act(given)
    assert recorder.states.tobytes() == before
    with pytest.raises(ConfigurationError, match="not over"):
        recorder.record()


@every_game
def test_a_finished_game_takes_no_action(game: str) -> None:
    recorder = Recorder(two_players(game), 7, ["a", "b"])
    while not recorder.over:
        recorder.act(int(np.flatnonzero(recorder.mask)[0]))
    with pytest.raises(IllegalActionError, match="over"):
        recorder.act(0)
    assert recorder.record().end["truncated"] is True


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", None, True])
def test_a_seed_is_a_number_of_64_bits(seed: Any) -> None:
    with pytest.raises(ConfigurationError, match="seed"):
        Recorder(CARD.variant(2), seed, ["a", "b"])


@pytest.mark.parametrize("agents", [["a"], ["a", "b", "c"], "ab", ["a", 7], ["a", "\ud800"], ["a", ""], ["a", "b\n"]])
def test_agents_are_one_name_a_seat(agents: Any) -> None:
    with pytest.raises(ConfigurationError, match="agents: expected 2 names"):
        Recorder(CARD.variant(2), 7, agents)


def test_several_games_in_one_file(tmp_path: Path) -> None:
    records = [
        random_record(find_game(game).variant(players, SHORT[game]), players)
        for players, game in ((2, "card"), (3, "board"), (4, "card"))
    ]
    path = tmp_path / "games.jsonl"
    assert write_records(path, iter(records)) == 3
    assert path.read_text(encoding="utf-8") == "".join(as_text(record.lines) for record in records)
    again = list(read_records(path))
    assert [record.lines for record in again] == [record.lines for record in records]
    assert [record.first_line for record in again] == [
        1,
        1 + len(records[0].lines),
        1 + sum(map(len, (records[0].lines, records[1].lines))),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


def test_an_unwritable_path_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    for path in (tmp_path / "absent" / "games.jsonl", tmp_path / "file" / "games.jsonl", tmp_path):
        with pytest.raises(ConfigurationError, match=r"^records: can't write "):
            write_records(path, [golden_record("card")])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_what_stops_the_writing_leaves_the_old_file(tmp_path: Path) -> None:
    def stopped() -> Iterator[Record]:
        yield golden_record("card")
        raise KeyboardInterrupt

    path = tmp_path / "games.jsonl"
    path.write_text("kept")
    with pytest.raises(KeyboardInterrupt):
        write_records(path, stopped())
    assert path.read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


# ---------------------------------------------------------------- reading back


@every_variant
def test_with_its_seed_a_record_gives_the_same_states(variant: Variant, seed: int, tmp_path: Path) -> None:
    played: list[tuple[bytes, bytes, int]] = []
    player = at_random(seed)

    def choose(states: Any, i: int, mask: Any) -> int:
        action = player(states, i, mask)
        played.append((states.tobytes(), mask.tobytes(), action))
        return action

    record = play_and_record(variant, choose, seed, ["random"] * variant.num_players)
    (again,) = read_text(tmp_path, as_text(record.lines))
    assert again.lines == record.lines
    assert record_variant(again).rulesets.tobytes() == variant.rulesets.tobytes()
    decisions = replay(again)
    assert [(made.states.tobytes(), made.mask.tobytes(), made.action) for made in decisions] == played
    for made, following in pairwise(decisions):
        assert made.after.tobytes() == following.states.tobytes()
    assert engine.is_over_at(variant.rulesets, decisions[-1].after, 0)


@every_variant
def test_without_its_seed_a_record_gives_the_same_game(variant: Variant, seed: int, tmp_path: Path) -> None:
    record = random_record(variant, seed)
    (forced,) = read_text(tmp_path, as_text(without_seed(record).lines))
    pairs = list(zip(replay(record), replay(forced), strict=True))
    for own, other in pairs:
        assert own.legal == other.legal
        assert own.mask.tobytes() == other.mask.tobytes()
        assert (own.line, own.player, own.action, own.name) == (other.line, other.player, other.action, other.name)
        assert own.events == other.events
        assert seen_by_all(variant, own.states) == seen_by_all(variant, other.states)
    assert any(own.states.tobytes() != other.states.tobytes() for own, other in pairs), "the seed did not help"


@every_game
def test_a_replayed_state_is_the_readers_own(game: str) -> None:
    record = golden_record(game)
    decisions = replay(record)
    kept = decisions[1].states.tobytes()
    decisions[0].states[:] = 0
    decisions[0].after[:] = 0
    assert decisions[1].states.tobytes() == kept


@every_game
def test_a_description_tells_every_decision_and_event(game: str) -> None:
    record = random_record(find_game(game).variant(2), SHUFFLE_IN_A_DRAW)
    told = list(describe(record))
    assert sum(text.startswith("player ") and "(random): " in text for text in told) == len(replay(record))
    chronicle, rest = chronicle_of(find_game(game)), iter(told[2:])
    for line in record.lines[1:-1]:
        if "event" in line:
            for text in chronicle.describe_event(line):
                assert next(rest) == f"  {text}"
        else:
            assert next(rest).startswith(f"player {line['player']} (random): {line['action']}")
    assert str(record.end["scores"][0]) in told[-2]
    assert told[-1].startswith("won by player ")
    assert any(" [" in text and "score" in text for text in told)


def test_a_description_says_what_the_options_are() -> None:
    rules = {"sides": ["New York", "London", "Toronto", "Sydney", "Zurich"], "max_rounds": 1}
    first, *_, last_but_one, _ = describe(random_record(BOARD.variant(2, rules), 1))
    told = "sides New York + London + Toronto + Sydney + Zurich, salesman_cards no, max_rounds 1, seed 1"
    assert first == f"Siberia, 2 players, {told}"
    assert last_but_one.startswith("the game is broken off at its limit: player 0 (random) ")


@every_game
def test_a_chronicle_has_every_function_of_the_interface(game: str) -> None:
    chronicle = chronicle_of(find_game(game))
    for name in vars(Chronicle):
        if not name.startswith("_"):
            assert callable(getattr(chronicle, name)), name


def test_installed_packages_are_searched_once_a_process_and_not_for_known_games(monkeypatch: Any) -> None:
    searches = 0

    def search(group: str) -> list[EntryPoint]:
        nonlocal searches
        searches += 1
        return [EntryPoint("ludo", "ludo.game", group)]

    monkeypatch.setattr(game_module, "_homes", dict(game_module._homes))
    monkeypatch.setattr(game_module, "entry_points", search)
    game_module._installed_games.cache_clear()
    try:
        register_game("chess", "chess.game")
        assert replay(golden_record("card"))
        assert is_game("chess")
        assert searches == 0
        assert is_game("ludo")
        assert not is_game("go")
        register_game("go", "go.game")
        assert is_game("go")
        assert {"card", "board", "chess", "ludo", "go"} <= set(game_names())
        assert searches == 1
    finally:
        game_module._installed_games.cache_clear()


# ---------------------------------------------------------------- a replayer that knows only the format and the rules

RETELLINGS = {"card": CardRetelling, "board": BoardRetelling}


@every_variant
def test_a_record_can_be_replayed_by_a_stranger(variant: Variant, seed: int) -> None:
    RETELLINGS[variant.game.name](as_text(random_record(variant, seed).lines)).tell()


@every_game
def test_the_golden_record_can_be_replayed_by_a_stranger(game: str) -> None:
    RETELLINGS[game](golden_text(game)).tell()


# ---------------------------------------------------------------- damage

HEADER_DAMAGE: dict[str, tuple[dict[str, Any], str]] = {
    "version": ({"format": "siberia-record/2"}, "'siberia-record/1'"),
    "format": ({"format": 1}, "not known here"),
    "game": ({"game": "chess"}, 'no game "chess"; the games are card, board'),
    "game's type": ({"game": ["card"]}, "the games are card"),
    "players": ({"num_players": 5}, "2 to 4 players"),
    "players' type": ({"num_players": "3"}, "2 to 4 players"),
    "fewer players": ({"num_players": 2}, "agents: expected 2 names"),
    "seed": ({"seed": -1}, "seed: -1 is not a whole number"),
    "seed's type": ({"seed": 7.0}, "seed: 7.0 is not a whole number"),
    "an option": ({"rules": {}}, "every option in force"),
    "rules' type": ({"rules": "dlp"}, "every option in force"),
    "option": ({"rules": {"speed": 3}}, "no option 'speed'"),
    "components": ({"components": {}}, ": expected an object with the keys "),
    "components' type": ({"components": None}, "components: expected an object"),
    "agents": ({"agents": ["a", "b"]}, "agents: expected 3 names"),
    "agents' type": ({"agents": ["a", "b", 3]}, "agents: expected 3 names"),
    "agent in two lines": ({"agents": ["a", "b", "c\nd"]}, "agents: expected 3 names"),
    "another key": ({"date": "today"}, "a header has the keys format, game"),
}


@every_game
@pytest.mark.parametrize("damage", HEADER_DAMAGE)
def test_a_damaged_header_is_refused(game: str, damage: str, tmp_path: Path) -> None:
    change, reason = HEADER_DAMAGE[damage]
    lines = golden_lines(game)
    lines[0].update(change)
    assert reason in refused(tmp_path, as_text(lines), 1)


@pytest.mark.parametrize(
    ("game", "option", "value", "reason"),
    [
        ("card", "edition", "xyz", "no edition 'xyz'"),
        ("card", "edition", ["dlp"], "no edition"),
        ("card", "max_turns", 12.0, "max_turns"),
        ("board", "sides", "all", "sides: 'all' is not 'choose', 'random' or a list of 5"),
        ("board", "sides", ["Tokyo"], "sides: expected 5 exchanges, one a tile"),
        ("board", "sides", ["Tokyo", "Tokyo", "Toronto", "Sydney", "Zurich"], "sides[1]: 'Tokyo' is not on the tile"),
        ("board", "sides", [{}, [], None, 7, True], "sides[0]: {} is not on the tile"),
        ("board", "salesman_cards", 1, "salesman_cards: 1 is not true or false"),
        ("board", "salesman_cards", "true", "salesman_cards"),
        ("board", "max_rounds", 0, "max_rounds: 0"),
        ("board", "max_rounds", True, "max_rounds: True"),
        ("board", "max_rounds", 3.0, "max_rounds: 3.0"),
    ],
)
def test_a_damaged_option_is_refused(game: str, option: str, value: Any, reason: str, tmp_path: Path) -> None:
    lines = golden_lines(game)
    lines[0]["rules"][option] = value
    assert reason in refused(tmp_path, as_text(lines), 1)


@every_game
def test_a_missing_option_is_refused_even_at_its_default(game: str, tmp_path: Path) -> None:
    for option in golden_lines(game)[0]["rules"]:
        lines = golden_lines(game)
        del lines[0]["rules"][option]
        assert "every option in force" in refused(tmp_path, as_text(lines), 1)


@every_game
@pytest.mark.parametrize("key", ["format", "game", "num_players", "seed", "rules", "components", "agents"])
def test_a_header_without_one_of_its_keys_is_refused(game: str, key: str, tmp_path: Path) -> None:
    lines = golden_lines(game)
    del lines[0][key]
    assert "header" in refused(tmp_path, as_text(lines), 1)


@every_game
def test_damaged_components_are_refused(game: str, tmp_path: Path) -> None:
    tables = golden_lines(game)[0]["components"]
    for path in leaves(tables):
        lines = golden_lines(game)
        place = lines[0]["components"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = 1000 if isinstance(place[path[-1]], int) else "nowhere"
        assert path[0] in refused(tmp_path, as_text(lines), 1)
    for table in tables:
        lines = golden_lines(game)
        del lines[0]["components"][table]
        assert table in refused(tmp_path, as_text(lines), 1)


def early_end(lines: Lines) -> int:
    at = decision_line(lines)
    lines[at:] = lines[-1:]
    return at


def illegal_action(lines: Lines) -> int:
    """The name of an action that is legal at another decision only."""
    at = decision_line(lines)
    others = [name for line in lines for name in line.get("legal", ()) if name not in lines[at]["legal"]]
    lines[at]["action"] = others[0]
    return at


BODY_DAMAGE: dict[str, tuple[Damage, str]] = {
    "no setup": (remove(lambda lines: 1), "expected the setup line"),
    "second setup": (insert({"event": "setup"}, lambda lines: 1), "a second setup line"),
    "setup's keys": (change_event("setup", "weather", "snow"), "setup: expected the keys event, "),
    "unknown event": (
        insert({"event": "thunder"}, lambda lines: 1),
        "no event 'thunder'; the events are setup, draw, ",
    ),
    "event's type": (insert({"event": ["draw"]}, lambda lines: 1), "no event"),
    "event's keys": (insert({"event": "draw", "player": 0}, lambda lines: 1), "draw: expected the keys"),
    "decision's keys": (insert({"player": 0, "action": "reveal 3"}, lambda lines: 1), "player, action, legal"),
    "nothing": (insert({}, lambda lines: 1), "got none"),
    "player's type": (change_decision("player", "0"), "player: expected a seat number"),
    "player true": (change_decision("player", True), "player: expected a seat number"),
    "wrong player": (change_decision("player", lambda player: (player + 1) % 3), "is on turn"),
    "action's type": (change_decision("action", 12), "action: expected an action's name"),
    "unknown action": (change_decision("action", "mine tin"), 'no action "mine tin"; legal are '),
    "illegal action": (illegal_action, " is not legal; legal are "),
    "legal's type": (change_decision("legal", "draw 0"), "legal: expected a list of names"),
    "legal's entries": (change_decision("legal", [1]), "legal: expected a list of names"),
    "legal action missing": (change_decision("legal", lambda legal: legal[1:]), '"], wrong []'),
    "legal action too many": (change_decision("legal", lambda legal: [*legal, "dance"]), 'missing [], wrong ["dance"]'),
    "legal in another order": (change_decision("legal", lambda legal: legal[::-1]), "order or repetition"),
    "drawer": (change_event("draw", "player", lambda player: (player + 1) % 3), "expected a draw line of player"),
    "drawer's number": (change_event("draw", "player", 3), "draw.player: 3"),
    "drawer true": (change_event("draw", "player", True), "draw.player: True"),
    "draw left out": (remove(lambda lines: event_line(lines, "draw")), "expected a draw line of player"),
    "early end": (early_end, "the record ends here, but the game goes on: player"),
    "decision after the game": (
        insert({"player": 0, "action": "draw 0", "legal": ["draw 0"]}, lambda lines: len(lines) - 2),
        "expected the end line, for the game is over",
    ),
    "scores": (change_event("end", "scores", lambda scores: [scores[0] + 1000, *scores[1:]]), "scores: expected ["),
    "scores' type": (change_event("end", "scores", lambda scores: list(map(float, scores))), "whole numbers"),
    "one score less": (change_event("end", "scores", lambda scores: scores[1:]), "scores: expected 3"),
    "winners": (change_event("end", "winners", lambda winners: [*winners, 3]), "winners: expected ["),
    "winners' type": (change_event("end", "winners", 0), "winners: expected a list"),
    "truncated": (change_event("end", "truncated", lambda truncated: not truncated), "truncated: expected true"),
    "truncated's type": (change_event("end", "truncated", 1), "truncated: expected true or false"),
    "end's keys": (change_event("end", "moves", 3), "the end line has the keys"),
}


@every_game
@pytest.mark.parametrize("damage", BODY_DAMAGE)
def test_a_damaged_record_is_refused_with_its_line_number(game: str, damage: str, tmp_path: Path) -> None:
    check_damage(tmp_path, game, *BODY_DAMAGE[damage])


@every_game
def test_a_record_without_any_one_of_its_lines_is_refused(game: str, tmp_path: Path) -> None:
    texts = golden_texts(game)
    for at in range(len(texts)):
        refused_at_once(tmp_path, texts, at, 1, [], PLACEMENTS)


@every_game
def test_a_record_with_any_line_twice_or_two_swapped_is_refused(game: str, tmp_path: Path) -> None:
    lines, texts = golden_lines(game), golden_texts(game)
    for at, line in enumerate(lines):
        refused_at_once(tmp_path, texts, at, 1, [texts[at]] * 2, PLACEMENTS)
        last = lines[at - 1]
        if at > 0 and {**last, "action": ""} != {**line, "action": ""}:  # two choices between the same can be swapped
            refused_at_once(tmp_path, texts, at - 1, 2, [texts[at], texts[at - 1]], PLACEMENTS)


@every_game
def test_a_record_cut_off_anywhere_is_refused_at_its_last_line(game: str, tmp_path: Path) -> None:
    texts = golden_texts(game)
    for kept in range(1, len(texts)):
        assert "the game that began on line 1 has no end line" in refused(tmp_path, "".join(texts[:kept]), kept)
    text = "".join(texts)
    assert "not JSON" in refused(tmp_path, text[:-10], len(texts))
    assert read_text(tmp_path, text[:-1]), "the last line's end is not missed"


@every_game
def test_any_number_or_name_that_is_changed_is_refused_on_its_line(game: str, tmp_path: Path) -> None:
    texts = golden_texts(game)
    changed = 0
    for at, text in enumerate(texts[1:], start=1):
        for path in leaves(json.loads(text)):
            if path[0] == "legal" and path[1] > 1:
                continue
            line = place = json.loads(text)
            for key in path[:-1]:
                place = place[key]
            old = place[path[-1]]
            place[path[-1]] = not old if isinstance(old, bool) else old + 1 if isinstance(old, int) else old + "x"
            assert refused_at_once(tmp_path, texts, at, 1, [as_text([line])], 1) == at + 1
            changed += 1
    assert changed > 100


GOLDEN_TEXT = golden_text("card")
GOLDEN_LINES = GOLDEN_TEXT.count("\n")


@pytest.mark.parametrize(
    ("text", "number", "reason"),
    [
        ("", 1, "the file is empty; a record starts with its header"),
        ("\n", 1, "not JSON"),
        ("siberia\n", 1, "not JSON: Expecting value at character 1"),
        ("[1, 2]\n", 1, "expected a JSON object; got [1, 2]"),
        ("{}\n", 1, "expected a header"),
        ('{"format": "siberia-record/1", "format": "siberia-record/1"}\n', 1, "a key stands twice"),
        ('{"format": NaN}\n', 1, "NaN is no JSON number"),
        ("[" * 100_000, 1, "not JSON"),
        ("9" * 5000, 1, "not JSON"),
        (b"\xff\xfe{}\n", 1, "not UTF-8"),
        (GOLDEN_TEXT.encode() + b'{"caf\xe9"}\n', GOLDEN_LINES + 1, "not UTF-8"),
        (GOLDEN_TEXT + "\n", GOLDEN_LINES + 1, "not JSON"),
        (
            GOLDEN_TEXT + GOLDEN_TEXT.splitlines()[-1],
            GOLDEN_LINES + 1,
            "expected a header",
        ),
        (
            GOLDEN_TEXT[: GOLDEN_TEXT.rindex("\n", 0, -1) + 1] + GOLDEN_TEXT,
            GOLDEN_LINES,
            "a new header, but the game that began on line 1 has no end line",
        ),
    ],
)
def test_a_file_that_is_no_file_of_records_is_refused(
    text: str | bytes, number: int, reason: str, tmp_path: Path
) -> None:
    assert reason in refused(tmp_path, text, number)


@every_game
def test_lines_are_counted_through_the_file_and_sound_games_come_first(game: str, tmp_path: Path) -> None:
    sound = golden_record(game)
    lines = golden_lines(game)
    lines[-1]["truncated"] = not lines[-1]["truncated"]
    path = tmp_path / "games.jsonl"
    path.write_text(as_text([*sound.lines, *lines]), encoding="utf-8")
    records = read_records(path)
    assert next(records).lines == sound.lines
    with pytest.raises(RecordError, match=f"^line {2 * len(lines)}: truncated"):
        next(records)


def test_an_unreadable_path_is_one_clear_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.jsonl"):
        with pytest.raises(ConfigurationError, match=r"^records: can't read "):
            list(read_records(path))


@every_game
def test_records_made_by_hand_are_checked_too(game: str) -> None:
    lines = golden_record(game).lines
    with pytest.raises(RecordError, match=r"^line 1: the record is empty"):
        replay(Record(()))
    with pytest.raises(RecordError, match=f"^line {len(lines) - 1}: the record stops here"):
        replay(Record(lines[:-1]))
    with pytest.raises(RecordError, match=f"^line {len(lines) + 11}: a line after the end"):
        replay(Record((*lines, lines[-1]), first_line=11))


@every_game
def test_decisions_say_what_was_legal(game: str) -> None:
    decisions: list[Decision] = replay(golden_record(game))
    for made in decisions:
        assert made.mask[made.action] == 1
        assert made.name in made.legal
        assert len(made.legal) == made.mask.sum()
