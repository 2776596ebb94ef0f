"""A run that is taken up while another model or server is set up than it had: it rests until a person chooses,
and the other server gets no call before (trust case S9.5)."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.batch import jobs
from agent.batch.csv_input import read_sheet
from agent.settings.config import read_config
from agent.types import BatchBudget, Settings, Status
from agent.workbench import Workbench
from tests.web.model_server import ModelServer, Request
from tests.web.researching_model import ASK, ROOF, SOLAR, Script, crawl

pytestmark = pytest.mark.slow
RUN = Settings(world="demo", at_cap="report", max_steps=6)
TABLE = f"question\n{SOLAR}\nHow many huts are there?\n".encode()


@pytest.fixture
def servers() -> Iterator[tuple[ModelServer, ModelServer]]:
    """The server a run begins with, and another one with a model of the same name."""
    with (
        ModelServer(Script(ASK, crawl(ROOF)).served, models=["m"]) as first,
        ModelServer(Script(ASK, crawl(ROOF)).served, models=["m"]) as second,
    ):
        yield first, second


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Workbench]]:
    """Opens the same data with a server, as the next process would."""
    made: list[Workbench] = []

    def open_bench(url: str, **more: str) -> Workbench:
        for bench in made:
            bench.shutdown()
        given = {"TOUCHSTONE_DATA": str(tmp_path), "OPENAI_BASE_URL": url, "OLLAMA_URL": "", **more}
        made[:] = [Workbench(read_config(given))]
        return made[0]

    yield open_bench
    for bench in made:
        bench.shutdown()


def stop_at(bench: Workbench, run_id: str, step: int = 2) -> None:
    """Drive a run up to a step, and let go of it as the end of a process does."""

    def watch() -> None:
        if bench.store.ledger.position(run_id)[0] >= step:
            bench.worker.shutdown_event.set()

    assert bench.drive(run_id, watch) is Status.RUNNING


def rests_for_choice(bench: Workbench, run_id: str) -> bool:
    view = bench.snapshot(run_id)
    halt = view.state.halt
    return view.run.status is Status.PAUSED and halt is not None and halt.kind == "model"


def test_after_a_restart_with_another_server_it_rests(servers, opened) -> None:
    first, second = servers
    bench = opened(first.url)
    run_id = bench.start(SOLAR, RUN)
    stop_at(bench, run_id)
    assert first.requests
    later = opened(second.url)
    later.drive(run_id)
    assert rests_for_choice(later, run_id) and second.requests == []
    later.act(run_id, "resume")
    later.drive(run_id)
    assert rests_for_choice(later, run_id) and second.requests == [], "resuming chooses nothing"
    told = later.explain_other_model(later.snapshot(run_id).run.settings)
    assert told == f"This run used another model or server. Set up now: m at {second.url[7:-3]}."
    assert "127.0.0.1" not in later.snapshot(run_id).state.halt.why, "it goes into bundles"
    later.act(run_id, "keep_model", served_by=later.worker.mark_model(RUN))
    assert later.drive(run_id) is Status.REVIEW and second.requests
    assert later.explain_other_model(later.snapshot(run_id).run.settings) == ""


def test_it_may_go_on_without_a_model(servers, opened) -> None:
    first, second = servers
    bench = opened(first.url)
    run_id = bench.start(SOLAR, RUN)
    stop_at(bench, run_id)
    later = opened(second.url)
    later.drive(run_id)
    later.act(run_id, "drop_model")
    assert later.drive(run_id) is Status.REVIEW and second.requests == []
    later.act(run_id, "send_back", later.snapshot(run_id).head, note="Search again.")
    assert later.drive(run_id) is Status.REVIEW and second.requests == []


def test_a_server_that_is_gone_is_not_replaced_by_rules(servers, opened) -> None:
    first, _ = servers
    bench = opened(first.url)
    run_id = bench.start(SOLAR, RUN)
    stop_at(bench, run_id)
    later = opened("")
    later.drive(run_id)
    assert rests_for_choice(later, run_id)
    assert "no model" in later.explain_other_model(later.snapshot(run_id).run.settings)


def test_the_server_is_recorded_before_the_first_call(servers, opened, monkeypatch) -> None:
    first, second = servers
    bench = opened(first.url)
    with monkeypatch.context() as unknown:
        unknown.setattr(bench.worker, "mark_model", lambda settings: "")  # its server has not answered yet
        run_id = bench.start(SOLAR, RUN)
    assert not bench.snapshot(run_id).run.settings.served_by
    recorded: list[str] = []

    def answer(request: Request) -> str:
        recorded.append(bench.store.ledger.get(run_id).settings.served_by)
        bench.worker.shutdown_event.set()
        return "{}"

    first.replies = answer
    bench.drive(run_id)
    assert recorded[0] == bench.worker.mark_model(RUN)
    later = opened(second.url)
    later.drive(run_id)
    assert rests_for_choice(later, run_id) and second.requests == []
    made = export_run(later, run_id, "bundle")
    assert verify_bundle(made).problems == []
    with zipfile.ZipFile(io.BytesIO(made)) as bundle:
        left = [name for name in bundle.namelist() if recorded[0].encode() in bundle.read(name)]
    assert left == []
    assert all(
        recorded[0].encode() not in export_run(later, run_id, kind) for kind in ("md", "html", "json", "csv")
    )


def test_the_rows_of_a_batch_rest_and_the_batch_says_so(servers, opened) -> None:
    first, second = servers
    bench = opened(first.url)
    batch = jobs.create(bench, "b", read_sheet(TABLE, RUN), RUN, BatchBudget())
    later = opened(second.url)
    assert jobs.drive(later, batch, lambda now: None, threading.Event()).state_counts["resting"] == 2
    assert second.requests == []
    assert "Another model or server is set up" in jobs.export_csv(later, batch)
    jobs.resume(later, batch)
    jobs.drive(later, batch, lambda now: None, threading.Event())
    assert second.requests == []
    back = opened(first.url)
    jobs.resume(back, batch)
    done = jobs.drive(back, batch, lambda now: None, threading.Event())
    assert done.state_counts["done"] == 2 and "Another model" not in jobs.export_csv(back, batch)


def test_without_a_model_no_embedding_server_is_asked(opened) -> None:
    with ModelServer(lambda request: "{}", embeds=lambda texts: [[1.0, 2.0] for _ in texts]) as server:
        bench = opened(server.url, EMBEDDING_MODEL="embedder")
        bench.library.add_file("ferry.md", b"# Ferries\n\nThe ferry Vinga was launched in 1956.\n")
        bench.library.vector_index.embed_pending()
        asked = server.paths
        assert asked[-1] == "/v1/embeddings"
        run_id = bench.start("When was the ferry Vinga launched?", RUN.replace(model="keyless", flow="chat"))
        bench.drive(run_id)
        assert bench.snapshot(run_id).state.own.searched_by.startswith("Searched by words only.")
        assert server.paths == asked
        assert bench.library.search("ferry").by == "words and meaning", "outside of a run it is a setting"
