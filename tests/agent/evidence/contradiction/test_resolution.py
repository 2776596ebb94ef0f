"""Who settles a conflict: a person before a pin, a pin before a model, a model before the count of sources."""

from __future__ import annotations

from agent.evidence.contradiction.groups import find_conflicts, update_disputed
from agent.evidence.contradiction.resolution import apply_model_ruling
from agent.types import Conflict, Fact


def said(name: str, year: int, published: str = "", **more: object) -> Fact:
    text = f"The Nordvik dairy was founded in {year}."
    given = {
        "id": name,
        "statement": text,
        "quote": text,
        "url": f"https://{name}.example/",
        "verified": True,
    }
    return Fact(**given, published_at=published, **more)  # type: ignore[arg-type]


OLD, NEW = said("a", 1921, "2019-01-01"), said("b", 1923, "2023-01-01")
FACTS = {"a": OLD, "b": NEW}


def clash(*more: Fact, known: Conflict | None = None) -> Conflict:
    [conflict] = find_conflicts([OLD, NEW, *more], [known] if known else [])
    return conflict


def test_a_reading_settles_it_as_the_model_s_and_keeps_its_reason():
    read = apply_model_ruling(clash(), "different_things", "two dairies of one name", FACTS)
    assert (read.status, read.settled_by, read.chosen) == ("settled", "model", "")
    assert "the model's reading" in read.status_text and "two dairies of one name" in read.status_text
    assert update_disputed(FACTS.values(), [read]) == []
    again = clash(known=read)
    assert (again.status, again.settled_by, again.model_reason) == (
        "settled",
        "model",
        "two dairies of one name",
    )


def test_the_value_published_last_replaces_the_earlier_one_and_disputes_nothing():
    read = apply_model_ruling(clash(), "later_replaces", "it moved", FACTS)
    assert (read.status, read.chosen) == ("settled", "1923")
    assert update_disputed(FACTS.values(), [read]) == []
    undated = {"a": OLD.replace(published_at=""), "b": NEW}
    assert apply_model_ruling(clash(), "later_replaces", "it moved", undated).chosen == ""


def test_a_reading_that_they_contradict_leaves_it_open():
    read = apply_model_ruling(clash(), "contradict", "both mean the first deed", FACTS)
    assert (read.status, read.settled_by, read.model_ruling) == ("open", "", "contradict")
    assert clash(known=read).model_reason == "both mean the first deed"


def test_no_model_calls_two_dates_the_same():
    read = apply_model_ruling(clash(), "agree", "both are old", FACTS)
    assert (read.status, read.settled_by, read.model_reason) == ("open", "", "both are old")


def test_a_further_value_opens_it_again():
    read = apply_model_ruling(clash(), "different_things", "two dairies", FACTS)
    again = clash(said("c", 1950), known=read)
    assert (again.status, again.model_ruling) == ("open", "")


def test_a_person_stands_above_the_model():
    person = clash().replace(
        status="settled", ruling="take", chosen="1921", reason="deed", settled_by="person"
    )
    assert apply_model_ruling(person, "different_things", "no", FACTS) == person
    reopened = clash().replace(ruling="open", reason="I doubt it")
    assert apply_model_ruling(reopened, "agree", "no", FACTS) == reopened
    read = apply_model_ruling(clash(), "different_things", "two dairies", FACTS)
    overturned = read.replace(
        status="settled", ruling="take", chosen="1923", reason="deed", settled_by="person"
    )
    again = clash(known=overturned)
    assert (again.settled_by, again.chosen, again.reason) == ("person", "1923", "deed")


def test_a_pin_stands_above_the_model():
    read = apply_model_ruling(clash(), "different_things", "two dairies", FACTS)
    [pinned] = find_conflicts([OLD.replace(decision="pinned"), NEW], [read])
    assert (pinned.settled_by, pinned.chosen) == ("person", "1921")
