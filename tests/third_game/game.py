"""Lamps as a `Game`: its rooms put together."""

from __future__ import annotations

from siberia_env.game import MAX_PLAYERS, Game
from tests.third_game import box, observation, rules

GAME = Game(
    name="lamps",
    title="Lamps",
    state_dtype=box.STATE,
    kernels={
        "deal": rules.deal,
        "is_chance": rules.is_chance,
        "resolve": rules.resolve,
        "force": rules.force,
        "current_player": rules.current_player,
        "is_over": rules.is_over,
        "is_legal": rules.is_legal,
        "legal": rules.legal,
        "apply": rules.apply,
        "scores": rules.scores,
        "determinize": rules.determinize,
        "observe": observation.observe,
        "observe_hidden": observation.observe_hidden,
    },
    num_actions=box.NUM_ACTIONS,
    outcome_size=box.HAND * MAX_PLAYERS,
    blocks=observation.BLOCKS,
    hidden_blocks=observation.HIDDEN_BLOCKS,
    check_rules=box.check_rules,
    read_components=box.read_components,
    make_ruleset=box.make_ruleset,
    action_names=lambda components: box.ACTION_NAMES,
    chronicle="tests.third_game.notation",
    render="tests.third_game.render",
    score_form="{} points",
    colours={"bid": "cyan", "play": "yellow"},
)
