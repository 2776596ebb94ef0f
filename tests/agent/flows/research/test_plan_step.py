"""The plan of a run with a model: made beside the first search, before it in a follow-up, and what it does not
know is told."""

from __future__ import annotations

import pytest

from tests.web.model_server import ModelServer
from tests.web.researching_model import ASK, ROOF, SOLAR, Script, crawl, driven, run, workbench

pytestmark = pytest.mark.slow


def test_how_an_ambiguous_question_was_read_is_told_with_the_answer():
    two = {"parts": [{"question": SOLAR}], "ask": "Which dairy?", "readings": ["in Lövnäs", "in Tallåsen"]}
    script = Script(ASK, crawl(ROOF), plan=two)
    state = driven(script)[0].state
    told = "The question was read as “in Lövnäs”; it can also mean “in Tallåsen”."
    assert state.answer.journey.startswith(told)
    shown = [prompt for role, prompt in script.prompts if role in ("decision", "analyzer")]
    assert shown and all(told in prompt for prompt in shown)


def test_the_first_search_of_a_follow_up_is_the_planned_question():
    alone = "Who cleans the solar panels of Älvmora Mejeri?"
    script = Script(ASK, crawl(ROOF))
    with ModelServer(script.served) as server, workbench(server) as bench:
        first = run(bench)
        script.more["plan"] = {"parts": [{"question": alone}]}
        script.decisions = []
        later = bench.follow_up(first.run.id, "Who cleans them?")
        bench.drive(later)
        state = bench.snapshot(later).state
    assert state.actions[0].query_or_url == alone.rstrip("?") or state.actions[0].query_or_url == alone
    assert state.full_question == state.standalone_question == alone
    assert [step.name for step in bench.snapshot(later).steps][1:3] == ["decide", "plan"]
