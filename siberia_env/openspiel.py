"""Both games in OpenSpiel: after `import siberia_env.openspiel`, `pyspiel.load_game("siberia_card")` finds them.

    game = pyspiel.load_game("siberia_board", {"players": 3, "sides": "random"})
    state = game.new_initial_state()

Chance is explicit: cards, cubes, tiles and counters come out one at a time, when somebody sees them
(`siberia_env.common.chance`). The rules are the compiled ones of the suite. docs/openspiel.md explains parameters,
information states, and which of OpenSpiel's algorithms run.

This module needs the extra `openspiel`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from siberia_env.board import chance as board_chance
from siberia_env.card import chance as card_chance
from siberia_env.card.components import components_from_json
from siberia_env.common.chance import EVERYBODY, ChanceRoom, Draw
from siberia_env.common.components import read_json
from siberia_env.common.notation import make_alike
from siberia_env.core import engine, rewards
from siberia_env.core.engine import CHANCE
from siberia_env.errors import ConfigurationError, missing_extra
from siberia_env.game import Game, States, Variant, copy_states, find_game, is_secret
from siberia_env.position import DIGEST, Position
from siberia_env.view import REPRESENTATIVE, View

try:
    import pyspiel
except ImportError as error:
    raise missing_extra("openspiel", "siberia_env.openspiel", error.name) from error

PREFIX = "siberia_"  #: of the names under which the games are registered
LIST_SIGN = "/"  #: between the names of a list in a parameter, such as the sides of the exchanges

ROOMS: Mapping[str, ChanceRoom] = MappingProxyType(
    {"card": cast(ChanceRoom, card_chance), "board": cast(ChanceRoom, board_chance)}
)


# ---------------------------------------------------------------- what happened, in numbers and in words


@lru_cache(maxsize=64)
def event_names(variant: Variant) -> tuple[str, ...]:
    """The names of all events in order of their numbers: each player's decisions, then the outcomes of chance."""
    decisions = (f"player {seat} {name}" for seat in range(variant.num_players) for name in variant.action_names)
    return (*decisions, *ROOMS[variant.game.name].names(variant))


def knowledge_of(view: View) -> str:
    """A number, in hexadecimal digits, for all that the player on turn knows: equal knowledge has equal numbers."""
    return _knowledge(view.variant, view.representative, view.player)


def _knowledge(variant: Variant, states: States, seat: int) -> str:
    """The same for any player. A sample under a fixed seed holds all that the player knows, and nothing else."""
    sampled = copy_states(states)
    make_alike(variant, sampled)
    engine.determinize_at(variant.rulesets, sampled, 0, seat, REPRESENTATIVE)
    return _digest(sampled)


def _digest(states: States) -> str:
    return blake2b(states.tobytes(), digest_size=DIGEST).hexdigest()


class Moment:
    """Where a game stands, with all that the players have heard. States share moments, so none changes once it is made.

    Attributes:
        position: the position; while an action waits for its draws, the position before it.
        events: all events so far, by number (`event_names`).
        public: those of them that all players have seen.
        heard: for each player, the events that it has seen.
        known: for each player a number for what it knew when the events began; empty for a game from its deal.
        draw: the draw that is due; None where a player decides, and at the end.
        is_dealt: whether there is something to see. There is not before the first outcomes of chance are settled.
    """

    def __init__(self, position: Position, known: tuple[str, ...]) -> None:
        self.position = position
        self.known = known
        self.events: tuple[int, ...] = ()
        self.public: tuple[int, ...] = ()
        self.heard: tuple[tuple[int, ...], ...] = ((),) * position.num_players
        self.draw: Draw | None = None
        self.is_dealt = not position.is_chance_node()
        self._drawn: tuple[int, ...] = ()
        self._action: int | None = None
        self._after: Position | None = None
        self._go_on()

    @classmethod
    def of_new_game(cls, variant: Variant) -> Moment:
        """A game before its deal."""
        return cls(Position(variant, 0, explicit_chance=True), ("",) * variant.num_players)

    @classmethod
    def of_position(cls, position: Position) -> Moment:
        """A game that goes on from a position. What happened before is unknown, but all players know what they know."""
        variant, states = position.variant, position.states
        return cls(position, tuple(_knowledge(variant, states, seat) for seat in range(position.num_players)))

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @property
    def player(self) -> int:
        """The seat on turn, `CHANCE` or `TERMINAL`."""
        return CHANCE if self.draw is not None else self.position.current_player()

    def after(self, number: int) -> Moment:
        """The moment after an outcome of chance, or after a legal action of the player on turn.

        Raises:
            ConfigurationError: the outcome is not one of the draw.
            IllegalActionError: the action is not legal.
        """
        moment = object.__new__(type(self))
        vars(moment).update(vars(self))
        if self.draw is None:
            moment._act(self.position.check_legal(number))
        elif number in (possible := [outcome for outcome, _ in self.draw.outcomes()]):
            moment._take(number)
        else:
            raise ConfigurationError(f"chance outcome {number}: the outcomes here are {', '.join(map(str, possible))}")
        moment._go_on()
        return moment

    def information_state(self, player: int) -> str:
        """All that `player` has seen since the deal, its own decisions included, in the order of events."""
        names = event_names(self.position.variant)
        start = [f"knows {self.known[player]}"] if self.known[player] else []
        return f"seat {player}: " + "; ".join((*start, *(names[event] for event in self.heard[player])))

    def as_sampled(self, player: int, seed: int) -> Moment:
        """Another moment that `player` can't tell from this one."""
        moment = Moment.of_position(self.position.resample_from_infostate(player, seed))
        moment.public = self.public
        moment.heard = tuple(self.heard[seat] if seat == player else self.public for seat in range(len(self.heard)))
        moment.known = tuple(self.known[seat] if seat == player else known for seat, known in enumerate(moment.known))
        return moment

    def _act(self, action: int) -> None:
        """Carry out an action. If it brings something to light, it waits until that is drawn."""
        before, seat = self.position, self.position.current_player()
        after = before.clone()
        after.apply_action(action)
        self._hear(seat * before.variant.game.num_actions + action, seat if _is_secret(before) else EVERYBODY)
        if self._next_draw(before, after) is None:
            self._come_to(after)
        else:
            self._action, self._after = action, after

    def _come_to(self, position: Position) -> None:
        """Go on to the position after an action. Secret decisions are shown to all players once all are taken."""
        if _is_secret(self.position) and not _is_secret(position):
            variant = position.variant
            actions = variant.game.num_actions
            for seat, outcome, action in ROOMS[variant.game.name].shown_plans(variant, position.states):
                self._hear(variant.num_players * actions + outcome, EVERYBODY)
                self._hear(seat * actions + action, EVERYBODY)
        self.position = position

    def _next_draw(self, before: Position, after: Position) -> Draw | None:
        room = ROOMS[before.variant.game.name]
        return room.next_draw(before.variant, before.states, after.states, self._drawn)

    def _take(self, outcome: int) -> None:
        """Draw what chance names."""
        assert self.draw is not None
        variant = self.position.variant
        self._drawn += (outcome,)
        self._hear(variant.num_players * variant.game.num_actions + outcome, self.draw.seat)

    def _go_on(self) -> None:
        """Go on to the next draw that has more than one outcome, or to the next decision, or to the end."""
        while self._action is not None or self.position.is_chance_node():
            after = self.position if self._after is None else self._after
            self.draw = self._next_draw(self.position, after)
            if self.draw is None:
                self._settle(after)
            elif len(possible := self.draw.outcomes()) > 1:
                return
            else:
                self._take(possible[0][0])
        self.draw = None

    def _settle(self, after: Position) -> None:
        """All is drawn: settle the chance that is due, or carry out the action that waits."""
        position, action = self.position.clone(), self._action
        ROOMS[position.variant.game.name].arrange(position.variant, position.states, after.states, self._drawn)
        self._drawn, self._action, self._after = (), None, None
        self.is_dealt = True
        if action is None:
            self.position = position
        else:
            position.apply_action(action)
            self._come_to(position)

    def _hear(self, event: int, seat: int) -> None:
        self.events += (event,)
        if seat == EVERYBODY:
            self.public += (event,)
        self.heard = tuple(
            heard + (event,) if seat in (EVERYBODY, other) else heard for other, heard in enumerate(self.heard)
        )


def _is_secret(position: Position) -> bool:
    return bool(is_secret(position.variant.rulesets[0], position.states[0]))


# ---------------------------------------------------------------- OpenSpiel's state


class SiberiaState(pyspiel.State):  # type: ignore[misc]
    """A game of the suite as a state of OpenSpiel. `game.new_initial_state()` makes one.

    A state that `resample_from_infostate` or `SiberiaGame.state_of` gives has no history before the position from which
    it goes on: its `history()` begins there.

    Attributes:
        moment: where the game stands.
    """

    def __init__(self, game: SiberiaGame, moment: Moment | None = None) -> None:
        """Begin at `moment`; at the deal if it is None."""
        super().__init__(game)
        self.moment = game.first if moment is None else moment

    @property
    def position(self) -> Position:
        """A copy of the position; at a chance node, the position before what is drawn there."""
        return self.moment.position.clone()

    def view(self) -> View:
        """What the suite's agents are shown of the decision that is due.

        Raises:
            ConfigurationError: no decision is due.
        """
        self._check_decision("view")
        return self.moment.position.view()

    def current_player(self) -> int:
        """The seat on turn, `pyspiel.PlayerId.CHANCE` or `pyspiel.PlayerId.TERMINAL`."""
        return self.moment.player

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.moment.draw is None and self.moment.position.is_terminal()

    def _legal_actions(self, player: int) -> list[int]:
        return self.moment.position.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of a chance node, in ascending order, with their probabilities."""
        assert self.moment.draw is not None
        return self.moment.draw.outcomes()

    def _apply_action(self, action: int) -> None:
        self.moment = self.moment.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        position = self.moment.position
        if player == pyspiel.PlayerId.CHANCE:
            return ROOMS[position.variant.game.name].names(position.variant)[action]
        return position.action_to_string(action)

    def returns(self) -> list[float]:
        """What each player is paid, zeros before the end of the game."""
        game = cast(SiberiaGame, self.get_game())
        position = self.moment.position
        return game.returns_of(position) if self.is_terminal() else [0.0] * position.num_players

    def observation_text(self, player: int) -> str:
        """The game as `player` sees it now, in plain text."""
        moment = self.moment
        return moment.position.observation_string(player) if moment.is_dealt else f"seat {player}: nothing is dealt yet"

    def write_observation(self, player: int, observation: NDArray[np.float32]) -> None:
        """Write what `player` sees now into `observation`, zeros before the deal."""
        moment = self.moment
        observation[:] = moment.position.observation_tensor(player) if moment.is_dealt else 0

    def write_events(self, player: int, events: NDArray[np.float32]) -> None:
        """Write the events that `player` has seen into `events`, one number in (0, 1] each, zeros behind them."""
        moment = self.moment
        heard = np.array(moment.heard[player], np.float32)
        events[: len(heard)] = (heard + 1) / len(event_names(moment.position.variant))
        events[len(heard) :] = 0

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> SiberiaState:
        """A state drawn from those that `player_id` can't tell from this one, as `determinize` draws them.

        `probability_sampler` gives a random number from 0 to 1. For the others' information states, what they have
        drawn in secret is replaced by a number for what they know in the drawn state.

        Raises:
            ConfigurationError: a chance outcome is due.
        """
        if self.moment.draw is not None:
            raise ConfigurationError("resample_from_infostate: a chance outcome is due; it can be asked at a decision")
        seed = int(probability_sampler() * 2**53)
        return SiberiaState(cast(SiberiaGame, self.get_game()), self.moment.as_sampled(player_id, seed))

    def _check_decision(self, what: str) -> None:
        if self.moment.player < 0:
            raise ConfigurationError(f"{what}: no decision is due in this state")

    def __str__(self) -> str:
        """All events since the deal, a line each, hidden ones included."""
        moment = self.moment
        position, names = moment.position, event_names(moment.position.variant)
        lines = [f"{position.variant.game.title}, {position.num_players} players", *(names[i] for i in moment.events)]
        if moment.known[0]:
            lines.insert(1, f"from the position {_digest(position.states)}")
        if self.is_terminal():
            lines.append(f"scores {', '.join(map(str, position.scores()))}")
        return "\n".join(lines)


class Observer:
    """What a player sees, as OpenSpiel's observers have it: a flat tensor, and named views of its parts.

    The parts are the blocks of the game's observation, then with perfect recall `events`: the events that the player
    has seen.
    """

    def __init__(self, game: SiberiaGame, kind: Any, params: Any) -> None:
        """Lay out the tensor.

        Raises:
            ConfigurationError: it is not what one player sees, or `params` are given.
        """
        if params:
            raise ConfigurationError(f"observer: it takes no parameters; got {params}")
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ConfigurationError("observer: there is one kind, with what is public and what the player alone sees")
        self._recalls = kind.perfect_recall
        size = game.variant.game.observation_size
        self.tensor = np.zeros(size + (game.most_events if self._recalls else 0), np.float32)
        self._observation, self._events = self.tensor[:size], self.tensor[size:]
        self.dict: dict[str, NDArray[np.float32]] = {}
        start = 0
        for block in game.variant.game.blocks:
            self.dict[block.name] = self.tensor[start : start + block.size].reshape(block.shape)
            start += block.size
        if self._recalls:
            self.dict["events"] = self._events

    def set_from(self, state: SiberiaState, player: int) -> None:
        """Show what `player` sees of `state`."""
        state.write_observation(player, self._observation)
        if self._recalls:
            state.write_events(player, self._events)

    def string_from(self, state: SiberiaState, player: int) -> str:
        """The same as text."""
        return state.moment.information_state(player) if self._recalls else state.observation_text(player)


# ---------------------------------------------------------------- OpenSpiel's game


class SiberiaGame(pyspiel.Game):  # type: ignore[misc]
    """A game of the suite as a game of OpenSpiel. `pyspiel.load_game` makes one of parameters, `game_of` of a variant.

    Attributes:
        variant: the game with its players, rules and components.
        reward: what the players are paid: `"win"`, `"margin"` or `"score"` (`rewards.reward_of`).
        first: the moment before the deal.
        most_events: an upper bound for the events that a player sees in a game.
    """

    def __init__(self, variant: Variant, reward: str, params: Mapping[str, Any]) -> None:
        kind, room = rewards.reward_number(reward), ROOMS[variant.game.name]
        decisions, draws = room.most_decisions(variant), room.most_draws(variant)
        low, high = _limits(kind, variant, room)
        info = pyspiel.GameInfo(
            num_distinct_actions=variant.game.num_actions,
            max_chance_outcomes=len(room.names(variant)),
            num_players=variant.num_players,
            min_utility=low,
            max_utility=high,
            utility_sum=None if kind == rewards.SCORE else 0.0,
            max_game_length=decisions,
        )
        super().__init__(game_type(variant.game, reward), info, dict(params))
        self.variant = variant
        self.reward = reward
        self.first = Moment.of_new_game(variant)
        # What is decided in secret is heard twice, and so is what is drawn before it.
        self.most_events = (decisions + draws) * (2 if variant.game.has_secrets else 1)
        self._kind = kind
        self._most_draws = draws

    def new_initial_state(self) -> SiberiaState:
        """A game before its deal."""
        return SiberiaState(self)

    def state_of(self, view: View) -> SiberiaState:
        """A state for the decision that `view` shows, without a history.

        What the player on turn can't know is drawn anew in it, as in every view. So an algorithm that plays by this
        state can't see what is hidden.

        Raises:
            ConfigurationError: the view is one of another game.
        """
        if view.variant.game is not self.variant.game or view.variant.num_players != self.variant.num_players:
            raise ConfigurationError(
                f"view: it shows no {self.variant.game.title} of {self.variant.num_players} players"
            )
        position = Position.from_states(self.variant, copy_states(view.representative), explicit_chance=True)
        return SiberiaState(self, Moment.of_position(position))

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """An observer of what a player sees now, or of all that it has seen with perfect recall."""
        return Observer(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def max_chance_nodes_in_history(self) -> int:
        """An upper bound for the chance nodes of a game."""
        return self._most_draws

    def returns_of(self, position: Position) -> list[float]:
        """What each player is paid at the end of a game; as `rewards.reward_of`, but in double precision."""
        totals, players = position.totals().tolist(), position.num_players
        if self._kind == rewards.SCORE:
            return [float(total) for total in totals]
        if self._kind == rewards.MARGIN:
            together = sum(totals)
            return [(players * total - together) / ((players - 1) * rewards.MARGIN_UNIT) for total in totals]
        winners = len(position.winners())
        best = max(totals)
        return [(players * (total == best) / winners - 1) / (players - 1) for total in totals]


def _limits(kind: int, variant: Variant, room: ChanceRoom) -> tuple[float, float]:
    """The least and the most that a player can be paid."""
    score = float(room.highest_score(variant))
    if kind == rewards.WIN:
        return -1 / (variant.num_players - 1), 1.0
    return (0.0, score) if kind == rewards.SCORE else (-score / rewards.MARGIN_UNIT, score / rewards.MARGIN_UNIT)


def game_type(game: Game, reward: str = rewards.REWARDS[rewards.WIN]) -> Any:
    """How OpenSpiel describes a game of the suite, with the defaults of its parameters."""
    utility = pyspiel.GameType.Utility
    return pyspiel.GameType(
        short_name=PREFIX + game.name,
        long_name=game.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility.GENERAL_SUM if reward == rewards.REWARDS[rewards.SCORE] else utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.max_players,
        min_num_players=game.min_players,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters(game),
    )


def parameters(game: Game) -> dict[str, Any]:
    """The parameters of a game with their defaults: the players, every rule option, the components, the reward."""
    return {"players": game.min_players, **game.check_rules(None), "components": "", "reward": rewards.REWARDS[0]}


class CardGame(SiberiaGame):
    """The card game as `pyspiel.load_game("siberia_card")` gives it."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__(_variant_of("card", params), params["reward"], params)


class BoardGame(SiberiaGame):
    """The board game as `pyspiel.load_game("siberia_board")` gives it."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__(_variant_of("board", params), params["reward"], params)


def _variant_of(name: str, params: Mapping[str, Any]) -> Variant:
    """The variant that OpenSpiel's parameters describe."""
    game = find_game(name)
    options = {option: _read_option(params[option]) for option in game.check_rules(None)}
    return game.variant(params["players"], options, _read_components(game, params["components"]))


def _read_option(value: Any) -> Any:
    return value.split(LIST_SIGN) if isinstance(value, str) and LIST_SIGN in value else value


def _read_components(game: Game, path: str) -> Any:
    """The components in a file, if there is one. For research, a card game may have fewer cards than the box."""
    if not path:
        return None
    return components_from_json(read_json(path), whole_box=False) if game.name == "card" else game.read_components(path)


def game_of(variant: Variant, reward: str = rewards.REWARDS[rewards.WIN]) -> SiberiaGame:
    """The game of OpenSpiel for a variant of the suite, with components from Python too.

    OpenSpiel can save such a game with `str(game)` only if it has the components of the box.

    Raises:
        ConfigurationError: the variant is of a game that is not of the suite, or there is no such reward.
    """
    if variant.game.name not in ROOMS:
        raise ConfigurationError(f"openspiel: it knows the games {', '.join(ROOMS)}, not {variant.game.name!r}")
    rules = {
        name: LIST_SIGN.join(value) if isinstance(value, list) else value
        for name, value in variant.rules_as_json().items()
    }
    params = {"players": variant.num_players, **rules, "components": "", "reward": reward}
    return SiberiaGame(variant, reward, params)


# OpenSpiel lets go of what makes the games after Python has ended. That crashes the process if nothing else refers to
# it, as with a function. A class refers to itself.
for _name, _game in (("card", CardGame), ("board", BoardGame)):
    pyspiel.register_game(game_type(find_game(_name)), _game)
