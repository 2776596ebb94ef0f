"""Scoring collect runs: each count by its definition on a tiny site, and the made sites with fresh seeds."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent.errors import UsageError
from bench.evaluation.collection_score import compute_metrics
from bench.evaluation.runner import EvaluationJob, evaluate
from bench.made_sites import make_site

HOST = "https://ferryline.example"
TEXT = "The ferry to Holm leaves at seven each morning and carries forty cars over the sound. " * 4
LEAST = 0.5
"""Low: six sites of one seed, one of which may be of a form that is not read yet."""
_DAY = date(2026, 11, 22)
OTHER = "The museum of Holm shows boats, nets and the lamps of the old harbour to its visitors. " * 4


def write_page(path: str, title: str, body: str) -> dict[str, str]:
    html = f"<html lang='en'><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"
    return {"id": path, "url": HOST + path, "title": title, "text": "", "html": html}


def evaluate_site(folder: Path, **question: Any) -> dict[str, Any]:
    links = "".join(
        f"<li><a href='/{name}'>{name} of Holm this week</a></li>" for name in ("ferry", "museum", "bridge")
    )
    docs = [
        write_page("/news", "News", f"<ul>{links}</ul>"),
        write_page("/ferry", "Ferry", f"<p>3 May 2026</p><p>{TEXT}</p>"),
        write_page("/museum", "Museum", f"<p>4 May 2026</p><p>{OTHER}</p>"),
    ]
    asked = {"id": "q", "question": "ferry news", "start_url": f"{HOST}/news", "type": "news", **question}
    (folder / "docs.jsonl").write_text("\n".join(map(json.dumps, docs)), "utf-8")
    (folder / "questions.jsonl").write_text(json.dumps(asked), "utf-8")
    return evaluate(EvaluationJob(str(folder), "collect", jobs=1))


def test_wanted_items_that_are_kept_whole_count(tmp_path: Path) -> None:
    ferry = {"url": f"{HOST}/ferry", "text": TEXT, "date": "2026-05-03"}
    found = evaluate_site(
        tmp_path, items=[ferry, {"url": f"{HOST}/museum"}], actions={f"{HOST}/news": ["EXTRACT_LINKS"]}
    )
    row = found["questions"][0]
    assert (row["kept"], row["missed"], row["wrong"], row["complete"]) == (2, 0, 0, 2)
    assert (row["decided"], row["decided_rightly"], row["faults"]) == (1, 1, [])
    assert found["metrics"]["news: extraction"] == found["metrics"]["extraction"] == 1.0


def test_missed_wrong_and_half_items_are_told(tmp_path: Path) -> None:
    wanted = [{"url": f"{HOST}/bridge"}, {"url": f"{HOST}/ferry", "text": TEXT, "date": "2026-05-09"}]
    found = evaluate_site(tmp_path, items=wanted, actions={f"{HOST}/news": ["STOP"]})
    row = found["questions"][0]
    assert (row["wanted"], row["kept"], row["missed"], row["complete"]) == (2, 1, 1, 0)
    assert row["faults"] == [
        f"wrong: {HOST}/museum 2026-05-04",
        f"missed: {HOST}/bridge",
        f"date 2026-05-03 for 2026-05-09: {HOST}/ferry",
        f"EXTRACT_LINKS for STOP: {HOST}/news",
    ]
    assert found["metrics"]["decisions"] == 0.0
    unwanted = evaluate_site(tmp_path, items=[])["questions"][0]
    assert unwanted["wrong"] == 2


def test_shares_of_nothing_are_whole() -> None:
    assert compute_metrics([])["relevance"] == 1.0


def test_a_seed_makes_the_same_site_again() -> None:
    first, again = (make_site("forum", 5, make_site("forum", 5, _DAY).today) for _ in range(2))
    assert first.docs == again.docs and first.question == again.question
    assert first.docs != make_site("forum", 6, first.today).docs


@pytest.mark.slow
def test_the_demo_has_questions_for_collect_and_other_flows_leave_them_out(tmp_path: Path) -> None:
    measured = evaluate(EvaluationJob(world="demo", flow="collect", jobs=1))
    assert {row["id"] for row in measured["questions"]} == {"collect-bridge", "collect-bitter"}
    assert not any(row["missed"] for row in measured["questions"])
    with pytest.raises(UsageError, match="is for the flow collect"):
        evaluate_site(tmp_path)
