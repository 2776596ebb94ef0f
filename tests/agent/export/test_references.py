"""Bibliographies, each read by an independent reader: BibTeX, RIS and CSL-JSON give back every title, address
and date."""

from __future__ import annotations

import dataclasses
import json
import re
import warnings

import bibtexparser
import rispy
from bibtexparser.middlewares import SeparateCoAuthors
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.export.references import (
    collect_references,
    escape_tex,
    parse_date_parts,
    render_bibtex,
    render_csl,
    render_ris,
)
from agent.export.report import Report
from agent.types import PageRef, Publication
from tests.agent.export.tex import read_tex
from tests.records import fill
from tests.tables import by_table
from tests.web.reports import TITLES, make_report, one_line, report


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from("{}\\%&$#_~^|<>\"'`,=@ abÄ東-\n"), max_size=40))
def test_no_title_breaks_a_bibtex_file(title):
    (given, *_) = collect_references(report())
    first = dataclasses.replace(given, key="one", title=one_line(title) or "x")
    library = bibtexparser.parse_string(
        render_bibtex([first, dataclasses.replace(given, key="two", title="Next")])
    )
    assert [entry.key for entry in library.entries] == ["one", "two"] and not library.failed_blocks
    assert library.entries[0]["title"] == escape_tex(first.title) and library.entries[1]["title"] == "Next"


def test_an_address_is_referred_to_once_and_what_was_gathered_follows():
    given = report()
    assert given.answer
    extra = [
        fill(PageRef, url=given.answer.sources[0].url, title="again"),
        fill(PageRef, url="https://more.example/x", title="More"),
    ]
    found = collect_references(given, extra)
    assert len(found) == len(TITLES) + 2 and found[-1].url == "https://more.example/x"


def test_without_an_answer_the_pages_with_facts_are_the_sources():
    full = report()
    bare = make_report(run=full.run, facts=full.facts, pages=full.pages, stored_pages=full.stored_pages)
    found, cited = ([one.url for one in collect_references(made)] for made in (bare, full))
    assert found == cited[:-1]


@by_table
def test_dates(text, date):
    assert parse_date_parts(text) == tuple(date)


PAPER = Publication(
    doi="10.5555/heron_{12}",
    authors=["Ana Field", "The Heron Group"],
    people={"Ana Field": "Field, Ana"},
    journal="Waders & Co",
    year=2021,
    licence="cc-by",
)


def paper() -> Report:
    """The report of a run that cites one paper."""
    full = report()
    assert full.answer
    source = full.answer.sources[0].replace(publication=PAPER, page_id="", title="Diets of herons")
    return dataclasses.replace(full, answer=full.answer.replace(sources=[source]), stored_pages={})


def test_a_paper_keeps_doi_authors_journal_year_and_licence_in_bibtex():
    (entry,) = bibtexparser.parse_string(
        render_bibtex(collect_references(paper())), append_middleware=[SeparateCoAuthors()]
    ).entries
    assert (entry.entry_type, entry["author"]) == ("article", ["Field, Ana", "{The Heron Group}"])
    assert (read_tex(entry["journal"]), entry["doi"], entry["year"]) == (
        "Waders & Co",
        "10.5555/heron_12",
        "2021",
    )
    assert "Licence: cc-by" in entry["note"] and "organization" not in entry.fields_dict


def test_a_paper_keeps_them_in_ris_and_csl() -> None:
    (entry,) = rispy.loads(render_ris(collect_references(paper())))
    assert entry["type_of_reference"] == "JOUR" and entry["authors"] == ["Field, Ana", "The Heron Group"]
    assert (entry["secondary_title"], entry["doi"], entry["year"]) == ("Waders & Co", PAPER.doi, "2021")
    assert entry["notes"][0] == "Licence: cc-by"
    items = json.loads(render_csl(collect_references(paper())))
    assert items[0]["type"] == "article-journal" and items[0]["DOI"] == PAPER.doi
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        style = CitationStylesStyle("harvard-cite-them-right", validate=False)
        bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
        bibliography.register(Citation([CitationItem(items[0]["id"])]))
        shown = str(bibliography.bibliography()[0])
    assert all(words in shown for words in ("Field, A", "The Heron Group", "2021", "Waders & Co")), shown


def test_what_is_not_known_is_left_out_and_keys_are_apart() -> None:
    references = collect_references(report())
    entries = bibtexparser.parse_string(render_bibtex(references)).entries
    keys = [entry.key for entry in entries]
    assert len({*keys}) == len(keys) and all(re.fullmatch("[a-z][a-z0-9-]*", key) for key in keys)
    first, last = entries[0], entries[-1]
    assert (first.entry_type, first["urldate"], first["date"]) == ("online", "2026-11-21", "2025-03-09")
    assert (first["author"], first["organization"]) == ("{Åsa Öberg, B. Lee}", "site1.example")
    assert last.entry_type == "misc" and "url" not in last.fields_dict, "an address that is none"
    (ris, *_), (csl, *_) = rispy.loads(render_ris(references)), json.loads(render_csl(references))
    assert (ris["access_date"], ris["year"], ris["type_of_reference"]) == ("2026/11/21/", "2025", "ELEC")
    assert (csl["type"], csl["accessed"]) == ("webpage", {"date-parts": [[2026, 11, 21]]})
    empty = collect_references(make_report(run=report().run))
    assert (render_bibtex(empty), render_ris(empty), json.loads(render_csl(empty))) == ("", "", [])


def test_a_page_that_says_what_it_is_completes_what_the_engine_said():
    full = report()
    assert full.answer
    source = full.answer.sources[0].replace(publication=Publication(doi="10.5555/a"))
    pages = {key: page.replace(publication=PAPER) for key, page in full.stored_pages.items()}
    given = dataclasses.replace(full, answer=full.answer.replace(sources=[source]), stored_pages=pages)
    (found,) = collect_references(given)
    assert (found.doi, found.journal, found.issued) == ("10.5555/a", "Waders & Co", (2025, 3, 9))


def test_the_authors_of_a_page_stand_whole():
    full = report()
    for author in ("New York Times", "European Commission, Anna Berg"):
        pages = {key: page.replace(author=author) for key, page in full.stored_pages.items()}
        found = collect_references(dataclasses.replace(full, stored_pages=pages))
        shown = bibtexparser.parse_string(render_bibtex(found)).entries[0]["author"]
        assert shown == f"{{{author}}}"
