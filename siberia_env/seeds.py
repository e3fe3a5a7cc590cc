"""Seeds that follow from a seed and lead back to nothing, for whoever must not learn how the games are dealt."""

from __future__ import annotations

import hashlib

from siberia_env.core.rng import check_seed


def derived_seed(seed: int, stream: int, number: int) -> int:
    """A seed of its own for each (stream, number) under `seed`, 0 .. 2**64 - 1.

    A keyed hash (BLAKE2b): who is given one of them can compute neither `seed` nor the others from it. So an agent
    does not learn from the seed it is started with how the games are dealt. Whoever guesses `seed` itself does.

    Raises:
        ConfigurationError: `seed` is no seed.
    """
    key = int(check_seed(seed)).to_bytes(8, "little")
    message = stream.to_bytes(8, "little") + number.to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(message, digest_size=8, key=key).digest(), "little")
