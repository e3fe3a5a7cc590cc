"""The control variate: luck has mean zero whatever a model says, and what is left of a result varies less."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from siberia_agents.learned import Model, head_sizes
from siberia_agents.random_agent import RandomAgent
from siberia_agents.registry import make_agent
from siberia_env.core import engine
from siberia_env.errors import ModelError
from siberia_env.game import GAMES, find_game, register_game
from siberia_experiments import luck, match
from siberia_experiments.cli import main
from siberia_experiments.luck import OUTCOMES, Shown, imagine, show_all
from siberia_experiments.match import Results, play_deals
from siberia_experiments.statistics import less_luck, mean_interval
from tests.games import positions

register_game("lamps", "tests.third_game.game")
LAMPS = find_game("lamps")


def random_model(game: str, players: int, seed: int = 0, scale: float = 3.0) -> Model:
    """A model that says something else of every position, and knows nothing."""
    random, played = np.random.default_rng(seed), find_game(game)
    outputs = sum(head_sizes(played).values())
    weight = random.normal(0, scale, (played.observation_size, outputs)).astype(np.float32)
    return Model(game, (players,), [(weight, np.zeros(outputs, np.float32))], head_sizes(played), {})


def policy_alone(game: str) -> Model:
    """A model with a policy and nothing else, as those of earlier versions are."""
    model = random_model(game, 2)
    (weight, bias), actions = model.layers[0], model.heads["policy"]
    return Model(game, (2,), [(weight[:, :actions], bias[:actions])], {"policy": actions}, {})


class HighCards:
    """Knows of the lamps that who holds high cards and has scored has more of a share: a judge made by hand."""

    def __init__(self) -> None:
        start = 0
        for block in LAMPS.blocks:
            if block.name == "hand":
                self.hand = slice(start, start + block.size)
            start += block.size

    def shares(self, observation: NDArray[np.float32], num_players: int) -> NDArray[np.float32]:
        """A share that rises with the sum of the cards in hand."""
        hand = observation[:, self.hand]
        own = 1 / num_players + 0.01 * (hand @ np.arange(hand.shape[1]) - 3 * hand.shape[1] / 2)
        return np.repeat(own[:, None], num_players, axis=1).astype(np.float32)


#: Options under which games are over soon.
SHORT = {"card": {"max_turns": 30}, "board": {"max_rounds": 3}, "lamps": {}}


def played(game: str, players: int, judge: Any, games: int, specs: tuple[str, ...] = ("random",)) -> Results:
    """Short games between agents of these specs, the last of which takes the remaining seats."""
    agents = [make_agent(specs[min(place, len(specs) - 1)]) for place in range(players)]
    return play_deals(find_game(game).variant(players, SHORT[game]), agents, games, 3, judge=judge)


def by_deal(results: Results, of: NDArray[Any], place: int = 0) -> NDArray[np.float64]:
    """The mean over each deal of what entrant `place` got."""
    assert results.deal is not None
    own = np.where(results.entrant == place, of, 0).sum(axis=1)
    return np.bincount(results.deal, own) / np.bincount(results.deal)


@pytest.mark.parametrize(
    ("game", "players", "games"), [("lamps", 3, 1200), ("card", 2, 160), ("card", 3, 60), ("board", 2, 40)]
)
def test_luck_has_mean_zero_whatever_the_model_says(game: str, players: int, games: int) -> None:
    specs = ("random", "greedy") if game in GAMES else ("random",)
    results = played(game, players, random_model(game, players), games, specs)
    assert results.luck is not None
    for place in range(players):
        own = by_deal(results, results.luck, place)
        assert own.std() > 0.01  # there was something to be wrong about
        assert abs(own.mean()) < 4 * own.std(ddof=1) / np.sqrt(len(own))
    assert np.allclose(results.luck.sum(axis=1), 0)


def test_a_judge_that_knows_the_game_makes_the_results_vary_less_and_keeps_their_mean() -> None:
    """Over single games: in two seat orders of one deal of lamps, everybody holds the same cards."""
    results = played("lamps", 2, HighCards(), 2400)
    assert results.luck is not None
    won, had_luck = results.win_shares[::2, 0], results.luck[::2, 0]
    raw, corrected = mean_interval(won), less_luck(won, had_luck)
    assert corrected.high - corrected.low < 0.95 * (raw.high - raw.low)
    assert abs(corrected.value - raw.value) < 2 * (raw.high - raw.value)
    assert np.corrcoef(won, had_luck)[0, 1] > 0.3


def test_measuring_luck_changes_no_game() -> None:
    line = [make_agent("greedy"), RandomAgent()]
    variant = find_game("card").variant(2, SHORT["card"])
    plain = play_deals(variant, line, 20, 5)
    measured = play_deals(variant, line, 20, 5, judge=random_model("card", 2))
    assert np.array_equal(plain.scores, measured.scores)
    assert plain.win_rate(0) == measured.win_rate(0)


@pytest.mark.parametrize("game", [*GAMES, "lamps"])
def test_other_outcomes_look_alike_where_chance_has_no_say_and_differ_where_it_has(game: str) -> None:
    """A redraw changes nothing that a seat sees; after an action it does now and then, as draws and deals come."""
    variant, found = positions(find_game(game), 3, 4, SHORT[game])
    random, alike, different = np.random.default_rng(1), 0, 0
    for states in found:
        if engine.is_over_at(variant.rulesets, states, 0) or engine.is_chance_at(variant.rulesets, states, 0):
            continue
        mask = np.zeros(variant.game.num_actions, np.int8)
        engine.legal_at(variant.rulesets, states, 0, mask)
        actions = np.array([random.choice(np.flatnonzero(mask))])
        might = Shown(variant, OUTCOMES)
        worlds = np.repeat(states, OUTCOMES)
        imagine(variant.rulesets, worlds, actions, OUTCOMES, np.uint64(7), might.over, might.totals, might.seen)
        if (might.seen == might.seen[0]).all() and (might.over == might.over[0]).all():
            alike += 1
        else:
            different += 1
    assert different >= 2
    assert alike >= 2


@pytest.mark.parametrize("game", GAMES)
def test_redrawing_keeps_what_any_seat_knows(game: str) -> None:
    """Every seat sees what it saw, and every hand and every counter drawn is where it was."""
    variant, found = positions(find_game(game), 3, 6, SHORT[game])
    seats = {"card": ("hand", "symbols", "held"), "board": ("drawn", "plan", "tiles")}[game]
    changed: set[str] = set()
    for states in found:
        if engine.is_over_at(variant.rulesets, states, 0) or engine.is_chance_at(variant.rulesets, states, 0):
            continue
        before, after = Shown(variant, 1), Shown(variant, 1)
        show_all(variant.rulesets, states, before.over, before.totals, before.seen)
        copy = states.copy()
        luck.redraw(variant.rulesets[0], copy[0], np.uint64(5))
        show_all(variant.rulesets, copy, after.over, after.totals, after.seen)
        assert np.array_equal(before.seen, after.seen)
        assert all(np.array_equal(states[name], copy[name]) for name in seats)
        changed |= {name for name in states.dtype.names or () if not np.array_equal(states[name], copy[name])}
    assert (
        changed
        == {
            "card": {"generator", "action_stack", "resource_stack", "row"},
            "board": {"generator", "tile_stack"},
        }[game]
    )


def test_results_are_corrected_by_a_multiple_that_they_did_not_choose() -> None:
    random = np.random.default_rng(2)
    noise = random.normal(0, 1, 400)
    results = 0.6 + 0.3 * noise + random.normal(0, 0.05, 400)
    corrected = less_luck(results, noise)
    assert abs(corrected.value - 0.6) < 0.01
    assert corrected.high - corrected.low < 0.2 * (mean_interval(results).high - mean_interval(results).low)
    # A single wild deal may not correct itself: its own multiple comes from the other half.
    results, noise = np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0])
    results[0] = 1.0
    assert less_luck(results, noise).value == 0.25
    assert less_luck(np.array([0.5]), np.array([0.2])).value == 0.5


def test_a_model_without_shares_is_refused_before_a_game_ends() -> None:
    with pytest.raises(ModelError, match="it says nothing of shares"):
        play_deals(find_game("card").variant(2), [RandomAgent(), RandomAgent()], 4, judge=policy_alone("card"))


def test_games_played_in_several_batches_have_luck_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "GAMES_AT_ONCE", 8)
    results = played("lamps", 2, random_model("lamps", 2), 20)
    assert results.luck is not None
    assert results.luck.shape == (20, 2)
    assert len(np.unique(results.luck[:, 0])) == 20


# ---------------------------------------------------------------- on the command line


def test_evaluate_corrects_for_luck_with_a_model_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    random_model("card", 2).save(Path("model.npz"))
    words = ["evaluate", "card", "--rules", "max_turns=30", "--games", "8"]
    assert main([*words, "--control-variate", "model.npz"]) == 0
    corrected = capsys.readouterr().out
    assert main(words) == 0
    plain = capsys.readouterr().out
    assert "luck" in corrected
    assert "luck" not in plain
    for agent in ("greedy", "random"):
        rates = [re.search(rf"^{agent} .*?([\d.]+%)", out, re.M) for out in (corrected, plain)]
        assert all(rates)
        assert len({rate[1] for rate in rates if rate}) == 1


def test_models_that_can_not_measure_luck_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    policy_alone("card").save(Path("old.npz"))
    random_model("board", 2).save(Path("board.npz"))
    for name, message in (
        ("old.npz", "model: it says nothing of shares; train one with this version (siberia train)"),
        ("board.npz", "model: it was trained for game board, the games to be played have game card"),
        ("nothing.npz", "model: there is no file nothing.npz"),
    ):
        assert main(["evaluate", "card", "--games", "2", "--control-variate", name]) == 2
        assert capsys.readouterr() == ("", f"siberia: {message}\n")
