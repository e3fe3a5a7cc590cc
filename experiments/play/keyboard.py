"""What a person types: lines, and a Ctrl-C that is heard at any moment.

Python alone loses a Ctrl-C that comes between its last look at signals and the wait for the next key: the wait goes
on until another key is pressed. So whoever waits here wakes up every `BLINK` seconds and looks for it.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.input import Input

BLINK = 0.1  #: seconds between two looks whether what is waited for has come


class Keyboard:
    """Reads lines from a terminal, with editing and history, or from a pipe.

    While it is entered (`with Keyboard() as keyboard:`), Ctrl-C raises `KeyboardInterrupt` in the main thread, once
    it has been pressed also at each later `read`: code in between that swallows the first one can't hide it.
    """

    def __init__(self) -> None:
        self._editor = None if _is_plain() else _Editor()
        self._pressed = False
        self._editing = False
        self._handler_before: Any = None

    def __enter__(self) -> Keyboard:
        if threading.current_thread() is threading.main_thread():  # no other one may ask for signals
            self._handler_before = signal.signal(signal.SIGINT, self._on_ctrl_c)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handler_before is not None:
            signal.signal(signal.SIGINT, self._handler_before)

    def _on_ctrl_c(self, number: int, frame: FrameType | None) -> None:
        self._pressed = True
        if not self._editing:  # the editor looks itself, and leaves the terminal as it found it
            raise KeyboardInterrupt

    def read(self, prompt: str) -> str:
        """The next line.

        Raises:
            EOFError: there are no more lines, or Ctrl-D was pressed.
            KeyboardInterrupt: Ctrl-C was pressed, now or earlier.
        """
        if self._pressed:
            raise KeyboardInterrupt
        if self._editor is None:
            return _plain_line(prompt)
        self._editing = True
        try:
            return self._editor.line(prompt, lambda: self._pressed)
        finally:
            self._editing = False
            if self._pressed:
                raise KeyboardInterrupt

    def offer(self, words: Sequence[str]) -> None:
        """Complete what is typed next to one of `words` (Tab). `mi go` too can become `mine gold`."""
        if self._editor is not None:
            self._editor.words = tuple(words)

    def forget_lines(self) -> None:
        """Forget the earlier lines, because somebody else takes the keyboard."""
        if self._editor is not None:
            self._editor.forget_lines()

    def forget(self) -> None:
        """Drop what has been typed and not been read."""
        if sys.stdin.isatty():
            with suppress(ImportError):  # no such thing on Windows
                import termios

                termios.tcflush(sys.stdin, termios.TCIFLUSH)
        if self._editor is not None:
            self._editor.forget()


def begins(name: str, text: str) -> bool:
    """Whether each word of `text` is the beginning of the word of `name` in its place."""
    words, typed = name.lower().split(), text.lower().split()
    return len(typed) <= len(words) and all(map(str.startswith, words, typed))


def _is_plain() -> bool:
    """Whether lines are read without editing: in a pipe, and in a terminal that can do no more."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    from prompt_toolkit.utils import is_dumb_terminal

    return is_dumb_terminal()


def _plain_line(prompt: str) -> str:
    print(prompt, end="", flush=True)
    if sys.stdin.isatty() and sys.platform != "win32":
        while not select.select([sys.stdin], [], [], BLINK)[0]:
            pass
    return input()


class _Editor:
    """Line editing, history and completion, by prompt_toolkit."""

    words: tuple[str, ...] = ()  # what can be typed

    @cached_property
    def _session(self) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.output.defaults import create_output
        from prompt_toolkit.shortcuts import CompleteStyle

        editor = self

        class Words(Completer):
            def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
                typed = document.text_before_cursor
                for word in editor.words:
                    if begins(word, typed):
                        yield Completion(word, start_position=-len(typed))

        output = create_output()
        # Asking the terminal where its cursor is would be answered among the keys, or never.
        output.enable_cpr = False  # type: ignore[attr-defined]
        return PromptSession(
            input=_terminal_input(),
            output=output,
            enable_suspend=True,
            completer=Words(),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,  # any other needs room below the line
        )

    def line(self, prompt: str, is_over: Callable[[], bool]) -> str:
        """The next line; raises `KeyboardInterrupt` as soon as `is_over` says so."""
        app = self._session.app

        async def watch() -> None:
            while not is_over():
                await asyncio.sleep(BLINK)
            if not app.is_done:
                app.exit(exception=KeyboardInterrupt)

        def start() -> None:
            app.create_background_task(watch())

        return self._session.prompt(prompt, pre_run=start, handle_sigint=False)

    def forget_lines(self) -> None:
        """Begin a new history."""
        from prompt_toolkit.history import InMemoryHistory

        self._session.history = self._session.default_buffer.history = InMemoryHistory()

    def forget(self) -> None:
        """Drop what was typed behind the end of the last line."""
        from prompt_toolkit.input.typeahead import clear_typeahead

        clear_typeahead(self._session.input)


def _terminal_input() -> Input:
    """The keys of the terminal, but for Ctrl-C: it stays a signal while a line is edited, as it is in between.

    As a key it could be lost where the editor stops reading keys and the terminal has not yet been told.
    """
    if sys.platform == "win32":
        from prompt_toolkit.input.defaults import create_input

        return create_input()

    import termios

    from prompt_toolkit.input.vt100 import Vt100Input

    class Keys(Vt100Input):
        @contextmanager
        def raw_mode(self) -> Iterator[None]:
            before = termios.tcgetattr(self.fileno())
            flags_in, flags_out, control, local, speed_in, speed_out, signs = before
            # No line discipline: Return, Ctrl-S, Ctrl-Q and all other keys come as they are, at once, without echo.
            flags_in &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
            local &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
            local |= termios.ISIG
            signs = list(signs)
            signs[termios.VMIN], signs[termios.VTIME] = 1, 0
            for other_signal in (termios.VQUIT, termios.VSUSP):
                signs[other_signal] = os.fpathconf(self.fileno(), "PC_VDISABLE").to_bytes(1, sys.byteorder)
            ours = [flags_in, flags_out, control, local, speed_in, speed_out, signs]
            termios.tcsetattr(self.fileno(), termios.TCSANOW, ours)
            try:
                yield
            finally:
                with suppress(termios.error):  # the terminal is gone
                    termios.tcsetattr(self.fileno(), termios.TCSANOW, before)

    return Keys(sys.stdin)
