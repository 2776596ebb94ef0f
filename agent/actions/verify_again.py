"""Verifying an answer again: whether its quotes still stand on their pages, looked up by a run of its own."""

from __future__ import annotations

from agent.actions.commit import ActionContext
from agent.types import Settings


def verify_again(bench: ActionContext, run_id: str) -> str:
    """Fetch the pages that the answer quotes once more, in a new run, and tell of each quote whether it still
    stands there; returns the id of that run. No model is asked."""
    view = bench.snapshot(run_id)
    sources = view.state.answer.sources if view.state.answer else ()
    settings = Settings(flow="verify_again", world=view.run.settings.world, model="keyless", verifies=run_id)
    return bench.start(view.run.question, settings.replace(max_pages=max(1, len(sources))))
