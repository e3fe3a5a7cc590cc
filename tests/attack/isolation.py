"""Agents that mean harm play tournament games, each in its own process: `python -m tests.attack.isolation [HOW]...`.

Prints a JSON object for each way to do harm: who forfeited which games and why, whether the games that nobody forfeited
are those of a harmless agent, what the attacker has found out, and which of its processes are left.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from siberia_env.game import find_game
from siberia_experiments.tournament.game import NOBODY, Clock, Referee, Setting
from siberia_experiments.tournament.pool import make_apart
from siberia_experiments.tournament.processes import hide_memory, kill_orphans, take_in_orphans, tree
from siberia_experiments.tournament.run import Schedule
from tests import hostile

GAMES = 4
MOVE_SECONDS = 1.0
MEMORY = 700

#: Ways to do harm that end with a forfeit, and how its reason begins.
FORFEITS = {
    "exit later": "its process ended with exit code 7",
    "hold the lock": "took longer than 1 s for a move",
    "close files": "its process ended with exit code 1",
    "bomb": "",  # out of time or of memory, whichever comes first
    "eat": "",
    "eat in children": "used more than 700 MB of memory",
    "pool": "took longer than 1 s for a move",
    "answer early": "sent something that was not asked for",
    "send a pickle": "sent something that was not asked for",
    "send much": "sent something that was not asked for",
    "outlive": "took longer than 1 s for a move",
}
#: Ways that gain nothing, so that the game goes on as if nothing had happened.
VAIN = ("never", "frames", "rewrite", "child", "connect", *(("read the referee",) if os.getuid() else ()))
#: Ways whose outcome depends on which of two processes is quicker.
EITHER = ("fork",)


def attack(how: str) -> dict[str, Any]:
    """Play games with an agent that does harm in this way."""
    variant = find_game("card").variant(2, {"max_turns": 10})
    setting = Setting(variant, (f"tests.hostile:Hostile:{how.replace(' ', '_')}", "greedy"), 5, MOVE_SECONDS, MEMORY)
    harmless = Setting(variant, ("tests.hostile:Hostile", "greedy"), 5, 60.0)
    schedule = Schedule(2, 2, GAMES)
    hostile.notes().unlink(missing_ok=True)
    seconds = time.monotonic()
    table = Referee(setting, Clock([0.0] * Clock.SIZE), variant.new_states(), make_apart)
    try:
        results = [table.play(schedule.task(game)) for game in range(GAMES)]
    finally:
        table.close()
    kill_orphans(())
    seconds = time.monotonic() - seconds
    other = Referee(harmless, Clock([0.0] * Clock.SIZE), variant.new_states())
    expected = [other.play(schedule.task(game)) for game in range(GAMES)]
    told = hostile.notes().read_text(encoding="utf-8").splitlines() if hostile.notes().exists() else []
    return {
        "how": how,
        "forfeits": [result.task.seating[result.forfeit] for result in results if result.forfeit != NOBODY],
        "reasons": sorted({result.reason for result in results if result.forfeit != NOBODY}),
        "same": all(
            (result.scores, result.win_shares, result.moves) == (plain.scores, plain.win_shares, plain.moves)
            for result, plain in zip(results, expected, strict=True)
            if result.forfeit == NOBODY
        ),
        "found": sorted({line for line in told if not line.startswith("child")}),
        "left": [process for process in tree(os.getpid()) if process != os.getpid()],
        "outlived": [line for line in told if line.startswith("child") and Path(f"/proc/{line.split()[1]}").exists()],
        "seconds": round(seconds, 1),
    }


def fallen(told: dict[str, Any]) -> list[str]:
    """What is wrong with the outcome of an attack; nothing if it was repelled."""
    how = told["how"]
    faults = [name for name in ("found", "left", "outlived") if told[name]]
    if not told["same"]:
        faults.append("other games")
    if any(number != 0 for number in told["forfeits"]):
        faults.append("somebody else forfeits")
    if how in FORFEITS and (
        not told["forfeits"] or not all(reason.startswith(FORFEITS[how]) for reason in told["reasons"])
    ):
        faults.append("no such forfeit")
    if how in VAIN and told["forfeits"]:
        faults.append("forfeits")
    return faults


def main(ways: list[str]) -> int:
    """Try `ways`, or all of them; return how many have fallen."""
    take_in_orphans()
    hide_memory()
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        for how in ways or [*VAIN, *EITHER, *FORFEITS]:
            told = attack(how)
            told["fallen"] = fallen(told)
            count += bool(told["fallen"])
            print(json.dumps(told), flush=True)
    return count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
