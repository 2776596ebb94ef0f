"""Waiting for what another thread or process brings about."""

from __future__ import annotations

import threading
from collections.abc import Callable


def wait_for(is_met: Callable[[], object]) -> None:
    """Wait until it is so, at most a minute."""
    pause = threading.Event()
    assert any(is_met() or pause.wait(0.01) for _ in range(6000))
