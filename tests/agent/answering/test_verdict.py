"""The verdict is code's: what backs an answer, what is disputed, what was cut short, and what an honest
refusal says."""

from __future__ import annotations

import pytest

from agent.answering.claim_checks import WrittenDraft
from agent.answering.verdict import close_plan, finish_answer
from agent.engine.run_state import RunState
from agent.roles.report import ReportReply
from agent.roles.role import RoleResult
from agent.types import Action, Confidence, Conflict, ConflictSide, Fact, PageRef, PlanPart, Sentence
from tests.agent.answering.written import build_answer
from tests.records import fill
from tests.tables import by_table


def fact(name: str, statement: str, **more) -> Fact:
    where = {"url": f"https://{name}.example/", "page_id": f"p-{name}", "verified": True, "relevance": 0.8}
    return Fact(id=name, statement=statement, quote=statement, **{**where, **more})


def state(*facts: Fact, level: float = 0.9, **more) -> RunState:
    return RunState(
        question="When was it built?",
        facts={f.id: f for f in facts},
        confidence=[fill(Confidence, step=1, value=level)],
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
    return fill(
        Conflict, id="c1", subject="the heron", attribute="built", kind="date", values=values, status=status
    )


def test_a_backed_answer_with_enough_confidence_is_answered():
    given = written(state(BUILT), ("The heron was built in 1921.", ["a"]))
    assert (given.verdict, given.reason, given.n, given.step) == ("answered", "none", 1, 9)
    assert given.missing == "" and given.confidence == pytest.approx(0.72, abs=0.01)
    assert given.certainty == "Moderate confidence (72 %): it rests on one source (a.example)."
    assert given.sources[0].url == "https://a.example/" and given.statements.backed == 1


COMPOUND = [
    PlanPart(id="1", question="When was the heron built?"),
    PlanPart(id="2", question="Who painted it?"),
]
BUILT_1 = BUILT.replace(part="1")


def in_parts(*facts: Fact, **more) -> RunState:
    return state(*facts, plan_parts=COMPOUND, **more)


def test_what_the_writer_leaves_open_is_told_in_its_words():
    told = "No page says who painted it."
    given = written(state(BUILT), (BUILT.statement, ["a"]), open=told, assumed="It is the heron of the quay.")
    assert (given.verdict, given.missing) == ("partial", told)
    assert given.assumed == "It is the heron of the quay."
    assert given.confidence == written(state(BUILT), (BUILT.statement, ["a"])).confidence


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


def test_no_part_is_answered_by_a_sentence_that_is_not_supported():
    said = ReportReply(answer=[{"text": "Anna Berg painted it.", "fact_ids": ["a"]}])
    refuted = {"judge": lambda said: said.replace(check="not_checked"), "answered_parts": ["1", "2"]}
    given = build_answer(in_parts(BUILT_1), RoleResult(value=said, by="model"), 9, **refuted)
    assert given.verdict == "partial" and given.confidence == 0.0
    alone = build_answer(state(BUILT), RoleResult(value=said, by="model"), 9, **refuted)
    assert alone.missing == "Nobody judged whether the quotes support the answer."


@pytest.mark.parametrize("statement", [BUILT.statement, "The heron stands in the old yard by the sea."])
def test_without_a_model_no_quote_is_called_an_answer_however_well_it_fits(statement):
    given = written(state(fact("a", statement)), (statement, ["a"]), by="keyless")
    assert (given.verdict, given.reason, given.missing, given.parts) == ("passages_found", "none", "", [])
    assert (given.statements.backed, given.confidence, given.certainty) == (1, None, "")


def searched(outcome: str) -> Action:
    return fill(Action, step=2, action="search_duckduckgo", query_or_url="heron", outcome=outcome)


def read(name: str, outcome: str) -> PageRef:
    return fill(PageRef, url=name, outcome=outcome, page_id="p" if outcome == "ok" else "")


@by_table
def test_a_refusal_gives_its_reason(actions, pages, stop, reason):
    looked = {f"http://{n}": read(f"http://{n}", outcome) for n, outcome in enumerate(pages)}
    given = written(
        state(actions=[searched(outcome) for outcome in actions], pages=looked, stop_reason=stop, level=0.0)
    )
    assert (given.verdict, given.reason) == ("no_evidence", reason)
    assert given.certainty.startswith("No answer is given.") and f"{len(actions)} search" in given.certainty


def test_a_draft_that_fails_its_check_is_not_told_as_nothing_found():
    refused = WrittenDraft(sentences=[Sentence(text="Built in 1700.", fact_ids=["a"], check="not_supported")])
    given = finish_answer(state(BUILT), refused, 9)
    assert given.reason == "unsupported" and "drafted is supported by its quotes" in given.certainty
    assert close_plan(state(BUILT), None, given)[0].status == "open"


def test_an_answer_that_nobody_could_judge_is_shown_as_unchecked():
    given = written(state(BUILT), ("Its builders finished long ago.", ["a"]), by="model")
    assert given.verdict != "no_evidence" and given.sentences[0].check == "not_checked"
    assert (given.statements.backed, given.statements.unchecked) == (0, 1)
