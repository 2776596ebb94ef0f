"""What a research run without a model makes of lists, tables and pronouns in a question."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.evidence.block_layout import write_block_lines
from agent.types import Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.web.folders import page, write_world

pytestmark = pytest.mark.slow
HOST, NEWS = "https://ferries.example", "https://quaynews.example"
FERRIES = [
    page(
        f"{HOST}/alva",
        "The ferry Alva",
        "The ferry Alva is one of the two ferries of Lillehavn. Alva has 24 cabins.\n\nAlva sails every day.",
    ),
    page(
        f"{HOST}/brage",
        "The ferry Brage",
        "The ferry Brage is one of the two ferries of Lillehavn. The ferry Brage has 36 cabins.\n\nA ticket for the ferry "
        "Brage costs 90 crowns.",
    ),
    page(
        f"{NEWS}/cabins",
        "Fewer cabins",
        "The ferry Brage has 32 cabins since the refit of spring 2025, its captain told us.",
    ),
]


def ask(bench: Workbench, folder: Path, question: str, docs: list[dict[str, str]]) -> RunSnapshot:
    world = write_world(folder / "world", docs)
    run_id = bench.start(question, Settings(world=world, model="keyless"))
    assert bench.drive(run_id) is Status.REVIEW
    return bench.snapshot(run_id)


def test_a_list_behind_a_topic_becomes_a_report_by_part(bench: Workbench, tmp_path: Path) -> None:
    question = "Write a full report comparing the two ferries of Lillehavn: cabins and crew"
    view = ask(bench, tmp_path, question, FERRIES)
    answer = view.state.answer
    assert [part.question for part in view.state.plan] == [
        "the two ferries of Lillehavn: cabins",
        "the two ferries of Lillehavn: crew",
    ]
    assert not [action for action in view.state.actions if "report" in action.query_or_url]
    lines = list(write_block_lines(answer, lambda said: said.text))
    cabins = lines.index("## The two ferries of Lillehavn: cabins")
    further = lines.index("## Further findings")
    assert cabins < lines.index("Alva has 24 cabins.") < further
    tickets = [
        n for n, line in enumerate(lines) if line.endswith("A ticket for the ferry Brage costs 90 crowns.")
    ]
    assert further < tickets[0] and lines[tickets[0]].startswith("- ")
    assert "“the two ferries of Lillehavn: crew”: no passage was found by these words." in answer.missing


def test_a_value_since_some_day_differs_from_one_without_a_day(bench: Workbench, tmp_path: Path) -> None:
    question = "Compare the two ferries of Lillehavn: cabins, crew"
    view = ask(bench, tmp_path, question, FERRIES)
    opening = view.state.answer.sentences[0].text
    assert opening.startswith("The sources differ on Brage")
    assert "32 cabins" in opening and "36 cabins" in opening
    assert view.state.plan[0].status == "disputed"


def test_each_row_of_a_table_answers_what_is_asked_of_each(bench: Workbench, tmp_path: Path) -> None:
    rows = [("Alva", 24), ("Brage", 36), ("Cilla", 12), ("Disa", 8), ("Edla", 40), ("Frej", 31)]
    cells = "".join(f"<tr><td>{name}</td><td>{cabins}</td></tr>" for name, cabins in rows)
    table = f"<table><tr><th>Ferry</th><th>Cabins</th></tr>{cells}</table>"
    html = f"<html><body><main><h1>Our ferries</h1><p>We sail six ferries.</p>{table}</main></body></html>"
    docs = [page(f"{HOST}/fleet", "Our ferries", "We sail six ferries. Ferry | Cabins", html=html)]
    view = ask(bench, tmp_path, "How many cabins does each ferry have?", docs)
    shown = [said.text for said in view.state.answer.main_sentences]
    assert shown == [f"Ferry: {name}; Cabins: {cabins}" for name, cabins in rows]


def test_from_one_year_to_another_all_rows_between_are_shown(bench: Workbench, tmp_path: Path) -> None:
    rows = "".join(f"<tr><td>{year}</td><td>{year * 7 % 900}</td></tr>" for year in range(2015, 2026))
    table = f"<table><tr><th>Year</th><th>Passengers</th></tr>{rows}</table>"
    html = f"<html><body><main><h1>Passengers of Lillehavn</h1>{table}</main></body></html>"
    docs = [page(f"{HOST}/passengers", "Passengers of Lillehavn", "Year | Passengers", html=html)]
    question = "Write a full report on the passengers of Lillehavn from 2018 to 2022"
    answer = ask(bench, tmp_path, question, docs).state.answer
    [table] = [block for block in answer.blocks if block.kind == "table"]
    assert set(table.row_labels) >= {str(year) for year in range(2018, 2023)}
    assert any(block.kind == "chart" for block in answer.blocks)


def test_a_conflict_on_a_part_that_was_dropped_is_not_told(bench: Workbench, tmp_path: Path) -> None:
    question = "How many cabins does the ferry Brage have, and what does a ticket for the ferry Brage cost?"
    view = ask(bench, tmp_path, question, FERRIES)
    assert any("The sources differ" in said.text for said in view.state.answer.sentences)
    bench.act(view.run.id, "send_back", view.head, note="only the second question")
    assert bench.drive(view.run.id) is Status.REVIEW
    texts = [said.text for said in bench.snapshot(view.run.id).state.answer.main_sentences]
    assert texts and not any("The sources differ" in text for text in texts)
