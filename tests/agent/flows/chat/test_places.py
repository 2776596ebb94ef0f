"""The facility finder: nearest to a place or a point, filtered by kind, distances right, each row quoted, and
what is unknown asked for. A model reads kind and place."""

from __future__ import annotations

from typing import Any

import pytest

from agent.types import LibraryScope, Status
from agent.workbench import Workbench
from tests.tables import by_table
from tests.web.chatting_model import Script, Talk, Turned, stocked

Located = tuple[str, str]


def located(bench: Workbench, kind: str, near: str = "", **more: Any) -> Turned:
    """A turn in which a model reads this kind and place."""
    script = Script(router="LOCATION_SEARCH", location={"kind": kind, "near": near, **more})
    return Talk(bench, script=script).say("Where is it?")


def names(turn: Turned) -> list[str]:
    assert turn.way == "router location end" and turn.status is Status.DONE
    return [row.name for row in turn.state.own.located.rows] if turn.state.own.located else []


@by_table
def test_facilities_of_a_kind_the_nearest_first(
    bench: Workbench, kind: str, near: str, most: int, found: list[str]
) -> None:
    stocked(bench)
    turn = located(bench, kind, near, most=most)
    assert names(turn) == found and (near or "km" not in turn.text)


@pytest.mark.slow
def test_distances_are_great_circles_and_every_row_is_a_fact_that_quotes_the_table(bench: Workbench) -> None:
    stocked(bench)
    turn = located(bench, "clinic", "60.0, 20.0")
    assert turn.state.own.located and turn.state.own.located.origin == (60.0, 20.0)
    distances = [row.km for row in turn.state.own.located.rows]
    assert distances == pytest.approx([0.0, 10.0076, 55.5975], abs=0.001), (
        "0.09 and 0.5 degrees of latitude at 111.195 km"
    )
    assert "Sound Clinic (clinic), Hamngatan 3, Skarholm, 10.0 km from 60, 20." in turn.text
    answer = turn.state.answer
    assert answer and answer.verdict == "answered" and "as the crow flies" in answer.certainty
    for row in turn.state.own.located.rows:
        fact = turn.state.facts[row.fact_id]
        assert fact.verified and fact.quote.startswith(row.name) and fact.url == "file:places.csv"
    assert answer.statements.backed == 3 and answer.statements.unsupported == 0


@pytest.mark.parametrize(
    ("said", "told", "choices"),
    [
        (("clinic", "Stockholm"), "I do not know where “Stockholm” is. Places I know: Brannvik", 3),
        (("clinic", ""), "Nearest to where?", 3),
        (("casino", "Skarholm"), "Which kind of place are you looking for? I know clinic and pharmacy.", 2),
    ],
)
def test_what_is_unknown_is_asked_for(bench: Workbench, said: Located, told: str, choices: int) -> None:
    stocked(bench)
    turn = located(bench, *said, is_by_distance=True)
    assert names(turn) == [] and told in turn.text == turn.state.own.needs_clarification
    assert turn.state.answer and turn.state.answer.verdict == "no_evidence"
    assert len(turn.state.own.choices) == choices


def test_a_street_of_two_towns_is_asked_about(bench: Workbench) -> None:
    table = (
        'name,kind,address,latitude,longitude\nA,shop,"Storgatan 1, Norrby",60.0,20.0\n'
        'B,shop,"Storgatan 2, Söderby",61.0,20.0\n'
    )
    bench.library.add_file("shops.csv", table.encode())
    turn = located(bench, "shop", "Storgatan")
    assert "could be Storgatan, Norrby or Storgatan, Söderby" in turn.text
    assert names(located(bench, "shop", "Storgatan, Söderby")) == ["B", "A"]


def test_only_tables_in_scope_count(bench: Workbench) -> None:
    stocked(bench)
    script = Script(router="LOCATION_SEARCH", location={"kind": "clinic", "near": "Skarholm"})
    ferry = Talk(bench, script=script, scope=LibraryScope(tags=["ferry"])).say("Where is a clinic?")
    assert ferry.state.own.route_decision == "RETRIEVE"
    assert names(Talk(bench, script=script, scope=LibraryScope(tags=["places"])).say("Where is a clinic?"))
