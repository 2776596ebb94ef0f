"""A writer's blocks become blocks of an answer and sentences that are each checked."""

from __future__ import annotations

from typing import Any

from agent.answering.draft import MAX_HEADING_WORDS, lay_out_reply
from agent.engine.run_state import RunState
from agent.roles.report import ReportReply
from agent.roles.role import RoleResult
from agent.types import Answer, Fact
from agent.types.answers import AnswerBlock, Sentence
from tests.agent.answering.written import build_answer

STATED = "The heron was built in 1921 and weighs 40 tonnes."
FACT = Fact(
    id="a",
    statement=STATED,
    quote=STATED,
    url="https://a.example/",
    page_id="p",
    verified=True,
    relevance=0.8,
)
LEAD = {"kind": "paragraph", "sentences": [{"text": STATED, "fact_ids": ["a"]}]}


def cited(text: str) -> dict[str, Any]:
    return {"text": text, "fact_ids": ["a"]}


TABLE = {
    "kind": "table",
    "text": "Boats",
    "heads": ["Boat", "Built", "Weight"],
    "rows": [
        {"label": "The heron", "cells": [cited("1921"), cited("40 tonnes")]},
        {"label": "The egret", "cells": ["", "n/a"]},
    ],
}


def laid(*blocks: dict[str, Any]) -> tuple[list[AnswerBlock], list[Sentence]]:
    return lay_out_reply(ReportReply(blocks=list(blocks)).blocks, str.strip)


def written(*blocks: dict[str, Any], **more: Any) -> Answer:
    state = RunState(question="When was it built?", facts={"a": FACT})
    result = RoleResult(value=ReportReply(blocks=list(blocks)), by="model")
    return build_answer(state, result, 9, **more)


def test_each_cell_is_a_claim_with_its_row_and_column():
    blocks, sentences = laid(TABLE)
    assert [sentence.claim for sentence in sentences] == [
        "The heron: Built: 1921",
        "The heron: Weight: 40 tonnes",
    ]
    assert blocks[0].row_labels == ["The heron", "The egret"], "the empty row falls when the answer is built"


def test_a_heading_that_states_something_at_length_is_checked_as_a_sentence():
    long = "word " * (MAX_HEADING_WORDS + 1)
    blocks, sentences = laid(
        {"kind": "heading", "text": f"## {long}"}, {"kind": "heading", "text": "## Short **"}
    )
    assert [(block.kind, block.text) for block in blocks] == [("paragraph", ""), ("heading", "Short")]
    assert [sentence.text for sentence in sentences] == [long.strip()]


def test_a_table_of_which_nothing_is_left_goes_with_its_heading():
    def judge(said: Sentence) -> Sentence | None:
        return said.replace(check="quoted", backed=True) if said.row < 0 else None

    given = written(LEAD, {"kind": "heading", "text": "Compared"}, TABLE, judge=judge)
    assert [b.kind for b in given.blocks] == ["paragraph"] and [s.text for s in given.sentences] == [STATED]


def test_addresses_that_a_writer_typed_are_taken_out_everywhere():
    evil = "See https://evil.example/x"
    blocks = [
        {"kind": "heading", "text": evil},
        {
            **TABLE,
            "text": evil,
            "heads": [evil, evil, evil],
            "rows": [{"label": evil, "cells": [cited(evil)]}],
        },
    ]
    given = written(LEAD, *blocks)
    assert "evil.example" not in given.model_dump_json() and len(given.blocks) == 3
