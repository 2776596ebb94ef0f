"""The `--json` object has exactly the promised keys, as plain JSON."""

import json

from agent.export.record import build_run_record
from agent.types import Action, Answer, Fact, PageRef, Run, Sentence, Settings, Source, StatementCounts, Step
from agent.types import Usage as Used
from tests.records import fill
from tests.web.reports import make_report

KEYS = (
    "run question status verdict confidence answer reason statements sources steps facts pages usage".split()
)
USAGE = "llm_calls prompt_tokens completion_tokens cost_usd seconds cpu_seconds".split()
URL = "https://a.example/1"
RUN = fill(Run, id="r1", question="When?", status="review", settings=Settings())
STEPS = [
    fill(Step, n=1, name="decide", change={"big": "x"}, next="act"),
    fill(Step, n=2, name="steer", change={"notes": []}, next="act", by="person"),
    *(fill(Step, n=n, change={"actions": [{"step": 2}]}) for n in (3, 4)),
]


def test_the_object_of_a_run_with_an_answer() -> None:
    counts = StatementCounts(backed=1, unsupported=1)
    said = [
        fill(Sentence, text="In 1921.", fact_ids=["f1", "f2"], backed=True),
        fill(Sentence, text="So it is."),
    ]
    sources = [
        fill(Source, n=1, url=URL, title="A", page_id="p1", quotes=["q1", "q3"], fact_ids=["f1", "f3"]),
        fill(Source, n=2, url="https://b.example", fact_ids=["f2"], title="", quotes=[]),
    ]
    given = {"statements": counts, "sentences": said, "sources": sources}
    told = build_run_record(
        make_report(
            run=RUN,
            answer=fill(Answer, n=1, verdict="answered", confidence=0.9, **given),
            facts=[fill(Fact, id="f1", statement="s", quote="q1")],
            pages=[fill(PageRef, url=URL, found_on="search: x", step=2)],
            actions=[fill(Action, step=2, action="crawl_url", query_or_url=URL)],
            usage=Used(llm_calls=3),
            steps=STEPS,
        )
    )
    assert list(told)[: len(KEYS)] == KEYS and told == json.loads(json.dumps(told))
    assert (told["answer"], told["status"]) == ("In 1921. [1] [2] So it is.", "review")
    assert told["statements"] == {"backed": 1, "unsupported": 1, "dropped": 0, "unchecked": 0}
    source = {"n": 1, "url": URL, "title": "A", "quote": "q1", "quotes": ["q1", "q3"]}
    assert told["sources"][0] == source and told["sources"][1]["quote"] == ""
    assert told["pages"] == [{"url": URL, "outcome": "ok", "found_on": "search: x", "step": 2}]
    assert list(told["usage"]) == USAGE
    assert "change" not in told["steps"][0] and "action" not in told["steps"][0]
    acted = [step["n"] for step in told["steps"] if "action" in step]
    assert acted == [3], "a note took number 2 while the page was read"
    assert told["steps"][2]["action"]["query_or_url"] == URL


def test_without_an_answer_it_tells_why() -> None:
    refused = fill(Answer, n=1, verdict="no_evidence", reason="not_covered", certainty="Nothing was found.")
    told = build_run_record(make_report(run=RUN, answer=refused))
    shown = [told[name] for name in ("verdict", "reason", "answer", "sources")]
    assert shown == ["no_evidence", "not_covered", "Nothing was found.", []]
    told = build_run_record(make_report(run=RUN.replace(error="no network")))
    assert (told["verdict"], told["confidence"], told["answer"]) == ("no_evidence", None, "no network")
