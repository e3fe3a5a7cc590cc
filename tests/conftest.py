"""What all tests share: hypothesis without deadlines (the first call of a kernel compiles it), and both games."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import HealthCheck, settings

from siberia_env import pictures
from tests.games import CASES, GameCase

settings.register_profile(
    "siberia", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("siberia")


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> GameCase:
    """Each of the games, for tests of what is written once for both."""
    found: GameCase = request.param
    return found


@pytest.fixture
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures in pixels are drawn a tenth as wide and high, for tests that need many of them."""
    monkeypatch.setattr(pictures, "rgb_array", partial(pictures.rgb_array, scale=0.1))
