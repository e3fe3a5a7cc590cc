"""Digests of the files that a tournament's agents play from. An agent whose files have changed is another agent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from siberia_agents.registry import agent_files
from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant
from siberia_env.installation import nearby

#: The files of one agent: the digest of each by its path, in a fixed order.
Digests: TypeAlias = Mapping[str, str]


def digests_of(specs: Iterable[str], variant: Variant) -> dict[str, Digests]:
    """Return the digests of every agent, by spec; none for an agent that consists of the suite's code alone.

    Raises:
        ConfigurationError: there is no such agent, or a file can't be read.
        ModelError: no model for `variant` comes with the suite, and a spec names none.
    """
    return {
        spec: {nearby(path).removeprefix("./"): _digest(spec, path) for path in agent_files(spec, variant)}
        for spec in specs
    }


def _digest(spec: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigurationError(f"agent {spec!r}: can't read {path}: {error.strerror}") from error


def changed_files(before: Digests, now: Digests) -> list[str]:
    """List the files in which `now` differs from `before`. The same contents at another path are no difference."""
    if list(before.values()) == list(now.values()):
        return []
    return [path for path in {**now, **before} if now.get(path) != before.get(path)]
