"""Measures the speed of the suite beside other libraries, in one run: `siberia bench card`, `siberia bench board`.

Every figure is the median of repeated measurements of random legal play, or of search, with 4 players on one core.
Our measurements and the other library's alternate, so that both meet the same machine. Other libraries are measured
if they are installed (extra `bench`). If one is not installed, our figure stands alone and the table says so.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import count, pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from gymnasium.vector import SyncVectorEnv
from rich.table import Table

from siberia_agents.learned import Model, head_sizes, shipped_model
from siberia_agents.search.agent import SearchAgent, SearchResult
from siberia_agents.search.guided import GuidedAgent
from siberia_env import vector
from siberia_env.core import engine
from siberia_env.core.jit import kernel
from siberia_env.core.rng import advance, derive, scale, scramble
from siberia_env.core.simd import bit_count
from siberia_env.errors import ModelError
from siberia_env.game import Game, Variant
from siberia_env.gym import SiberiaEnv
from siberia_env.gym_vector import SiberiaVectorEnv
from siberia_env.installation import install_command
from siberia_env.view import view_state
from siberia_experiments.console import console, counting, new_table

PLAYERS = 4
BATCH = 1024  # games in a batch
SMALL_BATCH, LARGE_BATCH = 256, 262_144  # a decision must cost about the same in both
SYNCHRONOUS = 64  # environments in Gymnasium's own loop, whose speed hardly depends on their number
TRAINING_DECISIONS = 262_144  # decisions for which training is timed
ROLLOUTS = 2000  # rollouts for each call of OpenSpiel's C++ evaluator
BITS = 64  # in a word of a mask
CATAN_DECISIONS = 4000  # most decisions in a game of Catan, because some random players never win
SIMULATIONS, PEER_SIMULATIONS = 10_000, 2000  # simulations of a search, ours and OpenSpiel's
GUIDED_SIMULATIONS = 200
DEALS = 32  # whose first decisions are searched
NETWORK = (128, 128)  # hidden layers of the model that guides a search if the suite comes with no model

Rate = Callable[[float], float]  #: measures for the given number of seconds, and returns how many there are a second


#: The limits for each game's facts, by the names under which `_facts` shows them.
STATE, COPY, MEMORY = "a state, bytes", "copy of a state, ns", "100 000 games without observations, MB"
GUIDED = "guided search of {} players, simulations a second"
WARM, COLD = "import to first step, warm cache, s", "import to first step, nothing compiled, s"
TRAINING = "training, decisions a second"
PEER_TRAINING = "training with MaskablePPO and the same layers, decisions a second"
TRAINING_RATIO = "ours over MaskablePPO's"
GYM_VECTOR = "Gymnasium's make_vec, a seat's steps a second"
SYNC_VECTOR = "SyncVectorEnv over the same, steps a second"
GYM_RATIO = "make_vec over SyncVectorEnv"
LIMITS: dict[str, dict[str, float]] = {
    "card": {STATE: 512, COPY: 20, MEMORY: 150, WARM: 1.5, COLD: 15},
    "board": {STATE: 1536, WARM: 1.5, COLD: 30},
}


@dataclass(frozen=True)
class Comparison:
    """One of our figures beside another library's.

    Attributes:
        what: the name of our figure.
        peer_name: what our figure is compared to.
        peer: makes the other library's measurement; it gives None if the library is not installed.
        goals: by game, the ratio to reach; None if no goal is set.
        floors: by game, the rate that ours has to reach.
    """

    what: str
    peer_name: str
    peer: Callable[[], Rate | None]
    goals: Mapping[str, float | None]
    floors: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A line of the table: our rate, the other library's rate, and the goals if there are any (a ratio or our rate)."""

    what: str
    ours: float
    peer_name: str
    peer: float | None
    goal: float | None
    floor: float | None = None


def comparisons() -> tuple[Comparison, ...]:
    """Every comparison. A game takes part in those whose goals name it."""
    masks, observed = "batch, masks only", "batch, observed"
    return (
        Comparison(masks, "hearts, C++", openspiel_rollouts, {"card": 1.8, "board": 1.0}),
        Comparison(masks, "Catan, C++", fastcatan, {"card": 1.0, "board": 1.0}),
        Comparison(masks, "Catan", catanatron, {"board": 100.0}),
        Comparison(
            observed, "hearts, Python, mask", partial(openspiel_python, _read_mask), {"card": 12.0, "board": None}
        ),
        Comparison(
            observed, "hearts, Python, bare", partial(openspiel_python, _read_nothing), {"card": None, "board": 6.0}
        ),
        Comparison(
            observed, "hearts, Python, all", partial(openspiel_python, _read_all), {"card": None, "board": None}
        ),
        Comparison("PettingZoo env()", "texas_holdem", texas_holdem, {"card": 15.0, "board": 12.0}),
        Comparison("search", "hearts, C++ ISMCTS", openspiel_search, {"card": None, "board": None}, {"card": 5e6}),
    )


def bench(game: Game, seconds: float, repeats: int) -> None:
    """Measure everything and print the tables."""
    beside = [comparison for comparison in comparisons() if game.name in comparison.goals]
    our_rates = {
        "batch, masks only": batch_rate(game, observations=False),
        "batch, observed": batch_rate(game, observations=True),
        "PettingZoo env()": aec_rate(game),
        "search": search_rate(game),
    }
    rows: list[Row] = []
    with counting("measuring", repeats * len(beside)) as bar:
        for comparison in beside:
            ours, theirs = our_rates[comparison.what], comparison.peer()
            own, other = [], []
            for _ in range(repeats):
                own.append(ours(seconds))
                if theirs is not None:
                    other.append(theirs(seconds))
                bar.advance(bar.task_ids[0])
            peer = median(other) if other else None
            goal, floor = comparison.goals[game.name], comparison.floors.get(game.name)
            rows.append(Row(comparison.what, median(own), comparison.peer_name, peer, goal, floor))
    console.print(_table(game, rows))
    console.print(_facts(game, seconds, repeats))
    if any(row.peer is None for row in rows):
        console.print("The other libraries come with the extra bench:")
        console.print(install_command("bench"), markup=False, highlight=False, soft_wrap=True)


def _table(game: Game, rows: list[Row]) -> Table:
    table = new_table(f"{game.title}: decisions a second, {PLAYERS} players, one core")
    table.caption = (
        "random legal play; hearts is OpenSpiel's: its C++ rollouts, and stepped from Python, reading the mask as an "
        "array, just the list of legal actions (bare), or mask and information state (all); texas_holdem is "
        "PettingZoo's, Catan is Catanatron's, random players, and in C++ fastcatan's batch, which needs Python 3.12; "
        "search is of a game's first decision, with random playouts, and every decision that is simulated counts: in "
        "hearts, those of one whole game a simulation; a goal with an M is for ours"
    )
    for column in ("", "ours", "beside", "theirs", "ratio", "goal"):
        table.add_column(column, justify="left" if column in ("", "beside") else "right")
    above = ""
    for row in rows:
        theirs = "" if row.peer is None else f"{row.peer:,.0f}"
        beside = f"{row.peer_name}:\nnot installed" if row.peer is None else row.peer_name
        ratio = "" if row.peer is None else f"{row.ours / row.peer:.1f}"
        goal = "" if row.goal is None else f"{row.goal:g}"
        goal = goal if row.floor is None else f"{row.floor / 1e6:g} M"
        what = "" if row.what == above else row.what
        table.add_row(what, f"{row.ours:,.0f}", beside, theirs, ratio, goal)
        above = row.what
    return table


def _facts(game: Game, seconds: float, repeats: int) -> Table:
    table = new_table("and what stands alone")
    table.add_column("")
    table.add_column("measured", justify="right")
    table.add_column("goal", justify="right")
    with counting("measuring", 8) as bar:

        def done(value: Any) -> Any:
            bar.advance(bar.task_ids[0])
            return value

        small, large = (
            done(median([1e9 / batch_rate(game, False, games)(seconds) for _ in range(repeats)]))
            for games in (SMALL_BATCH, LARGE_BATCH)
        )
        copied = done(median([copy_nanoseconds(game) for _ in range(repeats)]))
        guided = {}
        for players in (2, PLAYERS):
            measure = guided_rate(game, players)
            guided[players] = done(median([measure(seconds) for _ in range(repeats)]))
        batched, synchronous = done(gym_vector_rates(game, seconds, repeats))
        cold, warm = done(start_seconds(game))
        rates = done(training_rates(game))
    facts = [
        (STATE, f"{game.state_dtype.itemsize}"),
        (COPY, f"{copied:.1f}"),
        (MEMORY, f"{batch_megabytes(game, 100_000):.0f}"),
        (f"a decision in a batch of {SMALL_BATCH}, ns", f"{small:.0f}"),
        (large_batch := f"a decision in a batch of {LARGE_BATCH}, ns", f"{large:.0f}"),
        *((GUIDED.format(players), f"{simulations:,.0f}") for players, simulations in guided.items()),
        (GYM_VECTOR, f"{batched:,.0f}"),
        (SYNC_VECTOR, f"{synchronous:,.0f}"),
        (GYM_RATIO, f"{batched / synchronous:.1f}"),
        (WARM, f"{warm:.2f}"),
        (COLD, f"{cold:.1f}"),
    ]
    if rates is not None:
        facts += [(TRAINING, f"{rates[0]:,.0f}"), (PEER_TRAINING, f"{rates[1]:,.0f}")]
        facts.append((TRAINING_RATIO, f"{rates[0] / rates[1]:.1f}"))
    limits = {**LIMITS[game.name], large_batch: round(1.5 * small)}
    for fact, measured in facts:
        table.add_row(fact, measured, f"{limits[fact]:g}" if fact in limits else "")
    return table


# ---------------------------------------------------------------- ours


def repeated(once: Callable[[], None], count: int) -> Rate:
    """A rate of what `once` does `count` times in one call. It is called once before anything is timed, to compile."""
    once()

    def rate(seconds: float) -> float:
        rounds, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds or not rounds:
            once()
            rounds += 1
        return rounds * count / spent

    return rate


def batch_rate(game: Game, observations: bool, games: int = BATCH) -> Rate:
    """Measure decisions a second of `VectorEnv.step` with random legal actions, drawn from the masks."""
    env = vector.make(game, games, PLAYERS, observations=observations)
    actions = np.zeros(games, np.int64)
    step = env.reset()
    calls = 0

    def once() -> None:
        nonlocal step, calls
        engine.sample_batch(step.mask, step.num_legal, np.uint64(1), calls, actions)
        step = env.step(actions)
        calls += 1

    return repeated(once, games)


def aec_rate(game: Game) -> Rate:
    """Measure decisions a second of `env()` through the PettingZoo API, reading observation and mask each time."""
    return pettingzoo_rate(import_module(f"siberia_env.{game.name}_v0").env(num_players=PLAYERS))


def pettingzoo_rate(env: Any) -> Rate:
    """Measure decisions a second of any PettingZoo AEC environment with masks in its observations."""

    def rate(seconds: float) -> float:
        decisions, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds:
            env.reset(seed=decisions)
            while env.agents:
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(int(legal[int(random.random() * len(legal))]))
                decisions += 1
        return decisions / spent

    return rate


def gym_vector_rates(game: Game, seconds: float, repeats: int) -> tuple[float, float]:
    """Measure steps a second of one seat's games, as our batch and in Gymnasium's own loop over environments, in turn.

    A step is a decision of the one seat. What the others decide until its next one, at random, comes with it.
    """
    options: dict[str, Any] = {"game": game, "num_players": PLAYERS}
    ours = SiberiaVectorEnv(BATCH, **options)
    theirs = SyncVectorEnv([partial(SiberiaEnv, **options)] * SYNCHRONOUS)
    rates: list[list[float]] = [[], []]
    for _ in range(repeats):
        for env, found in zip((ours, theirs), rates, strict=True):
            found.append(_gym_rate(env, seconds))
    return median(rates[0]), median(rates[1])


def _gym_rate(env: Any, seconds: float) -> float:
    """Steps a second with random legal actions, drawn from the masks."""
    chance = np.random.default_rng(1)
    mask = env.reset(seed=1)[0]["action_mask"]
    mask = env.step(mask.argmax(axis=1))[0]["action_mask"]  # compiles what is not compiled yet
    steps, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds:
        mask = env.step((mask * chance.random(mask.shape, np.float32)).argmax(axis=1))[0]["action_mask"]
        steps += env.num_envs
    return steps / spent


def first_searches(agent: SearchAgent, variant: Variant) -> Callable[[], SearchResult]:
    """Return a function that searches the first decision of one game after the other, of `DEALS` again and again.

    Each time round the searches have another seed.
    """
    views = []
    for deal in range(DEALS):
        states = variant.new_states()
        engine.deal_at(variant.rulesets, states, 0, np.uint64(deal), 0, 0)
        views.append(view_state(variant, states, 0))
    searches = count()

    def search() -> SearchResult:
        time_round, deal = divmod(next(searches), DEALS)
        if deal == 0:
            agent.start(variant, time_round)
        return agent.search(views[deal])

    search()
    return search


def rate_of(search: Callable[[], SearchResult], number: Callable[[SearchResult], int]) -> Rate:
    """Measure how many of what `number` counts in a search there are in a second."""

    def rate(seconds: float) -> float:
        done, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds or not done:
            done += number(search())
        return done / spent

    return rate


def search_rate(game: Game) -> Rate:
    """Measure decisions simulated a second by `search` with random playouts; decisions in the tree count too."""
    return rate_of(
        first_searches(SearchAgent(SIMULATIONS, playout="random"), game.variant(PLAYERS)),
        lambda result: result.decisions,
    )


def guided_rate(game: Game, players: int) -> Rate:
    """Measure simulations a second of the search guided by the suite's own model, or by a random one of usual size."""
    variant = game.variant(players)
    return rate_of(
        first_searches(GuidedAgent(GUIDED_SIMULATIONS, guide(variant)), variant),
        lambda result: result.simulations,
    )


def guide(variant: Variant) -> Model:
    """The model that comes with the suite, or one with random weights."""
    try:
        return shipped_model(variant)
    except ModelError:
        game, random_weights = variant.game, np.random.default_rng(0)

        heads = head_sizes(game)
        widths = (game.observation_size, *NETWORK, sum(heads.values()))
        layers = [
            (random_weights.normal(0, a**-0.5, (a, b)).astype(np.float32), np.zeros(b, np.float32))
            for a, b in pairwise(widths)
        ]
        return Model(game.name, (variant.num_players,), layers, heads, {})


@kernel
def _copy_around(states: Any, rounds: int) -> None:
    for number in range(rounds):
        states[(number + 1) & 15] = states[number & 15]


def copy_nanoseconds(game: Game, rounds: int = 2_000_000) -> float:
    """The nanoseconds of one `states[j] = states[i]` in compiled code."""
    states = np.zeros(16, game.state_dtype)
    _copy_around(states, 1)
    started = time.perf_counter()
    _copy_around(states, rounds)
    return 1e9 * (time.perf_counter() - started) / rounds


def batch_megabytes(game: Game, games: int) -> float:
    """The memory of a batch without observations: its states and all arrays of a step."""
    env = vector.make(game, games, PLAYERS, observations=False)
    step = env.reset()
    arrays = [env.states, env.episodes, env.lengths, *vars(step).values()]
    return sum(array.nbytes for array in arrays) / 1e6


def start_seconds(game: Game) -> tuple[float, float]:
    """The seconds from starting Python to the first step of `env()`: with nothing compiled, and with a warm cache."""
    program = (
        f"from siberia_env import {game.name}_v0; env = {game.name}_v0.env(num_players={PLAYERS}); env.reset(seed=0); "
        "env.step(int(env.last()[0]['action_mask'].argmax()))"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder))}
        times = []
        for _ in range(2):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], env=environment, check=True, stderr=subprocess.DEVNULL)
            times.append(time.perf_counter() - started)
    return times[0], times[1]


def training_rates(game: Game, decisions: int = TRAINING_DECISIONS) -> tuple[float, float] | None:
    """Decisions a second of training by self-play: our trainer's, and those of MaskablePPO with the same layers.

    Both learn from every decision of both players, each with its own settings, on as many threads as the machine has
    processors. None without the extra `train`.
    """
    try:
        import torch as th

        from siberia_env.sb3 import SelfPlayVecEnv
        from siberia_experiments.training.league import Mix
        from siberia_experiments.training.ppo import Learner
        from siberia_experiments.training.run import game_settings
        from siberia_experiments.training.sb3_ppo import SelfPlayPolicy, SelfPlayPPO
    except ImportError:
        return None
    variant, settings = game.variant(2), replace(game_settings(game.name), imitate=0)
    layers, threads = list(settings.network), th.get_num_threads()
    learner = Learner([variant], [], Mix(alone=1.0), settings)
    peer = SelfPlayPPO(
        SelfPlayPolicy,
        SelfPlayVecEnv(vector.make(game, 512, reward="margin")),
        n_steps=64,
        batch_size=2048,
        n_epochs=3,
        policy_kwargs={"net_arch": {"pi": layers, "vf": layers}, "activation_fn": th.nn.ReLU},
        device="cpu",
    )
    try:
        th.set_num_threads(1)  # it has two threads of its own, one that plays and one that learns
        learner.iterate(0.0)
        before, started = learner.decisions, time.perf_counter()
        while learner.decisions - before < decisions:
            learner.iterate(0.0)
        own = (learner.decisions - before) / (time.perf_counter() - started)
        th.set_num_threads(threads)
        peer.learn(1)
        before, started = peer.num_timesteps, time.perf_counter()
        peer.learn(decisions, reset_num_timesteps=False)
        return own, (peer.num_timesteps - before) / (time.perf_counter() - started)
    finally:
        th.set_num_threads(threads)
        learner.close()


# ---------------------------------------------------------------- others


def openspiel_rollouts() -> Rate | None:
    """Measure decisions a second of OpenSpiel's C++ random rollouts of hearts, from a dealt game."""
    spiel = _import("pyspiel")
    if spiel is None:
        return None
    game = spiel.load_game("hearts")
    dealt = _dealt(game)
    decisions = _decisions_to_the_end(dealt)

    def rate(seconds: float) -> float:
        done, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds:
            evaluator = spiel.RandomRolloutEvaluator(n_rollouts=ROLLOUTS, seed=done + 1)
            bot = spiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, 1, False)  # one simulation runs all rollouts
            bot.step(dealt)
            done += ROLLOUTS * decisions
        return done / spent

    return rate


def openspiel_search() -> Rate | None:
    """Measure decisions simulated a second by OpenSpiel's C++ ISMCTS in the first decision of hearts with a choice.

    A simulation plays to the end of the game, first in the tree and then at random, so it makes as many decisions as
    one game has.
    """
    spiel = _import("pyspiel")
    if spiel is None:
        return None
    dealt = _dealt(spiel.load_game("hearts"))
    while len(dealt.legal_actions()) == 1:  # if no cards are passed on, the first card is forced
        dealt.apply_action(dealt.legal_actions()[0])
    decisions = _decisions_to_the_end(dealt)

    def rate(seconds: float) -> float:
        searches, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds or not searches:
            searches += 1
            evaluator = spiel.RandomRolloutEvaluator(n_rollouts=1, seed=searches)
            spiel.ISMCTSBot(searches, evaluator, 1.0, PEER_SIMULATIONS).step(dealt)
        return searches * PEER_SIMULATIONS * decisions / spent

    return rate


def _decisions_to_the_end(state: Any) -> int:
    """How many decisions a game of hearts still has. The number is the same however the game is played."""
    decisions, played = 0, state.clone()
    while not played.is_terminal():
        played.apply_action(random.choice(played.legal_actions()))
        decisions += 1
    return decisions


def _read_nothing(state: Any) -> Any:
    return state.legal_actions()


def _read_mask(state: Any) -> Any:
    return np.flatnonzero(np.array(state.legal_actions_mask(), np.int8))


def _read_all(state: Any) -> Any:
    np.array(state.information_state_tensor(), np.float32)
    return _read_mask(state)


def openspiel_python(read: Callable[[Any], Any] = _read_nothing) -> Rate | None:
    """Measure decisions a second of OpenSpiel's hearts (C++ rules) stepped from Python.

    `read` returns the legal actions of a state.
    """
    spiel = _import("pyspiel")
    if spiel is None:
        return None
    game = spiel.load_game("hearts")

    def rate(seconds: float) -> float:
        decisions, started = 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds:
            state = _dealt(game)
            while not state.is_terminal():
                state.apply_action(int(random.choice(read(state))))
                decisions += 1
        return decisions / spent

    return rate


def _dealt(game: Any) -> Any:
    state = game.new_initial_state()
    while state.is_chance_node():
        outcomes = state.chance_outcomes()
        state.apply_action(outcomes[int(random.random() * len(outcomes))][0])
    return state


def texas_holdem() -> Rate | None:
    """Measure decisions a second of PettingZoo's texas_holdem."""
    if _import("rlcard") is None or (module := _import("pettingzoo.classic.texas_holdem_v4")) is None:
        return None
    return pettingzoo_rate(module.env(num_players=PLAYERS))


def catanatron() -> Rate | None:
    """Measure decisions a second of Catanatron's random games of Catan."""
    if (module := _import("catanatron")) is None:
        return None
    colors = list(module.Color)[:PLAYERS]

    def rate(seconds: float) -> float:
        decisions, games, started = 0, 0, time.perf_counter()
        while (spent := time.perf_counter() - started) < seconds:
            game = module.Game([module.RandomPlayer(color) for color in colors], seed=games + 1)
            for _ in range(CATAN_DECISIONS):
                if game.winning_color() is not None:
                    break
                game.play_tick()
                decisions += 1
            games += 1
        return decisions / spent

    return rate


def fastcatan() -> Rate | None:
    """Measure decisions a second of fastcatan's batch of games of Catan with masks, on one core.

    Actions are drawn as for our batch: count the legal ones, then take one by its rank.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # it reads this when it is imported
    if (module := _import("fastcatan")) is None:
        return None
    games = module.BatchedEnv(BATCH, seed=1)
    games.reset()
    masks = np.zeros((BATCH, module.MASK_WORDS), np.uint64)
    actions, ended = np.zeros(BATCH, np.uint32), np.zeros(BATCH, np.uint8)
    calls = 0

    def once() -> None:
        nonlocal calls
        games.write_masks(masks)
        sample_bits(masks, np.uint64(1), calls, actions)
        games.step_autoreset(actions, ended)
        calls += 1

    return repeated(once, BATCH)


@kernel
def sample_bits(masks: Any, seed: Any, draw: int, actions: Any) -> None:
    """Choose a random legal action for every row of a batch, as `engine.sample_batch` does; masks are sets of bits."""
    generator, one = derive(seed, draw, 0), np.uint64(1)
    for i in range(masks.shape[0]):
        generator = advance(generator)
        count = 0
        for word in range(masks.shape[1]):
            count += bit_count(masks[i, word])
        rank = scale(scramble(generator), count)
        word = 0
        while rank >= bit_count(masks[i, word]):
            rank -= bit_count(masks[i, word])
            word += 1
        bits = masks[i, word]
        for _ in range(rank):
            bits &= bits - one
        actions[i] = BITS * word + bit_count((bits ^ (bits & (bits - one))) - one)


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None
