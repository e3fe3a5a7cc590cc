"""What needs Ray: `make rllib-test` runs it in an environment of its own, on one small cluster on this computer.

The cluster has a head without processors and two machines with one processor each.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray.rllib.env.env_runner_group import EnvRunnerGroup

from siberia_agents.learned import LearnedAgent, load_model
from siberia_env.errors import ConfigurationError
from siberia_env.game import find_game
from siberia_experiments import ray_cluster
from siberia_experiments.cli import main
from siberia_experiments.match import play_games
from siberia_experiments.rllib import throughput
from siberia_experiments.rllib.demo import add_machine, local_cluster
from siberia_experiments.rllib.module import MASK, OBSERVATION, layers_of
from siberia_experiments.rllib.options import MODEL, Options, Settings, checkpoints
from siberia_experiments.rllib.run import PROGRESS, Training, config_for
from siberia_experiments.tournament import ray_pool
from siberia_experiments.tournament.run import Tournament
from tests.processes import ROOT, run_python

SMALL = Settings(rollout=512, batch_size=256, epochs=1, network=(32,), reward_scale=0.5)


def options(**changes: Any) -> Options:
    return replace(Options(decisions=6000, workers=2, games=32, settings=SMALL), **changes)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with local_cluster() as found:
        yield found


@pytest.fixture
def folder(cluster: Any, tmp_path: Path) -> Path:
    return tmp_path / "run"


def workers_of(training: Training) -> list[int]:
    """The numbers of the workers' processes."""
    found: list[int] = training.algorithm.env_runner_group.foreach_env_runner(lambda runner: os.getpid())
    return found


def weights_of(training: Training) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = training.algorithm.learner_group.get_weights()["default_policy"]
    return found


# ---------------------------------------------------------------- tournaments


def tournament(folder: Path, specs: list[str], games: int = 60, cluster: str | None = None, jobs: int = 2) -> bytes:
    Tournament(find_game("card").variant(2), specs, games, folder, seed=3).run(jobs, resamples=2, cluster=cluster)
    return (folder / "games.csv").read_bytes()


def test_a_tournament_on_ray_gives_the_same_file(folder: Path, tmp_path: Path) -> None:
    """With agents of the user's own, which play in processes of their own there too, and forfeit in three ways."""
    specs = ["random", "tests.faulty:Faulty:illegal", "tests.faulty:Faulty:die", "tests.faulty:Faulty:leave"]
    here = tournament(tmp_path / "here", specs)
    assert tournament(folder, specs, cluster="auto") == here
    assert (folder / "forfeits.csv").read_bytes() == (tmp_path / "here/forfeits.csv").read_bytes()


def test_files_are_found_from_the_folder_of_the_command(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model by a relative path, and an agent of the user's own in a module beside it."""
    from tests.test_agents import small_model

    monkeypatch.chdir(tmp_path)
    small_model().save(Path("mine.npz"))
    source = "from siberia_agents.random_agent import RandomAgent\n\n\nclass Mine(RandomAgent):\n    name = 'mine'\n"
    Path("my_agents_beside.py").write_text(source, encoding="utf-8")
    specs = ["learned:mine.npz", "my_agents_beside:Mine"]
    assert tournament(Path("ray"), specs, 6, "auto", 1) == tournament(Path("here"), specs, 6, None, 1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_games_of_a_worker_that_is_killed_are_played_again(
    jobs: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only worker too, however long it takes to start again."""
    killed: list[int] = []
    wait = ray_pool.RayWorkers._wait

    def kill_once(workers: Any, limit: float | None) -> Any:
        if not killed and any(call.tasks for call in workers._calls.values()):
            for _ in range(20):  # what it was given may be played before anybody looks; then the next batch will do
                killed.extend(find_processes(b"ray::Desk.play")[:1])
                if killed:
                    os.kill(killed[0], signal.SIGKILL)
                    break
                time.sleep(0.01)
        return wait(workers, limit)

    monkeypatch.setattr(ray_pool.RayWorkers, "_wait", kill_once)
    specs = ["greedy", "random"]
    assert tournament(folder, specs, 1000, "auto", jobs) == tournament(tmp_path / "here", specs, 1000)
    assert killed


def find_processes(words: bytes) -> list[int]:
    """The processes on this computer whose command line has these words."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if words in line:
                found.append(int(place.name))
    return found


def test_a_tournament_outlives_a_machine(cluster: Any, folder: Path, tmp_path: Path) -> None:
    played = Tournament(find_game("card").variant(2), ["greedy", "random"], 2000, folder, seed=3)
    workers = ray_pool.RayWorkers(played.setting, "auto", 2, played.digests())
    results = []
    with workers:
        for number, result in enumerate(workers.play([played.schedule.task(game) for game in range(2000)])):
            results.append(result)
            if number == 100:
                cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
                add_machine(cluster)
    assert sorted(result.task.game for result in results) == list(range(2000))


def test_agents_that_cannot_play_are_refused_before_anything_is_written(folder: Path) -> None:
    for spec, message in (
        ("tests.faulty:Unwilling", "tests.faulty:Unwilling"),
        ("nobody", "nobody"),
        ("learned:none.npz", "none.npz"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            tournament(folder, ["greedy", spec], cluster="auto")
        assert not folder.exists()


def test_other_files_on_a_machine_are_refused(folder: Path, tmp_path: Path) -> None:
    from tests.test_agents import small_model

    path = tmp_path / "model.npz"
    small_model().save(path)
    played = Tournament(find_game("card").variant(2), ["greedy", f"learned:{path}"], 2, folder)
    digests = {spec: dict.fromkeys(files, "0" * 64) for spec, files in played.digests().items()}
    with pytest.raises(ConfigurationError, match=r"is another file on machine .*; copy the same file to every machine"):
        ray_pool.RayWorkers(played.setting, "auto", 1, digests).__enter__()


# ---------------------------------------------------------------- training


@pytest.mark.parametrize(("game", "players"), [("card", (2, 3)), ("board", (2,))])
def test_a_run_leaves_a_model_that_plays_without_ray(game: str, players: tuple[int, ...], folder: Path) -> None:
    """Its logits are those of RLlib's module, to the last digits that matter."""
    training = Training(options(game=game, num_players=players), folder)
    try:
        last = list(training.run())[-1]
        weights = weights_of(training)
        runner = training.algorithm.env_runner_group
        (episode, *_) = runner.foreach_env_runner(lambda one: one.sample(num_timesteps=1)[:1])[0]
        seen = episode.observations.data
        told = runner.foreach_env_runner(lambda one: one.module.forward_inference(to_tensors(seen)))[0]
    finally:
        training.close()
    assert last.decisions >= 6000
    assert last.learnt < last.decisions, "forced moves are no decisions to learn from"
    assert len((folder / PROGRESS).read_text().splitlines()) == last.iteration + 1
    model = load_model(folder / MODEL)
    assert (model.game, model.num_players) == (game, players)
    for (weight, bias), (wanted, more) in zip(model.layers, layers_of(weights), strict=True):
        assert np.array_equal(weight, wanted)
        assert np.array_equal(bias, more)
    legal = seen[MASK] > 0
    logits = told["action_dist_inputs"].numpy()
    assert np.abs(model.logits(seen[OBSERVATION]) - logits)[legal].max() < 1e-4
    assert logits[~legal].max() < -1e7
    for count in players:
        variant = find_game(game).variant(count)
        play_games(variant, [LearnedAgent(model) for _ in range(count)], 2, 0)


def to_tensors(seen: dict[str, np.ndarray]) -> dict[str, Any]:
    import torch as th

    return {"obs": {name: th.from_numpy(np.array(values)) for name, values in seen.items()}}


def test_a_run_goes_on_after_a_worker_is_killed(folder: Path) -> None:
    """Ray starts the worker again; it gets the weights, and deals other games than at the beginning."""
    training = Training(options(decisions=10**9), folder)
    first_deals = training.algorithm.env_runner_group.foreach_env_runner(deals)
    killed, *_ = workers_of(training)
    seen = []
    try:
        for progress in training.run():
            seen.append(progress.workers)
            if len(seen) == 2:
                os.kill(killed, signal.SIGKILL)
            if len(seen) > 3 and progress.workers == 2 and killed not in workers_of(training):
                break
            assert len(seen) < 400, "the worker has not come back"
        assert len(set(workers_of(training))) == 2
        now = training.algorithm.env_runner_group.foreach_env_runner(deals)
        assert len({*first_deals, *now}) == 3
    finally:
        training.close()


def deals(runner: Any) -> int:
    """The seed under which a worker deals; it begins if it has not."""
    if runner.env.tables is None:
        runner._begin(runner.env)
    return int(runner.env.tables.envs[0]._seed)


def test_episodes_are_one_seats_free_decisions(folder: Path) -> None:
    """Each is legal and none is forced; what RLlib estimates from them is a slow recomputation."""
    algorithm = config_for(options()).build_algo()
    try:
        episodes = [
            one for part in algorithm.env_runner_group.foreach_env_runner(lambda one: one.sample()) for one in part
        ]
        learner = algorithm.learner_group._learner
        module = learner.module["default_policy"]
        before = [(one.observations.data, one.rewards.data.copy(), one.is_terminated) for one in episodes]
        for one in episodes:
            mask, actions = one.observations.data[MASK], one.actions.data
            assert len(mask) == len(actions) + 1 == len(one.rewards.data) + 1
            assert (mask[:-1].sum(axis=1) > 1).all()
            assert mask[np.arange(len(actions)), actions].all()
            assert (one.extra_model_outputs["action_logp"].data <= 0).all()
        batch = learner._learner_connector(
            rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=learner.metrics
        )["default_policy"]
        found = batch["value_targets"].numpy()
        place = 0
        for seen, rewards, ended in before:
            values = module.compute_values(to_tensors(seen)).detach().numpy().astype(float)
            if ended:
                values[-1] = 0.0
            advantage, targets = 0.0, []
            for number in range(len(rewards) - 1, -1, -1):
                delta = rewards[number] + values[number + 1] - values[number]
                advantage = delta + SMALL.gae_lambda * advantage
                targets.insert(0, advantage + values[number])
            assert found[place : place + len(targets)] == pytest.approx(targets, abs=1e-3)
            place += len(targets) + 1  # RLlib adds one entry, which does not count in the loss
        assert place == len(found)
    finally:
        algorithm.stop()


def test_a_run_is_resumed_from_its_checkpoint_with_other_workers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = Training(options(), folder)
    try:
        last = list(training.run())[-1]
        weights, first_deals = weights_of(training), training.algorithm.env_runner_group.foreach_env_runner(deals)
    finally:
        training.close()
    with pytest.raises(ConfigurationError, match="holds a run; go on with it"):
        Training(options(), folder)
    with monkeypatch.context() as patches:  # RLlib leaves out what is for a worker that is slow to read
        patches.setattr(EnvRunnerGroup, "foreach_env_runner_async_fetch_ready", lambda *_, **__: [])
        training = Training.resume(folder, "card", workers=1, decisions=9000)
    try:
        assert (training.decisions, training.iteration) == (last.decisions, last.iteration)
        assert all(np.array_equal(values, weights[name]) for name, values in weights_of(training).items())
        (own,) = training.algorithm.env_runner_group.foreach_env_runner(
            lambda runner: (deals(runner), runner.module.get_state())
        )
        assert own[0] not in first_deals, "a resumed run deals other games than at its beginning"
        assert all(np.array_equal(values, weights[name]) for name, values in own[1].items())
        again = list(training.run())
        assert again[0].iteration == last.iteration + 1
        assert 512 <= again[0].decisions - last.decisions < 2000, "the first update of a resumed run counts once"
        assert again[-1].decisions >= 9000
        assert again[-1].workers == 1
    finally:
        training.close()
    assert 1 <= len(checkpoints(folder)) <= 2


def test_a_damaged_checkpoint_is_refused(folder: Path) -> None:
    training = Training(options(decisions=1000), folder)
    try:
        list(training.run())
    finally:
        training.close()
    (found,) = checkpoints(folder)
    with pytest.raises(ConfigurationError, match="holds a run of card, not of board"):
        Training.resume(folder, "board")
    state = found / "siberia.json"
    right = state.read_bytes()
    state.write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="is damaged"):
        Training.resume(folder, "card")
    state.write_bytes(right)
    for path in (found / "learner_group").rglob("*"):
        if path.is_file():
            path.write_bytes(b"nothing")
    with pytest.raises(ConfigurationError, match="can't be restored"):
        Training.resume(folder, "card")


def test_learners_may_be_actors_and_rllibs_own_masked_module_may_learn(folder: Path) -> None:
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    spec = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config=DefaultModelConfig(fcnet_hiddens=[32], vf_share_layers=False),
    )
    for config in (
        config_for(options(workers=1, learners=1)),
        config_for(options(workers=1)).rl_module(rl_module_spec=spec),
    ):
        algorithm = config.build_algo()
        try:
            result = algorithm.train()
            assert np.isfinite(result["learners"]["default_policy"]["policy_loss"])
        finally:
            algorithm.stop()


def test_more_workers_than_processors_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="workers and learners take 4 processors, the cluster has 2"):
        Training(options(workers=3, learners=1), folder)
    with pytest.raises(ConfigurationError, match="take 1 GPUs, the cluster has 0"):
        Training(options(workers=1, learners=1, gpus=1.0), folder)
    assert not folder.exists()


def test_the_command_line_trains_and_resumes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = "rollout=512,batch_size=128,network=16"
    line = ["rllib", "card", "--games", "16", "--out", str(folder)]
    assert main([*line, "--decisions", "2000", "--settings", small]) == 0
    shown = capsys.readouterr().out
    assert "2 workers" in shown
    assert f"learned:{folder}/model.npz,random" in shown
    assert main(["rllib", "card", "--out", str(folder), "--resume", "--decisions", "3000", "--workers", "1"]) == 0
    assert "100%" in capsys.readouterr().out
    assert main(["rllib", "board", "--out", str(folder), "--resume"]) == 2
    assert "holds a run of card, not of board" in capsys.readouterr().err


def test_throughput_is_measured_for_each_number_of_workers(
    cluster: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throughput, "ROUNDS", 2)
    assert throughput.main(["card", "--workers", "1,2", "--games", "16", "--per-worker", "1024"]) == 0
    shown = capsys.readouterr().out
    assert "Ray counts on 2 in the cluster" in " ".join(shown.split())
    assert [line.split()[0] for line in shown.splitlines() if line.strip()[:1].isdecimal()] == ["1", "2"]
    assert throughput.main(["card", "--workers", "3"]) == 2
    assert "the cluster has 2" in capsys.readouterr().err


def test_python_in_the_page_runs(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```py\n(.*?)^```$", (ROOT / "docs/ray.md").read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    for source in blocks:
        exec(compile(source, "docs/ray.md", "exec"), {"__name__": "docs"})


# ---------------------------------------------------------------- clusters that are not there


def refusal(address: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        ray_cluster.check_answers(address)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("address", ["here", "host:", ":6379", "host:port", "host:0", "host:70000"])
def test_what_is_no_address_is_refused(address: str) -> None:
    assert f"--ray: {address!r} is no address; give HOST:PORT" in refusal(address)


def test_a_client_address_is_refused() -> None:
    assert "give the command on a machine of the cluster, with --ray auto" in refusal("ray://127.0.0.1:10001")


def test_an_address_where_nobody_listens_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    began = time.monotonic()
    assert f"nobody answers at 127.0.0.1:{port} (Connection refused)" in refusal(f"127.0.0.1:{port}")
    assert time.monotonic() - began < ray_cluster.CONNECT_SECONDS


def test_an_address_where_no_ray_answers_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "ANSWER_SECONDS", 8.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = refusal(f"127.0.0.1:{server.getsockname()[1]}")
    assert "no Ray cluster" in told


def test_another_version_of_ray_is_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    other = ray_cluster._TRY.replace("import sys, ray\n", "import sys, ray\nray.__version__ = '2.0.0'\n")
    assert other != ray_cluster._TRY
    monkeypatch.setattr(ray_cluster, "_TRY", other)
    told = refusal(cluster.address)
    assert "Version mismatch" in told
    assert "2.0.0" in told
    assert "install the same versions" in told


def test_a_cluster_is_joined_by_its_address(cluster: Any) -> None:
    ray_cluster.check_answers(cluster.address)


def test_a_machine_that_has_gone_is_left_out(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ray_cluster.ray.nodes()
    gone = {**next(node for node in listed if node["Alive"]), "NodeID": "ab" * 28}
    monkeypatch.setattr(ray_cluster.ray, "nodes", lambda: [gone, *listed])
    assert len(ray_cluster.machines()) == sum(node["Alive"] for node in listed)


@pytest.mark.parametrize(
    ("field", "name"), [("python", "Python"), ("numpy", "numpy"), ("siberia", "siberia-env"), ("sources", "sources")]
)
def test_a_machine_with_other_versions_is_refused(cluster: Any, field: str, name: str) -> None:
    found = ray_cluster.machines()
    assert len(found) == 3
    assert ray_cluster.processors_of(found) == 2
    ray_cluster.check_same(found)
    with pytest.raises(ConfigurationError, match=rf"machine .* has .*{name}.* 0\.0, this one"):
        ray_cluster.check_same([*found[:2], found[2]._replace(**{field: "0.0"})])


def test_a_machine_without_the_suite_is_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def versions() -> None:
        raise ModuleNotFoundError("No module named 'siberia_env'")

    monkeypatch.setattr(ray_cluster, "versions", versions)
    with pytest.raises(ConfigurationError, match=r"can't run the suite \(.*No module named 'siberia_env'\)"):
        ray_cluster.machines()


def test_ray_here_ends_with_the_command() -> None:
    """Started by `local` in a process of its own, beside the cluster of these tests; no process of it is left."""
    program = (
        "import ray\nfrom siberia_experiments.ray_cluster import joined\n"
        "with joined('local', 1) as found:\n"
        "    assert [(one.address, one.processors) for one in found] == [('127.0.0.1', 1)], found\n"
        "    print(ray._private.worker._global_node.get_session_dir_path())\n"
        "assert not ray.is_initialized()\n"
    )
    session = run_python("-c", program).stdout.strip()
    assert "session_" in session
    for _ in range(100):
        if not find_processes(session.encode()):
            break
        time.sleep(0.1)
    assert find_processes(session.encode()) == []
