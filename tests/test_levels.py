"""`level:...`: agents by measured strength."""

from __future__ import annotations

import csv
from itertools import pairwise

import numpy as np
import pytest

from siberia_agents import levels
from siberia_agents.levels import LEVELS, NAMES, Level, spec_of_level
from siberia_agents.registry import AGENTS, LevelAgent, agent_files, make_agent
from siberia_env.errors import ConfigurationError
from siberia_env.game import GAMES, find_game, register_game
from siberia_experiments.cli import main
from siberia_experiments.match import play_games
from tests.processes import ROOT
from tests.table import PLAYER_COUNTS

register_game("lamps", "tests.third_game.game")


def test_every_table_has_four_levels_each_stronger_than_the_one_before() -> None:
    assert set(LEVELS) == {(game, players) for game in GAMES for players in PLAYER_COUNTS}
    for ladder in LEVELS.values():
        assert tuple(ladder) == NAMES
        ratings = [ladder[name].rating for name in NAMES]
        assert all(weaker < stronger for weaker, stronger in pairwise(ratings))


@pytest.mark.parametrize(("game", "players"), LEVELS)
def test_ratings_are_those_of_the_ranking(game: str, players: int) -> None:
    with (ROOT / "docs" / "results" / f"{game}_{players}.csv").open(encoding="utf-8", newline="") as file:
        rated = {line["agent"]: round(float(line["rating"])) for line in csv.DictReader(file)}
    for level in LEVELS[game, players].values():
        assert rated[level.spec] == level.rating
    assert LEVELS[game, players]["best"].rating == max(rated.values())


@pytest.mark.parametrize(("game", "players"), LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_a_level_plays_from_the_files_of_its_agent(game: str, players: int, name: str) -> None:
    variant = find_game(game).variant(players)
    spec = spec_of_level(name, variant)
    assert make_agent(spec).name in AGENTS
    assert agent_files(f"level:{name}", variant) == agent_files(spec, variant)


def test_without_a_name_the_level_is_medium() -> None:
    variant = find_game("board").variant(4)
    assert agent_files("level", variant) == agent_files(LEVELS["board", 4]["medium"].spec, variant)
    agent = make_agent("level")
    agent.start(variant, 1)
    assert isinstance(agent, LevelAgent)
    assert agent.agent.name == LEVELS["board", 4]["medium"].spec


def test_one_object_plays_as_another_agent_at_another_table(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = {("card", 2): "greedy", ("card", 3): "random", ("board", 2): "greedy"}
    monkeypatch.setattr(levels, "LEVELS", {played: {"hard": Level(spec, 1)} for played, spec in specs.items()})
    level = make_agent("level:hard")
    for game, players in (("card", 2), ("card", 3), ("board", 2), ("card", 2)):
        variant = find_game(game).variant(players)
        others = [make_agent("random") for _ in range(players - 1)]
        own = make_agent(specs[game, players])
        one, other = (play_games(variant, [agent, *others], 6, seed=1) for agent in (level, own))
        assert np.array_equal(one.scores, other.scores)
        assert np.array_equal(one.lengths, other.lengths)


@pytest.mark.parametrize("spec", ["level:hrad", "level:Easy", "level:2", "level:easy:2"])
def test_a_level_that_does_not_exist_is_refused(spec: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        make_agent(spec)
    told = spec.partition(":")[2]
    assert str(raised.value) == f"level: no {told!r}; the levels are easy, medium, hard, best"


def test_a_game_whose_agents_nobody_measured_has_no_levels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "lamps", "--agents", "level:easy,random", "--games", "2"]) == 2
    told = "siberia: level: no agents of the lamps game for 2 players have been measured; name an agent instead\n"
    assert capsys.readouterr().err == told
