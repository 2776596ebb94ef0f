"""The list of runs: found, opened, deleted and taken back."""

from __future__ import annotations

import pytest

from tests.pages.conftest import shown

pytestmark = pytest.mark.slow


def test_an_empty_list_says_what_to_do(app):
    assert "Ask a question on the Research page" in shown(app("runs"))


def test_many_runs_come_in_pages(app, bench, monkeypatch):
    for number in range(30):
        bench.start(f"Question {number}?")
    tester = app("runs")
    assert sum(button.key.startswith("runs-delete-") for button in tester.button) == 25
    tester.button(key="runs-show-more").click().run()
    assert sum(button.key.startswith("runs-delete-") for button in tester.button) == 30
