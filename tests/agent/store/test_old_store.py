"""A store and bundles that the release before the packages were renamed wrote: they open, and say what they said.

tests/corpora/old_store/expected.json holds what that release itself read from the store."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent.actions.bundle_import import import_bundle
from agent.actions.bundle_verify import verify_bundle
from agent.actions.export import export_run
from agent.config import ROOT
from agent.engine.snapshots import RunSnapshot
from agent.types import Status
from agent.workbench import Workbench

CORPUS = ROOT / "tests" / "corpora" / "old_store"
EXPECTED: dict[str, dict[str, Any]] = json.loads((CORPUS / "expected.json").read_text(encoding="utf-8"))
BUNDLES = sorted(CORPUS.glob("bundle-*.zip"))


@pytest.fixture(scope="module")
def old_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return gzip.decompress((CORPUS / "store.db.gz").read_bytes())


@pytest.fixture
def old_bench(old_database: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "touchstone.db").write_bytes(old_database)
    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path))
    bench = Workbench()
    yield bench
    bench.shutdown()


def describe(view: RunSnapshot) -> dict[str, Any]:
    """A run in the terms of expected.json."""
    state, answer = view.state, view.state.answer
    return {
        "flow": view.run.settings.flow,
        "question": view.run.question,
        "status": view.run.status.value,
        "verdict": answer.verdict if answer else "",
        "answer": answer.text if answer else "",
        "confidence": state.current_confidence,
        "facts": len(state.facts),
        "conflicts": len(state.conflicts),
        "pages": len(state.pages),
        "steps": len(view.steps),
        "edits": len(state.edits),
        "calls": view.usage.llm_calls,
    }


def test_every_run_of_an_old_store_reads_as_it_did(old_bench: Workbench) -> None:
    found = {run_id: describe(old_bench.snapshot(run_id)) for run_id in EXPECTED}
    for run_id, expected in EXPECTED.items():
        assert found[run_id] == {name: expected[name] for name in found[run_id]}, run_id
    assert {run["flow"] for run in EXPECTED.values()} >= {"research", "site", "collect", "reply", "chat"}


def test_quotes_of_an_old_store_are_in_their_pages(old_bench: Workbench) -> None:
    checked = 0
    for run_id in EXPECTED:
        for fact in old_bench.snapshot(run_id).state.facts.values():
            if fact.verified and fact.page_id:
                assert old_bench.page(fact.page_id).text[fact.start : fact.end] == fact.quote
                checked += 1
    assert checked > 20


def test_an_old_run_is_exported_and_accepted(old_bench: Workbench) -> None:
    in_review = [run for run in old_bench.runs(status="review") if run.settings.flow == "research"]
    assert in_review
    run_id = in_review[0].id
    verification = verify_bundle(export_run(old_bench, run_id, "bundle"))
    assert verification.is_valid, verification.problems
    assert export_run(old_bench, run_id, "md") and export_run(old_bench, run_id, "json")
    old_bench.accept(run_id, old_bench.snapshot(run_id).head)
    assert old_bench.snapshot(run_id).run.status is Status.DONE


def test_the_library_and_batches_of_an_old_store_are_read(old_bench: Workbench) -> None:
    assert old_bench.library.count() > 0
    old_bench.library.index_pending()  # terms may be made another way since
    assert old_bench.library.search("solar panels", 3).hits
    for batch in old_bench.store.batches.list_newest():
        assert old_bench.store.batches.rows(batch.id)


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.stem)
def test_an_old_bundle_verifies_and_is_imported(path: Path, bench: Workbench) -> None:
    data, run_id = path.read_bytes(), path.stem.removeprefix("bundle-")
    verification = verify_bundle(data)
    assert verification.is_valid, verification.problems
    assert verification.quote_count == verification.found_quote_count
    imported = import_bundle(bench, data)
    assert imported.run_id == run_id
    expected = EXPECTED[run_id] | {"steps": EXPECTED[run_id]["steps"] + 1}  # the import is a step
    found = describe(bench.snapshot(run_id))
    assert found == {name: expected[name] for name in found}
