"""Who counts as one voice: copies, documents, and what a person gave."""

from __future__ import annotations

from itertools import count

from agent.evidence.conflicts import find_conflicts
from agent.evidence.sources import find_independent_sources
from agent.types import Fact

A, B, C, D = (f"https://{name}.example/1" for name in "abcd")
_numbers = count(1)


def fact(text: str, url: str, **more: object) -> Fact:
    n = next(_numbers)
    return Fact.model_validate(
        {"id": f"f{n:03}", "statement": text, "quote": text, "url": url, "verified": True, "step": n, **more}
    )


def test_copies_of_one_text_are_one_voice() -> None:
    text = "The Nordvik dairy was founded in 1921 by Anna Berg, who had inherited two cows and a shed from her uncle."
    copies = [fact(text, url) for url in (A, B, C)]
    assert len(find_independent_sources(copies)) == 1
    assert (
        len(
            find_independent_sources(
                [
                    copies[0],
                    fact("Anna Berg founded it.", B),
                    fact("Anna Berg started it.", "https://www.b.example/9"),
                ]
            )
        )
        == 2
    )
    found = find_conflicts([*copies, fact("The Nordvik dairy was founded in 1923 by Anna Berg.", D)])
    assert [len(value.sites) for value in found[0].values] == [1, 1] and found[0].status == "open"


def test_each_document_is_a_voice_of_its_own_and_copies_of_one_are_one() -> None:
    said = [
        "The Nordvik dairy was founded in 1921.",
        "Anna Berg started it in 1921.",
        "In 1921 it all began.",
    ]
    files = [fact(text, f"file:{n}.md", sha256=str(n) * 64) for n, text in enumerate(said)]
    assert find_independent_sources(files) == ["0.md", "1.md", "2.md"]
    assert find_independent_sources([*files[:2], files[2].model_copy(update={"sha256": "1" * 64})]) == [
        "0.md",
        "1.md",
    ], "the same file under another name"
    assert find_independent_sources([files[0], fact(said[1], "file:0.md", sha256="9" * 64)]) == ["0.md"], (
        "an older state of the same file"
    )
    (found,) = find_conflicts([files[0], fact("The Nordvik dairy was founded in 1923.", "file:1.md")])
    assert [value.sites for value in found.values] == [["0.md"], ["1.md"]] and found.status == "open"


def test_texts_that_a_person_gave_are_one_voice() -> None:
    given = [
        fact("Founded in 1921: the Nordvik dairy.", B, given="pasted"),
        fact("It all began in 1921, in Nordvik.", C, given="uploaded"),
    ]
    assert (
        find_independent_sources(given)
        == ["a person"]
        == find_independent_sources([*given, fact("In 1921 it began.", "", origin="person")])
    )
    assert find_independent_sources([*given, fact("The Nordvik dairy was founded in 1921.", A)]) == [
        "a person",
        "a.example",
    ]
