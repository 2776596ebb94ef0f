"""Exports of a run whose facts a person edited."""

from __future__ import annotations

import csv
import html
import io
import json

import pytest

from agent.actions import export
from agent.actions.bundles import import_bundle, verify_bundle
from agent.actions.fact_edits import FactEdit
from agent.answering import fact_view
from agent.answering.fact_view import main_fact_status
from agent.errors import UsageError
from agent.text.urls import site
from agent.types import Status
from agent.workbench import Workbench
from tests.web.demo_runs import reviewed
from tests.web.notes import rule_out

pytestmark = pytest.mark.slow

FOUNDED = "In which year was Älvmora Mejeri founded?"


def rewritten(bench: Workbench, run_id: str):
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    return bench.snapshot(run_id).state


def test_every_export_tells_what_was_edited_and_the_bundle_still_holds(bench):
    run_id = reviewed(bench, FOUNDED)
    state = bench.snapshot(run_id).state
    first, second = [name for name, fact in state.facts.items() if fact.verified][:2]
    bench.act(
        run_id,
        "revise",
        edits=[
            FactEdit(first, statement="It was founded in 1850.", decision="pinned"),
            FactEdit(second, decision="struck"),
        ],
    )
    rewritten(bench, run_id)
    bench.act(run_id, "add", statement="My uncle says 1975.")
    rewritten(bench, run_id)
    bench.act(run_id, "strike_source", source=site(state.facts[second].url))
    rewritten(bench, run_id)
    bench.act(run_id, "undo")
    rewritten(bench, run_id)
    bundle = export.export_run(bench, run_id, "bundle")
    found = verify_bundle(bundle)
    assert found.is_valid, found.problems
    opened = import_bundle(bench, bundle).run_id
    bench.act(opened, "redo")
    assert rewritten(bench, opened).strikes, "an imported run's edits can be taken back and done again"
    rows = list(csv.DictReader(io.StringIO(export.export_run(bench, run_id, "csv").decode("utf-8-sig"))))
    by_id = {row["id"]: row for row in rows}
    assert (
        by_id[first]["former"] == state.facts[first].statement
        and by_id[first]["decision"] == "pinned"
        and by_id[second]["decision"] == "struck"
    )
    assert [row["statement"] for row in rows if row["origin"] == "person"] == ["My uncle says 1975."]
    data = json.loads(export.export_run(bench, run_id, "json"))
    assert (
        data["because"].startswith("after your edit: undid: excluded the source") and len(data["edits"]) == 4
    )
    text = html.unescape(export.export_run(bench, run_id, "evidence.md").decode())
    assert "My uncle says 1975." in text and "own knowledge" in text and "excluded the source" in text
    assert state.facts[first].statement in text, "the former statement is told"
    assert "excluded the source" not in export.export_run(bench, run_id, "html").decode()
    assert export.export_run(bench, run_id, "docx")[:2] == b"PK"


def test_what_a_note_leaves_out_is_told_as_excluded_everywhere_and_no_mark_brings_it_back(bench):
    run_id = reviewed(bench, "How old are the children of the couple who run Älvmora Mejeri?")
    known = bench.snapshot(run_id).state.facts.values()
    source = next(site(f.url) for f in known if site(f.url) != "alvmora-mejeri.example")
    gone = [f.id for f in known if site(f.url) == source]
    rule_out(bench, run_id, source)
    after = rewritten(bench, run_id)
    listed = {fact.id: fact for fact in fact_view.all_facts(after)}
    assert gone and {name for name, fact in listed.items() if main_fact_status(fact) == "struck"} == set(gone)
    rows = csv.DictReader(io.StringIO(export.export_run(bench, run_id, "csv").decode("utf-8-sig")))
    by = f"{source}, left out by a note"
    told = {row["id"]: (row["decision"], row["struck with"]) for row in rows}
    assert [told[name] for name in gone] == [("struck", by)] * len(gone)
    evidence = export.export_run(bench, run_id, "evidence.md").decode()
    assert evidence.count(f"verified, struck with {by}") == len(gone)
    assert verify_bundle(export.export_run(bench, run_id, "bundle")).is_valid
    with pytest.raises(UsageError, match="a note leaves this fact out"):
        bench.act(run_id, "mark", facts=gone[:1], decision="none")
