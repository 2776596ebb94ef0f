"""What an answer may cite, its numbered sources, and what changed between two answers."""

import pytest

from agent.evidence.citation_check import (
    check_citations,
    collect_sources,
    diff_answers,
    has_page_support,
)
from agent.types import Answer, Conflict, ConflictSide, Fact, Sentence
from tests.records import fill
from tests.tables import by_table


def fact(
    fact_id: str,
    url: str = "https://a.example/1",
    quote: str = "The dairy was founded in 1921.",
    **more: object,
) -> Fact:
    given: dict[str, object] = {
        "id": fact_id,
        "statement": quote,
        "quote": quote,
        "url": url,
        "title": "A page",
        "verified": True,
        "by": "model",
        **more,
    }
    return Fact(**given)  # type: ignore[arg-type]


def say(text: str, *ids: str) -> Sentence:
    return Sentence(text=text, fact_ids=list(ids), backed=True)


def test_a_citation_that_does_not_hold_is_dropped_and_counted() -> None:
    facts = {
        "f1": fact("f1"),
        "f2": fact("f2", verified=False),
        "f3": fact("f3", decision="struck"),
        "f4": fact("f4", disputed=True),
    }
    kept, counts = check_citations(
        [
            say("The dairy was founded in 1921.", "f1", "f1", "f9"),
            say("It was so.", "f2", "f3", "f4"),
            say("Nothing."),
        ],
        facts,
    )
    assert [(s.fact_ids, s.backed) for s in kept] == [(["f1"], True), ([], False), ([], False)]
    assert (counts.backed, counts.unsupported, counts.dropped) == (1, 2, 4)


@by_table
def test_code_alone_backs_what_is_quoted_and_leaves_meaning_unchecked(
    text: str, verdict: str, backed: bool
) -> None:
    [kept], _ = check_citations([say(text, "f1")], {"f1": fact("f1")})
    assert (kept.check, kept.backed) == (verdict, backed)


def test_a_statement_never_backs_itself() -> None:
    [kept], _ = check_citations([say("It is haunted.", "f1")], {"f1": fact("f1", statement="It is haunted.")})
    assert not kept.backed


def test_a_persons_correction_counts_beside_the_quote_and_is_marked() -> None:
    corrected = fact("f1", statement="The dairy was opened in 1921.", former="It was founded in 1921.")
    [kept], _ = check_citations([say("The dairy was opened in 1921.", "f1")], {"f1": corrected})
    assert (kept.check, kept.check_reason, kept.backed) == (
        "quoted",
        "in a person's words, beside the quote",
        True,
    )


@pytest.mark.parametrize(
    "more",
    [
        {"origin": "person", "decision": "pinned"},
        {"verified": False, "decision": "pinned"},
        {"origin": "image"},
    ],
)
def test_only_verified_page_facts_count_as_backed(more: dict[str, object]) -> None:
    kept, counts = check_citations([say("Founded in 1921.", "f1")], {"f1": fact("f1", **more)})
    assert kept[0].fact_ids == ["f1"] and not kept[0].backed and counts.unsupported == 1


def test_a_page_supports_by_a_verified_quote_alone() -> None:
    assert has_page_support(fact("a"))
    assert not has_page_support(fact("a", verified=False))
    assert not has_page_support(fact("a", origin="person", decision="pinned"))


def test_a_disputed_fact_may_be_cited_and_one_side_alone_is_marked_with_the_other() -> None:
    facts = {
        i: fact(i, f"https://{i}.example/", quote=f"Founded in {year}.", disputed=True)
        for i, year in (("f1", 1921), ("f2", 1923), ("f3", 1921))
    }
    values = [
        ConflictSide(text="1921", fact_ids=["f1", "f3"], sites=[]),
        ConflictSide(text="1923", fact_ids=["f2"], sites=[]),
    ]
    conflict = fill(Conflict, id="c", kind="date", values=values)
    both, one = say("Some say 1921, others 1923.", "f1", "f2"), say("Founded in 1921.", "f1", "f3")
    kept, counts = check_citations([both, one, say("Founded in 1923.", "f2")], facts, [conflict])
    assert counts.dropped == 0 and [s.backed for s in kept[1:]] == [True, True]
    assert [s.disputed for s in kept] == [
        "",
        "f2.example says “1923”",
        "f1.example and f3.example say “1921”",
    ]


def test_an_overruled_fact_is_cited_only_beside_the_other_side() -> None:
    facts = {
        "f1": fact("f1", quote="Founded in 1921."),
        "f2": fact("f2", "https://b.example/", quote="Founded in 1923.", disputed=True),
    }
    values = [
        ConflictSide(text="1921", fact_ids=["f1"], sites=[]),
        ConflictSide(text="1923", fact_ids=["f2"], sites=[]),
    ]
    ruled = {"status": "settled", "chosen": "1921", "settled_by": "person"}
    conflict = fill(Conflict, id="c", kind="date", values=values, **ruled)
    both, one = say("Some say 1921, others 1923.", "f1", "f2"), say("Founded in 1923.", "f2")
    kept, counts = check_citations([both, one], facts, [conflict])
    assert [s.fact_ids for s in kept] == [["f1", "f2"], []] and counts.dropped == 1
    assert check_citations([both], facts)[1].dropped == 1


def test_sources_are_numbered_in_order_of_first_citation_and_grouped_by_page() -> None:
    facts = {
        "f1": fact("f1", "https://a.example/1", "One."),
        "f2": fact("f2", "https://b.example/2", "Two."),
        "f3": fact("f3", "https://a.example/1", "Three."),
        "f4": fact("f4", "", "Four.", origin="person", title=""),
    }
    said = [say("x", "f2", "f1"), say("y", "f3", "f2", "f0"), say("z", "f4")]
    found = collect_sources(said, facts)
    assert [(s.n, s.url, s.quotes, s.fact_ids) for s in found] == [
        (1, "https://b.example/2", ["Two."], ["f2"]),
        (2, "https://a.example/1", ["One.", "Three."], ["f1", "f3"]),
        (3, "", ["Four."], ["f4"]),
    ]
    assert found[2].title == "A person's own knowledge"


def answer(*sentences: Sentence, facts: dict[str, Fact]) -> Answer:
    return Answer(
        n=1, verdict="answered", sentences=list(sentences), sources=collect_sources(sentences, facts)
    )


def test_the_difference_of_two_answers() -> None:
    facts = {"f1": fact("f1"), "f2": fact("f2", "https://b.example/2"), "f3": fact("f3")}
    old = answer(
        say("The dairy was founded in 1921 by Anna Berg.", "f1"),
        say("It makes brown cheese.", "f1"),
        say("It burnt down once.", "f1"),
        say("It is open all year.", "f1"),
        facts=facts,
    )
    new = answer(
        say("The dairy was founded in May 1921 by Anna Berg.", "f1"),
        say("It makes brown cheese.", "f2"),
        say("It is open all year.", "f3"),
        say("Its manager is a champion of chess.", "f1"),
        facts=facts,
    )
    changes = diff_answers(old, new)
    assert [c.kind for c in changes] == ["reworded", "resourced", "removed", "same", "added"]
    assert changes[2].new is None and changes[4].old is None
    assert changes[0].old is not None and changes[0].old.text == old.sentences[0].text
