"""What holds for all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import trustme
from hypothesis import settings

# A slow machine is no failure; and in CI the same commit gets the same examples.
settings.register_profile("arena", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("arena")

# A shell that starts them in the background lets them ignore Ctrl-C, and with them every command that they interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def authority(tmp_path: Path) -> trustme.CA:
    """Vouches by `ca.pem`; `stranger.pem` is another's, `none.pem` nobody's."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "ca.pem")
    trustme.CA().cert_pem.write_to_path(tmp_path / "stranger.pem")
    (tmp_path / "none.pem").write_text("no certificate")
    return made
