"""The figures of the claim check are counted from labelled claims."""

from __future__ import annotations

import json
from pathlib import Path

from bench.claims import check_file, count_cases, measure_shares


def test_labelled_claims_are_counted(tmp_path: Path) -> None:
    path, quote = tmp_path / "claims.jsonl", "The mill was sold in 1961."
    rows = [
        {"id": "a", "quote": quote, "statement": quote, "label": "supported"},
        {
            "id": "b",
            "quote": quote,
            "statement": "It was sold in 1971.",
            "label": "contradicted",
            "kind": "date",
        },
        {"id": "c", "quote": quote, "statement": "It was lost.", "label": "contradicted", "kind": "antonym"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    checked = check_file(path)
    assert count_cases(checked) == {
        "supported": 1,
        "shown_as_differing": [],
        "contradicted": 2,
        "missed": ["c"],
    }
    assert measure_shares(checked)["asked_changed"] == 1.0
