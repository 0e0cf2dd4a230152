"""What holds for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# A slow machine is no failure; and in CI the same commit gets the same examples.
settings.register_profile("arena", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("arena")
