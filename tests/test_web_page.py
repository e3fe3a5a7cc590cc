"""The page in the package: it is what its sources give, is served to this machine alone, and holds a record whole.

Nothing here needs node or a browser; `make web-test` plays on the page itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from siberia_agents.interface import Agent
from siberia_env import __version__
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.game import find_game
from siberia_env.position import Position, new_position
from siberia_env.records import play_and_record, write_records
from siberia_env.view import View
from siberia_experiments.cli import main
from siberia_experiments.web import files, server
from siberia_experiments.web.bridge import Bridge
from siberia_experiments.web.built import digests, written_digests
from siberia_experiments.web.one_file import write_replay_pages
from siberia_experiments.web.plan import game_plan, plays_in_browser
from siberia_experiments.web.server import LARGEST_QUESTION, PageServer
from siberia_experiments.web.words import GAMES, words
from tests.processes import PATIENCE, ROOT

LARGEST_BUNDLE = 400_000  #: bytes of script, style and page together
ADDRESSES = {f"http://www.w3.org/{name}" for name in ("2000/svg", "1999/xlink", "1999/xhtml", "1998/Math/MathML")}
SHORT = {"max_turns": 4}


# ---------------------------------------------------------------- what is built


def test_the_built_page_is_what_its_sources_give() -> None:
    assert written_digests() == digests(ROOT), "the page is not built from these sources: run make web"


@pytest.mark.parametrize("name", GAMES)
def test_the_pages_words_are_what_python_has(name: str) -> None:
    written = json.loads((ROOT / "web" / "src" / "data" / f"{name}.json").read_text(encoding="utf-8"))
    assert written == words(name)


def test_the_bundle_is_small() -> None:
    paths = files.page_files()
    assert sum(paths[name].stat().st_size for name in (files.PAGE, files.SCRIPT, files.LOOK)) < LARGEST_BUNDLE


def test_nothing_of_the_page_lies_elsewhere() -> None:
    """No script, style, picture or font comes from another address: names of formats are all there is."""
    paths = files.page_files()
    for name in (files.PAGE, files.SCRIPT, files.LOOK):
        text = paths[name].read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[\w./-]+", text)) <= ADDRESSES, name
        assert not re.search(r"""(src|href)=["']//""", text), name
    assert "default-src 'none'" in paths[files.PAGE].read_text(encoding="utf-8")


def test_a_missing_file_of_the_page_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "STATIC", tmp_path)
    with pytest.raises(ConfigurationError, match=r"index\.html is missing; in a checkout, run: make wasm web"):
        files.page_files()


# ---------------------------------------------------------------- the server


@pytest.fixture
def served() -> Iterator[PageServer]:
    listening = PageServer()
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield listening
    listening.shutdown()
    listening.server_close()


def ask(served: PageServer, path: str = "/", body: bytes | None = None, **headers: str) -> tuple[int, bytes, Any]:
    request = urllib.request.Request(
        served.origin + path, body, {name.replace("_", "-"): value for name, value in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return response.status, response.read(), response.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def test_the_server_listens_on_this_machine_alone(served: PageServer) -> None:
    assert served.server_address[0] == "127.0.0.1"


def test_the_page_and_its_files_are_served_with_their_kinds(served: PageServer) -> None:
    status, page, headers = ask(served)
    assert (status, page) == (200, files.page_files()[files.PAGE].read_bytes())
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert ask(served, "/card.wasm")[2]["Content-Type"] == "application/wasm"
    assert ask(served, "/card_2.npz")[0] == 200


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/%2e%2e/pyproject.toml", "/etc/passwd", "//etc/passwd", "/agent", "/page.js/"]
)
def test_nothing_else_is_served(served: PageServer, path: str) -> None:
    assert ask(served, path)[0] == 404


def test_a_foreign_name_that_leads_here_is_refused(served: PageServer) -> None:
    assert ask(served, Host=f"siberia.example:{served.server_port}")[0] == 421
    assert ask(served, Host=f"localhost:{served.server_port}")[0] == 200


def question(spec: str, position: Position | None = None, **changed: Any) -> dict[str, Any]:
    position = position or new_position("card", 3, seed=1)
    player = position.current_player()
    sample = position.resample_from_infostate(player, 0)
    return {
        "game": "card",
        "version": __version__,
        "players": 3,
        "rules": {},
        "components": position.variant.components.as_json(),
        "player": player,
        "agent": spec,
        "seed": "5",
        "state": base64.b64encode(sample.serialize()).decode(),
        "legal": position.legal_actions(),
    } | changed


def announced(served: PageServer, length: int, headers: dict[str, str]) -> int:
    """What is answered to a question that says how long it will be."""
    connection = HTTPConnection(server.HOST, served.server_port, timeout=PATIENCE)
    connection.putrequest("POST", "/agent")
    for name, value in {**headers, "Content_Length": str(length)}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def test_the_bridge_answers_whoever_knows_the_word(served: PageServer) -> None:
    asked = json.dumps(question("greedy")).encode()
    good = {"Origin": served.origin, "X_Siberia_Token": served.token}
    status, told, _ = ask(served, "/agent", asked, **good)
    assert status == 200
    assert json.loads(told)["action"] in question("greedy")["legal"]
    for wrong in ({"Origin": served.origin}, {**good, "X_Siberia_Token": "x"}, {**good, "Origin": "http://a.example"}):
        assert ask(served, "/agent", asked, **wrong)[0] == 403
    assert announced(served, LARGEST_QUESTION + 1, good) == 413
    assert ask(served, "/agent", b"{", **good)[:2] == (400, b'{"error": "bridge: the question is not JSON"}')


def test_no_more_connections_are_answered_than_there_is_room_for(
    served: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "room", threading.BoundedSemaphore(1))
    served.room.acquire()
    assert ask(served)[0] == 503
    served.room.release()
    assert ask(served)[0] == 200


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind((server.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"--port: can't listen on port {port}"):
            PageServer(port)


# ---------------------------------------------------------------- the bridge


def test_an_agent_of_the_machine_is_asked_as_everywhere() -> None:
    """Its answer is that of the terminal: the view of a sample is the view of the game."""
    from siberia_agents.registry import make_agent

    position = new_position("card", 3, seed=1)
    agent = make_agent("search:20")
    agent.start(position.variant, 5)
    assert Bridge().answer(question("search:20", position)) == agent.act(position.view())


class Rogue(Agent):
    """An agent of somebody's own, which never answers, raises, or chooses what is not legal."""

    name = "rogue"

    def __init__(self, argument: str = "") -> None:
        self.argument = argument

    def act(self, view: View) -> int:
        while self.argument == "hang":
            time.sleep(1)
        if self.argument:
            raise RuntimeError(self.argument)
        return 45


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    made = Bridge()
    yield made
    made.close()


def test_an_agent_that_never_answers_is_ended_and_blocks_nobody(bridge: Bridge) -> None:
    """The next question gets an answer, and the agent can be asked again."""
    bridge.move_seconds = 0.5
    for _ in range(2):
        with pytest.raises(SiberiaError, match=r"Rogue:hang has failed: took longer than 0\.5 s for a move"):
            bridge.answer(question("tests.test_web_page:Rogue:hang"))
        assert bridge.answer(question("greedy")) in question("greedy")["legal"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"version": "0.0.1"}, r"the page is of version '0\.0\.1', the suite of .*: load the page again"),
        ({"agent": "gredy"}, "no agent 'gredy'"),
        ({"agent": "tests.test_web_page:Rogue"}, "has chosen 45, which is not legal"),
        ({"agent": "tests.test_web_page:Rogue:oh"}, "has failed: RuntimeError: oh"),
        ({"seed": 5}, "seed: expected a whole number as text"),
        ({"state": "AAAA"}, "expected .* bytes; got 3"),
        ({"state": "no base64"}, "state: expected bytes in base64"),
        ({"legal": [0]}, "does not have that player on turn"),
        ({"player": 2}, "does not have that player on turn"),
        ({"game": "chess"}, "no game 'chess'"),
        ({"players": 7}, "num_players: 7"),
        ({"more": 1}, "expected an object with the keys"),
    ],
)
def test_a_question_that_can_not_be_answered_is_refused(bridge: Bridge, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(SiberiaError, match=message):
        bridge.answer(question("greedy", **changed))


# ---------------------------------------------------------------- a record as one file


def recorded(path: Path, games: int = 1) -> Path:
    variant = find_game("card").variant(2, SHORT)
    records = [
        play_and_record(variant, lambda states, i, mask: int(mask.argmax()), seed, ["a</script>", "b"])
        for seed in range(games)
    ]
    write_records(path, records)
    return path


def test_a_record_becomes_one_file_that_needs_nothing_else(tmp_path: Path) -> None:
    record, out = recorded(tmp_path / "game.jsonl"), tmp_path / "game.html"
    write_replay_pages(record, None, out)
    text = out.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[\w./-]+", text)) <= ADDRESSES
    assert not re.search(r"<(script|link|img)[^>]* (src|href)=(?!.data:)", text)
    assert "connect-src" not in text, "nothing may be fetched: default-src 'none' holds"
    held = json.loads(re.search(r'id="siberia-files">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    assert sorted(held) == ["card.json", "card.wasm", "card_2.npz", "record.jsonl"]
    assert base64.b64decode(held["record.jsonl"]) == record.read_bytes()
    script = re.search(r'<script type="module">(.*?)</script>', text, re.DOTALL)[1]  # type: ignore[index]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text


def test_a_page_of_a_record_is_refused_where_it_can_not_be(tmp_path: Path) -> None:
    one, out = recorded(tmp_path / "one.jsonl"), tmp_path / "out.html"
    out.write_text("kept", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"out\.html is there already"):
        write_replay_pages(one, None, out)
    assert out.read_text(encoding="utf-8") == "kept"
    with pytest.raises(ConfigurationError, match="holds several games"):
        write_replay_pages(recorded(tmp_path / "two.jsonl", 2), None, tmp_path / "two.html")
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(one.read_text(encoding="utf-8").replace('"scores": [', '"scores": [1'), encoding="utf-8")
    with pytest.raises(SiberiaError, match="line"):
        write_replay_pages(damaged, None, tmp_path / "damaged.html")
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["out.html"]


def test_replay_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = recorded(tmp_path / "game.jsonl")
    assert main(["replay", str(record), "--html", str(tmp_path / "game.html")]) == 0
    assert "it needs nothing else" in capsys.readouterr().out
    assert (tmp_path / "game.html").stat().st_size > LARGEST_BUNDLE


# ---------------------------------------------------------------- siberia play --web


def test_play_web_serves_the_game_that_is_described(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        PageServer, "serve_forever", lambda self, poll_interval: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    opened: list[str] = []
    monkeypatch.setattr(server.webbrowser, "open", lambda address: opened.append(address) or True)
    options = ["--players", "3", "--against", "greedy,tests.test_web_page:Rogue", "--seat", "1", "--seed", "9"]
    assert main(["play", "card", "--web", *options]) == 130
    said = capsys.readouterr().out
    (address,) = opened
    assert address in said.replace("\n", "")
    plan = json.loads(base64.urlsafe_b64decode(address.partition("&plan=")[2] + "=="))
    assert plan["setup"]["seed"] == "9"
    assert [seat["agent"] for seat in plan["setup"]["seats"]] == ["machine:tests.test_web_page:Rogue", "", "greedy"]
    assert main(["play", "board", "--web", "--no-browser"]) == 130
    assert len(opened) == 1
    address = re.search(r"http://\S+", capsys.readouterr().out)[0]  # type: ignore[index]
    assert json.loads(base64.urlsafe_b64decode(address.partition("&plan=")[2] + "==")) == {"game": "board"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--web", "--port", "70000"], "--port: 70000; a port is a number from 0 to 65535"),
        (["--web", "--out", "a.jsonl"], "--out is for the terminal"),
        (["--web", "--resume", "a.save.json"], "--resume is for the terminal"),
        (["--web", "--against", "gredy"], "no agent 'gredy'"),
        (["--web", "--players", "5"], "num_players: 5"),
        (["--port", "80"], "--port is for --web"),
        (["--no-browser"], "--browser is for --web"),
    ],
)
def test_play_web_refuses_what_can_not_be(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "card", *options]) == 2
    assert message in capsys.readouterr().err


def test_agents_with_files_of_the_machine_play_on_the_machine() -> None:
    inside = ("random", "greedy", "learned", "search:50", "guided:0.5s", "level:hard", "learned:temperature=1")
    outside = ("learned:run/model.npz", "guided:50:model=a.npz", "search:threads=2", "my.module:Agent")
    assert all(map(plays_in_browser, inside))
    assert not any(map(plays_in_browser, outside))


def test_a_plan_names_own_components_and_no_others() -> None:
    variant = find_game("card").variant(2)
    assert game_plan(variant, 1, ["person", "greedy"], "person")["setup"]["components"] is None
    tables = variant.components.as_json()
    tables["salesmen"]["gas"] = 9
    own = find_game("card").variant(2, None, tables)
    assert game_plan(own, 1, ["person", "greedy"], "person")["setup"]["components"] == tables
