"""What can go wrong at the suite's own doors, one class a kind.

Each is a `ValueError`, but for `MissingExtraError`, which is an `ImportError`.
"""

from __future__ import annotations

from siberia_env.installation import install_command


class SiberiaError(ValueError):
    """Base of every error the suite raises for input it can't use."""


class ConfigurationError(SiberiaError):
    """A player count, a rule option or a component table that no game can be set up with."""


class RenderModeError(ConfigurationError, TypeError):
    """A render mode that an environment does not have.

    A `TypeError` too: `make_vec_env` of stable-baselines3 asks every environment for `"rgb_array"`, and does without
    only where that raises a `TypeError`.
    """


class IllegalActionError(SiberiaError):
    """An action the rules don't allow now, or that is no action at all. The state is as it was."""


class ActionOutOfBoundsError(IllegalActionError, AssertionError):
    """What was given as an action is none: an `AssertionError` too, as with PettingZoo's `AssertOutOfBoundsWrapper`."""


class RecordError(SiberiaError):
    """A game record that is damaged, edited, or of another format. The message starts with the line number."""


class ModelError(SiberiaError):
    """A saved model that is damaged, or was made for another game, player count or version."""


class MissingExtraError(ImportError):
    """A part of the suite needs an optional extra that is not installed."""


def missing_extra(extra: str, purpose: str, missing: str | None) -> MissingExtraError:
    """The one sentence a user needs when an optional dependency is absent."""
    return MissingExtraError(
        f"{purpose} needs the optional extra {extra!r} ({missing or 'a package'} is not installed): "
        + install_command(extra),
        name=missing,
    )
