"""How messages tell what an agent has done wrong: in one printable line, whatever the agent gives."""

from __future__ import annotations

from typing import Any

LONGEST_REASON = 200  #: characters


def described(error: BaseException) -> str:
    """What went wrong, in one line."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # an agent's own error may fail to tell its message
        text = ""
    name = type(error).__name__
    return shortened(f"{name}: {text}" if text else name)


def shown_as(answer: Any) -> str:
    """An agent's answer in a message."""
    try:
        return repr(answer)
    except Exception:  # an object of the agent's, or a number with too many digits to be written
        return type(answer).__name__


def shortened(text: str) -> str:
    """`text` as a table can hold it: what can't be printed or encoded replaced, cut where it is too long."""
    text = "".join(sign if sign.isprintable() else "?" for sign in text[: LONGEST_REASON + 1])
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."
