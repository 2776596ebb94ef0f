"""What is worked out once a state."""

from __future__ import annotations

from pages.widgets.shell import view_cache


def test_it_is_made_once_a_state(bench, demo):
    made: list[int] = []
    view = bench.snapshot(demo())
    for _ in range(3):
        assert view_cache.get_or_compute(view, "test", lambda: made.append(1) or "told") == "told"
    assert view_cache.get_or_compute(view, "other", lambda: 5) == 5 and len(made) == 1
    bench.act(view.run.id, "accept", view.head)
    assert (
        view_cache.get_or_compute(bench.snapshot(view.run.id), "test", lambda: made.append(1) or "anew")
        == "anew"
    )
    for n in range(view_cache.MAX_ENTRIES + 5):
        view_cache.get_or_compute(view, f"n{n}", lambda: 0)
    assert len(view_cache._cache) == view_cache.MAX_ENTRIES
