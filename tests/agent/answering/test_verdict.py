"""The verdict is code's: what backs an answer, what is disputed, what was cut short, and what an honest
refusal says."""

from __future__ import annotations

import pytest

from agent.answering.verdict import record_answer
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
    assert given.missing == "" and 0.4 < given.confidence < 0.6 and "Low" in given.certainty
    assert given.sources[0].url == "https://a.example/" and given.statements.backed == 1


@pytest.mark.parametrize("stop", ["budget", "blocked", "asked", "enough", "hand_over"])
def test_what_stopped_a_run_does_not_make_a_supported_answer_partial(stop):
    given = written(state(BUILT, stop_reason=stop, why_stopped="so"), (BUILT.statement, ["a"]))
    assert (given.verdict, given.reason, given.why_stopped, given.missing) == ("answered", "none", "so", "")


COMPOUND = "When was the heron built, and who painted it?"


def test_a_partial_answer_names_the_part_that_is_open_and_why():
    run = state(BUILT, stop_reason="budget").model_copy(update={"question": COMPOUND})
    given = written(run, (BUILT.statement, ["a"]))
    assert (given.verdict, given.reason) == ("partial", "budget")
    assert given.missing == "“who painted it”: not found on the pages read."
    assert given.confidence < 0.6 and given.sentences[0].part == "1"


def test_an_unsupported_main_sentence_is_never_answered():
    run = state(BUILT).model_copy(update={"question": COMPOUND})
    given = written(
        run, ("It was painted by Anna Berg in 1877.", ["a"]), (BUILT.statement, ["a"]), by="model"
    )
    assert given.verdict == "partial" and given.confidence == 0.0
    assert "the pages do not support what the answer says of it" in given.missing


def compare(*cells: tuple[str, str, str]):
    """The answer of a model that calls no part answered: a table of these cells (label, text, fact)."""
    herons = {name: fact(name, f"The heron of {label} was built in {year}.") for label, year, name in cells}
    run = state(*herons.values()).model_copy(update={"question": "When were the herons of A, B and C built?"})
    run.assessments = [Assessment(step=1, model=0.9, unanswered=["1"])]
    rows = [
        {"label": label, "cells": [{"text": year, "fact_ids": [n]}, {"text": ""}]} for label, year, n in cells
    ]
    rows[0]["cells"][1] = {"text": cells[0][1], "fact_ids": [cells[0][2]]}
    heads = ["Heron", "Built", "In use"]
    reply = ReportReply(blocks=[{"kind": "table", "heads": heads, "rows": rows}])
    return build_answer(run, RoleResult(value=reply, by="model"), 9, judge=call_supported)


def call_supported(said):
    """A judge that supports everything."""
    return said.replace(check="judged_supported", backed=True)


def test_a_comparison_answers_for_what_it_has_and_its_missing_cell_is_named():
    given = compare(("A", "1921", "a"), ("B", "1934", "b"))
    assert (given.verdict, given.missing) == ("answered", "Not found: “B: In use”.")
    assert given.confidence > 0.59, "nothing of it is open"


def test_one_cell_is_no_comparison_and_leaves_its_part_open():
    given = compare(("A", "1921", "a"))
    assert given.verdict == "partial" and "does not answer all of it" in given.missing


def test_a_sentence_that_answers_two_parts_counts_for_both():
    both = fact("a", "The heron was built in 1921 and was painted by Anna Berg.")
    run = state(both).model_copy(update={"question": COMPOUND})
    assert [part.status for part in written(run, (both.statement, ["a"])).parts] == ["answered", "answered"]


def test_the_plan_keeps_what_became_of_each_part():
    run = state(BUILT).model_copy(update={"question": COMPOUND})
    run.own = ResearchState()
    now = state_after(run, record_answer(written(run, (BUILT.statement, ["a"]))))
    assert [(part.id, part.status) for part in now.plan] == [("1", "answered"), ("2", "not_found")]
    assert now.answer.confidence == now.current_confidence
    assert now.plan[0].confidence > 0.4 and now.plan[1].confidence == 0.0


@pytest.mark.parametrize("statement", [BUILT.statement, "The heron stands in the old yard by the sea."])
def test_without_a_model_no_quote_is_called_an_answer_however_well_it_fits(statement):
    found = fact("a", statement)
    given = written(state(found), (statement, ["a"]), by="keyless")
    assert (given.verdict, given.reason, given.missing, given.parts) == ("passages_found", "none", "", [])
    assert given.statements.backed == 1


def test_without_a_model_a_part_that_was_not_found_is_named_and_the_verdict_stays():
    run = state(BUILT, stop_reason="budget").model_copy(update={"question": COMPOUND})
    given = written(run, (BUILT.statement, ["a"]), by="keyless")
    assert (given.verdict, given.reason) == ("passages_found", "budget")
    assert given.missing == "“who painted it”: no passage was found by these words."
    assert [(part.id, part.status) for part in given.parts] == [("1", "found"), ("2", "not_found")]


def test_without_a_model_and_without_a_quote_it_is_a_refusal():
    assert written(state(BUILT), by="keyless").verdict == "no_evidence"


def test_a_fallback_that_writes_after_a_failed_call_finds_passages_whatever_the_model_said_before():
    point = Confidence(step=1, value=0.9, model=0.95, parts=[{"part": "1", "weight": 1.0, "judgement": 0.95}])
    run = state(BUILT).model_copy(update={"confidence": [point]})
    reply = ReportReply(answer=[{"text": BUILT.statement, "fact_ids": ["a"]}])
    given = build_answer(run, RoleResult(value=reply, by="keyless", fallback_reason="it was away"), 9)
    assert (given.verdict, given.trouble) == ("passages_found", "it was away")


PAINTED = fact("b", "Anna Berg painted it in 1877.")


def placed(run: RunState, *sentences: dict, by: str = "keyless"):
    reply = ReportReply(answer=[{"text": run.facts[s["fact_ids"][0]].statement, **s} for s in sentences])
    return build_answer(run, RoleResult(value=reply, by=by), 9)


def test_the_place_and_the_part_that_a_fallback_names_are_kept():
    run = state(BUILT, PAINTED).model_copy(update={"question": COMPOUND})
    given = placed(
        run,
        {"fact_ids": ["a"], "place": "lead", "part_question": "When was the heron built", "heading": "Yard"},
        {"fact_ids": ["b"], "place": "lead", "part_question": "who painted it?", "fit": 0.4},
    )
    assert [(s.part, s.block, s.heading) for s in given.sentences] == [
        ("1", "p1lead", "Yard"),
        ("2", "p2lead", ""),
    ]
    assert [part.status for part in given.parts] == ["found", "found"] and given.missing == ""


def test_what_a_model_says_of_places_is_ignored():
    given = placed(state(BUILT), {"fact_ids": ["a"], "place": "other", "heading": "Yard"}, by="model")
    assert given.text == BUILT.statement and given.sentences[0].heading == ""
    assert [(block.kind, block.role) for block in given.blocks] == [("paragraph", "")]


def test_a_part_is_not_found_where_only_another_parts_quote_holds_its_words():
    both = fact("a", "The heron was built in 1921 and Anna Berg painted the sign.")
    run = state(both).model_copy(update={"question": COMPOUND})
    given = placed(run, {"fact_ids": ["a"], "place": "lead", "part_question": "When was the heron built"})
    assert [part.status for part in given.parts] == ["found", "not_found"]


def test_without_a_model_many_agreeing_sources_never_give_80_percent():
    agreeing = [
        fact(name, BUILT.statement, url=f"https://{name}.example/", page_id=name) for name in "abcdefgh"
    ]
    one, many = (
        written(state(*facts), (BUILT.statement, ["a"]), by="keyless").confidence
        for facts in (agreeing[:1], agreeing)
    )
    assert one < many < 0.8


def test_without_a_model_no_level_is_claimed():
    with_model, without = (
        written(state(BUILT), (BUILT.statement, ["a"]), by=by) for by in ("model", "keyless")
    )
    assert with_model.certainty.startswith("Low (") and without.certainty.startswith("Not judged (")


def test_a_model_that_doubts_its_answer_lowers_the_figure_and_not_the_verdict():
    run = state(BUILT, assessments=[Assessment(step=1, model=0.2)])
    given = written(run, (BUILT.statement, ["a"]), by="model")
    assert given.verdict == "answered" and given.confidence <= 0.4 and "Low" in given.certainty


def test_what_the_model_does_not_call_answered_is_partial():
    run = state(BUILT, assessments=[Assessment(step=1, model=0.9, unanswered=["1"])])
    given = written(run, (BUILT.statement, ["a"]), by="model")
    assert (given.verdict, given.confidence) == ("partial", 0.4)
    assert given.missing == "What was found does not answer all of it, as the model reads it."


@pytest.mark.parametrize("bad", [{"verified": False}, {"decision": "struck"}, {"disputed": True}])
def test_a_fact_that_may_not_be_used_backs_nothing(bad):
    given = written(state(BUILT.model_copy(update=bad)), ("Built in 1921.", ["a"]))
    assert (given.verdict, given.sentences, given.sources) == ("no_evidence", [], [])
    assert given.confidence <= 0.2 and given.statements.dropped == 1


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
    given = build_answer(
        state(BUILT), RoleResult(value=reply, by="keyless", fallback_reason="the model was away"), 9
    )
    assert (given.by, given.trouble) == ("keyless", "the model was away")
    assert (
        build_answer(
            state(), RoleResult(value=ReportReply(), by="keyless", fallback_reason="away"), 9
        ).trouble
        == "away"
    )


def test_answers_are_numbered():
    run = state(BUILT, settings=Settings())
    run.answers.append(written(run, ("Built in 1921.", ["a"])))
    assert written(run, ("Built in 1921.", ["a"])).n == 2
