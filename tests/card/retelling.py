"""Replays records of the card game. It knows only their format and the rules, and uses nothing of the suite."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

RESOURCES = ("gas", "charcoal", "oil", "gold", "diamond")


class Retelling:
    """A game that is replayed from the lines of its record, with dicts and counters and nothing of the suite."""

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
        self.last_drawn = False  # whether the last card of the stack was drawn in this turn
        self.last_turns: int | None = None  # C15: turns left, this one included, once the end is in sight
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
        """End the turn before that of the next decision, and check that all cards to draw were drawn."""
        assert self.to_draw == 0 or self.nothing_to_draw()
        assert not self.shuffles_at_once()
        self.last_drawn = False
        self.to_draw = 0
        self.turn += 1
        if self.last_turns is not None:
            self.last_turns -= 1

    def shuffles_at_once(self) -> bool:
        """Whether to shuffle now (C14): the printed editions shuffle as soon as the last card has been drawn."""
        return self.header["rules"]["edition"] != "digital" and self.last_drawn and self.discard.total() > 0

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
            self.last_drawn = self.stack.total() == 0
        elif line["event"] == "shuffle":
            assert self.stack.total() == 0
            assert self.to_draw > 0 or self.shuffles_at_once()
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
        """The player's score in dollars (C16)."""
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
