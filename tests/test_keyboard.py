"""Reading from a terminal: no Ctrl-C is lost, whenever it comes; lines can be edited; the terminal stays in order."""

from __future__ import annotations

import random
import signal
import time
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest

from siberia_experiments.play.keyboard import Keyboard
from tests.terminal import CTRL_C, CTRL_D, LEFT, TAB, UP, Terminal, plain

PROMPT = "line?"

#: Reads lines until Ctrl-C or Ctrl-D, as often as it is told, and says what it got.
READS = """
import sys
from siberia_experiments.play.keyboard import Keyboard
for number in range(int(sys.argv[1])):
    try:
        with Keyboard() as keyboard:
            keyboard.offer(["mine gold", "mine gas", "hire worker"])
            while True:
                print("got", repr(line := keyboard.read("line? ")), flush=True)
                if line == "next":
                    keyboard.forget_lines()
    except KeyboardInterrupt:
        print("heard", number, flush=True)
    except EOFError:
        print("end", number, flush=True)
"""


def reading(folder: Path, times: int = 1, **settings: str) -> Terminal:
    return Terminal(folder, PROMPT, "-c", READS, str(times), **settings)


# ---------------------------------------------------------------- Ctrl-C


def test_no_ctrl_c_is_lost_right_after_a_prompt_or_a_line(tmp_path: Path) -> None:
    rng = random.Random(1)
    with reading(tmp_path, 60) as terminal:
        for number in range(60):
            terminal.wait()
            before = "a line\n" if number % 3 == 2 else ""
            time.sleep(rng.choice((0.0, 0.0, 0.001, 0.01)))
            terminal.send(before + CTRL_C)
            terminal.wait(f"heard {number}\n")
        assert terminal.code() == 0


#: Another thread notes a Ctrl-C for the main thread and does not wake it: so it is when a Ctrl-C comes just before
#: the main thread begins to wait.
UNNOTICED = """
import _thread, os, sys, threading
from siberia_experiments.play.keyboard import Keyboard
if sys.argv[1] == "elsewhere":
    sys.stdout = open(os.devnull, "w")
try:
    with Keyboard() as keyboard:
        threading.Timer(0.5, _thread.interrupt_main).start()
        keyboard.read("line? ")
except KeyboardInterrupt:
    print("heard", file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("output", "kind"), [("here", "xterm-256color"), ("here", "dumb"), ("elsewhere", "xterm-256color")]
)
def test_a_ctrl_c_just_before_the_wait_for_a_key_is_heard(tmp_path: Path, output: str, kind: str) -> None:
    with Terminal(tmp_path, PROMPT, "-c", UNNOTICED, output, TERM=kind) as terminal:
        terminal.wait("heard")
        assert terminal.code() == 0


def test_ctrl_c_is_heard_by_a_program_that_was_started_in_the_background(tmp_path: Path) -> None:
    """A shell without job control starts such programs, and all that they start, deaf to Ctrl-C."""
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    with Terminal(tmp_path, PROMPT, "-c", deaf + READS, "1") as terminal:
        terminal.wait()
        terminal.send(CTRL_C)
        terminal.wait("heard 0")
        assert terminal.code() == 0


def test_a_ctrl_c_that_was_swallowed_is_heard_at_the_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("one\ntwo\n"))
    with Keyboard() as keyboard:
        assert keyboard.read("") == "one"
        with suppress(KeyboardInterrupt):  # such as code that is called when an object goes away
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            keyboard.read("")


def test_the_handler_of_signals_is_the_one_from_before_when_all_is_read() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Keyboard():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


# ---------------------------------------------------------------- lines


def test_a_line_is_edited_and_completed_and_an_earlier_one_comes_back(tmp_path: Path) -> None:
    with reading(tmp_path) as terminal:
        terminal.wait()
        assert "got 'mine gold'" in plain(terminal.type(f"mine old{LEFT * 3}g"))
        assert "got 'mine gold 2'" in plain(terminal.type(f"{UP} 2"))
        assert "got ''" in plain(terminal.type(""))
        assert "got 'hire worker'" in plain(terminal.type(f"h{TAB}"))
        assert "got 'mine gold'" in plain(terminal.type(f"m go{TAB}"))
        assert "got 'mine ga'" in plain(terminal.type(f"mi{TAB}a"))  # as far as all that it could be agree
        assert "got 'next'" in plain(terminal.type("next"))
        assert "got ''" in plain(terminal.type(UP))
        assert "end 0" in plain(terminal.press(CTRL_D))
        assert terminal.code() == 0


def test_a_terminal_that_cannot_edit_gets_no_controls(tmp_path: Path) -> None:
    with reading(tmp_path, TERM="dumb") as terminal:
        terminal.wait("line?")
        terminal.send("mine gold\n")
        terminal.wait("got 'mine gold'")
        terminal.send(CTRL_D)
        terminal.wait("end 0")
        assert terminal.code() == 0
        assert "\x1b" not in terminal.screen


#: Reads a line, forgets what else was typed, and compares the terminal's settings with those from before.
FORGETS = """
import sys, termios, time
from siberia_experiments.play.keyboard import Keyboard
before = termios.tcgetattr(0)
with Keyboard() as keyboard:
    for _ in range(2):
        print("got", repr(keyboard.read("line? ")), flush=True)
        assert termios.tcgetattr(0) == before
        keyboard.forget()
"""


def test_what_was_typed_too_early_is_forgotten_and_the_terminal_is_as_before(tmp_path: Path) -> None:
    with Terminal(tmp_path, PROMPT, "-c", FORGETS) as terminal:
        terminal.wait()
        assert "got 'one'" in plain(terminal.type("one\nand two\nand"))
        assert "got 'three'" in plain(terminal.type("three"))
        assert terminal.code() == 0


def test_in_a_pipe_the_prompt_and_nothing_else_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("one\n\ntwo"))
    with Keyboard() as keyboard:
        assert [keyboard.read("a? "), keyboard.read("b? "), keyboard.read("c? ")] == ["one", "", "two"]
        with pytest.raises(EOFError):
            keyboard.read("d? ")
    assert capsys.readouterr().out == "a? b? c? d? "
