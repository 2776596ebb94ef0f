"""The facility finder: nearest to a place or a point, filtered by kind, distances right, each row quoted, and
what is unknown asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.text.geo import distance_km
from agent.types import LibraryScope, Status
from agent.workbench import Workbench
from tests.web.chatting_model import Script, Talk, Turned, stocked

BRANNVIK, SKARHOLM = (60.0005, 20.0005), (60.0905, 20.0005)
"""The middles of the two towns' facilities."""


@pytest.fixture
def talk(bench: Workbench) -> Talk:
    stocked(bench)
    return Talk(bench)


def names(turn: Turned) -> list[str]:
    assert (
        turn.state.own.route_decision == "LOCATION_SEARCH"
        and turn.way.endswith("router location end")
        and turn.status is Status.DONE
    )
    return [row.name for row in turn.state.own.located.rows] if turn.state.own.located else []


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Where is the nearest clinic to Skarholm?", ["Sound Clinic", "Norra Clinic", "Far Clinic"]),
        ("Which clinic is close to 60.4, 20.1?", ["Far Clinic", "Sound Clinic", "Norra Clinic"]),
        ("clinics near 60.4° N, 20.1° E", ["Far Clinic", "Sound Clinic", "Norra Clinic"]),
        ("the nearest pharmacy to Brannvik", ["Anchor Pharmacy", "Gull Pharmacy"]),
        ("Is there a chemist near Hamngatan 3, Skarholm?", ["Gull Pharmacy", "Anchor Pharmacy"]),
        ("Which pharmacy is closest to the Far Clinic?", ["Gull Pharmacy", "Anchor Pharmacy"]),
        ("the 2 nearest clinics to Uddby", ["Far Clinic", "Sound Clinic"]),
        ("list all clinics", ["Far Clinic", "Norra Clinic", "Sound Clinic"]),
        ("Where can I find a doctor in Brannvik?", ["Norra Clinic", "Sound Clinic", "Far Clinic"]),
        ("Wo ist die nächste Apotheke bei Skarholm?", ["Gull Pharmacy", "Anchor Pharmacy"]),
        ("Var finns närmaste apotek vid Skarholm?", ["Gull Pharmacy", "Anchor Pharmacy"]),
    ],
)
def test_facilities_of_a_kind_the_nearest_first(talk: Talk, question: str, found: list[str]) -> None:
    assert names(talk.say(question)) == found


def test_distances_are_great_circles_from_the_place_named(talk: Talk) -> None:
    turn = talk.say("Where is the nearest clinic to 60.0, 20.0?")
    assert turn.state.own.located and turn.state.own.located.origin == (60.0, 20.0)
    distances = [row.km for row in turn.state.own.located.rows]
    assert distances == pytest.approx([0.0, 10.0076, 55.5975], abs=0.001), (
        "0.09 and 0.5 degrees of latitude at 111.195 km"
    )
    assert "Sound Clinic (clinic), Hamngatan 3, Skarholm, 10.0 km from 60, 20." in turn.text
    answer = turn.state.answer
    assert answer and answer.verdict == "passages_found" and "as the crow flies" in answer.certainty


def test_a_town_is_the_middle_of_what_is_known_there(talk: Talk) -> None:
    turn = talk.say("Where is the nearest clinic to Skarholm?")
    assert turn.state.own.located and turn.state.own.located.origin == pytest.approx(SKARHOLM)
    assert turn.state.own.located.rows[0].km == pytest.approx(distance_km(SKARHOLM, (60.09, 20.0)))
    assert turn.state.answer and "the middle of the places known in Skarholm" in turn.state.answer.certainty


def test_every_row_is_a_fact_that_quotes_the_table(talk: Talk) -> None:
    turn = talk.say("the nearest pharmacy to Brannvik")
    facts = turn.state.facts
    for row in turn.state.own.located.rows if turn.state.own.located else []:
        fact = facts[row.fact_id]
        assert fact.verified and fact.quote.startswith(row.name) and fact.url == "file:places.csv"
    assert (
        turn.state.answer
        and turn.state.answer.statements.backed == 2
        and turn.state.answer.statements.unsupported == 0
    )
    [source] = turn.seed["sources"]
    assert len(source["quotes"]) == 2


def test_without_a_place_all_of_a_kind_are_listed_without_distances(talk: Talk) -> None:
    turn = talk.say("Which pharmacies are there?")
    assert names(turn) == ["Anchor Pharmacy", "Gull Pharmacy"] and {
        row.km for row in turn.state.own.located.rows
    } == {None}  # type: ignore[union-attr]
    assert "km" not in turn.text


def test_an_unknown_place_is_asked_for_with_those_that_are_known(talk: Talk) -> None:
    turn = talk.say("the nearest clinic to Stockholm?")
    assert names(turn) == [] and turn.state.own.needs_clarification == turn.text
    assert turn.text == "I do not know where “Stockholm” is. Places I know: Brannvik, Skarholm and Uddby."
    assert (
        turn.state.own.choices == ["Brannvik", "Skarholm", "Uddby"]
        and turn.state.answer
        and turn.state.answer.verdict == "no_evidence"
    )
    assert names(talk.say("Skarholm"))[0] == "Sound Clinic", "the kind is remembered"


def test_nearest_to_nothing_asks_to_what(talk: Talk) -> None:
    turn = talk.say("Where is the nearest clinic?")
    assert "Nearest to where?" in turn.text and turn.state.own.needs_clarification
    assert names(talk.say("60.4, 20.1"))[0] == "Far Clinic"


@pytest.mark.parametrize(
    "question",
    ["the nearest dentist to Brannvik?", "Is there a dentist in Brannvik?", "Where can I find a dentist?"],
)
def test_an_unknown_kind_is_said_to_be_unknown(talk: Talk, question: str) -> None:
    turn = talk.say(question)
    assert (
        names(turn) == []
        and turn.text == "I know of no dentist. Does another kind help? I know clinic and pharmacy."
    )
    assert turn.state.own.choices == ["clinic", "pharmacy"]


def test_the_kind_alone_goes_on_with_the_place_before(talk: Talk) -> None:
    talk.say("the nearest dentist to Skarholm?")
    assert names(talk.say("pharmacy")) == ["Gull Pharmacy", "Anchor Pharmacy"]
    assert names(talk.say("and the clinics?"))[0] == "Sound Clinic"
    assert names(talk.say("Brannvik"))[0] == "Norra Clinic"
    assert names(talk.say("what about 60.4, 20.1?"))[0] == "Far Clinic"
    assert talk.say("thanks").state.own.route_decision == "DIRECT_ANSWER"
    assert names(talk.say("and in Uddby?"))[0] == "Far Clinic"


def test_a_question_about_something_else_ends_the_search(talk: Talk) -> None:
    talk.say("Where is the nearest clinic to Skarholm?")
    turn = talk.say("When was the Skarholm lighthouse lit?")
    assert turn.state.own.route_decision != "LOCATION_SEARCH" and "1871" in turn.text


@pytest.mark.parametrize(
    "question",
    [
        "Where is the Bank of England?",
        "Who founded the first clinic?",
        "What is a library?",
        "Is there a treaty?",
    ],
)
def test_a_facility_in_passing_is_no_search_for_one(talk: Talk, question: str) -> None:
    assert talk.say(question).state.own.route_decision != "LOCATION_SEARCH"


def test_a_street_of_two_towns_is_asked_about(bench: Workbench) -> None:
    table = 'name,kind,address,latitude,longitude\nA,shop,"Storgatan 1, Norrby",60.0,20.0\nB,shop,"Storgatan 2, Söderby",61.0,20.0\n'
    bench.library.add_file("shops.csv", table.encode())
    talk = Talk(bench)
    turn = talk.say("the nearest shop to Storgatan")
    assert (
        "could be Storgatan, Norrby or Storgatan, Söderby" in turn.text and len(turn.state.own.choices) == 2
    )
    assert names(talk.say("Storgatan, Söderby")) == ["B", "A"]


def test_a_model_reads_the_words_and_code_looks_up(bench: Workbench) -> None:
    stocked(bench)
    script = Script(router="LOCATION_SEARCH", location={"kind": "Pharmacy", "near": "Skarholm", "most": 1})
    turn = Talk(bench, script=script).say("My head hurts, I am at the harbour of Skarholm.")
    assert names(turn) == ["Gull Pharmacy"] and turn.state.answer and turn.state.answer.by == "model"
    assert "clinic, pharmacy" in script.of("location")[0] and "Brannvik" in script.of("location")[0]


@pytest.mark.parametrize(
    "said", ["not JSON", {"kind": "clinic", "near": "Skarholm", "most": 900}, {"kind": "casino", "near": ""}]
)
def test_a_model_that_answers_badly_breaks_nothing(bench: Workbench, said: object) -> None:
    stocked(bench)
    turn = Talk(bench, script=Script(router="LOCATION_SEARCH", location=said)).say(
        "Where is the nearest clinic to Skarholm?"
    )
    assert names(turn)[:1] in (["Sound Clinic"], []) and (
        turn.state.own.located.rows or turn.state.own.needs_clarification
    )  # type: ignore[union-attr]


def test_only_tables_in_scope_count(bench: Workbench) -> None:
    stocked(bench)
    turn = Talk(bench, scope=LibraryScope(tags=["ferry"])).say("Where is the nearest clinic to Skarholm?")
    assert turn.state.own.route_decision != "LOCATION_SEARCH"
    assert names(
        Talk(bench, scope=LibraryScope(tags=["places"])).say("Where is the nearest clinic to Skarholm?")
    )


def test_the_demo_places_can_be_asked_in_the_demo_world(bench: Workbench) -> None:
    data = (Path(__file__).parents[4] / "demo" / "facilities.csv").read_bytes()
    bench.library.add_file("facilities.csv", data, tags=["demo"])
    talk = Talk(bench, world="demo")
    assert names(talk.say("Which pharmacy is nearest to Lövnäs?"))[0] == "Lövnäs Pharmacy"
    assert names(talk.say("and a repair café?"))[0] == "Repair Café The Old Dairy"
    assert names(talk.say("the nearest library to 64.30, 15.29"))[0] == "Tallåsen Reading Room"
    assert (
        Talk(bench).say("Which pharmacy is nearest to Lövnäs?").state.own.route_decision != "LOCATION_SEARCH"
    ), "nothing in it is true"
