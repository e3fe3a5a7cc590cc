"""Agents by their specs: the grammar, an agent of one's own, the models that come with the suite."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siberia_agents import learned, registry
from siberia_agents.interface import Agent
from siberia_agents.learned import LearnedAgent, load_model, shipped_model
from siberia_agents.registry import AGENTS, Entry, Option, agent_files, form, make_agent, short_form
from siberia_env.errors import ActionOutOfBoundsError, ConfigurationError, IllegalActionError, ModelError, SiberiaError
from siberia_env.game import GAMES, find_game
from siberia_experiments.cli import main
from siberia_experiments.match import play_games
from tests.processes import ROOT, run_python
from tests.table import PLAYER_COUNTS
from tests.test_agents import positions, rewrite, small_model, whole_view

LARGEST_SHIPPED = 2_000_000  # bytes

both_games = pytest.mark.parametrize("game", GAMES)


def refusal(spec: str) -> str:
    """The one line that `spec` is refused with."""
    with pytest.raises(SiberiaError) as raised:
        make_agent(spec)
    message = str(raised.value)
    assert "\n" not in message
    return message


# ---------------------------------------------------------------- the grammar


class Noted(Agent):
    """Keeps what it was made with."""

    def __init__(
        self, budget: str = "1000", *, playout: str = "random", exploration: float = 0.8, threads: int = 1,
        reuse: bool = False, model: str = "",
    ) -> None:  # fmt: skip
        self.made_with = (budget, playout, exploration, threads, reuse, model)

    def act(self, view: Any) -> int:
        """Any legal action."""
        return int(view.legal_actions[0])


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent `noted` with an argument and options of every kind."""
    options = {
        "playout": Option(("random", "greedy"), "how games are played to their end"),
        "exploration": Option(float, "more looks further afield"),
        "threads": Option(int, "threads"),
        "reuse": Option(bool, "whether the tree is kept"),
        "model": Option(str, "a file"),
    }
    monkeypatch.setitem(AGENTS, "noted", Entry(Noted, "keeps what it was made with", "BUDGET", options))


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_can_be_made_by_its_name_alone(name: str) -> None:
    assert make_agent(name).name == name


@pytest.mark.parametrize("name", AGENTS)
def test_every_option_is_a_keyword_of_its_agent_and_takes_its_own_default(name: str) -> None:
    entry = AGENTS[name]
    for option, told in entry.options.items():
        default = entry.default(option)
        assert default is not inspect.Parameter.empty
        written = str(default).lower() if isinstance(default, bool) else str(default)
        assert default in (None, "") or told.read(written) == default
        assert told.meaning
    assert entry.meaning
    assert bool(entry.argument) == entry.argument.isupper()


@pytest.mark.usefixtures("noted")
@pytest.mark.parametrize(
    ("spec", "made_with"),
    [
        ("noted", ("1000", "random", 0.8, 1, False, "")),
        ("noted:0.5s", ("0.5s", "random", 0.8, 1, False, "")),
        ("noted:2000:playout=greedy:exploration=1e-1:threads=2", ("2000", "greedy", 0.1, 2, False, "")),
        ("noted:reuse=true:threads=-3", ("1000", "random", 0.8, -3, True, "")),
        ("noted:7:reuse=false:exploration=2", ("7", "random", 2.0, 1, False, "")),
        ("noted:model=C:\\mine\\a=b.npz:threads=4", ("1000", "random", 0.8, 4, False, "C:\\mine\\a=b.npz")),
        ("noted:C:\\mine\\model.npz:threads=4", ("C:\\mine\\model.npz", "random", 0.8, 4, False, "")),
        ("noted:runs/a=b/model.npz", ("runs/a=b/model.npz", "random", 0.8, 1, False, "")),
        ("noted:./a=b/model.npz", ("./a=b/model.npz", "random", 0.8, 1, False, "")),
    ],
)
def test_argument_and_options_reach_the_agent(spec: str, made_with: tuple[Any, ...]) -> None:
    agent = make_agent(spec)
    assert isinstance(agent, Noted)
    assert agent.made_with == made_with


@pytest.mark.usefixtures("noted")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gready", "no agent 'gready' (did you mean 'greedy'?); the agents are random, greedy, "),
        ("gready", ", noted, or MODULE:CLASS for one of your own"),
        ("gready:3", "no agent 'gready'"),
        ("Greedy", "no agent 'Greedy'"),
        ("greedy ", "no agent 'greedy '"),
        ("", "no agent ''"),
        (":", "no agent ''"),
        (":Mine", "agent ':Mine': '' is not the name of a module"),
        ("random:3", "agent 'random' takes no argument; got '3'"),
        ("random:a:b", "agent 'random' takes no argument; got 'a:b'"),
        ("greedy:", "agent 'greedy:': a part of it is empty; the form is greedy"),
        ("greedy:depth=3", "agent 'greedy' has no option 'depth'; it has none"),
        ("learned:", "a part of it is empty; the form is learned[:FILE][:OPTION=VALUE]..."),
        ("learned:nothing.npz", "model: there is no file nothing.npz"),
        ("learned:C:\\nothing.npz", "model: there is no file C:\\nothing.npz"),
        ("learned:temperature=-1", "learned: temperature: -1.0; at least 0"),
        ("noted:depth=3", "agent 'noted' has no option 'depth'; its options are playout, exploration, threads, reuse"),
        ("noted:a=b/model.npz", "agent 'noted' has no option 'a'"),  # that file is written ./a=b/model.npz
        ("noted::threads=2", "a part of it is empty; the form is noted[:BUDGET][:OPTION=VALUE]..."),
        ("noted:1:", "a part of it is empty"),
        ("noted:threads=", "a part of it is empty"),
        ("noted:threads=1:threads=1", "agent 'noted:threads=1:threads=1': threads is given twice"),
        ("noted:threads=two", "agent 'noted': threads: 'two' is not a whole number"),
        ("noted:threads=1.5", "agent 'noted': threads: '1.5' is not a whole number"),
        ("noted:threads=1:500", "agent 'noted': threads: '1:500' is not a whole number"),
        ("noted:exploration=nan", "agent 'noted': exploration: 'nan' is not a number"),
        ("noted:exploration=inf", "agent 'noted': exploration: 'inf' is not a number"),
        ("noted:reuse=yes", "agent 'noted': reuse: 'yes' is not true or false"),
        ("noted:playout=best", "agent 'noted': playout: 'best' is not random or greedy"),
    ],
)
def test_specs_that_describe_no_agent_are_refused(spec: str, message: str) -> None:
    assert message in refusal(spec)


@pytest.mark.usefixtures("noted")
def test_the_form_of_a_spec_tells_what_it_takes() -> None:
    assert (short_form("random"), form("random")) == ("random", "random")
    assert (short_form("noted"), form("noted")) == ("noted[:BUDGET]", "noted[:BUDGET][:OPTION=VALUE]...")


# ---------------------------------------------------------------- an agent of one's own

MINE = """
from __future__ import annotations
from siberia_agents.interface import Agent
from siberia_agents.learned import load_model

NUMBER = 3

def Factory():
    return First()

class First(Agent):
    def act(self, view):
        return view.legal_actions[0]

class Named(First):
    name = "nobody"

class Weighed(First):
    def __init__(self, weight, *, depth="1"):
        self.weight, self.depth = float(weight), int(depth)

class Broken(First):
    def __init__(self):
        raise RuntimeError("no\\nluck")

class Stored(First):
    def __init__(self):
        load_model("nothing.npz")

class Stranger:
    def act(self, view):
        return 0

class Unable(Agent):
    pass

class Wild(Agent):
    def __init__(self, answer):
        self.answer = eval(answer)

    def act(self, view):
        return self.answer
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, with a module of agents; what was imported from it is forgotten afterwards."""
    (tmp_path / "own_agents.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "own_package").mkdir()
    (tmp_path / "own_package" / "deep.py").write_text("from own_agents import First, Weighed\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("own_")]:
        del sys.modules[name]


@pytest.mark.usefixtures("own")
def test_an_agent_of_one_s_own_is_found_by_module_and_class() -> None:
    assert type(make_agent("own_agents:First")).__module__ == "own_agents"
    assert make_agent("own_agents:First").name == "First"
    assert make_agent("own_agents:Named").name == "nobody"
    assert make_agent("own_package.deep:First").name == "First"
    assert make_agent("siberia_agents.greedy:GreedyAgent").name == "greedy"


@pytest.mark.usefixtures("own")
def test_argument_and_options_reach_an_own_agent_as_strings() -> None:
    for spec, made_with in (("0.5", (0.5, 1)), ("0.5:depth=3", (0.5, 3)), ("weight=2:depth=4", (2.0, 4))):
        agent: Any = make_agent(f"own_package.deep:Weighed:{spec}")
        assert (agent.weight, agent.depth) == made_with


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("own_agent:First", "agent 'own_agent:First': there is no module 'own_agent' in "),
        ("own_agent:First", "or on Python's path; the agents are random, greedy, "),
        ("own_package.shallow:First", "there is no module 'own_package.shallow' in "),
        ("own_agents.deep:First", "there is no module 'own_agents.deep' in "),
        ("own_agents:", "no agent 'own_agents'; the agents are random, greedy, "),
        ("own_agents", "no agent 'own_agents'; the agents are random, greedy, "),
        ("own_package.deep", "no agent 'own_package.deep'; the agents are "),
        ("own_agents.py:First", "'own_agents.py' is not the name of a module; a file agents/mine.py here is agents.mi"),
        ("./own_agents.py:First", "'./own_agents.py' is not the name of a module"),
        ("..own_agents:First", "'..own_agents' is not the name of a module"),
        (
            "own_agents:Fisrt",
            "module 'own_agents' has no class 'Fisrt'; its agents are First, Named, Weighed, Broken, ",
        ),
        ("own_package.deep:Named", "module 'own_package.deep' has no class 'Named'; its agents are First, Weighed"),
        ("own_agents:NUMBER", "NUMBER is not a class derived from Agent (from siberia_agents.interface import Agent)"),
        ("own_agents:Factory", "Factory is not a class derived from Agent"),
        ("own_agents:Stranger", "Stranger is not a class derived from Agent"),
        ("own_agents:Unable", "Unable can't be made: TypeError: Can't instantiate abstract class Unable with"),
        (
            "own_agents:Broken",
            "agent 'own_agents:Broken': Broken can't be made: RuntimeError: no luck (own_agents.py, ",
        ),
        ("own_agents:Stored", "model: there is no file nothing.npz"),
        ("own_agents:First:3", "too many positional arguments; it is made by First()"),
        ("own_agents:Weighed", "missing a required argument: 'weight'; it is made by Weighed(weight, *, depth='1')"),
        ("own_agents:Weighed:1:width=3", "got an unexpected keyword argument 'width'"),
        ("own_agents:Weighed:one", "ValueError: could not convert string to float: 'one' (own_agents.py, line 20)"),
        ("own_agents:Weighed:", "a part of it is empty; the form is MODULE:CLASS[:ARGUMENT][:OPTION=VALUE]..."),
        ("own_agents:Weighed:1:depth=1:depth=2", "depth is given twice"),
    ],
)
def test_specs_that_describe_no_own_agent_are_refused(spec: str, message: str) -> None:
    assert message in refusal(spec)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "import own_absent",
            "own_bad can't be imported: ModuleNotFoundError: No module named 'own_absent' (own_bad.py",
        ),
        ("from json import nonsense", "can't be imported: ImportError: cannot import name 'nonsense' from 'json' ("),
        ("\n\nclass Mine(\n", "can't be imported: SyntaxError: '(' was never closed (own_bad.py, line 3)"),
        ("a = 1\nb = a / 0", "can't be imported: ZeroDivisionError: division by zero (own_bad.py, line 2)"),
        ("raise SystemExit(3)", "can't be imported: SystemExit: 3 (own_bad.py, line 1)"),
    ],
)
def test_an_error_in_an_own_module_is_shown_as_its_own(own: Path, source: str, message: str) -> None:
    (own / "own_bad.py").write_text(source, encoding="utf-8")
    assert message in refusal("own_bad:Mine")
    (own / "own_bad.py").write_text("from own_agents import First as Mine  # mended\n", encoding="utf-8")
    assert make_agent("own_bad:Mine").name == "First"


@both_games
@pytest.mark.usefixtures("own")
def test_an_own_agent_that_answers_with_no_legal_action_is_named(game: str) -> None:
    env, step = positions(game, 2, games=4, decisions=30)
    views = whole_view(env, step)
    actions = env.game.num_actions
    for answer, kind, message in (
        ("1.0", ActionOutOfBoundsError, "agent Wild: answered 1.0, which is no action number"),
        ("None", ActionOutOfBoundsError, "agent Wild: answered None, which is no action number"),
        ("-1", ActionOutOfBoundsError, f"agent Wild: answered -1; the actions are 0 to {actions - 1}"),
        ("2**70", ActionOutOfBoundsError, f"agent Wild: answered {2**70}; the actions are 0 to {actions - 1}"),
        (
            "0",
            IllegalActionError,
            f"agent Wild: answered 0 ({env.variant.action_names[0]}), which is not legal now; le",
        ),
    ):
        with pytest.raises(kind) as raised:
            make_agent(f"own_agents:Wild:{answer}").act_batch(views)
        assert str(raised.value).startswith(message)
    first = views.view(0)
    assert make_agent(f"own_agents:Wild:{first.legal_actions[-1]}").act(first) == first.legal_actions[-1]


WORKERS = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
from siberia_agents.registry import make_agent

def told(spec):
    agent = make_agent(spec)
    return f"{agent.name} {type(agent).__module__}"

if __name__ == "__main__":
    with ProcessPoolExecutor(1, multiprocessing.get_context(sys.argv[1])) as pool:
        print(pool.submit(told, "own_agents:First").result())
"""


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_worker_process_finds_an_own_agent_in_the_current_directory(own: Path, tmp_path: Path, method: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "program.py").write_text(WORKERS, encoding="utf-8")
    done = run_python(str(elsewhere / "program.py"), method, cwd=own)
    assert done.stdout.strip() == "First own_agents"


@pytest.mark.parametrize("spec", ["own_agents:Fisrt", "own_absent:First", "own_agents:Broken", "own_agents:Weighed:x"])
@pytest.mark.usefixtures("own")
def test_the_command_line_refuses_an_own_agent_in_one_line(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "card", "--agents", f"{spec},random"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"siberia: agent '{spec}': ")
    assert err.count("\n") == 1


# ---------------------------------------------------------------- models that come with the suite


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the models that come with the suite: an empty one."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setattr(learned, "SHIPPED", folder)
    return folder


@both_games
def test_learned_without_a_file_plays_the_shipped_model_of_the_table(game: str, shipped: Path) -> None:
    for players in PLAYER_COUNTS:
        small_model(players, seed=players, game=game).save(shipped / f"{game}_{players}.npz", half=True)
    agent = make_agent("learned")
    for players in (*PLAYER_COUNTS, 2):  # one object, one table after the other
        variant = find_game(game).variant(players)
        env, step = positions(game, players, games=4, decisions=20)
        agent.start(variant, 1)
        named = make_agent(f"learned:{shipped / f'{game}_{players}.npz'}")
        named.start(variant, 1)
        views = whole_view(env, step)
        assert agent.act_batch(views).tolist() == named.act_batch(views).tolist()
        assert shipped_model(variant).trained == {"seed": players}


def test_one_shipped_model_may_serve_several_player_counts(shipped: Path) -> None:
    several = replace(small_model(seed=7), num_players=(2, 3, 4))
    several.save(shipped / "card_234.npz")
    small_model(3, seed=8).save(shipped / "card_3.npz")
    (shipped / "card_3_old.npz").write_bytes(b"not looked at")
    (shipped / "card_2.txt").write_bytes(b"not looked at")
    seeds = [shipped_model(find_game("card").variant(players)).trained["seed"] for players in PLAYER_COUNTS]
    assert seeds == [7, 8, 7]
    for players in PLAYER_COUNTS:
        variant = find_game("card").variant(players)
        assert play_games(variant, [LearnedAgent(several)] * players, 2).scores.shape == (2, players)


@both_games
def test_without_a_shipped_model_learned_says_what_to_do(
    game: str, shipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_model(2, game=game).save(shipped / f"{game}_2.npz")
    assert main(["evaluate", game, "--players", "3", "--agents", "learned,random"]) == 2
    err = capsys.readouterr().err
    assert err == (
        f"siberia: learned: no model of the {game} game for 3 players comes with the suite; train one "
        f"(siberia train {game} --players 3 --out runs/mine) and name it: learned:runs/mine/model.npz\n"
    )


def test_a_shipped_model_for_other_players_than_its_name_says_is_refused(shipped: Path) -> None:
    small_model(2).save(shipped / "card_34.npz")
    with pytest.raises(ModelError, match="trained for players 2, the games to be played have players 4"):
        make_agent("learned").start(find_game("card").variant(4))


def test_shipped_models_are_small_for_what_their_names_say_and_part_of_the_package() -> None:
    for path in learned.SHIPPED.glob("*.npz"):
        game, counts = path.stem.split("_")
        model = load_model(path)
        assert (model.game, "".join(map(str, model.num_players))) == (game, counts)
        assert path.stat().st_size <= LARGEST_SHIPPED
        assert {"rules", "options", "seconds"} <= set(model.trained)
    assert Path(registry.__file__).parent.resolve() / "models" == learned.SHIPPED.resolve()
    assert 'siberia_agents = ["models/*.npz"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


# ---------------------------------------------------------------- model files


@both_games
@pytest.mark.parametrize("counts", [(2,), (2, 3, 4), (3, 4)])
def test_a_model_tells_the_player_counts_it_is_for(game: str, counts: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    replace(small_model(game=game), num_players=counts).save(path)
    agent = LearnedAgent(path)
    assert agent.model.num_players == counts
    for players in PLAYER_COUNTS:
        if players in counts:
            agent.start(find_game(game).variant(players))
        else:
            with pytest.raises(ModelError, match=f"trained for players {', '.join(map(str, counts))}, the games"):
                agent.start(find_game(game).variant(players))


@both_games
def test_half_precision_halves_the_file_and_loads_in_full(game: str, tmp_path: Path) -> None:
    model = small_model(game=game)
    model.save(tmp_path / "full.npz")
    model.save(tmp_path / "half.npz", half=True)
    back = load_model(tmp_path / "half.npz")
    assert (tmp_path / "half.npz").stat().st_size < 0.6 * (tmp_path / "full.npz").stat().st_size
    for left, right in zip(model.layers, back.layers, strict=True):
        for array, stored in zip(left, right, strict=True):
            assert stored.dtype == np.float32
            assert np.array_equal(array.astype(np.float16), stored)


@pytest.mark.parametrize(("weight", "half"), [(70_000.0, True), (np.inf, True), (np.nan, False), (-np.inf, False)])
def test_weights_that_can_not_be_stored_are_refused_and_the_file_stays(
    weight: float, half: bool, tmp_path: Path
) -> None:
    path, model = tmp_path / "model.npz", small_model()
    model.save(path)
    before = path.read_bytes()
    model.layers[1][0][3, 0] = weight
    with pytest.raises(ModelError, match=r"model\.npz: a weight of its network is no number it could store"):
        model.save(path, half)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    if weight == 70_000.0:
        model.save(path)
        assert load_model(path).layers[1][0][3, 0] == weight


# ---------------------------------------------------------------- other rules than in training


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process: nothing has been noted yet."""
    monkeypatch.setattr(learned, "_noted", set())


def trained_under(game: str, rules: Any = None, components: Any = None) -> learned.Model:
    """A model that says that it was trained under `rules` with `components`."""
    told = {"rules": find_game(game).check_rules(rules), "options": {"components": components}}
    return replace(small_model(game=game), trained=json.loads(json.dumps(told)))


OTHER_RULES = [
    ("card", {}, {"edition": "oya"}, "edition dlp, not oya"),
    (
        "card",
        {"max_turns": 60},
        {"edition": "digital", "max_turns": 90},
        "edition dlp, not digital; max_turns 60, not 90",
    ),
    ("board", {}, {"salesman_cards": True}, "salesman_cards false, not true"),
    (
        "board",
        {"sides": ["Tokyo", "London", "Toronto", "Sydney", "Zurich"]},
        {},
        "sides [Tokyo, London, Toronto, Sydney, Zurich], not choose",
    ),
]


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize(("game", "then", "now", "told"), OTHER_RULES)
def test_a_model_trained_under_other_rules_plays_and_says_so_once(
    game: str, then: Any, now: Any, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = LearnedAgent(trained_under(game, then))
    agent.start(find_game(game).variant(2, then))
    assert capsys.readouterr().err == ""
    for _ in range(2):
        agent.start(find_game(game).variant(2, now))
        LearnedAgent(agent.model).start(find_game(game).variant(2, now))
    said = capsys.readouterr().err
    assert said == f"siberia: note: a model was trained for other games than these: {told}\n"


@both_games
@pytest.mark.usefixtures("anew")
def test_a_model_trained_with_other_components_plays_and_says_so_once(
    game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = find_game(game).read_components(None).as_json()
    tables["salesmen" if game == "card" else "salesman_cards"]["gas"] = 9
    agent, box, other = (
        LearnedAgent(trained_under(game)),
        find_game(game).variant(2),
        find_game(game).variant(2, None, tables),
    )
    agent.start(box)
    LearnedAgent(trained_under(game, None, tables)).start(other)
    assert capsys.readouterr().err == ""
    agent.start(other)
    note = "siberia: note: a model was trained for other games than these: other component tables\n"
    assert capsys.readouterr().err == note
    LearnedAgent(trained_under(game, None, tables)).start(box)  # the same in words, and said already
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("anew")
def test_a_model_that_tells_nothing_of_its_rules_is_not_doubted(capsys: pytest.CaptureFixture[str]) -> None:
    LearnedAgent(small_model()).start(find_game("card").variant(2, "oya"))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("trained", [5, [], {"rules": 3}, {"options": "none"}])
def test_a_model_that_does_not_say_how_it_was_trained_is_refused(trained: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    small_model().save(path)
    rewrite(path, {"trained": trained})
    with pytest.raises(ModelError, match="damaged"):
        load_model(path)


@pytest.mark.parametrize("temperature", [-0.1, float("nan"), float("-inf")])
def test_a_temperature_below_zero_is_refused(temperature: float) -> None:
    with pytest.raises(ConfigurationError, match="learned: temperature: "):
        LearnedAgent(small_model(), temperature)


# ---------------------------------------------------------------- the files that an agent plays from


@both_games
def test_agents_play_from_the_model_that_they_name_or_that_is_shipped(game: str, shipped: Path) -> None:
    """The file is not read for that: it may not even be there."""
    variant = find_game(game).variant(3)
    (shipped / f"{game}_34.npz").touch()
    for spec, files in (
        ("random", []),
        ("heuristic", []),
        ("search:10:threads=2", []),
        ("learned:a/m.npz", [Path("a/m.npz")]),
        ("learned:a:b.npz:temperature=1", [Path("a:b.npz")]),
        ("learned:temperature=1", [shipped / f"{game}_34.npz"]),
        ("guided:50", [shipped / f"{game}_34.npz"]),
        ("guided:50:model=m.npz", [Path("m.npz")]),
    ):
        assert agent_files(spec, variant) == files
    with pytest.raises(ModelError, match="for 2 players comes with the suite"):
        agent_files("learned", find_game(game).variant(2))


def test_own_agents_play_from_their_module_and_the_files_that_are_given_to_them(own: Path) -> None:
    variant = find_game("card").variant(2)
    (own / "weights:1").touch()
    for spec, files in (
        ("own_agents:First", ["own_agents.py"]),
        ("own_package.deep:First", ["own_package/deep.py"]),
        ("own_agents:Weighed:3:depth=2", ["own_agents.py"]),
        ("own_agents:Weighed:weights:1:depth=own_agents.py", ["own_agents.py", "weights:1", "own_agents.py"]),
        ("own_agents:Broken", ["own_agents.py"]),
    ):
        assert [own / path for path in agent_files(spec, variant)] == [own / path for path in files]
    assert "own_agents" not in sys.modules
    for spec, message in (("own_none:First", "there is no module 'own_none' in "), ("own", "no agent 'own'")):
        with pytest.raises(ConfigurationError, match=message):
            agent_files(spec, variant)


def test_every_agent_that_takes_a_model_says_where() -> None:
    """Otherwise a tournament would not notice another model."""
    for name, entry in AGENTS.items():
        takes = "model" in entry.options or entry.argument == "FILE"
        assert bool(entry.model) == takes, name
        assert entry.model in ("", "argument", *entry.options)
