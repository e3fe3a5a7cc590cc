"""Games as data: tables of decisions and Minari data sets hold the games of the records, and read well."""

from __future__ import annotations

import importlib.util
import json
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docs.write_tables import data_columns
from siberia_agents.learned import load_model
from siberia_agents.registry import make_agent
from siberia_agents.search.agent import SearchAgent
from siberia_env.core.rewards import REWARDS
from siberia_env.errors import ConfigurationError
from siberia_env.game import find_game
from siberia_env.gym import SiberiaEnv
from siberia_env.position import Position
from siberia_env.records import read_records, replay
from siberia_env.view import View
from siberia_experiments.cli import main
from siberia_experiments.data.decisions import COLUMNS, played_games, record_rows
from siberia_experiments.data.parquet import FORMAT, META, read_decisions, schema_of
from tests.games import GameCase
from tests.processes import ROOT, run_python
from tests.test_package import BLOCK

PLAYERS, GAMES_PLAYED, SEED = 3, 2, 11


def command(line: str) -> int:
    """The exit code of a command."""
    return main(shlex.split(line))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    return tmp_path


def recorded(case: GameCase, *options: str) -> int:
    rules = ",".join(f"{name}={value}" for name, value in case.short.items())
    line = ["record", case.name, "--players", str(PLAYERS), "--games", str(GAMES_PLAYED), "--seed", str(SEED)]
    return main([*line, "--rules", rules, "--agents", "search:12,greedy,random", *options])


# ---------------------------------------------------------------- tables


def test_a_table_holds_the_decisions_of_the_records(case: GameCase, folder: Path) -> None:
    """Row by row: what the seat saw, what was legal and chosen, and how the game ended."""
    assert recorded(case, "--out", "games.jsonl") == 0
    assert recorded(case, "--out", "games.parquet") == 0
    data = read_decisions("games.parquet")
    row = 0
    for game, record in enumerate(read_records("games.jsonl")):
        for step, decision in enumerate(replay(record)):
            position = Position.from_states(find_game(case.name).variant(PLAYERS, case.short), decision.states)
            player = decision.player
            assert (data["game"][row], data["seed"][row], data["step"][row]) == (game, SEED + game, step)
            assert (data["player"][row], data["agent"][row]) == (player, record.header["agents"][player])
            assert np.array_equal(data["observation"][row], position.observation_tensor(player))
            assert np.array_equal(data["action_mask"][row], decision.mask)
            assert (data["action"][row], data["action_name"][row]) == (decision.action, decision.name)
            assert data["scores"][row].tolist() == record.end["scores"]
            assert data["score"][row] == record.end["scores"][player]
            winners = record.end["winners"]
            won = [1 / len(winners) if seat in winners else 0 for seat in range(PLAYERS)]
            paid = [(PLAYERS * share - 1) / (PLAYERS - 1) for share in won]
            assert data["returns"][row] == pytest.approx(paid)
            assert data["return"][row] == pytest.approx(paid[player])
            assert data["hit_limit"][row] == record.end["truncated"]
            row += 1
    assert row == len(data)
    assert data.about["actions"] == list(find_game(case.name).variant(PLAYERS, case.short).action_names)
    assert data.about["rules"] == {**data.about["rules"], **case.short}


def test_visits_are_those_of_the_search_and_missing_elsewhere(case: GameCase, folder: Path) -> None:
    assert recorded(case, "--out", "games.parquet") == 0
    data = read_decisions("games.parquet", ["agent", "action", "action_mask", "visits"])
    choices = data["action_mask"].sum(axis=1)
    searched = (data["agent"] == "search") & (choices > 1)
    assert searched.sum() > 5
    assert (data["visits"][~searched] == -1).all()
    visits = data["visits"][searched]
    assert (visits.sum(axis=1) == 12).all()
    assert (visits[data["action_mask"][searched] == 0] == 0).all()
    assert (visits[np.arange(len(visits)), data["action"][searched]] == visits.max(axis=1)).all()


@pytest.mark.parametrize(
    ("spec", "searches"),
    [("guided:1", False), ("guided:9", True), ("level:easy", False), ("level:medium", True), ("random", False)],
)
def test_every_agent_chooses_as_without_its_visits(spec: str, searches: bool) -> None:
    """In the two-player card game `level:easy` is a plan, and `level:medium` a search."""
    variant = find_game("card").variant(2, {"max_turns": 6})
    agents = [make_agent(spec), make_agent("random")]
    (game,) = played_games(variant, agents, 1, 5)
    own = [choice for choice in game.choices if choice.player == 0]
    assert any(choice.visits is not None for choice in own) == searches
    position = Position(variant, 5)
    agents[0].start(variant, 1)
    if spec != "random":
        for choice in game.choices:
            if choice.player == 0:
                assert agents[0].act(position.view()) == choice.action or choice.visits is not None
            position.apply_action(choice.action)


def test_pandas_reads_a_table(case: GameCase, folder: Path) -> None:
    assert recorded(case, "--format", "parquet") == 0
    frame, game = pd.read_parquet("games.parquet"), find_game(case.name)
    assert list(frame.columns) == [column.name for column in COLUMNS]
    assert np.stack(frame["observation"].to_list()).shape == (len(frame), game.observation_size)
    assert np.stack(frame["action_mask"].to_list()).shape == (len(frame), game.num_actions)
    assert frame.groupby("game")["step"].max().add(1).sum() == len(frame)
    assert (frame["visits"].isna() == (frame["visits"].map(type) != np.ndarray)).all()
    chosen = frame[frame["visits"].notna()]
    visits, taken = np.stack(chosen["visits"].to_list()), chosen["action"].to_numpy()
    assert (visits[np.arange(len(chosen)), taken] == visits.max(axis=1)).all()


def test_pandas_reads_records(case: GameCase, folder: Path) -> None:
    assert recorded(case, "--out", "games.jsonl") == 0
    frame = pd.DataFrame(record_rows("games.jsonl"))
    decisions = [decision for record in read_records("games.jsonl") for decision in replay(record)]
    assert len(frame) == len(decisions)
    assert frame["action"].tolist() == [decision.name for decision in decisions]
    assert frame["legal"].map(len).tolist() == [len(decision.legal) for decision in decisions]
    lines = pd.read_json("games.jsonl", lines=True)
    assert len(lines) == len(Path("games.jsonl").read_text(encoding="utf-8").splitlines())
    assert lines["action"].dropna().tolist() == frame["action"].tolist()


def test_the_schema_is_the_one_that_the_page_tells(case: GameCase) -> None:
    variant = find_game(case.name).variant(4)
    schema = schema_of(variant)
    assert schema.names == [column.name for column in COLUMNS]
    assert schema.field("observation").type == pa.list_(pa.float32(), case.game.observation_size)
    assert schema.field("returns").type.list_size == 4
    assert data_columns() in (ROOT / "docs/data.md").read_text(encoding="utf-8")
    assert "win" in REWARDS


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("part", [0.0, 0.3, 0.999])
def test_a_table_that_is_cut_off_is_refused_in_one_line(folder: Path, part: float) -> None:
    assert command("record card --agents random --rules max_turns=4 --out games.parquet") == 0
    whole = Path("games.parquet").read_bytes()
    Path("games.parquet").write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(ConfigurationError, match=r"^data: games\.parquet is damaged, or no Parquet file: [^\n]+$"):
        read_decisions("games.parquet")


def test_a_table_with_changed_bytes_is_refused_or_of_the_same_shape(folder: Path) -> None:
    assert command("record card --agents random --rules max_turns=4 --out games.parquet") == 0
    whole, rows = Path("games.parquet").read_bytes(), len(read_decisions("games.parquet"))
    random, refused = np.random.default_rng(0), list[str]()
    for _ in range(40):
        changed = bytearray(whole)
        at = int(random.integers(len(whole)))
        changed[at : at + 8] = random.bytes(8)
        Path("games.parquet").write_bytes(changed)
        try:
            assert len(read_decisions("games.parquet")) == rows
        except ConfigurationError as error:
            refused.append(str(error))
    assert len(refused) > 5
    assert not any("\n" in message for message in refused)


def other_table(path: str, metadata: dict[bytes, bytes] | None, **columns: Any) -> None:
    table = pa.table({"game": [0], **columns})
    pq.write_table(table.replace_schema_metadata(metadata), path)


def test_other_files_are_refused_in_one_line(folder: Path) -> None:
    other_table("foreign.parquet", None)
    other_table("newer.parquet", {META: b'{"format": "siberia-decisions/9"}'})
    other_table("odd.parquet", {META: b"[]"})
    other_table("part.parquet", {META: json.dumps({"format": FORMAT}).encode()})
    Path("text.parquet").write_text("game,seed\n0,1\n", encoding="utf-8")
    for name, message in {
        "foreign.parquet": "is a Parquet file, but has no decisions of this suite",
        "odd.parquet": "is a Parquet file, but has no decisions of this suite",
        "newer.parquet": "has the format 'siberia-decisions/9'; this version reads",
        "part.parquet": "lacks the columns seed, step",
        "text.parquet": "is damaged, or no Parquet file",
        "none.parquet": "can't read none.parquet: No such file",
        ".": "can't read .: Is a directory",
    }.items():
        with pytest.raises(ConfigurationError, match=message):
            read_decisions(name)
    with pytest.raises(ConfigurationError, match=r"no column 'obs'; there are game, seed"):
        read_decisions("foreign.parquet", ["obs"])


def test_a_table_is_not_taken_for_a_damaged_record(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("record card --agents random --rules max_turns=4 --out games.parquet") == 0
    assert command("replay games.parquet") == 2
    assert "games.parquet is a Parquet table; a record is written with --format jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--format parket", "--format: no 'parket' (did you mean 'parquet'?); the formats are jsonl, parquet, minari"),
        ("--format parquet --seat 1", "--seat: parquet holds the decisions of all seats"),
        ("--out games.jsonl", "--out: games.jsonl is there already; give --force to replace it"),
        ("", "--out: games.jsonl is there already"),
        ("--out games.parquet", "--out: games.parquet is there already"),
        ("--format parquet --out no/such/games.parquet", "--out: can't write no/such/games.parquet"),
        ("--format parquet --out .", "--out: can't write ."),
        ("--format parquet --out new.parquet --seed -1", "seed: -1"),
        ("--format minari", "--out: name the data set, such as siberia/card-heuristic-v0"),
        ("--format minari --out mine", "'mine' is no name of a Minari data set"),
        ("--format minari --out ../mine-v0", "'../mine-v0' is no name of a Minari data set"),
        ("--format minari --out mine-v0 --seat 2", "--seat: 2; the seats are 0 to 1"),
        ("--format minari --out taken-v0", "--out: there is a data set taken-v0 in"),
    ],
)
def test_bad_input_is_one_line_and_leaves_files_as_they_were(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    for name in ("games.jsonl", "games.parquet", "minari/taken-v0/data/x"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"mine")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert command(f"record card --agents random --rules max_turns=4 {line}") == 2
    out, err = capsys.readouterr()
    assert out == ""
    (told,) = [each for each in err.splitlines() if "compiling" not in each]
    assert message in told
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


class Failing(SearchAgent):
    """Fails after some moves."""

    def act_with_visits(self, view: View) -> Any:
        if view.observation.sum() > 0 and self._seed % 2:
            raise ConfigurationError("out of order")
        return super().act_with_visits(view)


class Boasting(SearchAgent):
    """Tells visits that are none."""

    def act_with_visits(self, view: View) -> Any:
        return view.legal_actions[0], [1.5, 2.5]


@pytest.mark.parametrize(("own", "message"), [("Failing", "out of order"), ("Boasting", "its visits are not 46")])
@pytest.mark.parametrize("out", ["games.parquet", "mine-v0 --format minari"])
def test_an_agent_that_fails_leaves_what_was_there(
    folder: Path, capsys: pytest.CaptureFixture[str], own: str, message: str, out: str
) -> None:
    assert command(f"record card --agents random --rules max_turns=4 --out {out}") == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert len(before) >= 1
    line = f"record card --agents tests.test_data:{own} --games 9 --rules max_turns=4 --force --out {out}"
    assert command(line) == 2
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_file_of_another_ending_holds_records(folder: Path) -> None:
    for out in ("games", "games.txt"):
        assert command(f"record card --agents random --rules max_turns=4 --out {out}") == 0
        assert len(list(read_records(out))) == 1


def test_force_replaces_what_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for out in ("games.jsonl", "games.parquet", "mine-v0 --format minari"):
        line = f"record card --agents random --rules max_turns=4 --out {out}"
        assert command(line) == 0
        assert command(f"{line} --games 2") == 2
        assert command(f"{line} --games 2 --force") == 0
    assert len(list(read_records("games.jsonl"))) == 2
    assert read_decisions("games.parquet", ["game"])["game"].max() == 1
    assert sorted(path.name for path in (folder / "minari").iterdir()) == ["mine-v0"]


def test_a_missing_package_is_told_with_the_command_that_installs_it(folder: Path) -> None:
    program = BLOCK.format(blocked={"minari"}).replace("{'minari'}", "absent") + (
        "from siberia_experiments.cli import main\n"
        "line = ['record', 'card', '--rules', 'max_turns=4', '--agents', 'random']\n"
        "assert main(line) == 0\n"
        "assert main([*line, '--format', 'minari', '--out', 'it-v0']) == 2\n"
        "absent.add('pyarrow')\n"
        "assert main([*line, '--out', 'it.parquet']) == 2\n"
    )
    lines = run_python("-c", "absent = {'minari'}\n" + program, cwd=folder).stderr.splitlines()
    told = [line for line in lines if "compiling" not in line]
    assert len(told) == 2
    for missing, message in zip(("minari", "pyarrow"), told, strict=True):
        assert f"needs the optional extra 'data' ({missing} is not installed): " in message
        # A checkout installs its extra, a wheel what the extra asks for.
        assert message.endswith(("[data]'", "[data]")) or f"'{missing}" in message.partition(" -m pip install ")[2]
    assert sorted(path.name for path in folder.iterdir()) == ["games.jsonl"]


# ---------------------------------------------------------------- Minari


def test_a_minari_data_set_is_what_the_environment_shows(case: GameCase, folder: Path) -> None:
    """Stepping through the environment with the recorded decisions of all seats gives the episodes again."""
    import minari

    assert recorded(case, "--format", "minari", "--out", "siberia/mine-v0", "--seat", "1") == 0
    data = minari.load_dataset("siberia/mine-v0")
    assert data.total_episodes == GAMES_PLAYED
    variant = find_game(case.name).variant(PLAYERS, case.short)
    agents = [make_agent(spec) for spec in ("search:12", "greedy", "random")]
    for episode, game in zip(data.iterate_episodes(), played_games(variant, agents, GAMES_PLAYED, SEED), strict=True):
        waiting = {seat: [c.action for c in game.choices if c.player == seat] for seat in range(PLAYERS)}

        others = [lambda o, m, own=waiting[seat]: own.pop(0) for seat in (2, 0)]
        env = SiberiaEnv(case.name, PLAYERS, others, seat=1, rules=case.short)
        observation, _ = env.reset(seed=game.seed)
        seen, rewards, over = [observation], [], False
        for action in episode.actions:
            observation, reward, over, _, _ = env.step(int(action))
            seen.append(observation)
            rewards.append(reward)
        assert over
        assert np.array_equal(episode.observations["observation"], np.stack([each["observation"] for each in seen]))
        assert np.array_equal(episode.observations["action_mask"], np.stack([each["action_mask"] for each in seen]))
        assert episode.rewards == pytest.approx(rewards)
        assert episode.terminations.tolist() == [False] * (len(rewards) - 1) + [True]
        assert not episode.truncations.any()
    made = data.spec.env_spec
    assert made is not None
    assert made.kwargs["opponents"] == ["random", "search:12"]
    assert made.kwargs["rules"] == variant.rules_as_json()


def test_a_minari_data_set_gives_its_environment_back(folder: Path) -> None:
    import minari

    assert (
        command(
            "record board --players 3 --agents greedy,heuristic,random --rules max_rounds=2 --format minari --out a-v1"
        )
        == 0
    )
    data = minari.load_dataset("a-v1")
    env = data.recover_environment()
    assert (env.unwrapped.seat, env.unwrapped.aec.num_players) == (0, 3)  # type: ignore[attr-defined]
    assert env.unwrapped.aec.variant.rules["max_rounds"] == 2  # type: ignore[attr-defined]
    assert env.observation_space == data.observation_space
    first, _ = env.reset(seed=0)
    assert np.array_equal(first["observation"], data[0].observations["observation"][0])


# ---------------------------------------------------------------- learning from a table


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("imitation", ROOT / "docs/examples/imitate_from_parquet.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_learns_to_choose_as_the_table_does(folder: Path) -> None:
    """`make data-check` shows that with a real budget it beats `greedy`."""
    import torch as th

    assert command("record card --agents heuristic --games 25 --seed 1 --out games.parquet") == 0
    th.manual_seed(0)
    example().imitate("games.parquet", 6, width=64).save(folder / "imitated.npz")
    model = load_model(folder / "imitated.npz")
    assert command("record card --agents heuristic --games 2 --seed 900 --out fresh.parquet") == 0
    fresh = read_decisions("fresh.parquet")
    free = fresh["action_mask"].sum(axis=1) > 1
    logits = np.where(fresh["action_mask"] > 0, model.logits(fresh["observation"]), -np.inf)
    right = (logits.argmax(axis=1) == fresh["action"])[free].mean()
    by_chance = (1 / fresh["action_mask"].sum(axis=1))[free].mean()
    assert right > 2 * by_chance
    assert command("evaluate card --agents learned:imitated.npz,random --games 20") == 0


def test_the_example_is_as_short_as_the_page_says() -> None:
    lines = (ROOT / "docs/examples/imitate_from_parquet.py").read_text(encoding="utf-8").splitlines()
    assert f"in {len(lines)} lines of" in " ".join((ROOT / "docs/data.md").read_text(encoding="utf-8").split())
    assert len(lines) < 40
