"""The verdict is code's: what backs an answer, what is disputed, what was cut short, and what an honest
refusal says."""

from __future__ import annotations

import pytest

from agent.answering.claim_checks import WrittenDraft
from agent.answering.verdict import close_plan, finish_answer, record_answer
from agent.engine.run_state import RunState
from agent.engine.state import state_after
from agent.flows.research.state import ResearchState
from agent.roles.report import ReportReply
from agent.roles.role import RoleResult
from agent.types import (
    Action,
    Assessment,
    Confidence,
    Conflict,
    ConflictSide,
    Fact,
    PageRef,
    PlanPart,
    Sentence,
    Settings,
)
from tests.agent.answering.written import build_answer


def fact(name: str, statement: str, **more) -> Fact:
    where = {"url": f"https://{name}.example/", "page_id": f"p-{name}", "verified": True, "relevance": 0.8}
    return Fact(id=name, statement=statement, quote=statement, **{**where, **more})


def state(*facts: Fact, level: float = 0.9, **more) -> RunState:
    return RunState(
        question="When was it built?",
        facts={f.id: f for f in facts},
        confidence=[Confidence(step=1, value=level)],
        **more,
    )


def written(run: RunState, *sentences: tuple[str, list[str]], by: str = "model", **more):
    reply = ReportReply(answer=[{"text": text, "fact_ids": ids} for text, ids in sentences], **more)
    return build_answer(run, RoleResult(value=reply, by=by), 9)


BUILT = fact("a", "The heron was built in 1921.")
OTHER = fact("b", "The heron was built in 1934.", disputed=True)


def clash(*names: str, status: str = "open") -> Conflict:
    values = [
        ConflictSide(text=str(1900 + n), fact_ids=[name], sites=[f"{name}.example"])
        for n, name in enumerate(names)
    ]
    return Conflict(
        id="c1", subject="the heron", attribute="built", kind="date", values=values, status=status
    )


def test_a_backed_answer_with_enough_confidence_is_answered():
    given = written(state(BUILT), ("The heron was built in 1921.", ["a"]))
    assert (given.verdict, given.reason, given.n, given.step) == ("answered", "none", 1, 9)
    assert given.missing == "" and given.confidence == pytest.approx(0.72, abs=0.01)
    assert given.certainty == "Moderate confidence (72 %): it rests on one source (a.example)."
    assert given.sources[0].url == "https://a.example/" and given.statements.backed == 1


@pytest.mark.parametrize("stop", ["budget", "blocked", "asked", "enough", "hand_over"])
def test_what_stopped_a_run_does_not_make_a_supported_answer_partial(stop):
    given = written(state(BUILT, stop_reason=stop, why_stopped="so"), (BUILT.statement, ["a"]))
    assert (given.verdict, given.reason, given.why_stopped, given.missing) == ("answered", "none", "so", "")


COMPOUND = [
    PlanPart(id="1", question="When was the heron built?"),
    PlanPart(id="2", question="Who painted it?"),
]
BUILT_1 = BUILT.replace(part="1")


def in_parts(*facts: Fact, **more) -> RunState:
    return state(*facts, plan_parts=COMPOUND, **more)


def test_a_partial_answer_names_the_part_that_is_open():
    given = written(in_parts(BUILT_1, stop_reason="budget"), (BUILT.statement, ["a"]))
    assert (given.verdict, given.reason, given.missing) == ("partial", "budget", "Who painted it?")
    assert given.confidence < 0.6 and given.sentences[0].part == "1"


def test_what_the_writer_leaves_open_is_told_in_its_words():
    told = "No page says who painted it."
    given = written(state(BUILT), (BUILT.statement, ["a"]), open=told, assumed="It is the heron of the quay.")
    assert (given.verdict, given.missing) == ("partial", told)
    assert given.assumed == "It is the heron of the quay."
    assert given.confidence == written(state(BUILT), (BUILT.statement, ["a"])).confidence


def test_an_assumption_leaves_an_answer_complete():
    given = written(state(BUILT), (BUILT.statement, ["a"]), assumed="The heron of the quay is meant.")
    assert (given.verdict, given.missing) == ("answered", "")


@pytest.mark.parametrize(
    ("named", "verdict", "statuses"),
    [
        (["1", "2"], "answered", ["answered", "answered"]),
        (["1"], "partial", ["answered", "not_found"]),
        ([], "partial", ["open", "not_found"]),
    ],
)
def test_the_judge_says_which_parts_the_supported_sentences_answer(named, verdict, statuses):
    said = ReportReply(answer=[{"text": BUILT.statement, "fact_ids": ["a"]}])
    judged = {"judge": lambda said: said.replace(check="judged_supported"), "answered_parts": named}
    given = build_answer(in_parts(BUILT_1), RoleResult(value=said, by="model"), 9, **judged)
    assert (given.verdict, [part.status for part in given.parts]) == (verdict, statuses)
    assert given.missing == " ".join(p.question for p in COMPOUND if p.id not in named)


def test_a_part_whose_sentence_is_quoted_is_not_put_to_the_judge():
    said = ReportReply(answer=[{"text": BUILT.statement, "fact_ids": ["a"]}])
    given = build_answer(in_parts(BUILT_1), RoleResult(value=said, by="model"), 9, answered_parts=[])
    assert [part.status for part in given.parts] == ["answered", "not_found"]


def test_no_part_is_answered_by_a_sentence_that_is_not_supported():
    said = ReportReply(answer=[{"text": "Anna Berg painted it.", "fact_ids": ["a"]}])
    refuted = {"judge": lambda said: said.replace(check="not_checked"), "answered_parts": ["1", "2"]}
    given = build_answer(in_parts(BUILT_1), RoleResult(value=said, by="model"), 9, **refuted)
    assert given.verdict == "partial" and given.confidence == 0.0
    alone = build_answer(state(BUILT), RoleResult(value=said, by="model"), 9, **refuted)
    assert alone.missing == "Nobody judged whether the quotes support the answer."


def test_where_the_judge_did_not_say_a_part_is_answered_by_its_first_sentence():
    given = written(
        in_parts(BUILT_1), ("It was painted by Anna Berg in 1877.", ["a"]), (BUILT.statement, ["a"])
    )
    assert given.verdict == "partial" and given.missing == "When was the heron built? Who painted it?"


def test_an_empty_cell_counts_for_nothing():
    heads = ["Heron", "Built", "In use"]
    rows = [{"label": "A", "cells": [{"text": "1921", "fact_ids": ["a"]}, {"text": ""}]}]
    reply = ReportReply(blocks=[{"kind": "table", "heads": heads, "rows": rows}])
    judgement = RoleResult(value=reply, by="model")
    given = build_answer(
        state(BUILT), judgement, 9, judge=lambda said: said.replace(check="judged_supported", backed=True)
    )
    assert (given.verdict, given.missing) == ("answered", "")


def test_the_plan_keeps_what_became_of_each_part():
    run = in_parts(BUILT_1)
    run.own = ResearchState()
    now = state_after(run, record_answer(written(run, (BUILT.statement, ["a"]))))
    assert [(part.id, part.status) for part in now.plan] == [("1", "answered"), ("2", "not_found")]
    assert now.answer.confidence == now.current_confidence
    assert now.plan[0].confidence > 0.4 and now.plan[1].confidence == 0.0


@pytest.mark.parametrize("statement", [BUILT.statement, "The heron stands in the old yard by the sea."])
def test_without_a_model_no_quote_is_called_an_answer_however_well_it_fits(statement):
    given = written(state(fact("a", statement)), (statement, ["a"]), by="keyless")
    assert (given.verdict, given.reason, given.missing, given.parts) == ("passages_found", "none", "", [])
    assert (given.statements.backed, given.confidence, given.certainty) == (1, None, "")


def test_without_a_model_and_without_a_quote_it_is_a_refusal():
    assert written(state(BUILT), by="keyless").verdict == "no_evidence"


def test_a_fallback_that_writes_after_a_failed_call_finds_passages_whatever_the_model_said_before():
    point = Confidence(step=1, value=0.9, model=0.95, parts=[{"part": "1", "weight": 1.0, "judgement": 0.95}])
    run = state(BUILT).model_copy(update={"confidence": [point]})
    reply = ReportReply(answer=[{"text": BUILT.statement, "fact_ids": ["a"]}])
    given = build_answer(run, RoleResult(value=reply, by="keyless", failure="it was away"), 9)
    assert (given.verdict, given.trouble) == ("passages_found", "it was away")


def placed(run: RunState, *sentences: dict, by: str = "keyless"):
    reply = ReportReply(answer=[{"text": run.facts[s["fact_ids"][0]].statement, **s} for s in sentences])
    return build_answer(run, RoleResult(value=reply, by=by), 9)


def test_a_model_that_doubts_its_answer_lowers_the_figure_and_not_the_verdict():
    run = state(BUILT, assessments=[Assessment(step=1, model=0.2)])
    given = written(run, (BUILT.statement, ["a"]), by="model")
    assert given.verdict == "answered" and given.confidence <= 0.4 and "Low" in given.certainty


def test_what_the_analyzer_held_back_does_not_make_an_answer_partial():
    run = state(BUILT, assessments=[Assessment(step=1, model=0.9, unanswered=["1"])])
    assert written(run, (BUILT.statement, ["a"])).verdict == "answered"


@pytest.mark.parametrize("bad", [{"verified": False}, {"decision": "struck"}, {"disputed": True}])
def test_a_fact_that_may_not_be_used_backs_nothing(bad):
    given = written(state(BUILT.model_copy(update=bad)), ("Built in 1921.", ["a"]))
    assert (given.verdict, given.sentences, given.sources) == ("no_evidence", [], [])
    assert given.confidence is None and given.statements.dropped == 1


def searched(outcome: str) -> Action:
    return Action(step=2, action="search_duckduckgo", query_or_url="heron", outcome=outcome)


def read(name: str, outcome: str) -> PageRef:
    return PageRef(url=name, outcome=outcome, page_id="p" if outcome == "ok" else "")


@pytest.mark.parametrize(
    ("actions", "pages", "stop", "reason"),
    [
        (["rate_limited"], [], "", "blocked"),
        (["blocked", "timeout"], [], "", "blocked"),
        (["empty"], [], "", "not_covered"),
        (["blocked", "empty"], [], "", "not_covered"),
        (["ok"], ["blocked", "timeout"], "", "blocked"),
        (["ok"], ["blocked", "ok"], "", "not_covered"),
        (["blocked"], ["ok"], "", "not_covered"),
        (["ok"], ["not_found"], "", "not_covered"),
        (["ok"], [], "budget", "budget"),
        ([], [], "budget", "budget"),
        (["ok"], ["ok"], "budget", "not_covered"),
    ],
)
def test_a_refusal_gives_its_reason(actions, pages, stop, reason):
    looked = {f"http://{n}": read(f"http://{n}", outcome) for n, outcome in enumerate(pages)}
    given = written(
        state(actions=[searched(outcome) for outcome in actions], pages=looked, stop_reason=stop, level=0.0)
    )
    assert (given.verdict, given.reason) == ("no_evidence", reason)
    assert given.certainty.startswith("No answer is given.") and f"{len(actions)} search" in given.certainty


def test_a_draft_that_fails_its_check_is_not_told_as_nothing_found():
    refused = WrittenDraft([Sentence(text="Built in 1700.", fact_ids=["a"], check="not_supported")], 0)
    given = finish_answer(state(BUILT), refused, 9)
    assert given.reason == "unsupported" and "drafted is supported by its quotes" in given.certainty
    assert close_plan(state(BUILT), None, given)[0].status == "open"


def test_an_answer_that_nobody_could_judge_is_shown_as_unchecked():
    given = written(state(BUILT), ("Its builders finished long ago.", ["a"]), by="model")
    assert given.verdict != "no_evidence" and given.sentences[0].check == "not_checked"
    assert (given.statements.backed, given.statements.unchecked) == (0, 1)


def test_a_sentence_of_blanks_is_no_sentence():
    assert [s.text for s in written(state(BUILT), ("  ", ["a"]), ("Built in 1921. ", ["a"])).sentences] == [
        "Built in 1921."
    ]


def test_who_wrote_it_and_why_not_the_model_is_kept():
    reply = ReportReply(answer=[{"text": "Built in 1921.", "fact_ids": ["a"]}])
    given = build_answer(state(BUILT), RoleResult(value=reply, by="keyless", failure="the model was away"), 9)
    assert (given.by, given.trouble) == ("keyless", "the model was away")
    assert (
        build_answer(state(), RoleResult(value=ReportReply(), by="keyless", failure="away"), 9).trouble
        == "away"
    )


def test_answers_are_numbered():
    run = state(BUILT, settings=Settings())
    run.answers.append(written(run, ("Built in 1921.", ["a"])))
    assert written(run, ("Built in 1921.", ["a"])).n == 2
