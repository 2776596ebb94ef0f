"""What a person does about what could not be read: tried again, pasted, uploaded; taken in by the flow,
marked, and told everywhere."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import docx
import pytest

from agent.actions import page_input
from agent.actions.bundles import import_bundle, refetch_sources, verify_bundle
from agent.actions.export import export_run
from agent.errors import UsageError
from agent.export.plain import render_plain_text
from agent.types import Outcome, SearchResult, Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.tables import by_table
from tests.web.folders import Told, page, write_world

pytestmark = pytest.mark.slow

WALL, OTHER, MISSING = "https://wall.example/heron", "https://open.example/heron", "https://open.example/gone"
QUESTION = "How many feathers has the brass heron of Ostrava?"
SAID = "The brass heron of Ostrava has 412 feathers, each of them cut by hand. It was made in 1921 by two sisters from the north of the town."
Made = Callable[..., tuple[str, RunSnapshot]]


@pytest.fixture
def run(bench: Workbench, tmp_path: Path) -> Made:
    """A run that could not read the page which has the answer."""
    docs = [
        page(WALL, "Heron", "No.", status=403),
        page(
            OTHER,
            "The brass heron",
            "The brass heron of Ostrava stands on the bridge. Nobody has told how many feathers it has.",
        ),
    ]
    world = write_world(tmp_path / "herons", docs)

    def made(*, drive: bool = True, **settings: object) -> tuple[str, RunSnapshot]:
        chosen = {"world": world, "model": "keyless", "start_urls": [WALL], **settings}
        run_id = bench.start(QUESTION, Settings(**chosen))  # type: ignore[arg-type]
        if drive:
            bench.drive(run_id)
        return run_id, bench.snapshot(run_id)

    return made


def test_a_pasted_text_counts_as_read_and_the_answer_is_written_again_from_it(bench, run):
    run_id, before = run()
    assert before.state.pages[WALL].outcome is Outcome.BLOCKED and "412" not in before.state.answer.text
    bench.act(run_id, "supply", url=WALL, text=SAID)
    assert bench.snapshot(run_id).run.status is Status.RUNNING
    assert bench.drive(run_id) is Status.REVIEW
    view = bench.snapshot(run_id)
    ref, answer = view.state.pages[WALL], view.state.answer
    assert (ref.outcome, ref.origin, ref.waiting, ref.facts > 0) == (Outcome.OK, "pasted", False, True)
    assert answer.n == 2 and "412 feathers" in answer.text
    source = next(source for source in answer.sources if source.url == WALL)
    assert source.given == "pasted"
    assert {fact.given for fact in view.state.facts.values() if fact.url == WALL} == {"pasted"}
    assert [step.name for step in view.steps[before.head + 1 :]] == [
        "supply",
        "decide",
        "analyze",
        "decide",
        "report",
    ], "no search beside"
    assert len(view.state.actions) == len(before.state.actions), "a person's step is free"
    assert not page_input.list_failed_requests(view.state) or all(
        one.what != WALL for one in page_input.list_failed_requests(view.state)
    )


def test_everything_that_leaves_says_that_a_person_gave_it(bench, run):
    run_id, _ = run()
    bench.act(run_id, "supply", url=WALL, text=SAID)
    bench.drive(run_id)
    for name in ("evidence.md", "html"):
        assert "text pasted by a person" in export_run(bench, run_id, name).decode().lower(), name
    for name in ("bib", "ris", "csl"):
        assert "text pasted by a person" in export_run(bench, run_id, name).decode(), name
    assert "pasted" in export_run(bench, run_id, "graphml").decode()
    document = docx.Document(io.BytesIO(export_run(bench, run_id, "docx")))
    assert "text pasted by a person" in "".join(document.element.itertext()).lower()
    assert "(text pasted by a person)" in render_plain_text(bench.snapshot(run_id).state.answer)
    assert '"pasted"' in export_run(bench, run_id, "csv").decode()
    assert '"pasted"' in export_run(bench, run_id, "pages.csv").decode()
    record = bench.as_json(run_id)
    assert [source["given"] for source in record["sources"] if source["url"] == WALL] == ["pasted"]
    assert next(ref for ref in record["pages"] if ref["url"] == WALL)["origin"] == "pasted"


def test_a_bundle_with_a_given_page_holds_and_its_sources_are_told_apart(bench, run):
    run_id, _ = run()
    bench.act(run_id, "supply", url=WALL, text=SAID)
    bench.drive(run_id)
    found = verify_bundle(export_run(bench, run_id, "bundle"))
    assert found.is_valid, found.problems
    world = bench.worker.world(bench.snapshot(run_id).run.settings.world)
    given = [(fact.given, one.standing) for fact, one in refetch_sources(found, world) if fact.url == WALL]
    assert set(given) == {("pasted", "not_read")}
    came = import_bundle(bench, export_run(bench, run_id, "bundle"))
    assert bench.page(bench.snapshot(came.run_id).state.pages[WALL].page_id).origin == "pasted"


def test_a_file_for_a_page_and_one_that_is_on_no_site(bench, run):
    run_id, _ = run()
    document = docx.Document()
    document.add_paragraph(SAID)
    out = io.BytesIO()
    document.save(out)
    bench.act(run_id, "supply", url=WALL, file={"name": "heron.docx", "data": out.getvalue()})
    bench.drive(run_id)
    assert bench.snapshot(run_id).state.pages[WALL].origin == "uploaded"
    assert "412 feathers" in bench.snapshot(run_id).state.answer.text
    bench.act(
        run_id,
        "supply",
        url="",
        file={
            "name": "notes.md",
            "data": b"# Heron\n\nThe brass heron of Ostrava has 412 feathers, says the inventory of 1950.\n",
        },
    )
    bench.drive(run_id)
    state = bench.snapshot(run_id).state
    assert state.answer.n == 3 and state.pages["file:notes.md"].origin == "uploaded"
    assert verify_bundle(export_run(bench, run_id, "bundle")).is_valid


def test_a_page_is_tried_again_and_read_when_it_can_be(bench, run, monkeypatch):
    run_id, view = run()
    world = Told(
        bench.worker.world(view.run.settings.world), fetch=lambda url: opened if url == WALL else None
    )
    opened = (
        bench.worker.world(view.run.settings.world)
        .fetch(OTHER)
        .model_copy(update={"url": WALL, "final_url": WALL, "text": SAID})
    )
    monkeypatch.setattr(bench.worker, "world", lambda name: world)
    bench.act(run_id, "retry", what=WALL)
    bench.drive(run_id)
    after = bench.snapshot(run_id)
    assert after.state.pages[WALL].outcome is Outcome.OK and after.state.answer.n == 2
    assert [step.name for step in after.steps[view.head + 1 :]] == [
        "retry",
        "decide",
        "act",
        "analyze",
        "decide",
        "report",
    ]
    with pytest.raises(UsageError, match="no page or search of this run that failed"):
        bench.act(run_id, "retry", what=WALL)


def test_a_failed_search_of_an_answered_run_is_made_again_and_followed(bench, run, monkeypatch):
    """What it brings is read as after an answer that was sent back: a search alone tells nothing."""
    late = [
        SearchResult(
            engine="duckduckgo",
            query=QUESTION,
            outcome=Outcome.TIMEOUT,
            detail="The search engine did not answer in time.",
        )
    ]
    real = bench.worker.world(run(drive=False)[1].run.settings.world)
    world = Told(real, search=lambda engine, query: late[0] if late else None)
    monkeypatch.setattr(bench.worker, "world", lambda name: world)
    run_id, view = run(start_urls=[])
    assert view.run.status is Status.REVIEW and not view.state.facts
    late.clear()
    failed = next(one for one in page_input.list_failed_requests(view.state) if one.kind == "Search")
    bench.act(run_id, "retry", what=failed.what)
    assert bench.drive(run_id) is Status.REVIEW
    after = bench.snapshot(run_id).state
    again = after.actions[len(view.state.actions)]
    assert (again.action, again.outcome, again.by) == ("search_duckduckgo", Outcome.OK, "person")
    assert OTHER in after.pages and after.answer.n == 2


@pytest.mark.parametrize("at", ["act", "analyze", "decide", "report"])
def test_what_is_given_while_the_run_works_is_never_lost(bench, run, monkeypatch, at):
    """The page arrives in the middle of a step, between its beginning and its record."""
    flow = page_input.FLOWS["research"]
    plain_step, given = flow.steps[at], []

    def meanwhile(state, tools):
        change = plain_step(state, tools)
        if not given:
            given.append(at)
            bench.act(run_id, "supply", url=WALL, text=SAID)
        return change

    monkeypatch.setitem(flow.steps, at, meanwhile)
    run_id, _ = run(drive=False, start_urls=[])
    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    assert given and "412 feathers" in state.answer.text and not state.pages[WALL].waiting
    assert verify_bundle(export_run(bench, run_id, "bundle")).is_valid


def test_site_takes_in_what_is_given_for_its_pages(bench, run):
    run_id, before = run(flow="site", start_urls=[WALL], allowed_domains=["wall.example"])
    assert before.state.answer.reason == "blocked"
    with pytest.raises(UsageError, match="never asked for"):
        bench.act(run_id, "supply", url="https://wall.example/other", text=SAID)
    bench.act(run_id, "supply", url=WALL, text=SAID)
    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    assert state.answer.n == 2
    assert "412 feathers" in state.answer.text
    assert state.answer.sources[0].given == "pasted"
    assert verify_bundle(export_run(bench, run_id, "bundle")).is_valid


@pytest.mark.parametrize(
    ("url", "text", "told"),
    [
        (WALL, "too short", "at least 20 characters"),
        (WALL, "x" * 2_000_001, "upload the file"),
        ("no address", SAID, "is not a web address"),
        ("https://never.example/", SAID, "outside the domains chosen"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_what_to_do(bench, run, url, text, told):
    run_id, _ = run(blocked_domains=["never.example"])
    with pytest.raises(UsageError, match=told):
        bench.act(run_id, "supply", url=url, text=text)
    with pytest.raises(UsageError, match=r"is empty|holds nothing that can be read"):
        bench.act(run_id, "supply", url=WALL, file={"name": "x.bin", "data": b"\x00\x01\x02" * 50})


@by_table
def test_each_way_to_fail_has_its_advice(detail, outcome, word):
    assert word in page_input.find_advice(Outcome(outcome), detail)
