"""The bundled demo world holds together: it parses, its links lead somewhere, and its questions can be
answered from it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lxml import html as lxml_html
from pypdfium2 import PdfDocument

from agent.text import urls

DEMO = Path(__file__).parents[2] / "demo"
FIELDS = {"id", "title", "url", "text", "html", "links", "status", "location", "content_type", "file", "host"}
NEEDED = {"id", "question", "answers", "type", "answerable", "supporting_ids"}
OPTIONAL = {"long_answer", "answer_mode", "history", "host", "start_url", "meta", "items"}
DELIBERATELY_DEAD = {
    "https://collector.example/log?visitor=agent",  # where the page with hidden instructions wants its reader to go
    "https://norrviddawiki.example/wiki/Get%C3%A4ngen",  # a wiki article nobody has written
}


def rows(name: str) -> list[dict[str, Any]]:
    """The objects of a JSONL file of the demo folder."""
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


DOCS = {doc["id"]: doc for doc in rows("docs.jsonl")}
BY_URL = {urls.canonicalize(doc["url"]): doc for doc in DOCS.values()}
QUESTIONS = rows("questions.jsonl")
PAGES = [doc for doc in DOCS.values() if "html" in doc]


def squeezed(text: str) -> str:
    """Lower case, one space between words: how two texts are compared here."""
    return " ".join(text.lower().split())


def stands_in(answer: str, text: str) -> bool:
    """Does the answer stand in the text as whole words?"""
    return re.search(rf"(?<!\w){re.escape(squeezed(answer))}(?!\w)", squeezed(text)) is not None


def visible(doc: dict[str, Any]) -> str:
    """All text of a document's markup, scripts and styles left out."""
    tree = lxml_html.fromstring(doc["html"])
    for node in tree.xpath("//script|//style"):
        node.drop_tree()
    return " ".join(tree.itertext())


def links(doc: dict[str, Any]) -> set[str]:
    """The addresses a document points to: its anchors, its `links`, where it redirects."""
    found = [DOCS[link]["url"] if link in DOCS else link for link in doc.get("links", [])]
    found += [doc["location"]] if "location" in doc else []
    found += (
        [urls.resolve(doc["url"], a.get("href")) for a in lxml_html.fromstring(doc["html"]).iter("a")]
        if "html" in doc
        else []
    )
    return set(found)


def test_ids_and_addresses_are_unique() -> None:
    assert len(DOCS) == len(rows("docs.jsonl")) == len(BY_URL)
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("doc", DOCS.values(), ids=DOCS)
def test_a_document_has_known_fields_and_a_fictional_host(doc: dict[str, Any]) -> None:
    assert set(doc) <= FIELDS and all(doc[field] for field in ("id", "title", "url", "text"))
    assert urls.canonicalize(doc["url"]) and urls.host(doc["url"]).endswith(".example")


@pytest.mark.parametrize("doc", DOCS.values(), ids=DOCS)
def test_every_link_leads_to_a_document_or_is_dead_on_purpose(doc: dict[str, Any]) -> None:
    dead = {link for link in links(doc) if urls.canonicalize(link) not in BY_URL}
    assert dead <= DELIBERATELY_DEAD


def test_every_deliberately_dead_link_is_there() -> None:
    assert set().union(*(links(doc) for doc in DOCS.values())) >= DELIBERATELY_DEAD


@pytest.mark.parametrize("doc", PAGES, ids=[doc["id"] for doc in PAGES])
def test_the_plain_text_stands_in_the_markup(doc: dict[str, Any]) -> None:
    page = re.sub(r"\s", "", visible(doc))
    lines = [
        re.sub(r"\s", "", cell) for line in doc["text"].splitlines() for cell in re.split(r" [|·] ", line)
    ]
    assert [line for line in lines if line not in page] == []


def test_the_pdf_says_what_its_document_says() -> None:
    (doc,) = [doc for doc in DOCS.values() if "file" in doc]
    pdf = squeezed(
        " ".join(page.get_textpage().get_text_bounded() for page in PdfDocument(DEMO / doc["file"]))
    )
    assert doc["content_type"] == "application/pdf"
    assert [line for line in doc["text"].splitlines() if squeezed(line.replace(" | ", " ")) not in pdf] == []


def test_redirects_end_or_go_round_as_meant() -> None:
    assert DOCS["dairy-old-about"]["location"] == DOCS["dairy-about"]["url"]
    assert BY_URL[urls.canonicalize(DOCS["brief-loop-a"]["location"])] is DOCS["brief-loop-b"]
    assert BY_URL[urls.canonicalize(DOCS["brief-loop-b"]["location"])] is DOCS["brief-loop-a"]


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_the_answers_stand_in_the_supporting_pages(question: dict[str, Any]) -> None:
    assert set(question) >= NEEDED and set(question) <= NEEDED | OPTIONAL
    assert (
        bool(question["supporting_ids"]) == bool(question["answers"]) == (question["answerable"] is not False)
    )
    support = [DOCS[page] for page in question["supporting_ids"]]
    for answer in question["answers"]:
        holding = [doc for doc in support if stands_in(answer, doc["text"])]
        assert holding
        assert all(stands_in(answer, visible(doc)) for doc in holding if "html" in doc)


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q["type"] == "bridge"], ids=lambda q: q["id"])
def test_a_bridge_question_cannot_skip_its_bridge(question: dict[str, Any]) -> None:
    first, *later = [DOCS[page] for page in question["supporting_ids"]]
    assert "älvmora" in squeezed(first["text"])
    assert "älvmora" not in squeezed(" ".join(doc["text"] for doc in later))
    assert not all(stands_in(answer, first["text"]) for answer in question["answers"])


def test_conflicting_values_stand_on_different_sites() -> None:
    for question in (q for q in QUESTIONS if q["type"] == "conflict"):
        pages = [DOCS[page] for page in question["supporting_ids"] + question["meta"].get("misinfo_ids", [])]
        sites = {
            value: {urls.site(doc["url"]) for doc in pages if stands_in(value, doc["text"])}
            for value in question["meta"]["values"]
        }
        assert all(sites.values()) and not set.intersection(*sites.values())


def test_the_sizes_stay_small() -> None:
    assert len(DOCS) >= 45 and len(QUESTIONS) >= 18
    assert len({urls.host(doc["url"]) for doc in DOCS.values()}) >= 8
    assert sum(path.stat().st_size for path in DEMO.rglob("*") if path.is_file()) < 400_000
