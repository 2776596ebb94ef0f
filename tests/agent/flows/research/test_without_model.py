"""What a research run without a model searches for and shows."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_a_conflict_stands_in_the_place_of_its_sides(bench: Workbench, tmp_path: Path) -> None:
    answer = ask(bench, tmp_path, "How many cabins does the ferry Brage have?", FERRIES).state.answer
    opening = answer.sentences[0].text
    assert opening.startswith("The sources differ on Brage")
    assert "32 cabins" in opening and "36 cabins" in opening
    assert not any(said.text == "The ferry Brage has 36 cabins." for said in answer.sentences)


def test_what_is_not_there_is_told_by_its_words(bench: Workbench, tmp_path: Path) -> None:
    answer = ask(bench, tmp_path, "Who tuned the harpsichord?", FERRIES).state.answer
    assert answer.verdict == "no_evidence" and "harpsichord" in answer.certainty


@pytest.mark.parametrize("private", [False, True])
def test_a_note_is_the_next_search_unless_it_is_private(
    bench: Workbench, tmp_path: Path, private: bool
) -> None:
    view, note = (
        ask(bench, tmp_path, "How many cabins does the ferry Alva have?", FERRIES),
        "ticket for Brage",
    )
    bench.act(view.run.id, "send_back", view.head, note=note, private=private)
    assert bench.drive(view.run.id) is Status.REVIEW
    state = bench.snapshot(view.run.id).state
    assert any(action.query_or_url == note for action in state.actions) is not private
    shown = any("90 crowns" in said.text for said in state.answer.sentences)
    assert shown is not private


def test_each_row_of_a_table_answers_what_is_asked_of_each(bench: Workbench, tmp_path: Path) -> None:
    rows = [("Alva", 24), ("Brage", 36), ("Cilla", 12), ("Disa", 8), ("Edla", 40), ("Frej", 31)]
    cells = "".join(f"<tr><td>{name}</td><td>{cabins}</td></tr>" for name, cabins in rows)
    table = f"<table><tr><th>Ferry</th><th>Cabins</th></tr>{cells}</table>"
    html = f"<html><body><main><h1>Our ferries</h1><p>We sail six ferries.</p>{table}</main></body></html>"
    docs = [page(f"{HOST}/fleet", "Our ferries", "We sail six ferries. Ferry | Cabins", html=html)]
    view = ask(bench, tmp_path, "How many cabins does each ferry have?", docs)
    shown = [said.text for said in view.state.answer.main_sentences]
    assert shown == [f"Ferry: {name}; Cabins: {cabins}" for name, cabins in rows]
