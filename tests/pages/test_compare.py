"""The screen of two runs side by side, by its address; and a step's form in a run, whole."""

from __future__ import annotations

import pytest

from tests.pages.conftest import shown

pytestmark = pytest.mark.slow


def test_two_runs_by_their_address_and_none_when_one_is_missing(app, demo, bench):
    one = demo()
    two = bench.act(one, "fork", step=3)
    bench.drive(two)
    tester = app("compare", run=one, **{"with": two})
    assert not tester.exception and "The answers, sentence by sentence" in shown(tester)
    assert "Two runs are needed" in shown(app("compare"))
    assert "there is no run nobody" in shown(app("compare", run=one, **{"with": "nobody"}))
