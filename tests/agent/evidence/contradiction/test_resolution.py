"""Who settles a conflict: a person before a pin, a pin before a model, a model before the count of sources."""

from __future__ import annotations

from agent.evidence.conflicts import find_conflicts, find_disputed
from agent.types import Conflict, Fact, Ruling
from tests.agent.evidence.contradiction.test_groups import A, B, C, D, fact, make_sides


def said(name: str, year: int, published: str = "", **more: object) -> Fact:
    text = f"The Nordvik dairy was founded in {year}."
    given = {"id": name, "statement": text, "quote": text, "url": f"https://{name}.example/"}
    return Fact(**given, verified=True, published_at=published, **more)  # type: ignore[arg-type]


OLD, NEW = said("a", 1921, "2019-01-01"), said("b", 1923, "2023-01-01")


def ruled(ruling: str, why: str = "", by: str = "model", chosen: str = "") -> Ruling:
    """What somebody said of the conflict between OLD and NEW."""
    [found] = find_conflicts([OLD, NEW])
    return Ruling(
        conflict=found.id,
        kind="date",
        values=found.values,
        ruling=ruling,  # type: ignore[arg-type]
        chosen=chosen,
        reason=why,
        by=by,  # type: ignore[arg-type]
        step=1,
    )


def clash(*rulings: Ruling, old: Fact = OLD, more: tuple[Fact, ...] = ()) -> Conflict:
    [conflict] = find_conflicts([old, NEW, *more], rulings)
    return conflict


def test_a_reading_settles_it_as_the_model_s_and_disputes_nothing() -> None:
    read = clash(ruled("different_things", "two dairies of one name"))
    assert (read.status, read.settled_by, read.chosen) == ("settled", "model", "")
    assert "the model's reading" in read.status_text and "two dairies of one name" in read.status_text
    assert not find_disputed([read])


def test_the_value_published_last_replaces_the_earlier_one() -> None:
    read = clash(ruled("later_replaces", "it moved"))
    assert (read.status, read.chosen) == ("settled", "1923") and not find_disputed([read])
    assert clash(ruled("later_replaces", "it moved"), old=OLD.replace(published_at="")).chosen == ""


def test_what_a_model_cannot_settle_stays_open_with_its_reading() -> None:
    for ruling in ("contradict", "agree"):  # no model calls two dates the same
        read = clash(ruled(ruling, "both are old"))
        assert (read.status, read.settled_by, read.model_reason) == ("open", "", "both are old")


def test_a_further_value_opens_it_again() -> None:
    again = clash(ruled("different_things", "two dairies"), more=(said("c", 1950),))
    assert (again.status, again.model_ruling) == ("open", "")


def test_a_person_stands_above_a_model_and_a_pin_whoever_spoke_last() -> None:
    person, model = ruled("take", "deed", "person", "1921"), ruled("different_things", "no")
    for rulings in ((person, model), (model, person)):
        for old in (OLD, OLD.replace(decision="pinned")):
            found = clash(*rulings, old=old)
            assert (found.settled_by, found.chosen, found.reason) == ("person", "1921", "deed")
    assert find_disputed([clash(person)]) == {"b"}
    assert find_disputed([clash(ruled("neither", "myth", "person"))]) == {"a", "b"}
    reopened = clash(person, ruled("open", "I doubt it", "person"), model)
    assert (reopened.status, reopened.ruling) == ("open", "open")


def test_a_pin_stands_above_a_model_and_the_count_of_sources() -> None:
    pinned = clash(ruled("different_things", "two dairies"), old=OLD.replace(decision="pinned"))
    assert (pinned.settled_by, pinned.chosen) == ("person", "1921")
    facts = [*make_sides(A, B, C), fact("The Nordvik dairy was founded in 1923.", D, decision="pinned")]
    assert find_conflicts(facts)[0].chosen == "1923"


def test_two_more_independent_sites_settle_it() -> None:
    lone = fact("The Nordvik dairy was founded in 1923.", D)
    assert find_conflicts([*make_sides(A, B), lone])[0].status == "open"
    settled = find_conflicts([*make_sides(A, B, C), lone])[0]
    assert (settled.status, settled.chosen) == ("settled", "1921")
    assert "3 independent sites against 1" in settled.reason


def test_a_person_s_ruling_holds_when_more_is_read_and_when_its_earliest_fact_is_gone() -> None:
    person = ruled("take", "seen the deed", "person", "1923")
    later = said("c", 1925).replace(step=9)
    more = clash(person, more=(later,))
    assert (more.settled_by, more.chosen, more.reason) == ("person", "1923", "seen the deed")
    [left] = find_conflicts([NEW, later.replace(id="a", statement=later.statement)], [person])
    assert left.chosen == "1923", "by the facts that both have in common"
    [other] = find_conflicts([OLD, said("c", 1925)], [person])
    assert other.status == "open", "the chosen value is gone"
