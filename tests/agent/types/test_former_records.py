"""What an earlier version stored is read as what it means today."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agent.flows import FLOWS
from agent.types import Assessment, Sentence, Step
from tests.records import fill

FINDING = {"kind": "antonym", "claimed": "safe", "quoted": "unsafe", "is_veto": True}
SAID = {"text": "It is safe.", "check": "vetoed", "fit": None, "findings": [FINDING]}
BLOCK = {"id": "b", "role": "other"}
ANSWER = {"n": 1, "verdict": "answered", "sentences": [SAID, SAID | {"check": "doubted"}], "blocks": [BLOCK]}


def fold(flow: str, **change: Any) -> Any:
    return FLOWS[flow].fold_steps([fill(Step, name="ask", change=change, next="decide")])


def test_a_stored_answer_opens_with_the_verdicts_of_today() -> None:
    state = fold("research", answers=[ANSWER], assessments=[{"step": 0, "inconsistency": "They differ."}])
    answer = state.answer
    assert [said.check for said in answer.sentences] == ["not_supported"] * 2
    [found] = answer.sentences[0].findings
    assert (found.kind, found.claimed, found.quoted, found.is_absent) == ("figure", "safe", "unsafe", False)
    assert answer.blocks[0].role == "passage" and state.assessments == [Assessment(step=0)]


def test_stored_steps_of_site_and_collect_open() -> None:
    fold("site", bearings={"0": 0.5}, bearing=0.5)
    intent = {"topic": "dairies", "time_range_days": 30, "today": "2026-11-23T09:00:00Z"}
    state = fold("collect", intent_trouble="", intent=intent)
    assert (state.own.intent.topic, state.own.intent.since) == ("dairies", "2026-10-24")


def test_what_no_version_stored_is_still_refused() -> None:
    with pytest.raises(ValidationError):
        Sentence.model_validate({"text": "It is safe.", "invented": 1})
    with pytest.raises(KeyError):
        fold("research", bearing=0.5)
