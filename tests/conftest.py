"""What all tests share: hypothesis without deadlines (the first call of a kernel compiles it)."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "siberia", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("siberia")
