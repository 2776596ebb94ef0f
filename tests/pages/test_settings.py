"""The Settings screen: what is active, really checked, and no secret on it."""

from __future__ import annotations

import pytest

from agent.workbench import Workbench
from pages.widgets import door
from tests.pages.conftest import shown
from tests.web.model_server import ModelServer

pytestmark = pytest.mark.slow


def test_everything_active_is_named_and_nothing_is_hidden(app):
    tester = app("settings")
    assert not tester.exception
    text = shown(tester)
    for words in ("No model", "DuckDuckGo", "Google", "GOOGLE_API_KEY", "demo", "TOUCHSTONE_DATA", "Working time"):
        assert words in text, words


def test_the_check_of_an_engine_tells_the_truth(app):
    tester = app("settings")
    tester.button(key="settings-check-engine-duckduckgo").click().run()
    assert tester.warning and not tester.success


def test_a_model_is_named_and_checked_and_its_key_is_not_shown(app, monkeypatch):
    with ModelServer(lambda request: "ready", models=["strong-one"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-canary")
        monkeypatch.setenv("GOOGLE_API_KEY", "goog-canary")
        door.close()
        tester = app("settings")
        assert "strong-one" in shown(tester)
        tester.button(key="settings-check-model").click().run()
        assert server.requests
        everything = shown(tester) + repr(tester.main)
        assert "canary" not in everything
        assert isinstance(door.workbench(), Workbench)
