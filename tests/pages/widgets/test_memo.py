"""What is worked out once a state."""

from __future__ import annotations

from pages.widgets import memo


def test_it_is_made_once_a_state(bench, demo):
    made: list[int] = []
    view = bench.view(demo())
    for _ in range(3):
        assert memo.of(view, "test", lambda: made.append(1) or "told") == "told"
    assert memo.of(view, "other", lambda: 5) == 5 and len(made) == 1
    bench.accept(view.run.id, view.head)
    assert memo.of(bench.view(view.run.id), "test", lambda: made.append(1) or "anew") == "anew"
    for n in range(memo.KEPT + 5):
        memo.of(view, f"n{n}", lambda: 0)
    assert len(memo._kept) == memo.KEPT
