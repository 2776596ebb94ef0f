"""The measurement of the claim check, from the command's own output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.claims import main

pytestmark = pytest.mark.slow

QUOTE = "The mill was sold to Berg in 1961."
LABELLED = [
    {"id": "1", "statement": QUOTE, "label": "supported", "kind": "verbatim"},
    {"id": "2", "statement": "Berg acquired it.", "label": "supported", "kind": "paraphrase"},
    {"id": "3", "statement": "The mill was sold to Berg in 1971.", "label": "contradicted", "kind": "date"},
    {"id": "4", "statement": "The mill was sold to Dale in 1961.", "label": "not_stated", "kind": "name"},
]


def test_the_table_and_the_curve_come_from_the_commands_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, svg = tmp_path / "claims.jsonl", tmp_path / "curve.svg"
    rows = [{**row, "quote": QUOTE, "source": "own", "lang": "en"} for row in LABELLED]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main([str(file), "--svg", str(svg)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert next(line for line in printed if line.startswith("own")).split() == (
        "own 2/2 50.0 / 0.0 0.0 / 50.0 0.0 / 100.0 50.0 / 0.0".split()
    )
    assert "left for the judge: 1 of 4, 0 of them unsupported" in printed
    drawn = svg.read_text(encoding="utf-8")
    assert drawn.count("<polyline") == 2 and "own (2/2)" in drawn


def test_stored_results_are_read_and_a_missing_one_is_told(tmp_path: Path) -> None:
    file, results = tmp_path / "claims.jsonl", tmp_path / "results.json"
    file.write_text(json.dumps({**LABELLED[0], "quote": QUOTE}), encoding="utf-8")
    results.write_text(json.dumps([{"id": "9", "verdict": "quoted", "reason": ""}]), encoding="utf-8")
    with pytest.raises(SystemExit, match="1 claims have no result"):
        main([str(file), str(results)])
