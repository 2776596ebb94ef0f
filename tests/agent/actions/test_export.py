"""A run in every format, whichever flow made it; the same bytes each time; nothing secret in any."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from agent.actions.export import FORMATS, export_run, find_page_ids, list_formats
from agent.api import start_collect_run
from agent.errors import NotFound, UsageError
from agent.types import Page, Settings, Status
from agent.workbench import Workbench

pytestmark = pytest.mark.slow

DAIRY = "https://www.alvmora-mejeri.example/"


def test_a_research_run_in_every_format(bench, ran):
    run_id = ran()
    made = {chosen.name: export_run(bench, run_id, chosen.name) for chosen in list_formats("research")}
    assert set(made) == set(FORMATS) - {"items.csv"} and all(made.values())
    assert {name: export_run(bench, run_id, name) for name in made if name != "docx"} == {
        name: body for name, body in made.items() if name != "docx"
    }
    assert json.loads(made["json"])["run"] == run_id


def test_the_other_flows_leave_too(bench):
    collected = start_collect_run(
        bench,
        "What do members say about Kallsteg?",
        ["https://borskvart.example/stock/KALL"],
        Settings(world="demo", model="keyless"),
    )
    site = bench.start(
        "How many people does the dairy employ?",
        Settings(flow="site", world="demo", model="keyless", start_urls=[DAIRY]),
    )
    for run_id in (collected, site):
        bench.drive(run_id)
    chat = bench.start(
        "How many people does Älvmora Mejeri employ?", Settings(flow="chat", world="demo", model="keyless")
    )
    bench.drive(chat)
    for run_id in (collected, site, chat):
        flow = bench.snapshot(run_id).run.settings.flow
        assert all(
            export_run(bench, run_id, chosen.name) or chosen.name in ("bib", "ris")
            for chosen in list_formats(flow)
        ), flow
        with zipfile.ZipFile(io.BytesIO(export_run(bench, run_id, "bundle"))) as archive:
            assert (
                sum(name.endswith(".txt") and name.startswith("pages/") for name in archive.namelist())
                == len(find_page_ids(bench, run_id))
                > 0
            )
    urls = {item.url for item in bench.snapshot(collected).state.own.kept_items}
    assert urls
    assert urls <= {item["URL"] for item in json.loads(export_run(bench, collected, "csl"))}, (
        "what was gathered is in the bibliography"
    )


def test_a_run_that_works_makes_no_bundle_and_an_unknown_format_is_told(bench, ran):
    run_id = bench.start("Who?", Settings(world="demo", model="keyless"))
    assert bench.snapshot(run_id).run.status is Status.RUNNING
    with pytest.raises(UsageError, match="at work"):
        export_run(bench, run_id, "bundle")
    assert export_run(bench, run_id, "html")
    with pytest.raises(UsageError, match="no format"):
        export_run(bench, run_id, "doc")
    with pytest.raises(UsageError, match="collect"):
        export_run(bench, run_id, "items.csv")
    with pytest.raises(NotFound):
        export_run(bench, "nothing", "md")


def test_no_key_of_this_workbench_is_in_a_bundle(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-0123456789-secret")
    bench = Workbench()
    run_id = bench.start("Is AIza-0123456789-secret a key?", Settings(world="demo", model="keyless"))
    bench.drive(run_id)
    assert b"AIza-0123456789-secret" not in export_run(bench, run_id, "bundle")
    bench.shutdown()


def test_a_page_that_is_no_longer_stored_is_named(bench, ran, monkeypatch):
    run_id = ran()
    gone = find_page_ids(bench, run_id)[0]
    get = bench.store.pages.get

    def without(page_id: str, *, raw: bool = False) -> Page:
        if page_id == gone:
            raise NotFound("gone")
        return get(page_id, raw=raw)

    monkeypatch.setattr(bench.store.pages, "get", without)
    with zipfile.ZipFile(io.BytesIO(export_run(bench, run_id, "bundle"))) as archive:
        assert json.loads(archive.read("run.json"))["missing_pages"] == [gone]
