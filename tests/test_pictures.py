"""Pictures of both games: what they show and hide, that nothing overlaps, their colours, the render modes, videos."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo

from docs import write_pictures
from siberia_env import pictures
from siberia_env.board.components import DEFAULT_AREAS, DEFAULT_ARROWS
from siberia_env.board.picture import LAYOUT as BOARD_LAYOUT
from siberia_env.board.state import PLACE
from siberia_env.common.components import RESOURCES
from siberia_env.common.drawing import COLOURS, PIECES, STYLE, fitted, width
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError, RenderModeError
from siberia_env.game import GAMES, States, Variant, find_game
from siberia_env.installation import install_command
from siberia_env.position import Position, new_position
from tests.board.test_render import CHAIN, long_names
from tests.games import GameCase, positions
from tests.processes import run_python
from tests.table import PLAYER_COUNTS
from tests.test_package import BLOCK

SVG = "{http://www.w3.org/2000/svg}"

#: A game of each number of players, with all editions and options among them.
PLAYED: dict[str, Any] = {
    "card": dict(zip(PLAYER_COUNTS, ("oya", "dlp", "digital"), strict=True)),
    "board": dict(zip(PLAYER_COUNTS, ({"salesman_cards": True}, {}, {"sides": "random"}), strict=True)),
}


def played(game: str, players: int, every: int, components: Any = None) -> tuple[Variant, list[States]]:
    """Some positions of one game played at random, the first and the last one among them."""
    variant, found = positions(find_game(game), players, 30 + players, PLAYED[game][players], components)
    return variant, [*found[::every], found[-1]]


def room(game: str) -> Any:
    """The module that draws a game."""
    return import_module(f"siberia_env.{game}.picture")


# ---------------------------------------------------------------- what is hidden


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("game", GAMES)
def test_the_picture_of_a_seat_is_equal_for_all_samples_of_its_information_set(game: str, players: int) -> None:
    """`draw` gets what `shown` collected and nothing else; so equal data are equal pictures."""
    variant, found = played(game, players, 12 if game == "card" else 40)
    shown, differences, drawn = room(game).shown, 0, 0
    for number, states in enumerate(found):
        if engine.is_chance_at(variant.rulesets, states, 0):
            continue
        for viewer in range(players):
            seen = shown(variant, states, 0, viewer)
            for seed in range(2):
                sample = states.copy()
                engine.determinize_at(variant.rulesets, sample, 0, viewer, np.uint64(1000 * number + seed))
                assert shown(variant, sample, 0, viewer) == seen
                differences += shown(variant, sample, 0, None) != shown(variant, states, 0, None)
            if number % 8 == viewer:
                drawn += 1
                assert pictures.svg(variant, sample, 0, viewer) == pictures.svg(variant, states, 0, viewer)
    assert differences > 20
    assert drawn > 1


@pytest.mark.parametrize("game", GAMES)
def test_the_picture_of_a_view_is_that_of_its_player(game: str) -> None:
    position = new_position(game, num_players=3, seed=5)
    for _ in range(40):
        position.apply_action(position.legal_actions()[-1])
    player = position.current_player()
    assert pictures.picture(position.view()) == position.picture() == position.picture(player)
    assert position._repr_svg_() == position.picture()
    assert len({position.picture(seat) for seat in range(3)}) == 3
    with pytest.raises(ConfigurationError, match="player: no seat 3"):
        position.picture(3)
    position.play_at_random(1)
    assert "everything shown" in str(position._repr_svg_())
    with pytest.raises(ConfigurationError, match="nobody is on turn"):
        position.picture()


# ---------------------------------------------------------------- what is shown


def texts(drawn: str) -> list[str]:
    """The texts of a picture but those on its pieces, in the order in which they were drawn."""
    parts = [part for part in ElementTree.fromstring(drawn) if part.tag != f"{SVG}defs"]
    return [element.text or "" for part in parts for element in part.iter(f"{SVG}text")]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_card_game_s_picture_tells_what_its_text_tells(players: int) -> None:
    variant, found = played("card", players, 25)
    for number, states in enumerate(found):
        state, viewer = states[0], (None, *range(players))[number % (players + 1)]
        position = Position.from_states(variant, states)
        text = str(position) if viewer is None else position.observation_string(viewer)
        told, one_line = texts(pictures.svg(variant, states, 0, viewer)), " ".join(text.split())
        seen = room("card").shown(variant, states, 0, viewer)
        assert one_line.endswith(seen["turn"])
        assert one_line.startswith(f"{seen['title']}: {seen['seen_by']} ")
        assert " ".join(seen["turn"].split()) in " ".join(told)
        for card in seen["row"]:
            if card and card["resource"]:
                assert card["value"] in told
                assert card["resource"] in told
        for player, panel in enumerate(seen["players"]):
            assert panel["score"] == f"${1000 * int(state.score[player])}"
            assert panel["score"] in told
            for resource, captured in enumerate(panel["captured"]):
                assert captured["cards"] == state.captured[player, resource]
                if captured["cards"]:
                    assert f"{captured['cards']} {captured['value']}" in one_line
            assert (panel["hand"] is None) == (viewer not in (None, player))
        for counts in seen["counts"]:
            assert f"{counts['caption']}: " in one_line


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_board_game_s_picture_tells_what_its_text_tells(players: int) -> None:
    variant, found = played("board", players, 120)
    for number, states in enumerate(found):
        state, viewer = states[0], (None, *range(players))[number % (players + 1)]
        if engine.is_chance_at(variant.rulesets, states, 0):
            continue
        position = Position.from_states(variant, states)
        text = str(position) if viewer is None else position.observation_string(viewer)
        told, one_line = texts(pictures.svg(variant, states, 0, viewer)), " ".join(text.split())
        seen = room("board").shown(variant, states, 0, viewer)
        assert one_line.endswith(seen["turn"])
        assert one_line.startswith(f"{seen['title']}: {seen['seen_by']} ")
        for area, place in enumerate(seen["areas"]):
            assert place["name"] in told
            assert place["cubes"] == [
                name for name, lies in zip(RESOURCES, state.lying, strict=True) if lies >> area & 1
            ]
            assert place["workers"] == state.workers[:players, area].tolist()
        assert told.count("exhausted") == int(state.exhausted)
        for exchange in seen["exchanges"]:
            for side in exchange["sides"]:
                assert (side["name"] if len(exchange["sides"]) == 1 else f"{side['name']} ?") in told
                assert side["prices"] == list(variant.components.exchanges[side["name"]])
        for player, panel in enumerate(seen["players"]):
            assert panel["money"] == f"${1000 * int(state.money[player])}"
            assert panel["money"] in told
            covers = sum(len(action["counters"]) + len(action["new"]) + action["tile"] for action in panel["actions"])
            own = viewer in (None, player) and state.phase == PLACE
            planned = int(state.planned[player].sum()) if own else 0
            assert covers == int(state.counters[player] + state.tiles[player].sum()) + planned
        assert f"Bag, {seen['bag']['size']} counter" in one_line
        assert f"Exhausted areas: {seen['exhausted'][0]} of {seen['exhausted'][1]}." in one_line
        assert f"Empty reserves: {seen['empty_reserves'][0]} of {seen['empty_reserves'][1]}." in one_line


@pytest.mark.parametrize("game", GAMES)
def test_what_is_shown_is_plain_data(game: str) -> None:
    variant, found = played(game, 3, 200)
    for states in found:
        seen = room(game).shown(variant, states, 0, 1)
        assert json.loads(json.dumps(seen)) == seen
        assert room(game).draw(json.loads(json.dumps(seen))) == pictures.svg(variant, states, 0, 1)


# ---------------------------------------------------------------- how it is laid out

Box = tuple[float, float, float, float]  # left, top, right, bottom


def boxes(drawn: str) -> Iterator[tuple[str, Box]]:
    """Each text and each piece of a picture with the room that it takes, all in the picture's units."""

    def visit(element: ElementTree.Element, x: float, y: float) -> Iterator[tuple[str, Box]]:
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        own_x, own_y = x + float(element.get("x", 0)), y + float(element.get("y", 0))
        if element.tag == f"{SVG}text":
            size, words = float(element.get("font-size", 0)), element.text or ""
            wide = width(words, size, element.get("font-weight") == "bold")
            left = own_x - {None: 0.0, "middle": wide / 2, "end": wide}[element.get("text-anchor")]
            yield words, (left, own_y - 0.73 * size, left + wide, own_y)
        elif element.tag == f"{SVG}use":
            right, bottom = own_x + float(element.get("width", 0)), own_y + float(element.get("height", 0))
            yield element.get("href", ""), (own_x, own_y, right, bottom)
        elif element.tag != f"{SVG}defs":
            for part in element:
                yield from visit(part, x, y)

    yield from visit(ElementTree.fromstring(drawn), 0.0, 0.0)


def overlaps(drawn: str, size: tuple[float, float]) -> list[tuple[str, ...]]:
    """The texts and pieces that lie on each other, and those that stand out of the picture."""
    found = list(boxes(drawn))
    rims = np.array([box for _, box in found])
    rims += [0.5, 0.5, -0.5, -0.5]
    left, top, right, bottom = rims.T
    wrong: list[tuple[str, ...]] = [
        (name,) for name, box in found if box[0] < 0 or box[1] < 0 or box[2] > size[0] or box[3] > size[1]
    ]
    crossing = (left[:, None] < right) & (left < right[:, None]) & (top[:, None] < bottom) & (top < bottom[:, None])
    pairs = np.argwhere(np.triu(crossing, 1))
    return wrong + [(found[one][0], found[other][0]) for one, other in pairs]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("game", GAMES)
def test_no_text_and_no_piece_lies_on_another(game: str, players: int) -> None:
    variant, found = played(game, players, 17 if game == "card" else 71)
    size = tuple(room(game).LAYOUT["size"])
    for number, states in enumerate(found):
        viewer = (None, *range(players))[number % (players + 1)]
        assert overlaps(pictures.svg(variant, states, 0, viewer), size) == [], (number, viewer)


@pytest.mark.parametrize("components", [CHAIN, long_names()], ids=["chain", "long names"])
def test_a_map_of_somebody_s_own_is_drawn_without_overlaps(components: dict[str, Any]) -> None:
    variant, found = played("board", 4, 150, components)
    for states in found:
        drawn = pictures.svg(variant, states, 0, 1)
        assert overlaps(drawn, tuple(BOARD_LAYOUT["size"])) == []
        areas = ElementTree.fromstring(drawn).findall(f".//{SVG}g[@class='area']")
        assert {area.get("data-name") for area in areas} == {*components["areas"], "Vladivostok"}


def test_the_drawn_map_s_areas_share_a_border_where_a_step_leads() -> None:
    layout = BOARD_LAYOUT["map"]
    outlines = {name: [tuple(point) for point in area["outline"]] for name, area in layout["areas"].items()}
    sides = {name: {frozenset(side) for side in pairwise([*points, points[0]])} for name, points in outlines.items()}
    adjacent = {frozenset(pair) for pair in combinations(sides, 2) if sides[pair[0]] & sides[pair[1]]}
    assert adjacent == {frozenset((area, other)) for area, others in DEFAULT_AREAS.items() for other in others}
    assert set(layout["arrows"]) == set(DEFAULT_ARROWS)
    for name, area in layout["areas"].items():
        assert winds_around(outlines[name], area["at"]), name
    for name, (_, tip) in layout["arrows"].items():
        assert winds_around(outlines[name], tip), name


def winds_around(outline: list[tuple[float, ...]], point: Any) -> bool:
    """Whether a point lies inside an outline: a line to the right crosses it an odd number of times."""
    x, y = point
    crossings = 0
    for (x1, y1), (x2, y2) in pairwise([*outline, outline[0]]):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            crossings += 1
    return crossings % 2 == 1


def test_text_that_is_too_long_gets_smaller_and_is_cut_in_the_end() -> None:
    assert fitted("gas", 12, 100) == ("gas", 12)
    words, size = fitted("a bit too long", 12, 0.9 * width("a bit too long", 12))
    assert (words, size < 12) == ("a bit too long", True)
    words, size = fitted("much too long for this room", 12, 60)
    assert (words[:4], words[-1]) == ("much", "…")
    assert width(words, size) <= 60
    assert fitted("W" * 10, 12, 1)[0] == "…"


# ---------------------------------------------------------------- colours

#: What the three kinds of colour blindness make of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1.0).
BLIND = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
JUST_SEEN = 2.3  #: the least difference in CIELAB that people see side by side


def linear(colour: str) -> Any:
    """Red, green and blue in linear light, 0 to 1."""
    value = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(colour: str, kind: str) -> Any:
    """A colour in CIELAB as people with that kind of colour blindness see it."""
    light = np.clip(np.array(BLIND[kind]) @ linear(colour), 0, 1)
    x, y, z = np.cbrt(np.maximum(TO_XYZ @ light / TO_XYZ.sum(1), 1e-4))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", BLIND)
def test_resources_and_players_can_be_told_apart_by_the_colour_blind(kind: str) -> None:
    resources = [PIECES[resource]["fill"] for resource in RESOURCES]
    players = [look["fill"] for look in STYLE["players"]]
    for group in (resources, players):
        for one, other in combinations(group, 2):
            assert np.linalg.norm(lab(one, kind) - lab(other, kind)) > 6 * JUST_SEEN, (one, other)


def test_letters_can_be_read_on_their_colours() -> None:
    """The contrast that WCAG 2 asks of text: 4.5 to 1; 3 to 1 of bold text in a player's band."""
    for look, least in [*((look, 4.5) for look in PIECES.values()), *((look, 3.0) for look in STYLE["players"])]:
        dark, light = sorted(float(TO_XYZ[1] @ linear(look[part])) for part in ("fill", "ink"))
        assert (light + 0.05) / (dark + 0.05) >= least, look
    assert len({look["letters"] for look in PIECES.values()}) == len(PIECES)
    assert len({look["icon"] for look in PIECES.values()}) == len(PIECES)


# ---------------------------------------------------------------- pixels


def test_pixels_are_those_of_the_drawing_with_its_letters() -> None:
    drawn = new_position("card", seed=1).picture(0)
    pixels = pictures.rgb_array(drawn)
    wide, high = room("card").LAYOUT["size"]
    assert (pixels.shape, pixels.dtype) == ((high, wide, 3), np.uint8)
    assert pixels.flags.writeable
    band = [int(COLOURS["band"][place : place + 2], 16) for place in (1, 3, 5)]
    assert pixels[2, 2].tolist() == band
    title = pixels[10:42, 20:400]  # in the band, with the letters of the title
    assert (title == 255).all(axis=2).sum() > 200
    assert np.array_equal(pictures.rgb_array(drawn), pixels)
    assert pictures.rgb_array(drawn, scale=0.5).shape == (high // 2, wide // 2, 3)
    assert pictures.png(drawn).startswith(b"\x89PNG")


def test_the_pictures_of_the_docs_and_the_widths_of_letters_are_those_of_the_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert write_pictures.main(["--check"]) == 0, capsys.readouterr().err


def test_check_names_the_picture_that_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.svg", tmp_path / "new.svg"
    old.write_text("<svg/>", encoding="utf-8")
    monkeypatch.setattr(write_pictures, "pictures", lambda: iter([(old, "<svg/>"), (new, "<svg></svg>")]))
    assert write_pictures.main(["--check"]) == 1
    assert capsys.readouterr().err == f"{new}: differs from the code; run python docs/write_pictures.py\n"
    assert not new.exists()
    assert write_pictures.main([]) == 0
    assert new.read_text(encoding="utf-8") == "<svg></svg>"
    assert write_pictures.main(["--check"]) == 0


# ---------------------------------------------------------------- render modes


def test_render_gives_the_learner_s_picture(case: GameCase) -> None:
    env: Any = gymnasium.make(case.gym_id, seat=1, render_mode="svg").unwrapped
    env.reset(seed=1)
    assert env.render() == env.aec.as_picture("player_1")
    assert "seen by player_1" in texts(env.render())
    env.render_mode = "rgb_array"
    assert np.array_equal(env.render(), pictures.rgb_array(env.aec.as_picture("player_1")))


def test_the_seat_on_turn_is_shown_and_everything_at_the_end(case: GameCase) -> None:
    env = case.module.env(render_mode="svg", rules=case.short)
    env.reset(seed=1)
    shown = []
    for agent in env.agent_iter():
        over = env.terminations[agent]
        shown.append((agent, texts(env.render())[1], over))
        env.step(None if over else env.legal_actions()[0])
    assert {told for _, told, over in shown if over} == {"everything shown"}
    assert {(agent, told) for agent, told, over in shown if not over} == {
        (agent, f"seen by {agent}") for agent in env.possible_agents
    }
    with pytest.raises(ConfigurationError, match="no agent 'player_2'"):
        env.as_picture("player_2")


def test_pictures_before_reset_are_refused(case: GameCase) -> None:
    env = case.module.env(render_mode="svg")
    for show in (env.render, lambda: env.as_picture("player_0")):
        with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before render"):
            show()


def test_gymnasium_s_recorder_writes_a_video(tmp_path: Path) -> None:
    env = gymnasium.make("siberia/Card-v0", render_mode="rgb_array", rules={"max_turns": 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        recorded = RecordVideo(env, str(tmp_path / "new"), episode_trigger=lambda episode: True, disable_logger=True)
        _, info = recorded.reset(seed=1)
        over, frames = False, 1
        while not over:
            _, _, over, _, info = recorded.step(int(info["action_mask"].argmax()))
            frames += 1
        recorded.close()
    (video,) = (tmp_path / "new").glob("*.mp4")
    assert video.read_bytes()[4:8] == b"ftyp"
    assert 1 < frames < 20


@pytest.mark.parametrize("mode", ["rgb", "RGB_ARRAY", "depth_array"])
def test_a_render_mode_that_there_is_not_is_refused(case: GameCase, mode: str) -> None:
    with pytest.raises(RenderModeError, match=rf"no '{mode}'; there are ansi, human, svg, rgb_array$"):
        case.module.env(render_mode=mode)


@pytest.mark.parametrize("missing", ["resvg_py", "PIL", "matplotlib"])
def test_pixels_without_the_extra_name_it(missing: str) -> None:
    """The environment can be made without it, as `make_vec_env` of stable-baselines3 needs; SVG needs no extra."""
    program = BLOCK.format(blocked={missing}) + (
        "from siberia_env import card_v0\n"
        "from siberia_env.errors import MissingExtraError\n"
        "env = card_v0.env(render_mode='rgb_array')\n"
        "env.reset(seed=1)\n"
        "assert env.as_picture('player_0').startswith('<svg ')\n"
        "try:\n    env.render()\nexcept MissingExtraError as error:\n    print(error)\n"
    )
    told = f"a picture in pixels needs the optional extra 'pictures' ({missing} is not installed): "
    assert run_python("-c", program).stdout.strip() == told + install_command("pictures")
