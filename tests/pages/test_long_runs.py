"""A long run draws no more than a shorter one, whichever tab is open: lists come in pages."""

from __future__ import annotations

import pytest

from agent.types import Status
from bench.long_runs import Writer
from pages.widgets.research import run
from tests.pages.conftest import open_tab

pytestmark = pytest.mark.slow


def test_every_tab_of_a_long_run_draws_as_much_as_that_of_a_shorter_one(app, bench):
    drawn: dict[str, list[tuple[int, int]]] = {name: [] for name in run.TABS}
    for size in (100, 150):
        tester = app(run=Writer(bench.store, size, 1).write(Status.REVIEW))
        for name in run.TABS:
            text = open_tab(tester, name)
            assert not tester.exception
            drawn[name].append((sum(1 for _ in tester.main), len(text)))
    for name, ((few, short), (many, long)) in drawn.items():
        assert many <= few * 1.1 and long <= short * 1.2, (
            f"{name}: {few} elements of {short} characters, in the long run {many} of {long}"
        )
