"""A store and bundles that an early version wrote: the store is refused, the bundles say what they said.

tests/corpora/old_store/expected.json holds what that version itself read from the runs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent.actions.bundle_import import import_bundle
from agent.actions.bundle_verify import verify_bundle
from agent.config import ROOT
from agent.engine.snapshots import RunSnapshot
from agent.errors import StoreError
from agent.store.database import Store
from agent.workbench import Workbench

CORPUS = ROOT / "tests" / "corpora" / "old_store"
EXPECTED: dict[str, dict[str, Any]] = json.loads((CORPUS / "expected.json").read_text(encoding="utf-8"))
BUNDLES = sorted(CORPUS.glob("bundle-*.zip"))


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


def test_an_old_store_is_refused_with_the_way_out_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "touchstone.db"
    path.write_bytes(gzip.decompress((CORPUS / "store.db.gz").read_bytes()))
    former = path.read_bytes()
    with pytest.raises(StoreError, match="commit 2579e32c is the last that opens it"):
        Store(f"sqlite:///{path}")
    assert path.read_bytes() == former


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
