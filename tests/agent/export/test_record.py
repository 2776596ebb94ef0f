"""The `--json` object has exactly the promised keys, as plain JSON."""

import json

from agent.export.record import build_run_record
from agent.types import (
    Action,
    Answer,
    Fact,
    PageRef,
    Run,
    Sentence,
    Settings,
    Source,
    StatementCounts,
    Status,
    Step,
    Usage,
)
from tests.records import fill
from tests.web.reports import make_report

KEYS = [
    "run",
    "question",
    "status",
    "verdict",
    "confidence",
    "answer",
    "reason",
    "statements",
    "sources",
    "steps",
    "facts",
    "pages",
    "usage",
]

NOTED = Step(n=2, name="steer", change={"notes": []}, next="act", by="person")
ACTED, WEIGHED = (
    fill(Step, n=n, name=name, change={"actions": [{"step": 2}]}) for n, name in ((3, "act"), (4, "analyse"))
)


def run(**more: object) -> Run:
    return fill(Run, id="r1", question="When?", status=Status.REVIEW, settings=Settings(), **more)  # type: ignore[arg-type]


def test_the_object_of_a_run_with_an_answer() -> None:
    answer = Answer(
        n=1,
        verdict="answered",
        confidence=0.9,
        statements=StatementCounts(backed=1, unsupported=1),
        sentences=[Sentence(text="In 1921.", fact_ids=["f1", "f2"], backed=True), Sentence(text="So it is.")],
        sources=[
            fill(
                Source, n=1, url="https://a.example/1", title="A", quotes=["q1", "q3"], fact_ids=["f1", "f3"]
            ),
            fill(Source, n=2, url="https://b.example", fact_ids=["f2"]),
        ],
    )
    told = build_run_record(
        make_report(
            run=run(),
            answer=answer,
            facts=[Fact(id="f1", statement="s", quote="q1")],
            pages=[fill(PageRef, url="https://a.example/1", found_on="search: x", step=2)],
            actions=[fill(Action, step=2, action="crawl_url", query_or_url="https://a.example/1")],
            usage=Usage(llm_calls=3),
            steps=[fill(Step, n=1, name="decide", change={"big": "x"}, next="act"), NOTED, ACTED, WEIGHED],
        )
    )
    assert list(told)[: len(KEYS)] == KEYS
    assert told == json.loads(json.dumps(told))
    assert told["answer"] == "In 1921. [1] [2] So it is."
    assert told["status"] == "review" and told["statements"] == {
        "backed": 1,
        "unsupported": 1,
        "dropped": 0,
        "unchecked": 0,
    }
    assert told["sources"][0] == {
        "n": 1,
        "url": "https://a.example/1",
        "title": "A",
        "quote": "q1",
        "quotes": ["q1", "q3"],
    }
    assert told["sources"][1]["quote"] == ""
    assert told["pages"] == [
        {"url": "https://a.example/1", "outcome": "ok", "found_on": "search: x", "step": 2}
    ]
    assert list(told["usage"]) == [
        "llm_calls",
        "prompt_tokens",
        "completion_tokens",
        "cost_usd",
        "seconds",
        "cpu_seconds",
    ]
    assert "change" not in told["steps"][0] and "action" not in told["steps"][0]
    assert [step["n"] for step in told["steps"] if "action" in step] == [3], (
        "a note took number 2 while the page was read"
    )
    assert told["steps"][2]["action"]["query_or_url"] == "https://a.example/1"


def test_a_refusal_tells_why() -> None:
    told = build_run_record(
        make_report(
            run=run(),
            answer=Answer(n=1, verdict="no_evidence", reason="not_covered", certainty="Nothing was found."),
        )
    )
    assert (told["verdict"], told["reason"], told["answer"], told["sources"]) == (
        "no_evidence",
        "not_covered",
        "Nothing was found.",
        [],
    )


def test_a_run_without_an_answer() -> None:
    told = build_run_record(make_report(run=run(error="no network")))
    assert (told["verdict"], told["confidence"], told["answer"]) == ("no_evidence", None, "no network")
