"""Runs programs in a terminal, and does there what a person does: look at the screen, type, press Ctrl-C."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
from pathlib import Path

from tests.processes import PATIENCE, Deadline, import_path

WIDTH = 80

#: A script that makes the terminal its own, so that it receives Ctrl-C there, and then becomes the program.
IN_THE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
ASKING = "\x1b[?2004h"  #: the line editor sends this before each prompt, but not when it draws the line again
CTRL_C, CTRL_D, TAB, LEFT, UP = "\x03", "\x04", "\t", "\x1b[D", "\x1b[A"


def plain(text: str) -> str:
    """The text of a screen without colours, other controls, and spaces at its end."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\x01\x02\r]", "", text).rstrip(" ")


class Terminal:
    """Python with `arguments` in a terminal. When the program asks for input, its text ends with `prompt`."""

    def __init__(self, folder: Path, prompt: str, *arguments: str, rows: int = 24, **settings: str) -> None:
        self.prompt = prompt
        environment = {**os.environ, "PYTHONPATH": import_path(), "TERM": "xterm-256color", **settings}
        for name in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR"):
            if name not in settings:
                environment.pop(name, None)
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (rows, WIDTH))
        self.child = subprocess.Popen(
            [sys.executable, "-c", IN_THE_TERMINAL, *arguments],
            cwd=folder,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._received = b""
        self._seen = 0  # number of characters of the screen that `wait` has returned

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(PATIENCE)
        os.close(self.master)

    def wait(self, text: str = "") -> str:
        """Wait for `text`, by default for the next prompt, or for the end; return what comes up to there."""

        def there() -> bool:
            if text:
                return text in self._unread()
            return plain(self._unread().partition(ASKING)[2]).endswith(self.prompt)

        deadline = Deadline(self.child.pid)
        while not there():
            if not select.select([self.master], [], [], 1)[0]:
                assert deadline.left() > 0, f"no answer; so far: {self._unread()}"
                continue
            try:
                read = os.read(self.master, 65536)
            except OSError:  # the child has closed the terminal
                read = b""
            if not read:
                break
            self._received += read
        before, found, _ = self._unread().partition(text) if text else (self._unread(), "", "")
        self._seen += len(before + found)
        return before + found

    @property
    def screen(self) -> str:
        """Everything that the program has written so far."""
        return self._received.decode("utf-8", errors="replace").replace("\r\n", "\n")

    def _unread(self) -> str:
        return self.screen[self._seen :]

    def send(self, keys: str) -> None:
        """Press keys."""
        os.write(self.master, keys.encode())

    def press(self, keys: str) -> str:
        """Press keys, and return what comes up to the next prompt."""
        self.send(keys)
        return self.wait()

    def type(self, text: str) -> str:
        """Type a line, and return what comes up to the next prompt."""
        return self.press(text + "\n")

    def code(self) -> int:
        """Wait until the program, which has to be at its end, exits; return its exit code."""
        return self.child.wait(PATIENCE)
