"""The picture of a flow with a run's way through it."""

from __future__ import annotations

from pages.widgets.run import flow_diagram


def test_a_way_is_told_in_words_and_a_long_one_counted():
    assert flow_diagram.describe_path([]) == "No step is taken yet."
    assert flow_diagram.describe_path(["decide", "rewrite_retry"]) == "Workflow: decide → rewrite retry"
    assert (
        flow_diagram.describe_path(["decide", "search"] * 9 + ["report"])
        == "Workflow: decide 9 times, search 9 times, report"
    )
