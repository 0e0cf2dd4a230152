"""What holds for all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# A slow machine is no failure; and in CI the same commit gets the same examples.
settings.register_profile("arena", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("arena")

# A shell that starts them in the background lets them ignore Ctrl-C, and with them every command that they interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
