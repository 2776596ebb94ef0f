"""An undo on a real run, keyless: the answer that stood comes back only where nothing that was asked for since
would be lost; else the round goes on from where it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.actions import page_input
from agent.engine.snapshots import RunSnapshot
from agent.types import Outcome, SearchResult, Settings, Status
from agent.workbench import Workbench
from tests.records import fill
from tests.web.folders import Told, page, write_world

pytestmark = pytest.mark.slow

HOST = "https://open.example"
WALL, OTHER, FOUND = "https://wall.example/heron", f"{HOST}/heron", f"{HOST}/feathers"
QUESTION = "How many feathers has the brass heron of Ostrava?"
SAID = "The brass heron of Ostrava has 412 feathers, each of them cut by hand in 1921."


@pytest.fixture
def heron(bench: Workbench, tmp_path, monkeypatch) -> str:
    """A run with an answer whose first search failed, and one of its pages."""
    text = "The brass heron of Ostrava stands on the bridge. The heron has about 300 feathers, a guide says."
    told = "The brass heron of Ostrava has 398 feathers, says the inventory of the town of 1950."
    docs = [page(WALL, "Heron", "No.", status=403), page(OTHER, "The brass heron", text)]
    name = write_world(tmp_path / "herons", [*docs, page(FOUND, "Feathers of the brass heron", told)])
    failed = fill(SearchResult, engine="duckduckgo", query=QUESTION, outcome=Outcome.TIMEOUT, detail="Late.")
    late = [failed]
    world = Told(bench.worker.world(name), search=lambda engine, query: late[0] if late else None)
    monkeypatch.setattr(bench.worker, "world", lambda name: world)
    run_id = bench.start(QUESTION, Settings(world=name, model="keyless", start_urls=[WALL, OTHER]))
    assert bench.drive(run_id) is Status.REVIEW and bench.snapshot(run_id).state.facts
    late.clear()
    return run_id


def search_again(bench: Workbench, run_id: str) -> None:
    """Try the search again that failed."""
    failed = page_input.list_failed_requests(bench.snapshot(run_id).state)
    bench.act(run_id, "retry", what=next(one.what for one in failed if one.kind == "Search"))


def exclude(bench: Workbench, run_id: str) -> RunSnapshot:
    """The run after a person excluded its first fact."""
    first = next(iter(bench.snapshot(run_id).state.facts))
    bench.act(run_id, "mark", facts=[first], decision="struck")
    return bench.snapshot(run_id)


def rest(bench: Workbench, run_id: str) -> RunSnapshot:
    """The run once it rests."""
    bench.drive(run_id)
    return bench.snapshot(run_id)


BEGINNINGS: dict[str, Callable[[Workbench, str], object]] = {
    "search": search_again,
    "page": lambda bench, run: bench.act(run, "retry", what=WALL),
    "supply": lambda bench, run: bench.act(run, "supply", url=WALL, text=SAID),
    "note": lambda bench, run: bench.act(run, "send_back", note="Look at the bridge, too."),
}


@pytest.mark.parametrize("begin", BEGINNINGS.values(), ids=BEGINNINGS)
def test_an_undo_in_a_paused_round_takes_out_the_edit_alone(bench, heron, begin):
    begin(bench, heron)
    bench.act(heron, "pause")
    before = rest(bench, heron)
    assert before.run.status is Status.PAUSED
    exclude(bench, heron)
    bench.act(heron, "undo")
    after = bench.snapshot(heron)
    assert (after.run.status, after.next) == (Status.PAUSED, before.next)
    assert after.state.facts == before.state.facts and after.state.answers == before.state.answers
    bench.act(heron, "resume")
    done = rest(bench, heron)
    assert done.run.status is Status.REVIEW and done.state.answer.n == 2
    assert not any(ref.waiting for ref in done.state.pages.values())


def test_an_undo_of_the_note_that_began_a_round_loses_no_page_that_was_supplied_in_it(bench, heron):
    bench.act(heron, "send_back", note="Look at the bridge, too.")
    bench.act(heron, "supply", url=WALL, text=SAID)
    bench.act(heron, "pause")
    assert rest(bench, heron).run.status is Status.PAUSED
    bench.act(heron, "undo")
    assert bench.snapshot(heron).run.status is Status.PAUSED
    bench.act(heron, "resume")
    done = rest(bench, heron)
    assert done.run.status is Status.REVIEW and "412 feathers" in done.state.answer.text
    assert not done.state.pages[WALL].waiting and not done.state.notes


@pytest.mark.parametrize("told", ["412", "398"])
def test_an_undo_returns_to_no_answer_that_is_older_than_what_was_found_since(bench, heron, told):
    first = bench.snapshot(heron).state
    exclude(bench, heron)
    assert rest(bench, heron).state.answer.n == 2
    BEGINNINGS["supply" if told in SAID else "search"](bench, heron)
    assert f"{told} feathers" in rest(bench, heron).state.answer.text
    bench.act(heron, "undo")
    back = rest(bench, heron).state
    assert set(first.facts) < set(back.facts) and not any(f.decision == "struck" for f in back.facts.values())
    assert back.answer.n == 4 and f"{told} feathers" in back.answer.text


def test_an_undo_returns_to_no_answer_of_another_model(bench, heron, monkeypatch):
    served = bench.snapshot(heron).run.settings.replace(model="auto", served_by="a model")
    exclude(bench, heron)
    assert rest(bench, heron).state.answer.n == 2
    monkeypatch.setattr(type(bench.worker), "mark_model", lambda self, settings: served.served_by)
    bench.act(heron, "keep_model")
    bench.act(heron, "undo")
    after = bench.snapshot(heron)
    assert (after.run.status, after.next) == (Status.RUNNING, "report"), "it is written by the model chosen"
