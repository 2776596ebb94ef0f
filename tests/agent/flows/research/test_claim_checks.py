"""A research run whose writer, analyzer or judge is sloppy or hostile: what the quotes do not say is marked,
and nothing that is true is lost."""

from __future__ import annotations

from typing import Any

import pytest

from agent.actions.fact_edits import FactEdit
from agent.types import SUPPORTED_VERDICTS, Answer
from tests.web.model_server import ModelServer
from tests.web.researching_model import ASK, ROOF, Script, crawl, driven, failing, run, workbench

pytestmark = pytest.mark.slow

TRUE = "The dairy has had a roof with 412 solar panels since Monday."


def write(*texts: str, **more: Any) -> tuple[Answer, list[str]]:
    """The answer of a run whose report has these sentences, and the roles that were called."""
    script = Script(ASK, crawl(ROOF), sentences=[(text, None) for text in texts], **more)
    view, _, calls = driven(script)
    return view.state.answer, [call.role for call in calls]


def test_a_judge_that_fails_leaves_the_answer_unchecked_and_says_why() -> None:
    script = Script(ASK, crawl(ROOF), sentences=[(TRUE, None)])
    view, _, _ = driven(failing("check_claims", script))
    [sentence] = view.state.answer.sentences
    assert sentence.check == "not_checked" and "gave no judgement" in sentence.check_reason
    assert not sentence.backed and view.state.answer.verdict == "partial"


def test_after_an_edit_the_rewritten_sentences_are_checked_anew() -> None:
    script = Script(ASK, crawl(ROOF), sentences=[(TRUE, None)])
    with ModelServer(script.served) as server, workbench(server) as bench:
        view = run(bench)
        [fact] = view.state.facts.values()
        script.more["sentences"] = [("The dairy counts 413 solar panels.", None)]
        bench.act(
            view.run.id, "revise", edits=[FactEdit(fact.id, statement="The dairy counts 413 solar panels.")]
        )
        bench.drive(view.run.id)
        after = bench.snapshot(view.run.id).state
        assert after.facts[fact.id].rests_on_person
        assert not any(sentence.check in SUPPORTED_VERDICTS for sentence in after.answer.sentences)
        bench.act(view.run.id, "mark", facts=[fact.id], decision="pinned")
        bench.drive(view.run.id)
        state = bench.snapshot(view.run.id).state
    assert "repair" not in [role for role, _ in script.prompts], "there is no quote to write from"
    assert not any(sentence.backed for sentence in state.answer.sentences), "a person's word is no page"
