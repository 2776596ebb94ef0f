"""A store and bundles that an early version wrote: the store is refused, the bundles verify.

tests/corpora/old_store/expected.json holds what that version itself read from the runs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent.actions.bundles import import_bundle, verify_bundle
from agent.errors import BundleError, StoreError
from agent.settings.config import ROOT
from agent.store.database import Store
from agent.workbench import Workbench

pytestmark = pytest.mark.real_disk

CORPUS = ROOT / "tests" / "corpora" / "old_store"
EXPECTED: dict[str, dict[str, Any]] = json.loads((CORPUS / "expected.json").read_text(encoding="utf-8"))
BUNDLES = sorted(CORPUS.glob("bundle-*.zip"))


def test_an_old_store_is_refused_with_the_way_out_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "touchstone.db"
    path.write_bytes(gzip.decompress((CORPUS / "store.db.gz").read_bytes()))
    former = path.read_bytes()
    with pytest.raises(StoreError, match="commit 2579e32c is the last that opens it"):
        Store(f"sqlite:///{path}")
    assert path.read_bytes() == former


@pytest.mark.parametrize("path", BUNDLES, ids=lambda path: path.stem)
def test_an_old_bundle_verifies_and_its_import_is_refused_with_the_way_out(
    path: Path, bench: Workbench
) -> None:
    data, expected = path.read_bytes(), EXPECTED[path.stem.removeprefix("bundle-")]
    found = verify_bundle(data)
    assert found.is_valid and not found.is_importable, found.problems
    assert found.contents and found.state and found.state.answer
    assert found.quote_count == found.found_quote_count > 0
    assert any("steps are not followed" in remark for remark in found.remarks)
    assert {
        "flow": found.contents.run.settings.flow,
        "question": found.contents.run.question,
        "verdict": found.state.answer.verdict,
        "answer": found.state.answer.text,
        "facts": len(found.state.facts),
        "steps": len(found.contents.steps),
        "calls": found.contents.usage.llm_calls,
    }.items() <= expected.items()
    with pytest.raises(BundleError, match="commit 2579e32c opens it as a run"):
        import_bundle(bench, data)
    assert not bench.runs()
