"""A third game, registered from outside, runs through the whole suite: nothing in the packages knows of it."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, render_test, seed_test

from siberia_agents.learned import LearnedAgent, load_model
from siberia_agents.registry import make_agent
from siberia_agents.search.guided import GuidedAgent
from siberia_env import pictures, vector
from siberia_env.aec import SiberiaAECEnv
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError, IllegalActionError, ModelError, RecordError, RenderModeError
from siberia_env.game import GAMES, Game, find_game, game_names, register_game
from siberia_env.gym import SiberiaEnv
from siberia_env.position import Position, new_position
from siberia_env.records import Record, describe, play_and_record, read_records, replay, write_records
from siberia_experiments.console import mean_score
from siberia_experiments.match import play_games
from siberia_experiments.play.seat import SeatedGame
from siberia_experiments.tournament.run import Tournament
from tests.processes import ROOT, import_path
from tests.records import at_random
from tests.table import PLAYER_COUNTS
from tests.terminal import Terminal, plain
from tests.test_agents import small_model
from tests.third_game.box import HAND, PLAYS, Components
from tests.third_game.notation import cards_of
from tests.third_game.rules import BONUS

TO_COMPILE = 600.0  #: seconds for a program that may have to compile the game first

MODULE = "tests.third_game.game"
register_game("lamps", MODULE)
LAMPS = find_game("lamps")
EVERY_COUNT = pytest.mark.parametrize("players", PLAYER_COUNTS)


def dealt(*hands: tuple[int, ...], rounds: int = 3) -> Position:
    """A game whose first round is dealt as given."""
    variant = LAMPS.variant(len(hands), {"rounds": rounds})
    position = Position(variant, 1, explicit_chance=True)
    position.settle_chance([card for hand in hands for card in hand])
    return position


def play(position: Position, *names: str) -> Position:
    for name in names:
        position.apply_action(name)
    return position


# ---------------------------------------------------------------- the rules


def test_rule_1_everybody_is_dealt_three_of_the_cards() -> None:
    for players in PLAYER_COUNTS:
        state = new_position("lamps", players, seed=1).states[0]
        hands = [cards_of(state.hand[player]) for player in range(players)]
        assert [len(hand) for hand in hands] == [HAND] * players
        assert len({card for hand in hands for card in hand} & set(range(1, 16))) == HAND * players


def test_rule_2_the_last_bid_must_not_make_three_together() -> None:
    position = play(dealt((1, 2, 3), (4, 5, 6), (7, 8, 9)), "bid 1", "bid 1")
    assert position.legal_action_names() == ["bid 0", "bid 2", "bid 3"]
    with pytest.raises(IllegalActionError, match=r"action 'bid 1': not legal; player 2 may: bid 0, bid 2, bid 3"):
        position.apply_action("bid 1")


def test_rule_3_the_highest_card_lights_the_lamp_and_its_player_goes_on() -> None:
    position = play(dealt((1, 14, 3), (4, 5, 15), (7, 8, 9)), "bid 0", "bid 0", "bid 0")
    assert position.legal_action_names() == ["play 1", "play 3", "play 14"]
    play(position, "play 14", "play 5", "play 9")
    assert position.states[0].lit.tolist() == [1, 0, 0, 0]
    assert position.current_player() == 0
    assert play(position, "play 1", "play 15", "play 7").current_player() == 1


def test_rule_4_lamps_count_one_and_a_bid_that_is_met_two_more() -> None:
    position = play(dealt((1, 14, 3), (4, 5, 15)), "bid 1", "bid 1")
    play(position, "play 14", "play 4", "play 1", "play 15", "play 5")
    assert position.scores() == [0, 0]
    play(position, "play 3")
    assert position.scores() == [1 + BONUS, 2]
    assert position.is_chance_node()


@EVERY_COUNT
def test_rule_5_the_first_player_changes_and_the_game_ends_after_the_rounds(players: int) -> None:
    position = new_position("lamps", players, seed=2, rules={"rounds": 4})
    firsts, decisions = [], 0
    while not position.is_terminal():
        state = position.states[0]
        if not state.played and (state.bid[:players] == -1).all():
            firsts.append(position.current_player())
        position.apply_action(position.legal_actions()[0])
        decisions += 1
    assert firsts == [number % players for number in range(4)]
    assert decisions == 4 * players * (1 + HAND)
    assert not position.has_hit_limit()
    assert position.winners() == [
        seat for seat, score in enumerate(position.scores()) if score == max(position.scores())
    ]


def test_a_sample_deals_every_hand_that_fits_equally_often() -> None:
    """Counted on a hand of which one card is open."""
    position = play(dealt((1, 2, 3), (13, 14, 15)), "bid 0", "bid 0", "play 1", "play 13")
    sampled = 6600
    counts = Counter(
        tuple(cards_of(position.resample_from_infostate(0, seed).states[0].hand[1])) for seed in range(sampled)
    )
    unseen = [card for card in range(1, 16) if card not in (1, 2, 3, 13)]
    pairs = set(combinations(unseen, 2))
    assert set(counts) == pairs
    expected = sampled / len(pairs)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 93  # chi-squared, 54 degrees, 0.1%


@EVERY_COUNT
def test_samples_show_the_player_the_same(players: int) -> None:
    position = new_position("lamps", players, seed=3)
    chance = np.random.default_rng(3)
    while not position.is_terminal():
        for player in range(players):
            sample = position.resample_from_infostate(player, int(chance.integers(2**63)))
            assert sample.observation_tensor(player).tobytes() == position.observation_tensor(player).tobytes()
            assert sample.information_state_string(player) == position.information_state_string(player)
            assert sample.legal_actions() == position.legal_actions() or player != position.current_player()
            assert (np.bitwise_count(sample.states[0].hand) == np.bitwise_count(position.states[0].hand)).all()
        position.apply_action(int(chance.choice(position.legal_actions())))


# ---------------------------------------------------------------- environments


@EVERY_COUNT
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoo(players: int) -> None:
    api_test(SiberiaAECEnv("lamps", players), 300)
    seed_test(lambda: SiberiaAECEnv("lamps", players))
    render_test(lambda **options: SiberiaAECEnv("lamps", players, **options))
    env = SiberiaAECEnv("lamps", players, {"rounds": 1})
    env.reset(seed=5)
    for _ in env.agent_iter():
        _, _, terminated, _, info = env.last()
        env.step(None if terminated else env.legal_actions()[0])
    assert sum(info["scores"].values()) <= HAND + BONUS * players


@EVERY_COUNT
def test_gymnasium(players: int) -> None:
    check_env(SiberiaEnv("lamps", players), skip_render_check=True)
    env = SiberiaEnv("lamps", players)
    observation, _ = env.reset(seed=1)
    for _ in range(100):
        observation, _, over, _, _ = env.step(int(np.flatnonzero(observation["action_mask"])[0]))
        if over:
            break
    assert over


@EVERY_COUNT
def test_a_batch_plays_what_single_games_play(players: int) -> None:
    env = vector.make("lamps", num_envs=5, num_players=players, seed=9, threads=2)
    step = env.reset()
    single = [Position(env.variant, 9, slot=slot) for slot in range(5)]
    episodes = [0] * 5
    for draw in range(150):
        for slot, position in enumerate(single):
            assert step.player[slot] == position.current_player()
            assert step.mask[slot].tobytes() == position.action_mask().tobytes()
            assert step.observation[slot].tobytes() == position.observation_tensor().tobytes()
        actions = np.zeros(5, np.int64)
        engine.sample_batch(step.mask, step.mask.sum(axis=1, dtype=np.int16), np.uint64(3), draw, actions)
        step = env.step(actions)
        for slot, position in enumerate(single):
            position.apply_action(int(actions[slot]))
            assert step.terminated[slot] == position.is_terminal()
            if position.is_terminal():
                assert step.final_scores[slot].tolist() == position.scores()
                assert step.reward[slot].tolist() == position.returns()
                episodes[slot] += 1
                position.deal(9, slot, episodes[slot])
    assert min(episodes) >= 2


# ---------------------------------------------------------------- records


def a_record(players: int = 3, seed: int = 7) -> Record:
    return play_and_record(LAMPS.variant(players), at_random(seed), seed, ["a"] * players)


@EVERY_COUNT
def test_records_are_written_read_and_replayed(players: int, tmp_path: Path) -> None:
    records = [a_record(players, seed) for seed in range(3)]
    assert write_records(tmp_path / "games.jsonl", records) == 3
    again = list(read_records(tmp_path / "games.jsonl"))
    assert [record.lines for record in again] == [record.lines for record in records]
    position = Position(LAMPS.variant(players), 1)
    for decision in replay(again[1]):
        assert position.serialize() == decision.states.tobytes()
        position.apply_action(decision.action)
    assert position.scores() == again[1].end["scores"]
    told = "\n".join(describe(again[1]))
    assert "player 0 is dealt" in told
    assert re.search(r"the lamp goes to player \d; score \d", told)


def test_a_record_of_another_seed_is_replayed_by_its_deals() -> None:
    record = a_record()
    other = replace(record, lines=({**record.header, "seed": 8}, *record.lines[1:]))
    assert [decision.name for decision in replay(other)] == [decision.name for decision in replay(record)]


def tampered() -> Iterator[tuple[int, dict[str, Any], str]]:
    """A line of the record, what is put there in its place, and what is wrong with it."""
    lines = a_record().lines
    hands = lines[1]["hands"]
    yield 2, {"event": "setup", "hands": hands[:2]}, "setup.hands: expected a list of 3 hands"
    yield 2, {"event": "setup", "hands": [[1, 2, 99], *hands[1:]]}, r"setup.hands\[0\]\[2\]: 99 is not a whole number"
    yield 2, {"event": "setup", "hands": [hands[0], hands[0], hands[2]]}, "force: expected 9 different cards"
    yield 2, {"event": "setup", "cards": hands}, "setup: expected the keys event, hands"
    yield 3, {**lines[2], "action": "bid 4"}, "no action"
    yield 3, {**lines[2], "player": 1}, "player 1 acts, but player 0 is on turn"
    yield len(lines), {**lines[-1], "scores": [9, 9, 9]}, "scores: expected"
    deal = next(number for number, line in enumerate(lines, 1) if line.get("event") == "deal")
    yield deal, {**lines[deal - 1], "event": "payday"}, "no event 'payday'; the events are setup, deal"


@pytest.mark.parametrize(("number", "line", "fault"), list(tampered()))
def test_a_tampered_line_is_named(number: int, line: dict[str, Any], fault: str) -> None:
    lines = list(a_record().lines)
    lines[number - 1] = line
    with pytest.raises((RecordError, ConfigurationError), match=fault):
        replay(Record(tuple(lines)))


# ---------------------------------------------------------------- agents


@pytest.mark.parametrize("spec", ["search:300", "search:60:returns=margin:threads=2", "random"])
def test_agents_without_a_plan_or_model_play_it(spec: str) -> None:
    results = play_games(LAMPS.variant(3), [make_agent(spec), make_agent("random"), make_agent("random")], 6, seed=1)
    assert results.scores.shape == (6, 3)
    assert results.game is LAMPS
    assert re.fullmatch(r"\d+\.\d ± \d+\.\d points", mean_score(results.mean_score(0), LAMPS))


def test_search_plays_better_than_chance() -> None:
    results = play_games(LAMPS.variant(2), [make_agent("search:200"), make_agent("random")], 60, seed=2)
    assert results.win_rate(0).low > 0.6


@EVERY_COUNT
def test_a_search_guided_by_a_random_network_plays_it(players: int, tmp_path: Path) -> None:
    model = small_model(players, game="lamps")
    model.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").game == "lamps"
    agent = GuidedAgent(60, tmp_path / "model.npz")
    position = new_position("lamps", players, seed=4)
    agent.start(position.variant, 1)
    ranking = agent.search(position.view())
    assert sorted(ranking.actions.tolist()) == position.legal_actions()
    assert ranking.visits.sum() >= 59
    while not position.is_terminal():
        position.apply_action(agent.act(position.view()))
    learner = LearnedAgent(model)
    learner.start(position.variant, 1)
    position.deal(4)
    assert learner.act(position.view()) in position.legal_actions()


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("greedy", "greedy: the game lamps has no such plan"),
        ("heuristic", "heuristic: the game lamps has no such plan"),
        ("search:50:playout=greedy", "greedy: the game lamps has no such plan"),
        ("learned", "no model of the lamps game for 2 players comes with the suite"),
        ("guided", "no model of the lamps game for 2 players comes with the suite"),
    ],
)
def test_an_agent_that_needs_more_says_so(spec: str, fault: str) -> None:
    with pytest.raises((ConfigurationError, ModelError), match=fault) as raised:
        make_agent(spec).start(LAMPS.variant(2), 0)
    assert "\n" not in str(raised.value)


def test_a_tournament(tmp_path: Path) -> None:
    """Its games are played in processes of their own, which learn of the game from what they are sent."""
    tournament = Tournament(LAMPS.variant(3), ["random", "search:40"], 12, tmp_path / "t", seed=3)
    outcome = tournament.run(2)
    assert len(outcome.results) == tournament.schedule.games
    assert all(result.reason == "" for result in outcome.results)
    assert {line.agent for line in outcome.lines} == {"random", "search:40"}


# ---------------------------------------------------------------- play


def test_a_person_is_told_its_own_cards_and_of_lamps() -> None:
    game = SeatedGame(LAMPS.variant(3), 7, ["a", "person", "b"], 1)
    told = []
    while not game.over:
        told += game.take(int(np.flatnonzero(game.mask)[0]))
    text = "\n".join(told)
    assert len(re.findall(r"^  you get \d+, \d+, \d+$", text, re.M)) == 2
    assert "is dealt" not in text
    assert "[the lamp goes to you" in text
    assert re.search(r"^player_2: play \d+  \[the lamp goes to player_[02]", text, re.M)
    assert re.search(r"; \+\d points\]$", text, re.M)


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """A Python path on which a package offers the game by an entry point, as an installed one does."""
    package = tmp_path / "site" / "lamps-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: lamps\nVersion: 1.0\n", encoding="utf-8")
    (package / "entry_points.txt").write_text(f"[siberia_env.games]\nlamps = {MODULE}\n", encoding="utf-8")
    return f"{package.parent}:{import_path()}"


def siberia(path: str, folder: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "siberia_experiments.cli", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        input=typed,
        capture_output=True,
        text=True,
        timeout=TO_COMPILE,
        check=False,
    )


def test_an_installed_game_is_played_in_a_pipe_and_its_record_replayed(tmp_path: Path, installed: str) -> None:
    options = ("play", "lamps", "--against", "random", "--players", "3", "--seat", "1", "--seed", "3")
    done = siberia(installed, tmp_path, *options, "--hints", "20", typed="h\n" + "1\n" * 12)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Lamps.\nYou are player_1; you play against player_0 (random), player_2 (random).\n")
    assert "By plain search, since no model fits this table; " in done.stdout
    assert re.search(r"\d\.\d points", done.stdout)
    assert "you get " in done.stdout
    assert "$" not in done.stdout
    told = siberia(installed, tmp_path, "replay", "play-lamps-1.jsonl")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("Lamps, 3 players, rounds 3, seed 3")
    header = json.loads((tmp_path / "play-lamps-1.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (header["game"], header["components"]) == ("lamps", {"cards": 15})


def test_an_installed_game_is_played_in_a_terminal(tmp_path: Path, installed: str) -> None:
    compiled = siberia(installed, tmp_path, "play", "lamps", "--hints", "9", "--out", "first.jsonl", typed="h\n1\ns\n")
    assert "the game is saved" in compiled.stdout
    arguments = ("-m", "siberia_experiments.cli", "play", "lamps", "--against", "random", "--seed", "3", "--hints", "9")
    with Terminal(tmp_path, "help):", *arguments, PYTHONPATH=installed) as terminal:
        assert "You are player_0; you play against player_1 (random)." in plain(terminal.wait())
        assert "By plain search, since no model fits this table; " in plain(terminal.type("h"))
        assert "you: bid 1" in plain(terminal.type("bid 1"))
        assert "taken back: bid 1" in plain(terminal.type("u!"))
        assert "the game is saved" in plain(terminal.type("s"))
        assert terminal.code() == 0
        assert re.search(r"\x1b\[[0-9;]*36m", terminal.screen)  # bids in cyan
        assert "Traceback" not in terminal.screen


# ---------------------------------------------------------------- registered from outside


def test_the_suite_does_not_list_it_among_its_own() -> None:
    assert "lamps" not in GAMES
    assert "lamps" in game_names()


def test_nothing_in_the_packages_knows_it() -> None:
    sources = [path for folder in ("siberia_env", "agents", "experiments") for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in sources if "lamps" in path.read_text(encoding="utf-8").lower()] == []


def test_a_name_belongs_to_one_module() -> None:
    register_game("lamps", MODULE)
    for name in ("lamps", "card"):
        with pytest.raises(ConfigurationError, match=f"game '{name}' is registered already, by "):
            register_game(name, "somewhere.else")


def test_a_module_without_the_game_is_named() -> None:
    register_game("shadows", MODULE)
    with pytest.raises(ConfigurationError, match=rf"game 'shadows': the module {MODULE} has no GAME of that name"):
        find_game("shadows")


def test_a_pickle_takes_the_game_along() -> None:
    """Into a process in which nobody has registered it."""
    position = new_position("lamps", 2, seed=5)
    program = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).legal_action_names())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": import_path()},
        input=pickle.dumps(position),
        capture_output=True,
        timeout=TO_COMPILE,
        check=True,
    )
    assert done.stdout.decode().strip() == str(position.legal_action_names())


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"num_players": 5}, "num_players: 5; Lamps is for 2 to 4 players"),
        ({"rules": {"rounds": 0}}, "rules: rounds: 0 is not a whole number from 1 to 9"),
        ({"rules": {"lamps": 3}}, "rules: expected a mapping with the option rounds"),
        ({"components": {"cards": 99}}, "cards: 99 is not a whole number from 12 to 15"),
        ({"components": {"lamps": 1}}, "lamps: no such table; the tables are cards"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        new_position("lamps", seed=1, **options)
    assert new_position("lamps", seed=1, components=Components(12)).variant.components.cards == 12


def test_a_game_may_leave_out_what_it_does_not_need() -> None:
    """And nothing else."""
    assert not {"is_secret", "revealed_hash", "has_hit_limit"} & set(LAMPS.kernels)
    for name in LAMPS.kernels:
        kernels = {other: kernel for other, kernel in LAMPS.kernels.items() if other != name}
        if name in ("observe", "observe_hidden"):
            assert isinstance(replace(LAMPS, kernels=kernels), Game)
        else:
            with pytest.raises(TypeError, match=f"game 'lamps' lacks the kernels {name}"):
                replace(LAMPS, kernels=kernels)


def test_what_a_game_has_no_room_for_is_refused_in_one_line() -> None:
    bare = replace(LAMPS, blocks=(), hidden_blocks=(), chronicle="", render="")
    position = Position(bare.variant(3), 7)
    assert position.play_at_random(1) == 3 * 3 * (1 + HAND)
    for ask, missing in (
        (lambda: str(position), "render"),
        (lambda: Position(bare.variant(3), 7, explicit_chance=True), "chronicle"),
        (lambda: play_and_record(bare.variant(3), at_random(1), 1, ["a", "b", "c"]), "chronicle"),
    ):
        with pytest.raises(ConfigurationError, match=f"Lamps has no module for {missing}"):
            ask()


def test_a_game_without_pictures_has_the_text_modes_only() -> None:
    for make in (SiberiaAECEnv, SiberiaEnv):
        assert make(LAMPS, 3).metadata["render_modes"] == ["ansi", "human"]
        with pytest.raises(RenderModeError, match=r"no 'rgb_array'; there are ansi, human$"):
            make(LAMPS, 3, render_mode="rgb_array")
    position = Position(LAMPS.variant(3), 7)
    assert position._repr_svg_() is None
    for draw in (position.picture, lambda: pictures.picture(position.view())):
        with pytest.raises(ConfigurationError, match="Lamps has no pictures"):
            draw()
    assert not pictures.has_pictures(replace(LAMPS, render=""))


def test_every_excerpt_in_the_docs_stands_in_the_games_files() -> None:
    page = (ROOT / "docs" / "add_a_game.md").read_text(encoding="utf-8")
    excerpts = re.findall(r"^<!-- from (tests/third_game/\w+\.py) -->\n```(?:py|text)\n(.*?)^```$", page, re.M | re.S)
    assert len(excerpts) == page.count("<!-- from ") == 9
    for file, text in excerpts:
        assert text in (ROOT / file).read_text(encoding="utf-8"), text


def test_actions_are_named_in_order() -> None:
    names = LAMPS.variant().action_names
    assert names[PLAYS] == "play 1"
    assert len(names) == LAMPS.num_actions
