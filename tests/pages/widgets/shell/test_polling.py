"""How often a run at work is drawn, by how many look."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pages.widgets.shell import polling


@pytest.mark.parametrize(("sessions", "seconds"), [(1, 1.0), (25, 1.0), (26, 2.0), (50, 2.0), (200, 8.0)])
def test_the_more_sessions_follow_runs_the_less_often_each_is_drawn(monkeypatch, sessions, seconds):
    monkeypatch.setattr(polling, "_followers", {})
    for n in range(sessions):
        context = SimpleNamespace(session_id=str(n))
        monkeypatch.setattr(polling, "get_script_run_ctx", lambda context=context: context)
        polling.choose_pace()
    assert polling.choose_pace() == seconds


def test_who_has_left_no_longer_counts(monkeypatch):
    monkeypatch.setattr(polling, "_followers", {str(n): 0.0 for n in range(100)})
    monkeypatch.setattr(polling.time, "monotonic", lambda: polling.FOLLOWER_S + 1)
    assert polling.choose_pace() == polling.POLL_S and len(polling._followers) == 1
