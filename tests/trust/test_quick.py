"""What of the scorecard belongs on every change: the short form of each case that has one, and the frame itself."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest

from bench.trust import scorecard
from bench.trust.__main__ import load_cases
from bench.trust.nets import is_inner
from bench.trust.scorecard import Bench, Case, CorpusAbsent, Result
from tests.tables import by_table

load_cases()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted((n for n, one in scorecard.CASES.items() if one.is_quick), key=scorecard.order)
)
def test_the_short_form_of_the_case_passes(name: str) -> None:
    result = scorecard.run_here(scorecard.CASES[name], Bench(quick=True))
    assert result.verdict in ("pass", "corpus not given"), result.misses[:5]


def test_the_tests_that_measure_a_case_are_there() -> None:
    listed = (scorecard.ROOT / "bench/trust/tested.txt").read_text(encoding="utf-8")
    assert [path for path in re.findall(r"tests/\S+", listed) if not (scorecard.ROOT / path).exists()] == []


def test_a_result_is_passed_without_misses_or_by_its_own_word() -> None:
    assert Result(3, "all").judge().verdict == "pass"
    assert "missed" in Result(3, "some", ["one"]).judge().verdict
    assert "missed" in Result(3, "slow", is_passed=False).judge().verdict
    assert Result(3, "379 of 400", ["one"], is_passed=True).judge().verdict == "pass"


def test_a_case_without_its_corpus_says_so(tmp_path: Path) -> None:
    needy = Case("S0", "needs a file", "", lambda bench: Result(1, str(bench.corpus("no.json"))), False)
    assert scorecard.run_here(needy, Bench()).verdict == "corpus not given"
    assert scorecard.run_here(needy, Bench(tmp_path)).verdict == "corpus not given"
    (tmp_path / "no.json").write_text("[]")
    with tarfile.open(tmp_path / "packed.tar.gz", "w:gz") as packed:
        packed.add(tmp_path / "no.json", "./in/no.json")
    assert Bench(tmp_path).archive("packed.tar.gz") == {"in/no.json": b"[]"}
    with pytest.raises(CorpusAbsent):
        Bench(tmp_path).archive("other.tar.gz")


def test_the_page_names_every_miss_and_keeps_what_was_not_run_today(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    scorecard.merge_results(kept, {"S1.1": Result(5, "0 reached", date="2026-01-01").judge()})
    held = scorecard.merge_results(kept, {"S1.3": Result(2, "1 reached", ["by `a|b`\nname"]).judge()})
    assert set(json.loads(kept.read_text())) == {"S1.1", "S1.3"}
    scorecard.write_page(tmp_path / "page.md", held)
    page = (tmp_path / "page.md").read_text()
    assert "0 reached | pass | 2026-01-01" in page and "- `by ?a?b? name`" in page and "not run" in page


@by_table
def test_the_judge_of_addresses_knows_the_inner_ones(address: str) -> None:
    assert is_inner(address) and not is_inner("1.1.1.1") and not is_inner("2606:2800:220:1::1")
