"""`verify` repeats code's part of the check: a forged verdict is found, an honest one and an old one hold."""

from __future__ import annotations

from typing import Any

import pytest

from agent.answering.recheck_answers import find_answer_problems
from agent.engine.run_state import RunState
from agent.engine.state import to_jsonable
from agent.evidence.citation_check import count_statements
from agent.flows.research.state import ResearchState
from agent.types import Answer, ClaimVerdict, Fact, Sentence, Step
from tests.records import fill

QUOTE = "The ferry was built in 1907."
OTHER = "The ferry was built in 1911."


def fact(name: str, quote: str) -> Fact:
    return Fact(
        id=name, statement=quote, quote=quote, page_id=name, url=f"https://{name}.example/", verified=True
    )


def problems(text: str, check: ClaimVerdict | str, ids: tuple[str, ...] = ("a",), **more: Any) -> list[str]:
    backed = check in ("quoted", "computed", "judged_supported", "")
    given: dict[str, Any] = {"fact_ids": list(ids), "context": more.pop("context", "")}
    sentence = Sentence(text=text, backed=more.pop("backed", backed), check=check, **given)  # type: ignore[arg-type]
    answer = Answer(
        n=1,
        verdict="partial",
        sentences=[sentence],
        statements=more.pop("counts", count_statements([sentence])),
        step=1,
    )
    topic = {"subject": "the ferry", "attribute": "built"} if more.get("disputed") else {}
    facts = [fact("a", QUOTE).replace(**topic), fact("b", OTHER).replace(**topic)]
    first = {"question": more.get("question", "When?"), "facts": facts if topic else facts[:1]}
    steps = [
        fill(Step, name="ask", change=to_jsonable(first), next="report"),
        fill(Step, n=1, name="report", change=to_jsonable({"answers": [answer]}), next="review"),
    ]
    return list(find_answer_problems(RunState(own=ResearchState()), steps))


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (QUOTE, "quoted"),
        ("It has been afloat for long.", "judged_supported"),
        ("It was built in 1971.", "not_supported"),
    ],
)
def test_what_was_recorded_honestly_holds(text: str, check: str) -> None:
    assert problems(text, check) == []


@pytest.mark.parametrize(
    ("text", "check"), [("It was built in 1971.", "quoted"), ("It was built in 1971.", "computed")]
)
def test_a_verdict_that_code_does_not_find_again_is_told(text: str, check: str) -> None:
    [problem] = problems(text, check)
    assert "called supported" in problem and text in problem


def test_a_check_that_was_taken_out_is_missed() -> None:
    problem = problems("It was built in 1971.", "")[-1]
    assert "no check of it is recorded" in problem


def test_a_sentence_that_cites_nothing_is_never_supported() -> None:
    assert any("called supported" in problem for problem in problems(QUOTE, "quoted", ids=()))


def test_backed_must_be_what_the_check_says() -> None:
    assert any(
        "against its own check" in problem for problem in problems(QUOTE, "not_supported", backed=True)
    )


def test_the_sentence_that_code_wrote_about_a_conflict_holds_and_another_does_not() -> None:
    text = (
        "The sources differ on the ferry (built): a.example says “The ferry was built in 1907”; "
        "b.example says “The ferry was built in 1911”."
    )
    assert problems(text, "quoted", ids=("a", "b"), disputed=True) == []
    forged = text.replace("“The ferry was built in 1911”", "“The ferry sank”")
    assert problems(forged, "quoted", ids=("a", "b"), disputed=True)


def test_a_cell_whose_labels_are_withheld_is_not_judged_anew() -> None:
    withheld = f"[withheld: sha256:{'0' * 64}]"
    assert problems("It sank on 3 May 1955.", "quoted", context="the ferry: sunk")
    assert not problems("It sank on 3 May 1955.", "quoted", context=withheld)


def test_answers_are_held_to_what_was_undone_by_then_however_often_that_was() -> None:
    given = fact("a", QUOTE)
    struck, told = given.replace(decision="struck"), Sentence(text=QUOTE, fact_ids=["a"], backed=True)
    changes: list[dict[str, Any]] = [{"question": "When?", "facts": [given]}]
    for _ in range(100):  # struck, undone, redone, undone again
        at = len(changes)
        changes += [{"facts": [struck]}, *({"edits": [undo(n)]} for n in (at, at + 1, at + 2))]
        sentence = told.replace(check="quoted")
        answer = Answer(n=1, verdict="partial", sentences=[sentence], step=at + 4)
        changes.append({"answers": [answer.replace(statements=count_statements([sentence]))]})
    assert find_answer_problems_in(changes) == []
    changes[-2] = {}
    [problem] = find_answer_problems_in(changes)
    assert "called supported" in problem


def undo(step: int) -> dict[str, Any]:
    return {"step": step + 1, "text": "undid", "undoes": step}


def find_answer_problems_in(changes: list[dict[str, Any]]) -> list[str]:
    steps = [
        fill(Step, n=n, name="s", change=to_jsonable(change), next="s") for n, change in enumerate(changes)
    ]
    return list(find_answer_problems(RunState(own=ResearchState()), steps))
