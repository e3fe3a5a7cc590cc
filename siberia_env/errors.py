"""The errors that the suite raises, one class for each kind.

Each is a `ValueError`, except `MissingExtraError`, which is an `ImportError`.
"""

from __future__ import annotations

from siberia_env.installation import install_command


class SiberiaError(ValueError):
    """The base class of the errors that the suite raises for input it can't use."""


class ConfigurationError(SiberiaError):
    """An argument is invalid, such as a player count, a rule option or a component table."""


class RenderModeError(ConfigurationError, TypeError):
    """An environment does not have the render mode.

    This is a `TypeError` too: `make_vec_env` of stable-baselines3 asks every environment for `"rgb_array"`, and goes on
    without it only if that raises a `TypeError`.
    """


class IllegalActionError(SiberiaError):
    """The rules don't allow the action now, or it is no action at all. The state stays as it was."""


class ActionOutOfBoundsError(IllegalActionError, AssertionError):
    """There is no such action. An `AssertionError` too, as PettingZoo's `AssertOutOfBoundsWrapper` raises."""


class RecordError(SiberiaError):
    """A game record is damaged, edited or of another format. The message starts with the line number."""


class ModelError(SiberiaError):
    """A saved model is damaged, or was made for another game, player count or version."""


class MissingExtraError(ImportError):
    """A part of the suite needs an optional extra that is not installed."""


def missing_extra(extra: str, purpose: str, missing: str | None) -> MissingExtraError:
    """The error that tells how to install the optional extra that `purpose` needs."""
    return MissingExtraError(
        f"{purpose} needs the optional extra {extra!r} ({missing or 'a package'} is not installed): "
        + install_command(extra),
        name=missing,
    )
