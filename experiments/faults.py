"""Words for what an agent has done wrong, always in one printable line, whatever the agent returns or raises."""

from __future__ import annotations

from typing import Any

LONGEST_REASON = 200  #: characters
LONGEST_LINE = 2000  #: characters of an error message on the command line


def printable(text: str) -> str:
    """`text` with line breaks as they are, and other signs that a terminal would obey or can't show as `\\x1b`."""
    return "".join(
        sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode() for sign in text
    )


def one_line(text: str) -> str:
    """`text` as one printable line, cut if it is very long."""
    line = printable(" ".join(text.splitlines()))
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3] + "..."


def described(error: BaseException) -> str:
    """Say in one line what went wrong."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # an agent's own error class may fail to give its message
        text = ""
    name = type(error).__name__
    return shortened(f"{name}: {text}" if text else name)


def shown_as(answer: Any) -> str:
    """An agent's answer, as a message shows it."""
    try:
        return repr(answer)
    except Exception:  # the answer is an object of the agent's own, or a number with too many digits to write
        return type(answer).__name__


def shortened(text: str) -> str:
    """Make `text` fit into a table: replace what can't be printed or encoded, and cut it if it is too long."""
    text = "".join(sign if sign.isprintable() else "?" for sign in text[: LONGEST_REASON + 1])
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."
