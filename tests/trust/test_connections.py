"""No flow opens a connection that no policy names; both ways to see them see what the flows open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.trust import cases_connections
from tests.trust.scorecard import Bench

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("by_kernel", [True, False])
def test_no_connection_without_a_policy(monkeypatch: pytest.MonkeyPatch, by_kernel: bool) -> None:
    by_kernel = by_kernel and cases_connections.can_trace()  # without strace both times by Python's own hooks
    monkeypatch.setattr(cases_connections, "can_trace", lambda: by_kernel)
    result = cases_connections.connections(Bench())
    assert result.misses == [] and result.n >= 3


@pytest.mark.parametrize("by_kernel", [True, False])
def test_a_connection_of_a_child_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_kernel: bool
) -> None:
    stray = "import socket; socket.socket().connect_ex(('127.0.0.1', 9))"
    module = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {json.dumps(stray)!s}])\n"
    (tmp_path / "stray_flow.py").write_text(module)
    monkeypatch.setattr(cases_connections, "ROOT", tmp_path)
    by_kernel = by_kernel and cases_connections.can_trace()
    seen, error = cases_connections.trace(tmp_path, "stray_flow", by_kernel=by_kernel)
    assert ("127.0.0.1", 9) in seen and not error
