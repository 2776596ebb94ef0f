"""Scoring a world: a tiny one in a folder whose answers are known, each figure by its definition."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytest

from agent.errors import NotFound, UsageError
from agent.flows import FLOWS
from agent.settings import config
from agent.workbench import Workbench
from bench import evaluate as command
from bench.evaluation.runner import EVALUATED_FLOWS, EvaluationJob, evaluate, read_questions, read_urls
from tests.web.folders import page, write_world

pytestmark = pytest.mark.slow

BUILT = "The brass heron of Port Ember was built in {} by Ada Quill."
CRANES = "The harbour of Port Ember has 14 cranes."
HERON = page("https://one.example/heron", "Brass heron", BUILT.format(1921), id="heron")
HARBOUR = page("https://two.example/harbour", "Harbour of Port Ember", CRANES, id="harbour")


def asked(id: str, question: str, *answers: str, of: str = "", **more: object) -> dict[str, object]:
    support = {"supporting_ids": [of] if of else [], "answerable": bool(answers)}
    kind = "single" if answers else "unanswerable"
    return {"id": id, "question": question, "answers": [*answers], "type": kind, **support, **more}


ASKED = [
    asked("built", "In which year was the brass heron of Port Ember built?", "1921", of="heron"),
    asked("moon", "Which opera did Tovald Zimmerling compose?"),
    asked(
        "cranes",
        "How many cranes has the harbour of Port Ember?",
        "14",
        of="harbour",
        start_url=HARBOUR["url"],
        long_answer=CRANES,
    ),
]


@pytest.fixture
def world(tmp_path: Path) -> str:
    return write_world(tmp_path / "world", [HERON, HARBOUR], ASKED)


def test_a_world_is_scored(world):
    told = evaluate(EvaluationJob(world, jobs=1))
    assert [row["id"] for row in told["questions"]] == ["built", "moon", "cranes"] and told["n"] == 3
    figures = told["metrics"]
    whole = "answer_hit lead_hit all_support support_recall fact_hit refused_unanswerable balanced_refusal"
    none = "refused_answerable fabricated_quotes fabricated_urls unsupported_statements crashes"
    assert {figures[name] for name in whole.split()} == {1} and {figures[name] for name in none.split()} == {
        0
    }
    assert figures["long_f1"] > 0.4 and figures["pages_per_question"] <= 12 and json.dumps(told)
    assert "reliability" not in told and "brier" not in figures, "no model judged it"
    built = told["questions"][0]
    assert built["answer_hit"] is True is built["right"] and "1921" in built["answer"] and built["pages"] >= 1
    assert built["confidence"] is None and {"verdict", "steps"} <= set(built)


@pytest.mark.slow
def test_several_processes_give_the_same(world):
    def still(told):
        return [
            {name: value for name, value in row.items() if name != "seconds"} for row in told["questions"]
        ]

    assert still(evaluate(EvaluationJob(world, jobs=1))) == still(evaluate(EvaluationJob(world, jobs=2)))


def test_the_draw_follows_the_seed(world):
    jobs = [EvaluationJob(world, limit=2, seed=seed, jobs=1) for seed in (1, 1, 2, 3, 4)]
    drawn = [tuple(row["id"] for row in evaluate(job)["questions"]) for job in jobs]
    assert drawn[0] == drawn[1] and len(set(drawn)) > 1 and {len(ids) for ids in drawn} == {2}


def test_a_question_with_a_start_page_begins_there_and_stores_are_kept_when_asked_for(world, tmp_path):
    evaluate(EvaluationJob(world, jobs=1, keep=str(tmp_path / "kept")))
    [database] = (tmp_path / "kept").rglob("touchstone.db")
    bench = Workbench(config.read_config({"TOUCHSTONE_DATA": str(database.parent)}))
    cranes = next(run for run in bench.runs() if "cranes" in run.question)
    assert bench.snapshot(cranes.id).state.actions[0].query_or_url == "https://two.example/harbour"
    bench.shutdown()


def test_the_store_is_thrown_away(world, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    evaluate(EvaluationJob(world, jobs=1, limit=1))
    assert set(tmp_path.iterdir()) == before


def test_a_crash_is_counted_and_is_no_refusal(world, monkeypatch):
    monkeypatch.setattr("agent.flows.research.analyze_pages.add_facts", lambda *_, **__: 1 / 0)
    told = evaluate(EvaluationJob(world, jobs=1))
    assert told["metrics"]["crashes"] >= 2
    crashed = next(row for row in told["questions"] if row["id"] == "built")
    assert (crashed["crashes"], crashed["verdict"]) == (1, "")
    assert crashed["refused"] is crashed["answer_hit"] is False


def test_packed_sets_are_read(tmp_path):
    for name, rows in (("docs", [HERON]), ("questions", ASKED[:1])):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    assert read_urls(tmp_path) == {"heron": HERON["url"]}
    assert [question["id"] for question in read_questions(tmp_path)] == ["built"]
    assert evaluate(EvaluationJob(str(tmp_path), jobs=1))["metrics"]["answer_hit"] == 1


def test_a_folder_without_questions_or_documents_says_so(tmp_path):
    with pytest.raises(NotFound, match="questions"):
        evaluate(EvaluationJob(str(tmp_path)))
    write_world(tmp_path, [], ASKED)
    with pytest.raises(UsageError, match="no documents"):
        evaluate(EvaluationJob(str(tmp_path)))


def test_the_flow_site_asks_the_questions_own_host_with_its_history(tmp_path):
    docs = [page("https://lamps.example/warranty", "Warranty", "The warranty of a lamp lasts three years.")]
    history = [{"role": "user", "text": "Do you sell a lamp?"}, {"role": "assistant", "text": "Yes."}]
    host = {"host": "lamps.example"}
    known = asked("a", "How long does its warranty last?", "three years", of="d0", history=history, **host)
    questions = [known, asked("b", "Who won the football cup?", **host)]
    result = evaluate(EvaluationJob(write_world(tmp_path / "w", docs, questions), flow="site", jobs=1))
    metrics = result["metrics"]
    assert (metrics["all_support"], metrics["answer_hit"], metrics["balanced_refusal"]) == (1.0, 1.0, 1.0)
    assert metrics["pages_per_question"] <= 12


def test_a_conflict_counts_as_named_when_one_sentence_states_both_sides_and_both_were_read(tmp_path):
    one, two = (
        page(f"https://{n}.example/heron", "Brass heron", BUILT.format(year), id=n)
        for n, year in (("right", 1921), ("wrong", 1934))
    )
    wrong = {"wrong_answers": ["1934"], "misinfo_ids": ["wrong"]}
    stated = {**ASKED[0], "type": "single+misinfo", "supporting_ids": ["right"], "meta": wrong}
    by_text = {**stated, "id": "by text", "meta": {"wrong_answers": ["1934"]}}
    unread = {**stated, "id": "unread", "meta": {"wrong_answers": ["1950"], "misinfo_ids": []}}
    cranes = "The quay of Nettle Bay has 14 cranes."
    quay = page("https://three.example/quay", "Quay of Nettle Bay", cranes, id="quay")
    other = asked("cranes", "How many cranes has the quay of Nettle Bay?", "14", of="quay")
    world = write_world(tmp_path / "world", [one, two, quay], [stated, by_text, unread, other])
    told = evaluate(EvaluationJob(world, jobs=1))
    rows = {row["id"]: row for row in told["questions"]}
    for name in ("built", "by text"):
        assert rows[name]["conflict_named_both_read"] is True, rows["built"]["answer"]
    assert "conflict_named_both_read" not in rows["unread"] and "conflict_named_falsely" not in rows["built"]
    assert rows["cranes"]["conflict_named_falsely"] is False
    assert (told["metrics"]["conflict_named_both_read"], told["metrics"]["conflict_named_falsely"]) == (1, 0)


@pytest.mark.parametrize("name", ["digest", "check_text"])
def test_every_flow_that_answers_is_measured_and_no_other_name_is_taken(name: str) -> None:
    assert set(FLOWS) - {"check_text", "verify_again"} == set(EVALUATED_FLOWS)  # claims: bench/claims.py
    with pytest.raises(UsageError, match="not measured by questions"):
        evaluate(EvaluationJob("demo", flow=name))


def test_the_command_scores_a_world(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    asked = ["demo", "--limit", "3", "--seed", "5", "--jobs", "1", "--json", str(file)]
    assert command.main(asked) == 0
    told = json.loads(file.read_text(encoding="utf-8"))
    assert (told["world"], told["flow"], told["n"], len(told["questions"])) == ("demo", "research", 3, 3)
    assert "answer_hit" in told["metrics"] and "answer_hit" in capsys.readouterr().out
    assert command.main([str(tmp_path / "none")]) == 2
