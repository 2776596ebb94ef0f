"""What an answer says of conflicts, and what they do to its verdict."""

from __future__ import annotations

from agent.answering.conflict_sentences import is_disagreement, list_possible_sentences
from agent.evidence.support import describe_support
from agent.types import ConflictSide
from tests.agent.answering.test_verdict import BUILT, OTHER, clash, fact, state, written


def test_an_open_conflict_is_named_with_both_sides_and_marks_a_claim_of_one_side():
    one, two = BUILT.model_copy(update={"disputed": True}), OTHER
    given = written(
        state(one, two, conflicts={"c1": clash("a", "b")}), ("The heron was built in 1921.", ["a"])
    )
    plain, named = given.sentences
    assert plain.backed and plain.fact_ids == ["a"]
    assert plain.disputed == "b.example says “1901”" and not named.disputed
    assert describe_support(plain).text == "disputed: b.example says “1901”"
    assert named.backed and named.fact_ids == ["a", "b"]
    assert one.quote.rstrip(".") in named.text and two.quote.rstrip(".") in named.text
    assert "a.example" in named.text and "b.example" in named.text
    assert (given.verdict, given.conflicts) == ("answered", ["c1"])
    assert given.certainty.endswith("the sources differ on it.")
    assert {source.url for source in given.sources} == {"https://a.example/", "https://b.example/"}
    assert (given.statements.backed, given.statements.unsupported, given.statements.dropped) == (2, 0, 0)


def test_each_site_of_a_conflict_is_quoted_in_its_own_words_only():
    register = fact("a", "The heron was built in 1921 by two smiths from the coast.")
    paper = fact("b", "The heron was built in 1921 for the queen, in an empty mill.")
    copy = fact("c", paper.statement)
    other = fact("d", "The heron was built in 1934.")
    sides = [
        ConflictSide(text="1921", fact_ids=["a", "b", "c"], sites=["a.example", "b.example", "c.example"]),
        ConflictSide(text="1934", fact_ids=["d"], sites=["d.example"]),
    ]
    conflict = clash("a", "d").replace(values=sides, asks=True)
    named = written(state(register, paper, copy, other, conflicts={"c1": conflict})).sentences[0]
    assert named.text == (
        "The sources differ on the heron (built): a.example says “The heron was built in 1921 by two smiths"
        " from the coast” and b.example and c.example say “The heron was built in 1921 for the queen, in an"
        " empty mill”; d.example says “The heron was built in 1934”."
    )
    assert named.backed and named.fact_ids == ["a", "b", "c", "d"]


def test_a_conflict_is_named_in_the_language_of_the_question():
    asked = state(BUILT, OTHER, conflicts={"c1": clash("a", "b")})
    asked = asked.model_copy(update={"question": "Wann wurde der Reiher gebaut und wie lang ist er?"})
    named = written(asked, ("Gebaut 1921.", ["a"])).sentences[-1]
    assert named.text.startswith("Die Quellen geben Verschiedenes an zu") and is_disagreement(named.text)
    assert named.text in list_possible_sentences(asked.question, asked.conflicts.values(), asked.facts)
    assert " says " not in named.text


SAID = [
    ConflictSide(text="1921", fact_ids=["a"], sites=["a.example"]),
    ConflictSide(text="1934", fact_ids=["b"], sites=["b.example"]),
]


def test_a_ruling_is_stated_with_its_reason_which_needs_no_source():
    ruled = {
        "values": SAID,
        "status": "settled",
        "chosen": "1921",
        "reason": "the deed of 1888 says so",
        "ruling": "take",
        "settled_by": "person",
    }
    given = written(
        state(BUILT, OTHER, conflicts={"c1": clash("a", "b").model_copy(update=ruled)}),
        (BUILT.statement, ["a"]),
    )
    told = (
        "A person settled this: the heron (built): “1921”, because “the deed of 1888 says so” (a.example says"
    )
    assert given.text.startswith(told) and given.sentences[0].fact_ids == ["a", "b"]
    assert given.sentences[0].backed
    assert given.conflicts == [] and given.verdict == "answered"
