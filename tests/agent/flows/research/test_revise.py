"""A note on an answer: it is read first, obeyed by facts, plan and form, and what it does not touch stays word
for word; with a model and without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agent.actions.export import export_run
from agent.answering.revision import restate_guidance
from agent.engine.run_state import RunState
from agent.errors import ConcurrentChange, UsageError
from agent.types import Note, Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.records import fill
from tests.web.folders import write_world
from tests.web.model_server import ModelServer
from tests.web.researching_model import Script, crawl, find_fact_ids, together, workbench

pytestmark = pytest.mark.slow
QUESTION = "When was the Varn bridge opened, and who designed the Varn bridge?"
WIKI, ROAD, ARCHIVE, NEWS = (f"https://{name}.example/varn" for name in ("wiki", "road", "archive", "news"))
OPENED_WIKI = "The Varn bridge was opened on 3 May 1931."
OPENED = "The Varn bridge opened to traffic on 3 May 1931."
DESIGNED = "The Varn bridge was designed by the engineer Tora Lind."
LENGTH = "The Varn bridge is 212 metres long."
PAGES = [
    {"url": url, "title": f"Varn bridge ({n})", "text": f"{said} It crosses the sound."}
    for n, (url, said) in enumerate(
        [(WIKI, OPENED_WIKI), (ROAD, OPENED), (ARCHIVE, DESIGNED), (NEWS, LENGTH)]
    )
]
PARTS = {OPENED_WIKI: "1", OPENED: "1", DESIGNED: "2", LENGTH: "1"}


def analyze(prompt: str) -> dict[str, Any]:
    facts = []
    for quote, part in PARTS.items():
        if quote in prompt.rpartition("Passage p1")[2]:
            passage = re.findall(r"\b(p\d+)\b", prompt[: prompt.rindex(quote)])[-1]
            about = {"passage_id": passage, "subject": "Varn bridge", "part": part}
            facts.append({"statement": quote, "quote": quote, "attribute": f"matter {quote[-9:]}", **about})
    return {"facts": facts, "answered_parts": ["1", "2"], "assessment": "Seen.", "confidence_score": 0.9}


def write(prompt: str) -> dict[str, Any]:
    """A sentence for each fact that is listed: its statement."""
    listed = prompt.partition("acts that may be used" if "You write up" in prompt else "Its facts")[2]
    listed = listed.partition("What was done")[0].partition("The section as it stands")[0]
    ids, lines = find_fact_ids(prompt), listed.splitlines()
    sentences = [
        {"text": quote, "fact_ids": [i]}
        for i in ids
        for quote in PARTS
        if any(line.startswith(f"{i} [") and quote in line for line in lines)
    ]
    return {"blocks": [{"kind": "paragraph", "sentences": sentences}]}


@contextmanager
def reviewed(tmp_path: Any, reading: Any, *decisions: Any, pages: Any = None) -> Iterator[Any]:
    """A run with an answer from wiki and archive, and a model that reads notes like this."""
    first = together(crawl(WIKI), crawl(ARCHIVE), *([crawl(ROAD)] if pages != "two" else []))
    parts = [
        {"question": part} for part in ("When was the Varn bridge opened?", "Who designed the Varn bridge?")
    ]
    script = Script(
        first,
        *decisions,
        plan=lambda _prompt: {"parts": parts},
        analyzer=analyze,
        report=write,
        section=write,
        revision=reading,
    )
    with ModelServer(script.served) as server, workbench(server) as bench:
        run_id = bench.start(QUESTION, Settings(world=write_world(tmp_path / "w", PAGES), threshold=0.99))
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        yield bench, run_id, script


def said(view: RunSnapshot) -> list[str]:
    return [sentence.text for sentence in view.state.answer.sentences]


def send_back(bench: Workbench, run_id: str, note: str, **more: Any) -> RunSnapshot:
    bench.act(run_id, "send_back", bench.snapshot(run_id).head, note=note, **more)
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    return bench.snapshot(run_id)


def test_a_correction_while_the_note_is_followed_is_read_again(tmp_path):
    readings = iter([{"about": ["s1"], "searches": ["x"]}, {"understood": "only shorter", "length": "brief"}])
    with reviewed(tmp_path, lambda _prompt: next(readings)) as (bench, run_id, _):
        bench.act(run_id, "send_back", bench.snapshot(run_id).head, note="Sharper.")
        bench.act(run_id, "steer", note="No, I meant: shorter.")
        assert bench.drive(run_id) is Status.REVIEW
        state = bench.snapshot(run_id).state
        assert state.readings[-1].note == state.notes[-1].step
        assert state.answer.n == 2


def test_what_a_private_note_was_read_as_never_becomes_a_search_or_a_part(tmp_path):
    reading = {
        "understood": "for <b>Quorvath</b> <script>alert(1)</script>",
        "questions": ["What does Quorvath pay for the bridge?"],
        "searches": ["Quorvath Varn bridge", "Varn bridge length"],
    }
    with reviewed(tmp_path, lambda _prompt: reading, crawl(NEWS)) as (bench, run_id, _):
        after = send_back(bench, run_id, "This is for Quorvath: how long is it?", private=True)
        [read] = after.state.readings
        assert read.searches == [] and read.questions == [] and not read.needs_research
        assert len(after.state.plan) == 2
        assert not any("quorvath" in action.query_or_url.lower() for action in after.state.actions)


@pytest.fixture
def keyless(bench, tmp_path) -> tuple[Workbench, str]:
    world = write_world(tmp_path / "k", PAGES)
    run_id = bench.start(QUESTION, Settings(world=world, model="keyless"))
    assert bench.drive(run_id) is Status.REVIEW
    return bench, run_id


def test_what_becomes_of_guidance_before_an_answer_is_told():
    def told(**more: bool) -> str:
        note = fill(Note, step=1, text="Look for the year.", private=more.pop("private", False))
        return restate_guidance(RunState(question=QUESTION, notes=[note]), **more)

    assert "The model reads it" in told(has_model=True)
    assert "searched for next" in told(has_model=False)
    assert "a private note is not searched for" in told(has_model=False, private=True)
    assert restate_guidance(RunState(question=QUESTION), has_model=True) == ""


def test_a_note_that_leaves_out_most_facts_waits_for_the_persons_word(tmp_path):
    reading = {"excluded_sites": ["wiki.example", "road.example"], "about": ["s1"]}
    for act, stays in (("leave_out", False), ("keep_sources", True)):
        with reviewed(tmp_path / act, lambda _prompt: reading) as (bench, run_id, script):
            bench.act(run_id, "send_back", bench.snapshot(run_id).head, note="I only trust the archive.")
            assert bench.drive(run_id) is Status.PAUSED
            assert "leaves out 2 of 3 facts" in bench.snapshot(run_id).state.halt.why
            bench.act(run_id, act, bench.snapshot(run_id).head)
            assert bench.drive(run_id) is Status.REVIEW
            after = bench.snapshot(run_id)
            sites = " ".join(source.url for source in after.state.answer.sources)
            assert ("wiki.example" in sites) is stays and DESIGNED in said(after)
            assert [role for role, _ in script.prompts].count("revision") == 1


def test_a_private_comment_carries_no_word_of_it_into_a_search(keyless):
    bench, run_id = keyless
    bench.act(
        run_id,
        "comment",
        bench.snapshot(run_id).head,
        target="s1",
        text="look for the Zephyr contract",
        private=True,
    )
    assert bench.drive(run_id) is Status.REVIEW
    view = bench.snapshot(run_id)
    assert view.state.notes[-1].private and len(view.state.answers) == 2
    assert not any("Zephyr" in action.query_or_url for action in view.state.actions)


def test_a_comment_needs_a_sentence_of_the_answer_and_a_review(keyless):
    bench, run_id = keyless
    head = bench.snapshot(run_id).head
    with pytest.raises(UsageError, match="no sentence s99"):
        bench.act(run_id, "comment", head, target="s99", text="source?")
    with pytest.raises(UsageError, match="comment is empty"):
        bench.act(run_id, "comment", head, target="s1", text=" ")
    bench.act(run_id, "accept", head)
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "comment", bench.snapshot(run_id).head, target="s1", text="source?")


def test_an_accepted_answer_is_reopened_and_sent_back_as_before(keyless):
    bench, run_id = keyless
    bench.act(run_id, "accept", bench.snapshot(run_id).head)
    bench.act(run_id, "reopen", bench.snapshot(run_id).head)
    assert bench.snapshot(run_id).run.status is Status.REVIEW
    assert send_back(bench, run_id, "the length in metres").state.answer.n == 2
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "reopen", bench.snapshot(run_id).head)
    assert export_run(bench, run_id, "md").decode().strip()
