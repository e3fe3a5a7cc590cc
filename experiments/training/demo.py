"""`make demo` trains an opponent from nothing, measures it, and leaves all results in one folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from siberia_agents.learned import LearnedAgent, Model, load_model
from siberia_agents.plan import has_plan
from siberia_env.core.rewards import MARGIN_UNIT
from siberia_env.game import Variant
from siberia_env.records import Decision, describe, read_records
from siberia_env.view import view_state
from siberia_experiments.console import console, counted_deals, results_table
from siberia_experiments.evaluate import alone_against, evaluate
from siberia_experiments.record_games import record_games
from siberia_experiments.training.display import TrainingDisplay, next_lines
from siberia_experiments.training.league import PLANS
from siberia_experiments.training.run import LOG_FOLDER, Training, TrainOptions, draw_curve

EVALUATION_SEED = 1_000_000  # gives games that training was not measured on
MOVES_SHOWN = 3  # candidate moves shown for each decision in the annotated game


def demo(options: TrainOptions, folder: Path, games: int = 500) -> None:
    """Train, draw the learning curve, play `games` games against each baseline, and annotate one game.

    This replaces what an earlier demo left in `folder`, including its TensorBoard log.
    """
    earlier_logs = list((folder / LOG_FOLDER).glob("events.*"))
    training = Training(options, folder)  # refuses invalid options before anything is replaced
    for log in earlier_logs:
        log.unlink()
    follow(training)
    model = load_model(training.model_path)
    measure(training.variants[0], model, games)
    annotate(training.variants[0], model, folder)
    console.print(
        f"{folder}: model.npz, curve.png, curve.csv, tensorboard/, game.jsonl (a game against greedy), "
        "game.txt (the same with the model's thoughts)"
    )
    for line in next_lines(training):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def follow(training: Training) -> None:
    """Run a training to its end, show its progress, and draw its learning curve."""
    options = training.options
    counts = " and ".join(map(str, options.num_players))
    TrainingDisplay(f"{training.variants[0].game.title}, {counts} players").show(training.run())
    draw_curve(training.curve, training.folder / "curve.png")


def measure(variant: Variant, model: Model, games: int) -> None:
    """Play the model against fixed agents, each of which takes all other seats."""
    rows = []
    for name in ("random", *(name for name in PLANS if has_plan(variant, name))):
        agents = alone_against(LearnedAgent(model), name, variant.num_players)
        results = evaluate(variant, agents, games, EVALUATION_SEED, named=2)
        rows += [("learned", results, 0), (name, results, 1)]
    console.print(results_table(f"each: {counted_deals(rows[0][1])}", rows))


def annotate(variant: Variant, model: Model, folder: Path) -> None:
    """Record one game against greedy, and write a text with what the model expected and considered."""
    agents = alone_against(LearnedAgent(model), "greedy", variant.num_players)
    path = folder / "game.jsonl"
    record_games(variant, agents, 1, EVALUATION_SEED, path)

    def thoughts(decision: Decision) -> str:
        if agents[decision.player].name != LearnedAgent.name or len(decision.legal) == 1:
            return ""
        observation = view_state(variant, decision.states, 0).observation[None]
        logits = np.where(decision.mask > 0, model.logits(observation)[0], -np.inf)
        likelihood = np.exp(logits - logits.max())
        likelihood /= likelihood.sum()
        considered = [int(action) for action in np.argsort(-likelihood)[:MOVES_SHOWN] if decision.mask[action]]
        names = variant.names_in_play(decision.states, 0)
        moves = ", ".join(f"{names[action]} {100 * likelihood[action]:.0f}%" for action in considered)
        lead = variant.game.score_unit * MARGIN_UNIT * float(model.margins(observation)[0, 0])
        where = "ahead of" if lead >= 0 else "behind"
        return f"expects to end {variant.game.score_text(f'{abs(lead):.0f}')} {where} the others; considers {moves}"

    (record,) = read_records(path)
    (folder / "game.txt").write_text("\n".join(describe(record, thoughts)) + "\n", encoding="utf-8")
