"""Both games in OpenSpiel: chance, information states and tensors, and its algorithms and bots with ours."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots, ismcts, mcts, outcome_sampling_mccfr

import siberia_env.openspiel as spiel
from siberia_agents.interface import Agent
from siberia_agents.openspiel import AgentBot, PolicyAgent, write_policy
from siberia_agents.registry import make_agent
from siberia_env.card.components import KINDS, SYMBOLS, Components
from siberia_env.card.notation import card_name
from siberia_env.common.chance import Draw
from siberia_env.common.components import RESOURCES
from siberia_env.common.notation import chronicle_of
from siberia_env.core.engine import TERMINAL
from siberia_env.errors import ConfigurationError, IllegalActionError, ModelError
from siberia_env.game import GAMES, find_game
from siberia_env.installation import install_command
from siberia_env.position import new_position
from siberia_env.records.recorder import settle_all
from siberia_env.view import View
from siberia_experiments.match import play_games
from siberia_experiments.tournament.run import Tournament
from tests.processes import run_python

SHORT = {"card": {"max_turns": 8}, "board": {"max_rounds": 1}}
SEATS = (2, 3, 4)
ISMCTS = "siberia_agents.openspiel:Ismcts:3"

each_game = pytest.mark.parametrize("game", GAMES)


def load(game: str, players: int = 2, **options: Any) -> Any:
    """A game of OpenSpiel's; short unless the options say otherwise."""
    return pyspiel.load_game(f"siberia_{game}", {"players": players, **SHORT[game], **options})


def few_cards(gas: int = 2, charcoal: int = 9) -> Components:
    """A box that is small enough for a whole game tree."""
    cards = {"gas/worker": gas, "charcoal/worker": charcoal}
    return Components(
        action_cards={kind: cards.get(kind, 0) for kind in KINDS},
        resource_cards={resource: (1, 1, 3, 5) if resource == "gas" else () for resource in RESOURCES},
        salesmen=dict.fromkeys(SYMBOLS, 1),
        workers=2,
    )


def tiny(turns: int = 2, **cards: int) -> spiel.SiberiaGame:
    """A game with a small tree."""
    variant = find_game("card").variant(2, {"edition": "digital", "max_turns": turns}, few_cards(**cards))
    return spiel.game_of(variant)


def choose(state: Any, random: np.random.Generator) -> int:
    """A random outcome or a random legal action."""
    if state.is_chance_node():
        outcomes, shares = zip(*state.chance_outcomes(), strict=True)
        return int(random.choice(outcomes, p=shares))
    return int(random.choice(state.legal_actions()))


def play(game: Any, seed: int, decisions: int | None = None) -> list[Any]:
    """The states of a random game, from its deal to its end or to a number of decisions."""
    random, state, states = np.random.default_rng(seed), game.new_initial_state(), []
    while not state.is_terminal() and (decisions is None or decisions >= 0):
        states.append(state.clone())
        if decisions is not None and not state.is_chance_node():
            decisions -= 1
        state.apply_action(choose(state, random))
    return [*states, state.clone()]


# ---------------------------------------------------------------- chance


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_draw_has_the_probabilities_of_a_shuffled_pile(size: int) -> None:
    """Each set of pieces can be named in one way, as likely as it is on top of a shuffled pile."""
    pile = {0: 2, 3: 1, 4: 3}
    found: dict[tuple[int, ...], float] = {}

    def name(draw: Draw, share: float) -> None:
        if len(draw.taken) == size:
            assert draw.taken not in found
            found[draw.taken] = share
            return
        outcomes = draw.outcomes()
        assert sum(part for _, part in outcomes) == pytest.approx(1)
        for piece, part in outcomes:
            assert part > 0
            name(Draw(pile, size, (*draw.taken, piece)), share * part)

    name(Draw(pile, size), 1.0)
    cards = [piece for piece, count in pile.items() for _ in range(count)]
    hands = Counter(tuple(sorted(cards[place] for place in hand)) for hand in itertools.combinations(range(6), size))
    assert set(found) == set(hands)
    for hand, count in hands.items():
        assert found[hand] == pytest.approx(count / comb(6, size))


def test_a_deal_is_as_likely_as_with_shuffled_stacks() -> None:
    state, share = tiny().new_initial_state(), 1.0
    random = np.random.default_rng(1)
    while state.is_chance_node():
        outcome = choose(state, random)
        share *= dict(state.chance_outcomes())[outcome]
        state.apply_action(outcome)
    position = state.position
    gas = int(position.states[0].hand[:2, 0].sum())
    own = int(position.states[0].hand[0, 0])
    # Four resource cards, two of them alike, lie in a row of three; eleven action cards give two hands of five.
    alike = int((position.states[0].row[:3] < 2).sum())
    row = (2 if alike == 2 else 2 * (alike == 1) + (alike == 0)) / 24
    hands = comb(2, own) * comb(9, 5 - own) / comb(11, 5)
    hands *= comb(2 - own, gas - own) * comb(9 - (5 - own), 5 - (gas - own)) / comb(6, 5)
    assert share == pytest.approx(row * hands)


def came_out(lines: list[Any], names: tuple[str, ...]) -> list[int]:
    """The outcomes in the chance lines of a record, each draw in ascending order, as chance names them here."""
    found: list[int] = []
    for line in lines:
        if line["event"] == "setup" and "row" in line:
            found += [names.index(card) for card in line["row"][: line["face_up"]]]
            found += [card for hand in line["hands"] for card in sorted(map(names.index, hand))]
        elif line["event"] == "setup":
            found += [names.index(f"cube {cube}") for cubes in line["areas"].values() for cube in cubes]
            found += [names.index(f"side {exchange}") for exchange in line["sides"]]
            found += sorted(names.index(f"tile {tile}") for tile in line["tiles"])
        elif line["event"] == "draw" and "cards" in line:
            found += sorted(names.index(card) for card in line["cards"])
        elif line["event"] == "draw":
            found += [names.index(f"counter {counter}") for counter in line["counters"]]
        elif line["event"] == "tile":
            found.append(names.index(f"tile {line['tile']}"))
    return found


@pytest.mark.parametrize(
    ("game", "players", "rules"), [("card", 2, {"max_turns": 60}), ("board", 3, {"max_rounds": 2, "sides": "random"})]
)
def test_the_games_are_those_of_the_suite(game: str, players: int, rules: dict[str, Any]) -> None:
    """The suite deals and plays a game; the same comes out by chance here. All that players see and may do is equal."""
    own = new_position(game, players, 5, rules, explicit_chance=True)
    chronicle, names = chronicle_of(own.variant.game), spiel.ROOMS[game].names(own.variant)
    state, random = load(game, players, **rules).new_initial_state(), np.random.default_rng(7)
    first = players * own.variant.game.num_actions  # the first event that is an outcome of chance
    shuffles, shown, heard = 0, [], 0
    while True:
        for line in settle_all(own, chronicle, own.settle_chance):
            shuffles += line["event"] == "shuffle"
            shown += came_out([line], names)
        while state.is_chance_node():
            rest = list(shown)
            for event in state.moment.events[heard:]:
                if event >= first:  # chance has named it, or nothing else could come out
                    rest.remove(event - first)
            possible = [outcome for outcome, _ in state.chance_outcomes()]
            state.apply_action(next(outcome for outcome in rest if outcome in possible))
        assert state.current_player() == own.current_player()
        assert state.legal_actions() == own.legal_actions()
        for player in range(players):
            assert np.array_equal(state.observation_tensor(player), own.observation_tensor(player))
        assert state.observation_string(0) == own.observation_string(0)
        if own.is_terminal():
            break
        action, before = choose(state, random), own.clone()
        heard = len(state.moment.events)
        own.apply_action(action)
        shown = came_out(list(chronicle.events(own.variant, before.states, own.states)), names)
        if game == "card" and own.action_names()[action].startswith("reveal"):
            shown.append(names.index(card_name(own.variant.rulesets[0], own.states[0].row[action])))
        state.apply_action(action)
    assert state.returns() == pytest.approx(own.returns())
    assert state.position.scores() == own.scores()
    assert shuffles > 0 or game == "board"


@each_game
@pytest.mark.parametrize("reward", ["win", "margin", "score"])
def test_what_is_paid(game: str, reward: str) -> None:
    """With the limits and the sum that OpenSpiel is told."""
    for players in SEATS:
        made = load(game, players, reward=reward, **({"max_turns": 24} if game == "card" else {"max_rounds": 3}))
        (*_, end) = play(made, players)
        assert end.returns() == pytest.approx(end.position.returns(reward), abs=1e-6)
        assert all(made.min_utility() <= paid <= made.max_utility() for paid in end.returns())
        zero_sum = made.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
        assert zero_sum == (reward != "score")
        assert made.utility_sum() == (0.0 if zero_sum else None)
        assert not zero_sum or sum(end.returns()) == pytest.approx(0, abs=1e-12)


# ---------------------------------------------------------------- OpenSpiel's own test


@each_game
@pytest.mark.parametrize("players", SEATS)
def test_openspiels_random_games_pass(game: str, players: int) -> None:
    """They copy and save each state, and look at all tensors. `python -m tests.openspiel_games` plays long ones."""
    short = {"max_turns": 4} if game == "card" else {"max_rounds": 1}
    pyspiel.random_sim_test(load(game, players, **short), num_sims=1, serialize=True, verbose=False)


@each_game
def test_a_state_is_copied_saved_and_read_again(game: str) -> None:
    made = load(game)
    for state in play(made, 3)[::9]:
        text = pyspiel.serialize_game_and_state(made, state)
        loaded, again = pyspiel.deserialize_game_and_state(text)
        assert str(loaded) == str(made)
        assert again.history() == state.history() == state.clone().history()
        for other in (again, state.clone()):
            assert str(other) == str(state)
            if not state.is_terminal():
                action = choose(state, np.random.default_rng(1))
                other.apply_action(action)
                assert str(state.child(action)) == str(other) != str(state)


# ---------------------------------------------------------------- what players know


@each_game
def test_information_states_have_perfect_recall(game: str) -> None:
    """What a player has heard only grows, and its own decisions are in it; what the others draw is not."""
    states = play(load(game, 3), 2)
    for before, after in itertools.pairwise(states):
        for player in range(3):
            old, new = before.information_state_string(player), after.information_state_string(player)
            assert new.startswith(old)
            if before.current_player() == player:
                (action,) = [after.history()[-1]]
                assert new[len(old) :].startswith(f"; player {player} {before.action_to_string(player, action)}")
            tensor = np.array(after.information_state_tensor(player))
            seen = after.position.variant.game.observation_size
            assert np.count_nonzero(tensor[seen:]) == len(after.moment.heard[player])
    if game == "card":
        hand = states[-1].moment.heard[1]
        assert len(hand) < len(states[-1].moment.events)


@each_game
def test_nothing_is_seen_before_the_deal_and_something_ever_after(game: str) -> None:
    """At chance nodes too: there players see the position before what is drawn."""
    rules: dict[str, Any] = {"max_turns": 60} if game == "card" else {"max_rounds": 2}
    dealt = False
    for state in play(load(game, 2, **rules), 8):
        decides = not state.is_chance_node() or state.is_terminal()
        dealt = dealt or decides or (game == "board" and "counter" in str(state))
        assert (np.count_nonzero(state.observation_tensor(0)) > 0) >= dealt
        if not any(np.array(state.observation_tensor(0))):
            assert state.observation_string(0) == "seat 0: nothing is dealt yet"


def test_equal_information_states_look_equal_and_allow_the_same() -> None:
    """In a whole game tree. No two differ in what the player sees, and none is reached by two players."""
    found: dict[str, tuple[Any, ...]] = {}
    moments = [tiny(gas=1, charcoal=10).first]
    while moments:
        moment = moments.pop()
        if moment.draw is not None:
            moments += [moment.after(outcome) for outcome, _ in moment.draw.outcomes()]
        elif moment.player != TERMINAL:
            position, player = moment.position, moment.player
            looks = (position.legal_actions(), position.observation_string(), spiel.knowledge_of(position.view()))
            assert found.setdefault(moment.information_state(player), looks) == looks
            moments += [moment.after(action) for action in position.legal_actions()]
    assert len(found) > 100


def test_secret_decisions_are_heard_when_all_have_placed() -> None:
    states = play(load("board", 2), 4)
    placing = [state for state in states if not state.is_chance_node() and "place" in str(state).splitlines()[-1]]
    for state in placing:
        own, other = state.information_state_string(0), state.information_state_string(1)
        if state.legal_actions() and "place" in state.action_to_string(state.legal_actions()[0]):
            assert "player 1 place" not in own
            assert "player 0 place" not in other
    (shown, *_) = [state for state in states if "player 1 pass" in str(state) or "player 0 pass" in str(state)]
    for player in range(2):
        text = shown.information_state_string(player)
        assert text.count(f"player {1 - player} place") == 6
        assert text.count(f"player {player} place") == 12  # once by itself, and once with everybody


@each_game
@pytest.mark.parametrize("players", [2, 4])
def test_resampled_states_can_not_be_told_from_the_true_one(game: str, players: int) -> None:
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    differ = 0
    for state in play(load(game, players, **({"max_turns": 40} if game == "card" else {})), 6)[::11]:
        if state.is_chance_node() or state.is_terminal():
            continue
        for player in range(players):
            sample = state.resample_from_infostate(player, sampler)
            assert sample.information_state_string(player) == state.information_state_string(player)
            assert sample.information_state_tensor(player) == state.information_state_tensor(player)
            assert sample.current_player() == state.current_player()
            if player == state.current_player():
                assert sample.legal_actions() == state.legal_actions()
            differ += sample.position.serialize() != state.position.serialize()
            moved = sample.clone()
            while not moved.is_terminal():
                moved.apply_action(choose(moved, np.random.default_rng(1)))
    assert differ > 0


def test_a_sample_depends_on_nothing_that_the_player_does_not_know() -> None:
    """Two states that a player can't tell apart give it the same samples, as seen by everybody."""
    by_knowledge: dict[str, set[tuple[str, ...]]] = {}
    game = tiny()
    for seed in range(400):
        state = play(game, seed, 0)[-2]
        sample = state.resample_from_infostate(0, lambda: 0.25)
        seen = tuple(sample.information_state_string(player) for player in range(2))
        by_knowledge.setdefault(state.information_state_string(0), set()).add(seen)
    assert max(map(len, by_knowledge.values())) == 1
    assert len(by_knowledge) > 20


# ---------------------------------------------------------------- its algorithms and bots


@each_game
def test_its_ismcts_plays(game: str) -> None:
    random = np.random.RandomState(1)
    made = load(game)
    bot = ismcts.ISMCTSBot(made, mcts.RandomRolloutEvaluator(1, random), 1.0, 5, random_state=random)
    for state in play(made, 1)[20:60:10]:
        if not state.is_chance_node() and not state.is_terminal():
            assert bot.step(state) in state.legal_actions()


@each_game
def test_its_mccfr_learns(game: str) -> None:
    solver = outcome_sampling_mccfr.OutcomeSamplingSolver(load(game))
    for _ in range(2):
        solver.iteration()
    state = play(load(game), 1, 0)[-2]
    shares = solver.average_policy().action_probabilities(state, state.current_player())
    assert sum(shares.values()) == pytest.approx(1)
    assert set(shares) <= set(state.legal_actions())


@each_game
def test_our_agents_are_bots_there(game: str) -> None:
    bots = [AgentBot("greedy", seed=1), AgentBot(make_agent("random"), seed=2)]
    returns = [
        evaluate_bots.evaluate_bots(load(game).new_initial_state(), bots, np.random.RandomState(seed))
        for seed in range(2)
    ]
    assert np.shape(returns) == (2, 2)


class Peeping(Agent):
    """Notes what a bot's agent is shown."""

    def __init__(self) -> None:
        self.views: list[View] = []

    def act(self, view: View) -> int:
        self.views.append(view)
        return view.legal_actions[0]


def test_an_agent_sees_a_view_there_and_not_the_state() -> None:
    agent = Peeping()
    state = play(load("card"), 1, 3)[-2]
    AgentBot(agent).step(state)
    (view,) = agent.views
    assert view.player == state.current_player()
    assert np.array_equal(view.observation, state.position.observation_tensor())
    assert spiel.knowledge_of(view) == spiel.knowledge_of(state.view())


class FirstBot(pyspiel.Bot):  # type: ignore[misc]
    """Takes the first legal action, and notes what it was made with and shown."""

    def __init__(self, made: Any) -> None:
        super().__init__()
        self.made, self.shown = made, []

    def step(self, state: Any) -> int:
        self.shown.append(state)
        return int(state.legal_actions()[0])


BOTS: list[FirstBot] = []


def first_bot(game: Any, player: int, seed: int) -> FirstBot:
    """What `BotAgent` makes a bot with."""
    BOTS.append(FirstBot((game, player, seed)))
    return BOTS[-1]


@each_game
def test_its_bots_are_agents_here(game: str) -> None:
    BOTS.clear()
    variant = find_game(game).variant(3, SHORT[game])
    results = play_games(
        variant,
        [make_agent("siberia_agents.openspiel:BotAgent:tests.test_openspiel:first_bot"), *[make_agent("random")] * 2],
        3,
        1,
    )
    assert len(results.scores) == 3
    assert sorted(bot.made[1] for bot in BOTS) == [0, 1, 2]
    assert len({bot.made[2] for bot in BOTS}) == 3
    for bot in BOTS:
        assert isinstance(bot.made[0], spiel.SiberiaGame)
        assert all(state.current_player() == bot.made[1] for state in bot.shown)


def test_a_bot_is_shown_nothing_that_its_player_does_not_know() -> None:
    position = new_position("card", seed=3)
    game = spiel.game_of(position.variant)
    seen = set()
    for seed in range(5):
        other = position.resample_from_infostate(0, seed)
        state = game.state_of(other.view())
        assert np.array_equal(state.position.observation_tensor(), position.observation_tensor())
        seen.add((state.information_state_string(0), state.position.serialize(), str(state)))
    assert len(seen) == 1


def test_ismcts_plays_in_a_tournament(tmp_path: Path) -> None:
    """In a process of its own, as every agent from outside."""
    variant = find_game("card").variant(2, {"max_turns": 2})
    planned = Tournament(variant, [ISMCTS, "random"], 4, tmp_path, seed=1, move_seconds=600.0)
    outcome = planned.run(1)
    assert {line.agent for line in outcome.lines} == {ISMCTS, "random"}
    assert not outcome.played.forfeit.any()


def test_a_policy_in_a_table_plays_its_shares(tmp_path: Path) -> None:
    position = new_position("card", seed=3, rules={"max_turns": 4})
    view = position.view()
    one, two, *_ = view.legal_actions
    write_policy(tmp_path / "policy.json", {spiel.knowledge_of(view): {one: 0.25, two: 0.75}})
    agent = make_agent(f"siberia_agents.openspiel:PolicyAgent:{tmp_path / 'policy.json'}")
    agent.start(position.variant, 1)
    counts = Counter(agent.act(view) for _ in range(2000))
    assert set(counts) == {one, two}
    assert counts[two] == pytest.approx(1500, abs=100)
    other = new_position("card", seed=4, rules={"max_turns": 4}).view()
    assert len(Counter(agent.act(other) for _ in range(500))) == len(other.legal_actions)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 5}, "num_players: 5"),
        ({"edition": "third"}, "rules: no edition 'third'"),
        ({"max_turns": 0}, "max_turns"),
        ({"reward": "fame"}, "reward: no 'fame'; there are win, margin, score"),
        ({"components": "nowhere.json"}, "components: can't read nowhere.json"),
    ],
)
def test_bad_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load("card", **options)
    assert message in str(raised.value)


def test_the_sides_of_the_exchanges_may_be_a_list() -> None:
    sides = [both[1] for both in find_game("board").variant().components.exchange_tiles]
    made = load("board", sides="/".join(sides))
    assert made.variant.rules["sides"] == tuple(sides)
    assert pyspiel.load_game(str(made)).variant.rules == made.variant.rules
    assert spiel.game_of(made.variant).get_parameters() == made.get_parameters()
    assert not any(" side " in f" {line} " for line in str(play(made, 1, 0)[-1]).splitlines())


@each_game
def test_openspiel_names_the_parameters_if_one_is_unknown(game: str) -> None:
    with pytest.raises(pyspiel.SpielError, match=r"Unknown parameter 'colour'[^\n]*players"):
        load(game, colour="red")


def test_components_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "box.json"
    tables = few_cards().as_json()
    path.write_text(json.dumps(tables), encoding="utf-8")
    assert load("card", components=str(path)).variant.components == few_cards()
    for changes, message in (
        ({"workers": 1}, "workers: 1; 2 players need 2 to 10"),
        ({"action_cards": {**tables["action_cards"], "gas/worker": 0}}, "action_cards: 9 cards in all; 2 players need"),
        ({"salesmen": {}}, "salesmen.gas: missing"),
    ):
        path.write_text(json.dumps({**tables, **changes}), encoding="utf-8")
        with pytest.raises(ConfigurationError) as raised:
            load("card", components=str(path))
        assert message in str(raised.value)


def test_what_can_not_be_is_refused_and_changes_nothing() -> None:
    state = load("card").new_initial_state()
    text = str(state)
    with pytest.raises(ConfigurationError, match="chance outcome 3: the outcomes here are 15, "):
        state.apply_action(3)
    with pytest.raises(ConfigurationError, match="resample_from_infostate: a chance outcome is due"):
        state.resample_from_infostate(0, lambda: 0.5)
    with pytest.raises(ConfigurationError, match="view: no decision is due"):
        state.view()
    assert str(state) == text
    decision = play(load("card"), 1, 0)[-2]
    with pytest.raises(IllegalActionError, match="action 45: not legal; player 0 may: "):
        decision.apply_action(45)
    with pytest.raises(ConfigurationError, match="view: it shows no Siberia of 2 players"):
        load("board").state_of(decision.view())
    with pytest.raises(ConfigurationError, match="observer: it takes no parameters"):
        load("card").make_py_observer(None, {"colour": "red"})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("Ismcts:0", "ismcts: 0 simulations"),
        ("Ismcts:many", "ismcts: many simulations"),
        ("Ismcts:5:exploration=-1", "an exploration of -1"),
        ("BotAgent:nothing", "bot: there is no function 'nothing' in a module ''; give MODULE:FUNCTION"),
        ("BotAgent:tests.test_openspiel:SEATS", "there is no function 'SEATS'"),
    ],
)
def test_a_wrong_agent_is_refused(spec: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        make_agent(f"siberia_agents.openspiel:{spec}")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": "other"}', '{"format": "siberia-policy/1", "policy": {"a": {"1": -1}}}']
)
def test_a_damaged_policy_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "policy.json"
    with pytest.raises(ModelError, match=r"policy: can't read .*policy\.json"):
        PolicyAgent(str(path))
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"policy: .*policy\.json is no file of a policy"):
        PolicyAgent(str(path))


def test_without_openspiel_the_extra_is_named() -> None:
    program = """
import importlib, sys
sys.modules["pyspiel"] = None
from siberia_env.errors import MissingExtraError
for name in ("siberia_env.openspiel", "siberia_agents.openspiel", "siberia_experiments.solve"):
    try:
        importlib.import_module(name)
    except MissingExtraError as error:
        print(error)
"""
    lines = run_python("-c", program).stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert "needs the optional extra 'openspiel' (pyspiel is not installed): " in line
        assert line.endswith(install_command("openspiel"))
