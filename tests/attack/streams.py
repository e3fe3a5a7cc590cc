"""Standard streams that are closed or full, and Ctrl-C at any moment: the real command, from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.processes import import_path

COMMAND = [sys.executable, "-m", "siberia_experiments.entry"]
LINES = (
    ["--help"],
    ["--version"],
    ["evaluate", "card", "--games", "20"],
    ["record", "card", "--games", "2", "--out", "games.jsonl"],
    ["replay", "games.jsonl"],
    ["evaluate", "card", "--games", "0"],
)
#: How the shell closes or fills a stream, and the exit codes that may follow.
STREAMS = {
    ">&-": (0, 1, 2),
    "2>&-": (0, 2),
    "<&-": (0, 2),
    ">/dev/full": (0, 2),
    "2>/dev/full": (0, 1, 2),
    ">/dev/full 2>/dev/full": (0, 1, 2),
    "| head -c 10": (0,),
}
ALLOWED = (0, 2, 130, -signal.SIGINT)  #: exit codes after Ctrl-C; the last where Python itself was still starting


def run(words: list[str], redirect: str, folder: Path) -> tuple[int, str]:
    """The exit code, and what reached stderr."""
    done = subprocess.run(
        ["bash", "-c", f'"$@" {redirect}', "bash", *COMMAND, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": import_path()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stderr


def attack_streams() -> tuple[int, list[str]]:
    """Every command with every stream; return how many, and what fell."""
    tried, fallen = 0, []
    with tempfile.TemporaryDirectory() as folder:
        run(LINES[3], "", Path(folder))
        for words in LINES:
            for redirect, codes in STREAMS.items():
                tried += 1
                code, told = run(words, redirect, Path(folder))
                if code not in codes or "Traceback" in told or "Exception ignored" in told:
                    fallen.append(f"{' '.join(words)} {redirect}: {code} {told[-300:]}")
    return tried, fallen


def moments(count: int) -> Iterator[float]:
    """Moments of the first seconds of a command, half of them in the first half second."""
    for number in range(count):
        yield 0.5 * number / count if number % 2 else 3.0 * number / count


def attack_interrupts(count: int) -> tuple[int, list[str]]:
    """Ctrl-C at `count` moments; return how many, and what fell."""
    fallen = []
    with tempfile.TemporaryDirectory() as folder:
        for number, moment in enumerate(moments(count)):
            words = (
                ["evaluate", "card", "--games", "2000"],
                ["train", "card", "--minutes", "1", "--out", f"r{number}"],
            )
            process = subprocess.Popen(
                [*COMMAND, *words[number % 2]],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": import_path()},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            try:
                _, told = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                _, told = process.communicate()
                told += "it ignores Ctrl-C"
            early = moment < 0.15  # Python itself is still starting, and says so in its own words
            if (process.returncode not in (*ALLOWED, 1)) or ("Traceback" in told and not early) or "ignores" in told:
                fallen.append(f"{' '.join(words[number % 2])} after {moment:.2f} s: {process.returncode} {told[-400:]}")
    return count, fallen
