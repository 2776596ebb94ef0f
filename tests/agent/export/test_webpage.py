"""The web page: read by an HTML5 parser, it holds everything, loads nothing, runs nothing, and no text of a
stranger is markup."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

import html5lib

from agent.export.markdown import render_evidence_markdown, render_markdown
from agent.export.plain import render_plain_text
from agent.export.record import build_run_record
from agent.export.webpage import render_html
from agent.types import Sentence, Source
from tests.records import fill
from tests.web.reports import TITLES, one_line, report


def parsed(text: str):
    parser = html5lib.HTMLParser(strict=False, namespaceHTMLElements=False)
    document = parser.parse(text)
    assert not parser.errors, parser.errors[:3]
    return document


def test_everything_is_there_and_each_citation_leads_to_its_source():
    document = parsed(render_html(report()))
    text = one_line("".join(document.itertext()))
    assert all(one_line(title) in text for title in TITLES[:2]), "those of the sources that are cited"
    ids = {element.get("id") for element in document.iter() if element.get("id")}
    inner = [element.get("href") for element in document.iter("a") if element.get("href").startswith("#")]
    assert inner == ["#source-1", "#source-2"] and all(link[1:] in ids for link in inner)
    quotes = ["".join(one.itertext()) for items in document.iter("ol") for one in items.iterfind("li/ul/li")]
    assert quotes == ["“The answer 1 is 7 cows.”", "“The answer 2 is 14 cows.”"]


def test_its_policy_forbids_everything_but_its_own_style():
    text = render_html(report())
    document = parsed(text)
    policy = next(
        element.get("content")
        for element in document.iter("meta")
        if element.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style.group(1).encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in style.group(1) and "@import" not in style.group(1)
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_a_run_without_an_answer_and_an_imported_one():
    bare = report([])
    text = render_html(replace(bare, answer=None, run=bare.run.model_copy(update={"imported": "ab" * 32})))
    assert "There is no answer yet." in text and "ab" * 32 not in text


def test_it_holds_the_answer_with_its_sources_and_nothing_of_how_it_was_made():
    given = report()
    text = render_html(given)
    assert given.run.id not in text and not re.search(r"[0-9a-f]{64}|\dT\d\d:", text)
    for words in ("Journey", "Settings", "Earlier answers", "What a person changed"):
        assert words not in text


FOUND = "Every quote was found word for word in its source."


def test_quotes_are_told_as_found_where_all_that_are_printed_stand_in_their_pages():
    given = report()
    assert FOUND in render_html(given) and given.answer
    former = given.stored_pages["p1"]
    changed = {**given.stored_pages, "p1": former.replace(text="Another page.")}
    for other in (
        replace(given, stored_pages=changed),
        replace(given, stored_pages={}),
        replace(given, answer=given.answer.replace(sentences=[])),
        replace(given, answer=None),
    ):
        assert FOUND not in render_html(other)


def test_what_a_person_knows_stands_in_no_quotation_marks():
    given, said = report(), "My uncle says that there are nine."
    own = fill(Source, n=1, title="A person's own knowledge", quotes=[said], fact_ids=["f1"])
    assert given.answer
    told = [Sentence(text=said, fact_ids=["f1"])]
    paper = replace(given, answer=given.answer.replace(sources=[own], sentences=told))
    html = render_html(paper)
    assert said in html and f"“{said}”" not in html and FOUND not in html
    assert f"“{said}”" not in render_markdown(paper)
    assert f"    “{said}”" not in render_plain_text(paper.answer).splitlines()
    assert f"> {said}" not in render_evidence_markdown(paper)
    assert [source["quotes"] for source in build_run_record(paper)["sources"]] == [[]]
