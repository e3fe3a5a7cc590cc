"""Game records: what is written, what is read back, and what is refused.

The retelling in the middle of this file replays a record from its text alone: it shares nothing with the suite.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siberia_env import loops
from siberia_env.card.components import Components
from siberia_env.chronicle import Chronicle, chronicle_of
from siberia_env.errors import ConfigurationError, IllegalActionError, RecordError
from siberia_env.game import GAMES, Variant, find_game
from siberia_env.record import (
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

GOLDEN = Path(__file__).parent / "golden" / "card_record.jsonl"
GOLDEN_TEXT = GOLDEN.read_text(encoding="utf-8")
GOLDEN_LINES = GOLDEN_TEXT.count("\n")
CARD = find_game("card")
EDITIONS = ("dlp", "oya", "digital")
SHUFFLE_IN_A_DRAW = 37  # with this seed a stack runs out in the middle of a draw, for 2, 3 and 4 players

SMALL = Components(
    action_cards=dict.fromkeys(Components().action_cards, 1),
    resource_cards={"gas": (1, 2), "charcoal": (), "oil": (), "gold": (3,), "diamond": (4, 5)},
    workers=3,
)

Lines = list[dict[str, Any]]


def at_random(seed: int) -> Callable[..., int]:
    """A player who takes any legal action."""
    generator = np.random.default_rng(seed)
    return lambda states, i, mask: int(generator.choice(np.flatnonzero(mask)))


def by_the_clock() -> Callable[..., int]:
    """A player without a generator: the legal action that a running number points at."""
    numbers = iter(range(0, 10**9, 7))
    return lambda states, i, mask: int(np.flatnonzero(mask)[next(numbers) % int(mask.sum())])


def random_record(variant: Variant, seed: int) -> Record:
    return play_and_record(variant, at_random(seed), seed, ["random"] * variant.num_players)


def golden_record() -> Record:
    """A short game, and the same one everywhere."""
    return play_and_record(CARD.variant(3, {"max_turns": 12}), by_the_clock(), 2034, ["clock", "clock", "Uhr Ω"])


def without_seed(record: Record) -> Record:
    """The same game under a seed that does not bring it about: every outcome has to be forced."""
    return Record(({**record.header, "seed": record.header["seed"] + 1}, *record.lines[1:]))


def as_text(lines: Any) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read_text(folder: Path, text: str | bytes) -> list[Record]:
    path = folder / "games.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_records(path))


def seen_by_all(variant: Variant, states: Any) -> bytes:
    """Every seat's observation of `states[0]`."""
    observation = np.zeros(CARD.observation_size, np.float32)
    seen = []
    for player in range(variant.num_players):
        loops.observe_at(variant.rulesets, states, 0, player, observation)
        seen.append(observation.tobytes())
    return b"".join(seen)


def variants() -> Iterator[Any]:
    for players in (2, 3, 4):
        for edition in EDITIONS:
            yield pytest.param(CARD.variant(players, edition), SHUFFLE_IN_A_DRAW, id=f"{players}-{edition}")
        yield pytest.param(CARD.variant(players, {"max_turns": 20}), 3, id=f"{players}-truncated")
    rich = Components(
        action_cards={**Components().action_cards, "gas/worker": 10, "diamond/investor": 0, "oil/salesman": 2},
        resource_cards={**Components().resource_cards, "gas": (5,) * 10},
        salesmen={**Components().salesmen, "gas": 9, "worker": 1},
    )
    yield pytest.param(CARD.variant(3, None, rich), 5, id="custom components")
    yield pytest.param(CARD.variant(2, {"max_turns": 60}, SMALL), 6, id="small variant")


every_variant = pytest.mark.parametrize(("variant", "seed"), list(variants()))


# ---------------------------------------------------------------- writing


def test_the_golden_record_is_written_letter_by_letter() -> None:
    assert as_text(golden_record().lines) == GOLDEN_TEXT


def test_keys_stand_in_the_order_of_the_format() -> None:
    keys_of_event = {
        "setup": ["event", "row", "face_up", "hands"],
        "draw": ["event", "player", "cards"],
        "shuffle": ["event", "cards"],
        "refill": ["event", "slots"],
        "end": ["event", "scores", "winners", "truncated"],
    }
    record = random_record(CARD.variant(2), SHUFFLE_IN_A_DRAW)
    header, *rest = (json.loads(text) for text in as_text(record.lines).splitlines())
    assert list(header) == ["format", "game", "num_players", "seed", "rules", "components", "agents"]
    assert list(header["rules"]) == ["edition", "max_turns"]
    assert list(header["components"]) == ["action_cards", "resource_cards", "salesmen", "workers"]
    assert header["components"] == Components().as_json()
    for line in rest:
        if "event" in line:
            assert list(line) == keys_of_event.pop(line["event"], list(line))
        else:
            assert list(line) == ["player", "action", "legal"]
    assert not keys_of_event, "the game has every kind of line"


def test_a_shuffle_in_a_draw_stands_between_two_draw_lines() -> None:
    for players in (2, 3, 4):
        record = random_record(CARD.variant(players), SHUFFLE_IN_A_DRAW)
        events = [line.get("event") for line in record.lines]
        found = [at for at in range(len(events)) if events[at : at + 3] == ["draw", "shuffle", "draw"]]
        assert found
        first, _, second = record.lines[found[0] : found[0] + 3]
        assert first["player"] == second["player"]
        assert len(first["cards"]) == len(second["cards"]) == 1


def test_nothing_is_written_for_no_card_and_no_slot() -> None:
    record = random_record(CARD.variant(4), 1)
    decisions = [at for at, line in enumerate(record.lines) if line.get("action") == "draw 0"]
    assert decisions
    assert all("event" not in record.lines[at + 1] for at in decisions if at + 1 < len(record.lines) - 1)
    assert all(line.get("cards", True) and line.get("slots", True) for line in record.lines)


def test_a_player_can_not_change_the_game_behind_its_back() -> None:
    def meddle(states: Any, i: int, mask: Any) -> int:
        action = int(np.flatnonzero(mask)[0])
        states[:] = 0
        mask[:] = 0
        return action

    record = play_and_record(CARD.variant(2, {"max_turns": 4}), meddle, 1, ["a", "b"])
    assert replay(record)


@pytest.mark.parametrize("action", [-1, 44, 10**30, 8, "reveal 3", 1.0, None, True])
def test_an_illegal_action_is_refused_and_nothing_happens(action: Any) -> None:
    recorder = Recorder(CARD.variant(2), 7, ["a", "b"])
    before = recorder.states.tobytes()
    with pytest.raises(IllegalActionError, match=r"action .*: not legal; player 0 may: reveal 3, reveal 4"):
        recorder.act(action)
    assert recorder.states.tobytes() == before
    with pytest.raises(ConfigurationError, match="not over"):
        recorder.record()


def test_a_finished_game_takes_no_action() -> None:
    recorder = Recorder(CARD.variant(2, {"max_turns": 2}), 7, ["a", "b"])
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
    records = [random_record(CARD.variant(players, {"max_turns": 8}), players) for players in (2, 3, 4)]
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
            write_records(path, [golden_record()])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_what_stops_the_writing_leaves_the_old_file(tmp_path: Path) -> None:
    def stopped() -> Iterator[Record]:
        yield golden_record()
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
    assert loops.is_over_at(variant.rulesets, decisions[-1].after, 0)


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


def test_the_recorded_outcome_counts_and_not_the_seed(tmp_path: Path) -> None:
    record = golden_record()
    lines = json.loads(json.dumps(record.lines))
    hands = lines[1]["hands"]
    lines[1]["hands"] = [hand[::-1] for hand in hands]
    (again,) = read_text(tmp_path, as_text(lines))
    assert again.lines[1]["hands"] == [hand[::-1] for hand in record.lines[1]["hands"]]
    for own, other in zip(replay(record), replay(again), strict=True):
        assert own.legal == other.legal


def test_a_replayed_state_is_the_readers_own() -> None:
    record = golden_record()
    decisions = replay(record)
    kept = decisions[1].states.tobytes()
    decisions[0].states[:] = 0
    decisions[0].after[:] = 0
    assert decisions[1].states.tobytes() == kept


def test_a_description_tells_every_decision_and_event() -> None:
    record = random_record(CARD.variant(2), SHUFFLE_IN_A_DRAW)
    told = list(describe(record))
    assert sum(text.startswith("player ") and "(random): " in text for text in told) == len(replay(record))
    for line in record.lines[2:-1]:
        if line.get("event") == "draw":
            assert f"  player {line['player']} draws {', '.join(line['cards'])}" in told
        elif line.get("event") == "shuffle":
            assert f"  the discard pile is shuffled into a new stack of {line['cards']}" in told
        elif line.get("event") == "refill":
            assert any(
                text.startswith("  refilled: ") and all(card in text for card in line["slots"].values())
                for text in told
            )
    assert str(record.end["scores"][0]) in told[-2]
    assert told[-1].startswith("won by player ")
    assert any("brings" in text and "score" in text for text in told)


@pytest.mark.parametrize("game", GAMES)
def test_a_chronicle_has_every_function_of_the_interface(game: str) -> None:
    chronicle = chronicle_of(find_game(game))
    for name in vars(Chronicle):
        if not name.startswith("_"):
            assert callable(getattr(chronicle, name)), name


# ---------------------------------------------------------------- a replayer that knows only the format and the rules

RESOURCES = ("gas", "charcoal", "oil", "gold", "diamond")


class Retelling:
    """A game told from the lines of its record, with dicts and counters and nothing of the suite."""

    def __init__(self, text: str) -> None:
        self.header, setup, *self.lines = (json.loads(line) for line in text.splitlines())
        box = self.header["components"]
        self.players = self.header["num_players"]
        self.hands = [Counter(hand) for hand in setup["hands"]]
        self.stack = Counter(box["action_cards"])
        self.discard: Counter[str] = Counter()
        self.unseen = Counter(
            f"{name} {value * 1000}" for name in box["resource_cards"] for value in box["resource_cards"][name]
        )
        self.in_box = sum(self.stack.values()), sum(self.unseen.values())
        self.row: list[str | None] = [*setup["row"], *[None] * (8 - len(setup["row"]))]
        self.open = [slot < setup["face_up"] for slot in range(8)]
        for hand in setup["hands"]:
            assert len(hand) == 5
            self.take(self.stack, hand)
        self.take(self.unseen, setup["row"])
        self.workers = [1] * self.players
        self.workers_left = box["workers"] - self.players
        self.salesmen: dict[str, int] = {}
        self.investors: dict[str, int] = {}
        self.captured: list[list[str]] = [[] for _ in range(self.players)]
        self.turn = self.to_draw = 0
        self.last_turns: int | None = None  # C15: this turn and those after it, once the end is in sight
        self.paying: list[str] | None = None
        self.chosen = ""

    @staticmethod
    def take(pile: Counter[str], cards: Any) -> None:
        for card in cards:
            assert pile[card] > 0, card
            pile[card] -= 1

    def check_conservation(self) -> None:
        cards = sum(map(Counter.total, [*self.hands, self.stack, self.discard]))
        resources = self.unseen.total() + sum(card is not None for card in self.row) + sum(map(len, self.captured))
        assert (cards, resources) == self.in_box
        assert all(hand.total() <= 8 for hand in self.hands)
        assert sum(self.workers) + self.workers_left == self.header["components"]["workers"]

    def tell(self) -> None:
        for line in self.lines[:-1]:
            self.pass_event(line) if "event" in line else self.decide(line)
            self.check_conservation()
        end = self.lines[-1]
        self.finish_turn()
        limit = -(-self.header["rules"]["max_turns"] // self.players) * self.players
        assert end["truncated"] == (self.last_turns != 0)
        assert self.turn == limit if end["truncated"] else self.turn <= limit
        scores = [self.score(player) for player in range(self.players)]
        assert end["event"] == "end"
        assert end["scores"] == scores
        assert end["winners"] == [player for player in range(self.players) if scores[player] == max(scores)]

    def finish_turn(self) -> None:
        """The turn before the next decision's is over: all that was to be drawn has been."""
        assert self.to_draw == 0 or self.nothing_to_draw()
        self.to_draw = 0
        self.turn += 1
        if self.last_turns is not None:
            self.last_turns -= 1

    def nothing_to_draw(self) -> bool:
        return self.stack.total() == 0 and self.discard.total() == 0

    def decide(self, line: dict[str, Any]) -> None:
        action, player = line["action"], line["player"]
        assert action in line["legal"]
        if player != self.turn % self.players:
            self.finish_turn()
        assert player == self.turn % self.players
        verb, _, what = action.partition(" ")
        if verb == "reveal":
            slot = int(what)
            assert self.row[slot] is not None
            assert not self.open[slot]
            self.open[slot] = True
            if self.unseen.total() == 0 and all(self.open[at] for at in range(8) if self.row[at] is not None):
                self.last_turns = 1 + self.players
        elif verb == "draw":
            self.to_draw = int(what)
        elif verb == "pay":
            assert self.paying is not None
            self.take(self.hands[player], [what])
            self.discard[what] += 1
            self.paying.append(what)
            if self.is_paid(player):
                self.perform(player)
        elif verb != "keep":
            self.chosen, self.paying = action, []

    def is_paid(self, player: int) -> bool:
        verb, _, what = self.chosen.partition(" ")
        symbol = what if verb == "mine" else what.split()[0]
        assert self.paying is not None
        showing = sum(symbol in card.split("/") for card in self.paying)
        others = len(self.paying) - showing
        saved = symbol in RESOURCES and self.investors.get(symbol) == player
        assert saved or symbol in self.paying[0].split("/")
        return showing + saved + others // 2 == 2

    def perform(self, player: int) -> None:
        verb, _, what = self.chosen.partition(" ")
        self.paying = None
        self.to_draw = 1
        person, _, of = what.partition(" ")
        if verb == "mine":
            found = [slot for slot in range(8) if self.open[slot] and str(self.row[slot]).split()[0] == what]
            for slot in found[: self.workers[player]]:
                self.captured[player].append(str(self.row[slot]))
                self.row[slot], self.open[slot] = None, False
        elif person == "worker":
            self.workers[player] += 1
            self.workers_left -= 1
            assert self.workers_left >= 0
        else:
            supply = self.salesmen if person == "salesman" else self.investors
            assert of not in supply
            supply[of] = player

    def pass_event(self, line: dict[str, Any]) -> None:
        if line["event"] == "draw":
            assert line["player"] == self.turn % self.players
            assert 0 < len(line["cards"]) <= self.to_draw
            self.to_draw -= len(line["cards"])
            self.take(self.stack, line["cards"])
            self.hands[line["player"]].update(line["cards"])
        elif line["event"] == "shuffle":
            assert self.stack.total() == 0
            assert self.to_draw > 0
            assert line["cards"] == self.discard.total() > 0
            self.stack, self.discard = self.discard, Counter()
        else:
            assert line["event"] == "refill"
            empty = [str(slot) for slot in range(8) if self.row[slot] is None]
            assert list(line["slots"]) == empty[: len(line["slots"])]
            assert len(line["slots"]) == min(len(empty), self.unseen.total())
            self.take(self.unseen, line["slots"].values())
            for slot, card in line["slots"].items():
                self.row[int(slot)] = card

    def score(self, player: int) -> int:
        """C16, in dollars."""
        worth = self.header["components"]["salesmen"]
        value = {symbol: worth[symbol] if self.salesmen.get(symbol) == player else None for symbol in worth}
        cards = 0
        for card in self.captured[player]:
            resource, printed = card.split()
            cards += max(int(printed) // 1000, value[resource] or 0)
        persons = {
            "worker": self.workers[player],
            "salesman": list(self.salesmen.values()).count(player),
            "investor": list(self.investors.values()).count(player),
        }
        return 1000 * (cards + sum(count * (value[person] or 1) for person, count in persons.items()))


@every_variant
def test_a_record_can_be_replayed_by_a_stranger(variant: Variant, seed: int) -> None:
    Retelling(as_text(random_record(variant, seed).lines)).tell()


def test_the_golden_record_can_be_replayed_by_a_stranger() -> None:
    Retelling(GOLDEN_TEXT).tell()


# ---------------------------------------------------------------- damage


def refused(folder: Path, text: str | bytes, number: int) -> str:
    """The refusal of `text`, which has to name line `number` and leave the file as it is."""
    with pytest.raises(RecordError) as caught:
        read_text(folder, text)
    message = str(caught.value)
    assert message.startswith(f"line {number}: "), message
    assert (folder / "games.jsonl").read_bytes() == (text.encode() if isinstance(text, str) else text)
    return message


def decision_line(lines: Lines, start: str) -> int:
    """Index of the first decision whose action starts so."""
    return next(at for at, line in enumerate(lines) if line.get("action", "").startswith(start))


def event_line(lines: Lines, event: str) -> int:
    return next(at for at, line in enumerate(lines) if line.get("event") == event)


def fresh_lines(record: Record | None = None) -> Lines:
    return [json.loads(text) for text in (as_text(record.lines) if record else GOLDEN_TEXT).splitlines()]


HEADER_DAMAGE: dict[str, tuple[dict[str, Any], str]] = {
    "version": ({"format": "siberia-record/2"}, "'siberia-record/1'"),
    "format": ({"format": 1}, "not known here"),
    "game": ({"game": "chess"}, 'no game "chess"; the games are card'),
    "game's type": ({"game": ["card"]}, "the games are card"),
    "players": ({"num_players": 5}, "2 to 4 players"),
    "players' type": ({"num_players": "3"}, "2 to 4 players"),
    "fewer players": ({"num_players": 2}, "agents: expected 2 names"),
    "seed": ({"seed": -1}, "seed: -1 is not a whole number"),
    "seed's type": ({"seed": 7.0}, "seed: 7.0 is not a whole number"),
    "rules": ({"rules": {"edition": "dlp"}}, "every option in force"),
    "rules' type": ({"rules": "dlp"}, "every option in force"),
    "option": ({"rules": {"edition": "dlp", "max_turns": 12, "speed": 3}}, "no option 'speed'"),
    "edition": ({"rules": {"edition": "xyz", "max_turns": 12}}, "no edition 'xyz'"),
    "edition's type": ({"rules": {"edition": ["dlp"], "max_turns": 12}}, "no edition"),
    "max_turns": ({"rules": {"edition": "dlp", "max_turns": 12.0}}, "max_turns"),
    "components": ({"components": {}}, "action_cards"),
    "components' type": ({"components": None}, "components: expected an object"),
    "agents": ({"agents": ["a", "b"]}, "agents: expected 3 names"),
    "agents' type": ({"agents": ["a", "b", 3]}, "agents: expected 3 names"),
    "agent in two lines": ({"agents": ["a", "b", "c\nd"]}, "agents: expected 3 names"),
    "another key": ({"date": "today"}, "a header has the keys format, game"),
}


@pytest.mark.parametrize("damage", HEADER_DAMAGE)
def test_a_damaged_header_is_refused(damage: str, tmp_path: Path) -> None:
    change, reason = HEADER_DAMAGE[damage]
    lines = fresh_lines()
    lines[0].update(change)
    assert reason in refused(tmp_path, as_text(lines), 1)


@pytest.mark.parametrize("key", ["format", "game", "num_players", "seed", "rules", "components", "agents"])
def test_a_header_without_one_of_its_keys_is_refused(key: str, tmp_path: Path) -> None:
    lines = fresh_lines()
    del lines[0][key]
    assert "header" in refused(tmp_path, as_text(lines), 1)


def test_components_with_too_few_cards_are_refused(tmp_path: Path) -> None:
    lines = fresh_lines()
    lines[0]["components"]["resource_cards"] = {name: [1] if name == "gas" else [] for name in RESOURCES}
    assert "resource_cards: 1 cards in all" in refused(tmp_path, as_text(lines), 1)


def change_decision(key: str, value: Any) -> Callable[[Lines], int]:
    def damage(lines: Lines) -> int:
        at = decision_line(lines, "mine")
        lines[at][key] = value(lines[at][key]) if callable(value) else value
        return at

    return damage


def change_event(event: str, key: str, value: Any) -> Callable[[Lines], int]:
    def damage(lines: Lines) -> int:
        at = event_line(lines, event)
        lines[at][key] = value(lines[at][key]) if callable(value) else value
        return at

    return damage


def insert(what: dict[str, Any], after: Callable[[Lines], int]) -> Callable[[Lines], int]:
    def damage(lines: Lines) -> int:
        at = after(lines) + 1
        lines.insert(at, what)
        return at

    return damage


def remove(find: Callable[[Lines], int]) -> Callable[[Lines], int]:
    def damage(lines: Lines) -> int:
        at = find(lines)
        del lines[at]
        return at

    return damage


def fifth_card(lines: Lines) -> int:
    """Show more cards of one kind than there are, later than the setup."""
    left = Counter(lines[0]["components"]["action_cards"])
    draws = [at for at, line in enumerate(lines) if line.get("event") == "draw"]
    for hand in lines[1]["hands"]:
        left.subtract(hand)
    for at in draws:
        for index in range(len(lines[at]["cards"])):
            lines[at]["cards"][index] = "oil/worker"
            left["oil/worker"] -= 1
            if left["oil/worker"] < 0:
                return at
    raise AssertionError("too few draws")


def early_end(lines: Lines) -> int:
    lines[9:] = lines[-1:]
    return 9


BODY_DAMAGE: dict[str, tuple[Callable[[Lines], int], str]] = {
    "no setup": (remove(lambda lines: 1), "expected the setup line"),
    "second setup": (insert({"event": "setup"}, lambda lines: 1), "a second setup line"),
    "row too short": (change_event("setup", "row", lambda row: row[1:]), "setup.row: expected a list of 8"),
    "row with an unknown card": (change_event("setup", "row", lambda row: ["gas 9000", *row[1:]]), "'gas 9000'"),
    "row with an impossible card": (change_event("setup", "row", ["diamond 7000"] * 8), "one diamond 7000 too many"),
    "face up": (change_event("setup", "face_up", 4), "setup.face_up"),
    "one hand less": (change_event("setup", "hands", lambda hands: hands[1:]), "setup.hands: expected a list of 3"),
    "hand too small": (change_event("setup", "hands", lambda hands: [hands[0][1:], *hands[1:]]), "setup.hands[0]"),
    "impossible hand": (change_event("setup", "hands", [["oil/worker"] * 5] * 3), "one oil/worker too many"),
    "unknown event": (insert({"event": "thunder"}, lambda lines: 1), "no event 'thunder'"),
    "event's type": (insert({"event": ["draw"]}, lambda lines: 1), "no event"),
    "event's keys": (insert({"event": "draw", "player": 0}, lambda lines: 1), "draw: expected the keys"),
    "decision's keys": (insert({"player": 0, "action": "reveal 3"}, lambda lines: 1), "player, action, legal"),
    "nothing": (insert({}, lambda lines: 1), "got none"),
    "player's type": (change_decision("player", "0"), "player: expected a seat number"),
    "player true": (change_decision("player", True), "player: expected a seat number"),
    "wrong player": (change_decision("player", lambda player: (player + 1) % 3), "is on turn"),
    "action's type": (change_decision("action", 12), "action: expected an action's name"),
    "unknown action": (change_decision("action", "mine tin"), 'no action "mine tin"; legal are draw 0'),
    "illegal action": (change_decision("action", "reveal 0"), "'reveal 0' is not legal; legal are draw 0"),
    "legal's type": (change_decision("legal", "draw 0"), "legal: expected a list of names"),
    "legal's entries": (change_decision("legal", [1]), "legal: expected a list of names"),
    "legal action missing": (change_decision("legal", lambda legal: legal[1:]), 'missing ["draw 0"], wrong []'),
    "legal action too many": (change_decision("legal", lambda legal: [*legal, "dance"]), 'wrong ["dance"]'),
    "legal in another order": (change_decision("legal", lambda legal: legal[::-1]), "order or repetition"),
    "drawer": (change_event("draw", "player", lambda player: (player + 1) % 3), "expected a draw line of player"),
    "drawer's number": (change_event("draw", "player", 3), "draw.player: 3"),
    "no card": (change_event("draw", "cards", []), "draw.cards: expected a list of 1 to 2"),
    "three cards": (change_event("draw", "cards", ["gas/worker"] * 3), "draw.cards: expected a list of 1 to 2"),
    "unknown card": (change_event("draw", "cards", ["tin/worker"]), "no action card 'tin/worker'"),
    "card's type": (change_event("draw", "cards", [["gas", "worker"]]), "no action card"),
    "a fifth card of a kind": (fifth_card, "one oil/worker too many; of the action cards 4 are oil/worker"),
    "draw left out": (remove(lambda lines: event_line(lines, "draw")), "expected a draw line of player"),
    "refill left out": (remove(lambda lines: event_line(lines, "refill")), "expected a refill line of the slots"),
    "unknown slot": (change_event("refill", "slots", {"8": "gas 1000"}), "refill.slots"),
    "no slot": (change_event("refill", "slots", {}), "refill.slots"),
    "wrong slots": (
        change_event("refill", "slots", lambda slots: {**slots, "7": "gas 1000", "6": "gas 1000"}),
        "expected a refill line of the slots",
    ),
    "refilled with an unknown card": (
        change_event("refill", "slots", lambda slots: dict.fromkeys(slots, "gas")),
        "no resource card 'gas'",
    ),
    "draw too many": (
        insert({"event": "draw", "player": 0, "cards": ["gas/worker"]}, lambda lines: event_line(lines, "draw")),
        "expected a decision of player",
    ),
    "shuffle too many": (
        insert({"event": "shuffle", "cards": 9}, lambda lines: event_line(lines, "draw")),
        "expected a decision of player",
    ),
    "early end": (
        early_end,
        "the record ends here, but the game goes on: player",
    ),
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


@pytest.mark.parametrize("damage", BODY_DAMAGE)
def test_a_damaged_record_is_refused_with_its_line_number(damage: str, tmp_path: Path) -> None:
    change, reason = BODY_DAMAGE[damage]
    lines = fresh_lines()
    at = change(lines)
    assert reason in refused(tmp_path, as_text(lines), at + 1)


def test_a_shuffle_that_can_not_be_is_refused(tmp_path: Path) -> None:
    record = random_record(CARD.variant(2), SHUFFLE_IN_A_DRAW)
    lines = fresh_lines(record)
    at = event_line(lines, "shuffle")
    lines[at]["cards"] += 1
    assert f"a shuffle line of {lines[at]['cards'] - 1} cards" in refused(tmp_path, as_text(lines), at + 1)
    lines = fresh_lines(record)
    del lines[at]  # so the next draw is from an empty stack
    assert "too many" in refused(tmp_path, as_text(lines), at + 1)


def test_a_card_that_was_not_shuffled_in_is_refused(tmp_path: Path) -> None:
    lines = fresh_lines(random_record(CARD.variant(2), SHUFFLE_IN_A_DRAW))
    start = event_line(lines, "shuffle")
    draws = [at for at in range(start, len(lines)) if lines[at].get("event") == "draw"]
    paid = Counter(line["action"].removeprefix("pay ") for line in lines[:start] if "pay " in line.get("action", ""))
    kind, count = min(paid.items(), key=lambda item: item[1])
    left = count
    for at in draws:
        lines[at]["cards"] = [kind] * len(lines[at]["cards"])
        left -= len(lines[at]["cards"])
        if left < 0:
            break
    assert f"one {kind} too many; of the shuffled cards {count} are" in refused(tmp_path, as_text(lines), at + 1)


def test_a_record_without_any_one_of_its_lines_is_refused(tmp_path: Path) -> None:
    lines = fresh_lines()
    for at in range(len(lines)):
        with pytest.raises(RecordError, match=r"^line \d+: "):
            read_text(tmp_path, as_text(lines[:at] + lines[at + 1 :]))


def test_a_record_with_any_line_twice_or_two_swapped_is_refused(tmp_path: Path) -> None:
    lines = fresh_lines()
    for at in range(len(lines)):
        with pytest.raises(RecordError, match=r"^line \d+: "):
            read_text(tmp_path, as_text(lines[: at + 1] + lines[at:]))
        if at > 0 and lines[at - 1] != lines[at]:
            with pytest.raises(RecordError, match=r"^line \d+: "):
                read_text(tmp_path, as_text([*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]]))


def test_a_record_cut_off_anywhere_is_refused_at_its_last_line(tmp_path: Path) -> None:
    lines = fresh_lines()
    for kept in range(1, len(lines)):
        assert "the game that began on line 1 has no end line" in refused(tmp_path, as_text(lines[:kept]), kept)
    text = as_text(lines)
    assert "not JSON" in refused(tmp_path, text[:-10], len(lines))
    assert read_text(tmp_path, text[:-1]), "the last line's end is not missed"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every number, name and truth value in a JSON value."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))
    else:
        yield path


def test_any_number_or_name_that_is_changed_is_refused_on_its_line(tmp_path: Path) -> None:
    original = fresh_lines()
    changed = 0
    for at, line in enumerate(original[1:], start=1):
        for path in leaves(line):
            if path[0] == "legal" and path[1] > 1:
                continue
            lines = list(original)
            lines[at] = json.loads(json.dumps(line))
            place = lines[at]
            for key in path[:-1]:
                place = place[key]
            old = place[path[-1]]
            place[path[-1]] = not old if isinstance(old, bool) else old + 1 if isinstance(old, int) else old + "x"
            refused(tmp_path, as_text(lines), at + 1)
            changed += 1
    assert changed > 100


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


def test_lines_are_counted_through_the_file_and_sound_games_come_first(tmp_path: Path) -> None:
    sound = golden_record()
    lines = fresh_lines()
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


def test_records_made_by_hand_are_checked_too() -> None:
    lines = golden_record().lines
    with pytest.raises(RecordError, match=r"^line 1: the record is empty"):
        replay(Record(()))
    with pytest.raises(RecordError, match=f"^line {len(lines) - 1}: the record stops here"):
        replay(Record(lines[:-1]))
    with pytest.raises(RecordError, match=f"^line {len(lines) + 11}: a line after the end"):
        replay(Record((*lines, lines[-1]), first_line=11))


def test_decisions_say_what_was_legal() -> None:
    decisions: list[Decision] = replay(golden_record())
    for made in decisions:
        assert made.mask[made.action] == 1
        assert made.name in made.legal
        assert len(made.legal) == made.mask.sum()
