"""The seats of people: what a seat is shown, asked and told, and how a move is taken back.

Nothing here reads or prints. Whatever is shown, asked or told is made of what the seat may know: its text view, its
view as an agent has it (with samples of what it can't see, never the true state), and of what happens those parts
that are public or its own. If several people play, one of them looks at a time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from siberia_env.common.notation import Line, chronicle_of
from siberia_env.common.render import seat_name
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant, copy_states, is_secret
from siberia_env.position import Position
from siberia_env.records import Recorder
from siberia_env.view import View
from siberia_experiments.play.layout import renamed

PERSON = "person"  #: who plays a person's seat, in records; with a name it is `person Ann`

SAMPLES = 64  #: worlds that are asked what an action brings; only what all agree on is known to the seat
MOST_STEPS = 8  #: decisions that are followed for it

SEPARATOR = "; "  #: between the things that a chronicle remarks


def person_spec(name: str = "") -> str:
    """Who plays the seat of a person, for the header of a record."""
    return f"{PERSON} {name}" if name else PERSON


def is_person(spec: str) -> bool:
    """Whether a header says that a person plays the seat."""
    return spec == PERSON or spec.startswith(f"{PERSON} ")


@dataclass(frozen=True)
class Option:
    """A legal action as it stands in the list to choose from.

    Attributes:
        number: its place in the list, from 1 on.
        action: its number in the game.
        name: its name in the game.
        note: what it is certain to bring, as far as the seat can know; or empty.
    """

    number: int
    action: int
    name: str
    note: str

    def __str__(self) -> str:
        return self.name + (f"  ({self.note})" if self.note else "")


class SeatedGame(Recorder):
    """A recorded game in which people have seats.

    Attributes:
        seat: the seat of the person who looks; all that is said of "the person" below is said of this one.
        people: the seats of all people, in order.
        seed: decides every chance outcome.
        agents: who plays, one name a seat (`person_spec` for people).
    """

    def __init__(self, variant: Variant, seed: int, agents: Sequence[str], seat: int) -> None:
        """Deal the game that `seed` gives.

        Raises:
            ConfigurationError: no such seat or seed, or not one agent a seat.
        """
        if not 0 <= seat < variant.num_players:
            last = variant.num_players - 1
            raise ConfigurationError(f"seat: {seat}; a game of {variant.num_players} has the seats 0 to {last}")
        super().__init__(variant, seed, agents)
        self.seat, self.seed, self.agents = seat, seed, tuple(agents)
        self.people = tuple(player for player, spec in enumerate(agents) if player == seat or is_person(spec))
        self._withheld: dict[int, list[str]] = {}  # what has been decided in secret, by player

    # ------------------------------------------------------------ the game so far

    @property
    def header(self) -> Line:
        """The header of the game's record."""
        return self._lines[0]

    @property
    def decisions(self) -> list[tuple[int, str]]:
        """Every decision so far: who, and the action's name."""
        return [(line["player"], line["action"]) for line in self._lines if "action" in line]

    @property
    def on_turn(self) -> bool:
        """Whether the next decision is the person's."""
        return not self.over and self.player == self.seat

    def play(self, names: Sequence[str]) -> None:
        """Take the named actions, one after the other.

        Raises:
            ConfigurationError: one of them is not legal when it comes.
        """
        for count, name in enumerate(names, start=1):
            position = self.position
            legal = dict(zip(position.legal_action_names(), position.legal_actions(), strict=True))
            if name not in legal:
                raise ConfigurationError(f"decision {count}, {name!r}, is not legal there")
            self.act(legal[name])

    def rewound(self, decisions: int) -> SeatedGame:
        """The same game after its first `decisions` decisions."""
        game = SeatedGame(self.variant, self.seed, self.agents, self.seat)
        game.play([name for _, name in self.decisions[:decisions]])
        return game

    @property
    def forced(self) -> int | None:
        """The action that the player on turn has to take; None if there is a choice, or the game is over."""
        legal = self.position.legal_actions()
        return legal[0] if len(legal) == 1 else None

    def last_own_decision(self, with_forced: bool = False) -> int | None:
        """How many decisions there were before the person's latest one; None if there is none.

        Decisions in which only one action was legal count only `with_forced`.
        """
        taken = [line for line in self._lines if "action" in line]
        own = (
            count
            for count, line in reversed(list(enumerate(taken)))
            if line["player"] == self.seat and (with_forced or len(line["legal"]) > 1)
        )
        return next(own, None)

    def brought_news(self, decisions: int) -> bool:
        """Whether the person has learned something by or since that decision of its own which it couldn't foresee.

        That is so if somebody else has decided or chance has, and if the same action would have led, in some sample
        of what the person didn't know, to a position that it sees as another one. What the person had to do after the
        decision belongs to it, as far as it was bound to come.
        """
        since = self.decisions[decisions:]
        if self.over or any(player != self.seat for player, _ in since):
            return True
        seen = self._seen(self.states)
        return not all(self._leads_to(position, since, seen) for position in self.rewound(decisions)._samples())

    def _leads_to(self, position: Position, decisions: Sequence[tuple[int, str]], seen: tuple[bytes, int]) -> bool:
        """Whether these decisions, all but the first one forced, lead from `position` to what the person has `seen`."""
        for count, (_, name) in enumerate(decisions):
            if count and position.legal_action_names() != [name]:
                return False
            position.apply_action(name)
            if position.is_chance_node():
                return False
        return self._seen(position.states) == seen

    # ------------------------------------------------------------ what the seat is shown and asked

    def text(self) -> str:
        """The game as the seat sees it, in plain text, with people by their names."""
        return renamed(self.position.observation_string(self.seat), self.names)

    def view(self) -> View:
        """The decision that is due, as an agent would be shown it."""
        return self.position.view()

    def options(self) -> list[Option]:
        """The person's legal actions, in action order, with what each is certain to bring."""
        actions, samples = self.position.legal_actions(), self._samples()
        notes = [self._outlook(action, samples) for action in actions]
        if len(set(notes)) == 1 and len(notes) > 1:
            notes = [""] * len(notes)  # it tells nothing about the choice
        return [
            Option(number, action, self._names[action], note)
            for number, (action, note) in enumerate(zip(actions, notes, strict=True), start=1)
        ]

    # ------------------------------------------------------------ what the seat is told

    def act(self, action: int) -> None:
        """Take `action` and write it down; see `Recorder.act`."""
        before, player, names = copy_states(self.states), self.player, self._names
        super().act(action)
        if not self._is_secret(before):
            self._withheld.clear()  # it has been told, or would have been: a game that is taken up again tells nothing
        else:
            notes = self._remarks(before, self.states, action, player)
            self._withheld.setdefault(player, []).append(SEPARATOR.join(notes) or names[action])

    def take(self, action: int) -> list[str]:
        """Take an action of whoever is on turn; what the person is told of it and of the chance that follows.

        Of what others decide in secret the person is told when everybody has decided.

        Raises:
            IllegalActionError: see `Recorder.act`.
        """
        return self.tell(action)[self.seat]

    def tell(self, action: int) -> dict[int, list[str]]:
        """Take an action as `take` does; what each of `people` is told of it, by seat."""
        before, player, name, lines = copy_states(self.states), self.player, self._names[action], len(self._lines)
        forced = self.forced is not None
        self.act(action)
        was_secret, is_known = self._is_secret(before), not self._is_secret(self.states)
        remarks = self._remarks(before, self.states, action, player)
        events = [line for line in self._lines[lines:] if "event" in line]
        chronicle = chronicle_of(self.variant.game)
        told: dict[int, list[str]] = {}
        for viewer in self.people:
            own = told[viewer] = []
            if player == viewer or not was_secret:
                notes = SEPARATOR.join(self._with_seats(remark, viewer) for remark in remarks)
                only = "  (the only move)" if forced and player in self.people else ""
                own.append(f"{self.called(player, viewer)}: {name}" + (f"  [{notes}]" if notes else "") + only)
            if was_secret and is_known:
                for other in (player for player in self._withheld if player != viewer):
                    secrets = ", ".join(self._with_seats(text, viewer) for text in self._withheld[other])
                    own.append(f"{self.called(other, viewer)} decided: {secrets}")
            texts = [text for event in events for text in chronicle.told_to(viewer, event)]
            own += [f"  {self._with_seats(text, viewer)}" for text in texts]
        return told

    @property
    def names(self) -> tuple[str, ...]:
        """What everybody is called, seat by seat: people by their names if they have some."""
        prefix = f"{PERSON} "
        return tuple(
            spec.removeprefix(prefix) if spec.startswith(prefix) else seat_name(player)
            for player, spec in enumerate(self.agents)
        )

    def called(self, player: int, viewer: int | None = None) -> str:
        """How a person, by default the one who looks, is told of a player."""
        return "you" if player == (self.seat if viewer is None else viewer) else self.names[player]

    def _remarks(self, before: States, after: States, action: int, player: int) -> list[str]:
        """What an action brought to a player, in a chronicle's words."""
        remark = chronicle_of(self.variant.game).remark(self.variant, before, after, action)
        gain = self._scores(after)[player] - self._scores(before)[player]
        scored = [("+" if gain > 0 else "-") + self.variant.game.score_text(abs(gain))] if gain else []
        return [*filter(None, remark.split(SEPARATOR)), *scored]

    def _with_seats(self, text: str, viewer: int) -> str:
        """A chronicle's text with players called as everywhere else."""
        text = re.sub(rf"\bplayer {viewer} (\w+)s\b", r"you \1", text)
        text = re.sub(rf"\bof player {viewer}\b", "of yours", text)
        return re.sub(r"\bplayer (\d)\b", lambda found: self.called(int(found[1]), viewer), text)

    # ------------------------------------------------------------ what the seat can know

    @property
    def _names(self) -> tuple[str, ...]:
        """Every action's name now."""
        return self.position.action_names()

    def worlds(self, count: int) -> list[Position]:
        """Worlds that the person can't tell from the true one, always the same for the same view."""
        return [self.position.resample_from_infostate(self.seat, seed) for seed in range(count)]

    def _samples(self) -> list[Position]:
        """As many of them as are asked what an action brings."""
        return self.worlds(SAMPLES)

    def _seen(self, states: States) -> tuple[bytes, int]:
        """The person's observation, and whose turn it is."""
        position = Position.from_states(self.variant, states)
        return position.observation_tensor(self.seat).tobytes(), position.current_player()

    def _is_secret(self, states: States) -> bool:
        return bool(is_secret(self.variant.rulesets[0], states[0]))

    def _scores(self, states: States) -> list[int]:
        return Position.from_states(self.variant, states).scores()

    def _outlook(self, action: int, samples: Sequence[Position]) -> str:
        """What `action` is certain to bring: of the first thing there is to tell, what all samples agree on."""
        certain: list[str] = []
        for seed, position in enumerate(samples):
            notes = [self._with_seats(note, self.seat) for note in self._first_notes(position.clone(), action, seed)]
            agreed = takewhile(lambda pair: pair[0] == pair[1], zip(certain, notes, strict=False))
            certain = [note for note, _ in agreed] if seed else notes
            if not certain:
                break
        return SEPARATOR.join(certain).removeprefix(self._names[action]).lstrip(SEPARATOR)

    def _first_notes(self, position: Position, action: int, seed: int) -> list[str]:
        """What comes of `action`, the person going on at random until there is something to tell (a payment, say).

        It is over when another one decides, chance has its turn, or a decision like the one that is due comes back.
        """
        chance, choices = np.random.default_rng(seed), set(self.position.legal_actions())
        for _ in range(MOST_STEPS):
            before = copy_states(position.states)
            position.apply_action(action)
            if notes := self._remarks(before, position.states, action, self.seat):
                return notes
            legal = position.legal_actions()
            if position.current_player() != self.seat or choices.intersection(legal):
                break
            action = int(chance.choice(legal))
        return []
