"""`tests/soak.py` runs clean, and reports by name each invariant that is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from siberia_env.board import state as board
from siberia_env.board.actions import ACT
from siberia_env.card import state as card
from siberia_env.card.components import HAND_LIMIT, NUM_KINDS
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core import engine
from siberia_env.game import GAMES, Variant, find_game
from tests import broken_card, soak, soak_loop
from tests.board.invariants import BoardInvariant
from tests.card.invariants import CardInvariant
from tests.soak_loop import CommonInvariant

FIRST_OF_A_STEP = 51  #: invariants of a step have numbers from here on


@dataclass
class Moment:
    """A step of a game: the states before and after it, with what the ledger held before."""

    variant: Variant
    states: Any  #: [2]
    action: int
    ledger: Any

    @property
    def before(self) -> Any:
        return self.states[0]

    @property
    def after(self) -> Any:
        return self.states[1]

    def copy(self) -> Moment:
        return Moment(self.variant, self.states.copy(), self.action, self.ledger.copy())

    def broken(self) -> int:
        """The number of the invariant that the later state breaks, else the number of the one that the step does."""
        tally = np.zeros(soak_loop.TALLY_SIZE, np.int64)
        return int(soak_loop.check_at(self.variant.rulesets, self.states, 1)) or self.broken_by_the_step(tally)

    def broken_by_the_step(self, tally: Any = None) -> int:
        tally = np.zeros(soak_loop.TALLY_SIZE, np.int64) if tally is None else tally
        return int(soak_loop.check_step_at(self.variant.rulesets, self.states, 0, 1, self.action, self.ledger, tally))


TABLES: dict[str, tuple[tuple[int, Any], ...]] = {
    "card": ((2, "digital"), (2, "dlp"), (3, {"edition": "oya", "max_turns": 30})),
    "board": ((2, {"sides": "random", "max_rounds": 9}), (3, {"salesman_cards": True, "max_rounds": 30})),
}


@cache
def moments(game: str) -> tuple[Moment, ...]:
    """All steps of some games; random play avoids what leads away from rare positions."""
    found = []
    for number, (players, rules) in enumerate(TABLES[game]):
        variant = find_game(game).variant(players, rules)
        rng = np.random.default_rng(number)
        states, mask = variant.new_states(2), np.zeros(variant.game.num_actions, np.int8)
        for style in soak.styles_of(game)[:3]:
            avoided = np.array([bool(style) and name.startswith(style) for name in variant.action_names])
            engine.deal_at(variant.rulesets, states, 1, np.uint64(number), 0, 0)
            ledger = np.zeros(soak_loop.LEDGER_SIZE, np.int64)
            while not engine.is_over_at(variant.rulesets, states, 1):
                states[0] = states[1]
                engine.legal_at(variant.rulesets, states, 0, mask)
                weights = mask * np.where(avoided, 0.1, 1.0)
                action = int(rng.choice(len(mask), p=weights / weights.sum()))
                moment = Moment(variant, states.copy(), action, ledger.copy())
                engine.advance_at(variant.rulesets, moment.states, 1, action)
                while engine.is_chance_at(variant.rulesets, moment.states, 1):
                    engine.resolve_at(variant.rulesets, moment.states, 1)
                found.append(moment.copy())
                assert moment.broken() == 0
                states, ledger = moment.states, moment.ledger
    return tuple(found)


Corruption = Callable[[Moment], bool]
CORRUPTIONS: dict[str, dict[int, Corruption]] = {"card": {}, "board": {}}


def breaks(game: str, invariant: int) -> Callable[[Corruption], Corruption]:
    """A function that breaks the invariant in a moment; False where this moment gives no chance to."""

    def note(corruption: Corruption) -> Corruption:
        assert invariant not in CORRUPTIONS[game]
        CORRUPTIONS[game][invariant] = corruption
        return corruption

    return note


def change(game: str, invariant: int, field: str, index: Any, value: int, when: Callable[[Any], Any]) -> None:
    """Add `value` to a field of the later state, where `when` says that it breaks the invariant."""

    def corrupt(moment: Moment) -> bool:
        if not when(moment.after):
            return False
        if index is None:
            moment.after[field] += value
        else:
            moment.after[field][index] += value
        return True

    breaks(game, invariant)(corrupt)


def always(state: Any) -> bool:
    return True


def choosing(state: Any) -> bool:
    return bool(state.phase == card.CHOOSE)


C = CardInvariant
change("card", C.PHASE, "draws_left", None, 1, always)
change("card", C.SEAT, "turn", None, 1, always)
change("card", C.EMPTY_SEATS, "score", 3, 1, always)
change("card", C.UNUSED_BYTES, "unused", 1, 1, always)
change("card", C.ACTION_CARDS, "action_stack", 0, 1, lambda s: s.action_stack_size > 0 and s.action_stack[0] < 14)
change("card", C.HAND_LIMIT, "hand", (0, 0), HAND_LIMIT + 1, always)
change("card", C.HAND_SIZE, "hand_size", 1, 1, always)
change("card", C.SYMBOLS, "symbols", (0, 7), -1, always)
change("card", C.DISCARD_SIZE, "discard_size", None, 1, choosing)
change("card", C.PILE, "pile", 59, 1, lambda s: s.discard_size < 59)
change("card", C.PILE_DRAWN, "pile_drawn", 0, 60, lambda s: s.discard_size > 0)
change("card", C.HELD_DRAWN_PAID, "drawn", 0, 1, always)
change("card", C.KNOWN, "known", (1, 4), 1, always)
change("card", C.CAPTURED_COUNTS, "captured", (1, 0), 1, always)
change("card", C.CAPTURED_VALUES, "captured_best_value", (1, 3), 1, always)
change("card", C.ROW, "face_up", 0, 2, lambda s: s.row[0] != card.EMPTY)
change("card", C.FACE_DOWN, "face_down", None, 1, lambda s: s.face_down > 0)
change("card", C.WORKERS, "workers_left", None, 1, always)
change("card", C.PERSON_OWNERS, "investor_owner", 0, 4, always)
change("card", C.SALESMEN_AND_INVESTORS, "salesmen", 0, 1, always)
change("card", C.SCORE, "score", 0, 1, always)
change("card", C.PAYMENT, "chosen", None, 1, choosing)
change("card", C.END_IN_SIGHT, "turns_to_end", None, 1, lambda s: s.turns_to_end == 0 and s.phase != card.OVER)
change("card", C.TURN_LIMIT, "hit_limit", None, 1, lambda s: s.phase != card.OVER)


@breaks("card", C.KNOWN_AMONG_OTHERS)
def _(moment: Moment) -> bool:
    """Three players remember a card that seat 1 held, though no hand but that of seat 0 can have it."""
    after = moment.after
    missing = [kind for kind in range(NUM_KINDS) if not after.hand[1:, kind].any() and not after.held[:, kind].any()]
    if moment.variant.num_players != 3 or after.discard_size > 0 or after.drawn[1] == 0 or not missing:
        return False
    after.held[1, missing[0]] += 1
    after.drawn[1] -= 1
    after.known[0, missing[0]] += 1
    after.known[2, missing[0]] += 1
    return True


@breaks("card", C.STACK_IS_REPLACED)
def _(moment: Moment) -> bool:
    """What the digital rules leave lying is an error under the printed ones."""
    after = moment.after
    moment.variant = find_game("card").variant(moment.variant.num_players, "dlp")
    return bool(after.phase == card.CHOOSE and after.action_stack_size == 0 and after.discard_size > 0)


@breaks("card", C.RESOURCE_CARDS)
def _(moment: Moment) -> bool:
    moment.after.row[0] = moment.after.row[1]
    return bool(moment.after.row[1] != card.EMPTY)


@breaks("card", C.ROW_IS_FULL)
def _(moment: Moment) -> bool:
    after = moment.after
    if after.face_up[7] or after.resource_stack_size == 0:
        return False
    after.row[7] = card.EMPTY
    return True


def one_more(field: str, index: Callable[[Moment], Any], value: int = 1) -> Callable[[Moment], bool]:
    """Add to a field of the later state."""

    def corrupt(moment: Moment) -> bool:
        if index(moment) is None:
            moment.after[field] += value
        else:
            moment.after[field][index(moment)] += value
        return True

    return corrupt


def reshuffled(moment: Moment) -> bool:
    return bool(moment.after.discard_size < moment.before.discard_size)


breaks("card", C.TURN_ORDER)(one_more("turn", lambda moment: None))
breaks("card", C.WHOSE_CARDS_CHANGE)(one_more("workers", lambda moment: 1 - min(moment.before.player, 1)))
breaks("card", C.SCORE_FALLS)(one_more("score", lambda moment: 0, -100))
breaks("card", C.RESHUFFLE)(one_more("discard_size", lambda moment: None))
breaks("card", C.CARDS_DRAWN)(one_more("hand_size", lambda moment: moment.before.player))


@breaks("card", C.WHO_CAPTURED)
def _(moment: Moment) -> bool:
    if np.array_equal(moment.before.captured, moment.after.captured):
        return False
    moment.ledger[: soak_loop.LEDGER_SIZE] = 1
    return True


@breaks("card", C.TOP_OF_THE_STACK)
def _(moment: Moment) -> bool:
    moment.after.hand[moment.before.player, 3] += 1
    return not reshuffled(moment)


@breaks("card", C.MEMORY_KEPT)
def _(moment: Moment) -> bool:
    moment.after.held[0, 3] += 1
    return not reshuffled(moment)


@breaks("card", C.MEMORY_OF_A_RESHUFFLE)
def _(moment: Moment) -> bool:
    moment.after.held[0, 3] += 1
    return reshuffled(moment)


@breaks("card", C.END_COMES_NEARER)
def _(moment: Moment) -> bool:
    moment.after.turns_to_end += 1
    return bool(moment.before.turns_to_end > 0)


B = BoardInvariant


def in_turn(state: Any) -> bool:
    return bool(state.phase == board.TURN)


change("board", B.PHASE, "phase", None, board.DRAW - board.TURN, in_turn)
change("board", B.SEAT, "player", None, 4, always)
change("board", B.STARTING_PLAYER, "rounds", None, 1, always)
change("board", B.EMPTY_SEATS, "money", 3, 1, always)
change("board", B.UNUSED_BYTES, "unused", 2, 1, always)
change("board", B.PASSED, "passed", None, 8, always)
change("board", B.UNDER_WAY, "steps_left", None, 1, in_turn)
change("board", B.CHOSEN_PAWN, "origin", None, 1, in_turn)
change("board", B.BAG_SIZE, "bag_size", None, 1, always)
change("board", B.DRAWN, "drawn", (0, 0), 21, lambda s: s.phase != board.CHOOSE_SIDE)
change("board", B.PLAN, "plan", (0, 5), 4, always)
change("board", B.PLANNED, "planned", (1, 3), 1, always)
change("board", B.RESEARCH, "research", (0, 2), 1, in_turn)
change("board", B.COVERED, "covered", (1, 3), 1, always)
change("board", B.COUNTERS_ON_THE_PANEL, "counters", 1, 1, always)
change("board", B.CUBES, "reserve", 1, 30, always)
change("board", B.MAP, "lying", 0, 1 << 15, always)
change("board", B.OPEN, "open", None, 1 << 14, always)
change("board", B.EXHAUSTED, "exhausted", None, 1, always)
change("board", B.STEPS, "steps", 3, 1 << 3, always)
change("board", B.PAWNS, "pawns", 1, 1, always)
change("board", B.PRESENCE, "presence", 0, 1 << 13, always)
change("board", B.BEST_PRICE, "best_price", (0, 1), 1, always)
change("board", B.SALESMAN_CARDS, "card_owner", 0, 4, always)
change("board", B.SIDES, "side", 1, 2, always)
change("board", B.TILES, "face_up", 0, 1, always)
change("board", B.MONEY, "money", 0, -10_000, always)
change("board", B.ROUND_LIMIT, "hit_limit", None, 1, in_turn)


@breaks("board", B.COUNTERS_IN_THE_BOX)
def _(moment: Moment) -> bool:
    moment.after.bag[0] += 1
    moment.after.bag_size += 1
    return True


@breaks("board", B.RESEARCH_SIZE)
def _(moment: Moment) -> bool:
    moment.after.research_size[moment.after.player] += 1
    return in_turn(moment.after)


@breaks("board", B.PANEL)
def _(moment: Moment) -> bool:
    panel, covered = moment.after.panel, moment.after.covered
    for player, action in np.argwhere(covered == 1):
        panel[player, action] = panel[player, action, ::-1].copy()
        return True
    return False


@breaks("board", B.PANEL_LIMIT)
def _(moment: Moment) -> bool:
    after = moment.after
    if after.phase != board.DISCARD:
        return False
    after.phase, after.passed = board.PLACE, 0
    after.plan[:], after.player = board.NOT_PLACED, after.start
    return True


@breaks("board", B.SURPLUS)
def _(moment: Moment) -> bool:
    after = moment.after
    after.player = (after.player + 1) % moment.variant.num_players
    return bool(after.phase == board.DISCARD)


@breaks("board", B.WORKERS)
def _(moment: Moment) -> bool:
    moment.after.workers[0, 15] += 1
    moment.after.pawns[0] -= 1
    return bool(moment.after.pawns[0] >= 0)


@breaks("board", B.TILES_FACE_UP)
def _(moment: Moment) -> bool:
    after = moment.after
    shown = np.flatnonzero(after.face_up)
    if not len(shown):
        return False
    after.face_up[shown[0]] -= 1
    after.tile_stack[after.tile_stack_size] = shown[0]
    after.tile_stack_size += 1
    return True


@breaks("board", B.END_IS_DUE)
def _(moment: Moment) -> bool:
    moment.after.hit_limit ^= 1
    return bool(moment.after.phase == board.OVER)


def acting(moment: Moment) -> bool:
    return bool(moment.before.phase == board.TURN and moment.action > ACT)


breaks("board", B.ROUNDS_PASS)(one_more("rounds", lambda moment: None, 2))
breaks("board", B.WHO_IS_PAID)(one_more("money", lambda moment: 0))
breaks("board", B.EXHAUSTED_FOR_EVER)(one_more("open", lambda moment: None, 1 << 14))
breaks("board", B.WHOSE_PIECES_CHANGE)(one_more("salesmen", lambda moment: (1 - min(moment.before.player, 1), 2)))
breaks("board", B.TILES_STAY)(one_more("tiles", lambda moment: (0, 2)))
breaks("board", B.SIDES_STAY)(one_more("sides_chosen", lambda moment: None))


@breaks("board", B.PASSED_STAY_OUT)
def _(moment: Moment) -> bool:
    before, after = moment.before, moment.after
    after.passed = 0
    return bool(before.passed != 0 and before.phase != board.PLACE and before.rounds == after.rounds)


@breaks("board", B.EXTRACTION)
def _(moment: Moment) -> bool:
    moment.after.lying[0] &= moment.after.lying[0] - 1
    return bool(acting(moment) and moment.action < ACT + 5 and moment.before.lying[0])


@breaks("board", B.CUBES_SOLD)
def _(moment: Moment) -> bool:
    moment.ledger[NUM_RESOURCES - 1] += 1
    return True


@breaks("board", B.WORKERS_COME_HOME)
def _(moment: Moment) -> bool:
    moment.after.pawns[1] += 1
    return bool(moment.after.exhausted > moment.before.exhausted)


@breaks("board", B.TOP_TILE)
def _(moment: Moment) -> bool:
    moment.after.face_up[1] += 1
    return bool(moment.before.phase != board.CHOOSE_SIDE)


@breaks("board", B.CARDS_STAY)
def _(moment: Moment) -> bool:
    moment.after.card_owner[0] += 1
    return in_turn(moment.before)


@pytest.mark.parametrize(
    ("game", "invariant"),
    [("card", invariant) for invariant in CardInvariant] + [("board", invariant) for invariant in BoardInvariant],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_each_invariant_is_named_when_it_is_broken(game: str, invariant: Any) -> None:
    """Wherever the corruption applies, in the games' first steps and last, nothing else is reported."""
    corrupted = 0
    for moment in reversed(moments(game)):
        broken = moment.copy()
        if CORRUPTIONS[game][invariant](broken):
            corrupted += 1
            number = (
                broken.broken_by_the_step()
                if invariant >= FIRST_OF_A_STEP
                else int(soak_loop.check_at(broken.variant.rulesets, broken.states, 1))
            )
            assert soak.invariant_name(game, number) == invariant.name if number else False, (number, moment.after)
            if corrupted == 20:
                return
    assert corrupted > 0


# ---------------------------------------------------------------- whole runs


@cache
def broken_variant() -> Variant:
    return broken_card.GAME.variant(2, {"edition": "dlp", "max_turns": 400})


def play_broken(fault: int, decisions: int = 40_000) -> soak.Findings:
    states = broken_variant().new_states(soak_loop.NUM_STATES)
    states["fault"] = fault
    return soak.play(broken_variant(), soak.Job("card", 3, 5, decisions), states)


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (broken_card.GROWING_SCORE, "SCORE"),
        (broken_card.LOST_CARD, "ACTION_CARDS"),
        (broken_card.ALWAYS_LEGAL, "MASK_AGREES_WITH_IS_LEGAL"),
        (broken_card.HIGH_COUNT, "MASK_COUNT"),
        (broken_card.NOTHING_LEGAL, "NO_LEGAL_ACTION"),
        (broken_card.OTHER_SCORES, "SCORES_OF_THE_STATE"),
        (broken_card.ALWAYS_HIT_LIMIT, "HIT_LIMIT"),
        (broken_card.ASKING_CHANGES, "MASK_LEAVES_THE_STATE"),
        (broken_card.LEGAL_AFTER_THE_END, "LEGAL_ACTION_AFTER_THE_END"),
        (broken_card.OTHER_OWN_HAND, "SAMPLE_SHOWS_THE_SAME"),
        (broken_card.PEEKING_SAMPLE, "SAMPLE_OF_A_SAMPLE"),
        (broken_card.OTHER_ON_TURN, "SAMPLE_ON_TURN"),
        (broken_card.OTHER_MASK, "SAMPLE_HAS_THE_SAME_MASK"),
        (broken_card.SYMBOL_TOO_MANY, "SYMBOLS in a sample"),
    ],
)
def test_a_fault_in_the_rules_is_found_and_told(fault: int, name: str) -> None:
    findings = play_broken(fault)
    assert findings.broken[0].startswith(f"card game: {name} is broken after decision ")
    assert "seed 3, job 5, game " in findings.broken[1]
    assert "players 2, rules {'edition': 'dlp', 'max_turns': 400}" in findings.broken[2]


def test_the_same_game_without_a_fault_runs_clean() -> None:
    findings = play_broken(broken_card.NONE)
    assert not findings.broken
    assert findings.samples > 20


def test_a_game_that_does_not_end_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "longest_game", lambda variant: 10)
    findings = soak.play(broken_variant(), soak.Job("card", 3, 5, 1000))
    assert findings.broken[0] == "card game: GAME_ENDS is broken after decision 10"


def test_every_common_invariant_has_a_test() -> None:
    """Those above, by name."""
    found = {soak.invariant_name("card", int(invariant)) for invariant in CommonInvariant}
    tested = {
        mark.args[1][index][1] for mark in test_a_fault_in_the_rules_is_found_and_told.pytestmark for index in range(14)
    }
    assert found <= tested | {"GAME_ENDS"}


@pytest.mark.parametrize("game", GAMES)
def test_every_variant_in_every_style_runs_clean_and_meets_what_is_rare(game: str) -> None:
    total = soak.Findings()
    jobs = list(soak.all_jobs([game], 1, 200_000))
    soak.run_jobs(jobs, 1, {game: total})
    assert total.broken == ()
    assert total.decisions >= 200_000
    assert len({(str(job.table), job.style) for job in jobs}) == len(soak.tables_to_play(game)) * len(
        soak.styles_of(game)
    )
    events = soak.INVARIANTS[game].EVENTS
    assert [event for event, count in zip(events, total.tally, strict=False) if not count] == []


def test_the_same_games_whatever_the_processes() -> None:
    lines = []
    for processes in (1, 2):
        totals = {game: soak.Findings() for game in GAMES}
        soak.run_jobs([soak.Job(game, 4, number, 2000) for number in range(3) for game in GAMES], processes, totals)
        lines.append([(total.decisions, total.games, total.tally.tolist()) for total in totals.values()])
    assert lines[0] == lines[1]


def test_a_broken_invariant_is_printed_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what is printed as the way to get there again gets there again."""

    def broken_play(variant: Variant, job: soak.Job) -> soak.Findings:
        states = broken_variant().new_states(soak_loop.NUM_STATES)
        states["fault"] = broken_card.LOST_CARD
        return whole_play(broken_variant(), job, states)

    whole_play = soak.play
    monkeypatch.setattr(soak, "play", broken_play)
    assert soak.main(["--game", "card", "--decisions", "3000", "--processes", "1", "--seed", "9"]) == 1
    output = capsys.readouterr().out
    told = output[output.index("card game: ACTION_CARDS is broken") :]
    again = told.splitlines()[-1].removeprefix("  again: python -m tests.soak ").split()
    assert soak.main([*again, "--processes", "1"]) == 1
    assert capsys.readouterr().out.endswith(told)


def test_a_run_without_findings_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["--decisions", "4000", "--processes", "1"]) == 0
    output = capsys.readouterr().out
    for game in GAMES:
        assert f"{game} game: " in output
        for event in soak.INVARIANTS[game].EVENTS:
            assert event in output


def test_a_stopped_run_tells_what_it_has_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(jobs: Any, processes: int, totals: Any, progress: Any) -> None:
        totals["card"].add(soak.play(jobs[0].variant, jobs[0]))
        raise KeyboardInterrupt

    monkeypatch.setattr(soak, "run_jobs", stop)
    assert soak.main(["--game", "card", "--decisions", "1000"]) == soak.STOPPED
    assert capsys.readouterr().out.startswith("stopped; so far:\ncard game: 5")


@pytest.mark.parametrize("arguments", [["--decisions", "0"], ["--job", "3"], ["--first", "3"], ["--game", "chess"]])
def test_bad_options_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        soak.main(arguments)
    assert ended.value.code == 2
    assert arguments[0] in capsys.readouterr().err.splitlines()[-1]
