"""Samples follow the distribution that docs/card/rules.md tells, compared with an exact Bayes filter on small decks."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from siberia_env.card.components import KINDS
from siberia_env.core import engine
from tests.card.bayes import distances
from tests.card.helpers import lay_out
from tests.table import PLAYER_COUNTS

SAMPLES = 8000


@pytest.mark.parametrize("edition", ["dlp", "digital"])
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_samples_follow_the_promised_distribution(players: int, edition: str) -> None:
    """Exactly with two players, and before the first reshuffle; otherwise closely, and never what is ruled out."""
    exact, close = [], []
    for found in distances(players, edition, seed=5, decisions=110, every=5, samples=SAMPLES):
        assert found.impossible == 0
        (exact if players == 2 or found.reshuffles == 0 else close).append(found)
    assert len(exact) >= 3
    for found in exact:
        assert found.promised < 3 * found.noise + 0.02
    assert np.mean([found.promised - found.noise for found in exact]) < 0.01
    if players > 2:
        assert len(close) >= 5
        assert np.mean([found.promised for found in close]) < 0.05


def test_a_payment_tells_no_more_than_that_its_cards_were_there() -> None:
    """From five fresh cards two kinds are paid. How likely the hand has another card of the first, by counting."""
    hand = ["gold/worker", "gold/salesman", "oil/worker", "gas/salesman", "oil/investor"]
    own = ["gas/worker", "charcoal/worker", "charcoal/salesman", "diamond/worker", "diamond/investor"]
    table = lay_out(2, hands={0: own, 1: hand}, row=["gold 3000"], player=1)
    table.play("mine gold", "pay gold/worker", "pay gold/salesman")
    chance, total = 0.0, 0
    for first in range(1, 5):
        for second in range(1, min(4, 5 - first) + 1):
            ways = comb(4, first) * comb(4, second) * comb(47, 5 - first - second)
            total += ways
            chance += ways * (1.0 if first >= 2 else (4 - first) / 50)
    samples, kind = 20_000, KINDS.index("gold/worker")
    sampled = np.repeat(table.states, samples)
    engine.determinize_batch(table.variant.rulesets, sampled, np.zeros(samples, np.int8), np.uint64(1))
    found = np.mean(sampled["hand"][:, 1, kind] > 0)
    assert abs(found - chance / total) < 4 * np.sqrt(found * (1 - found) / samples)
