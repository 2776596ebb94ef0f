"""A stored page drawn: long texts in windows, downloads that no browser runs, versions with nothing of a page
as markup."""

from __future__ import annotations

import pytest

from agent.store.pages import PageVersion
from agent.types import Fact, Outcome, Page
from pages.widgets.evidence import page_text, page_versions
from tests.records import fill

EVIL = "<img src=x onerror=alert(1)>"


def page(**more) -> Page:
    url = "https://a.example/x"
    return fill(Page, **{"url": url, "final_url": url, "outcome": Outcome.OK, "text": "A.", **more})


@pytest.mark.parametrize(
    ("url", "kind", "told"),
    [
        ("https://a.example/about", "text/html; charset=utf-8", ("about.txt", "text/plain")),
        ("https://a.example/", "text/html", ("a.example.txt", "text/plain")),
        ("https://a.example/x.svg", "image/svg+xml", ("x.svg.txt", "text/plain")),
        ("https://a.example/r.pdf", "application/pdf", ("r.pdf", "application/octet-stream")),
        ("https://a.example/..%2f..%2fetc", "text/plain", ("2f..-2fetc.txt", "text/plain")),
    ],
)
def test_a_body_is_downloaded_as_what_no_browser_runs(url, kind, told):
    assert page_text.choose_file_name(page(url=url, final_url=url, content_type=kind)) == told


def test_versions_are_drawn_as_text():
    found = [
        PageVersion("p1", "2026-11-22T09:00:00Z", 9, "fetched", False),
        PageVersion("p2", "2026-11-21T09:00:00Z", 8, "pasted", False),
    ]
    listed = page_versions.render_versions(found, "p1", "r", "")
    assert "(shown here)" in listed and "with=p2" in listed and "text pasted by a person" in listed
    same = "\n".join(f"line {n}" for n in range(20))
    old, new = (page(text=f"{EVIL} {word}\n{same}") for word in ("old", "new"))
    quote = Fact(id="f", statement="s", quote=f"{EVIL} old", page_id="p")
    drawn = page_versions.render_comparison(old, new, [quote])
    said = ("<del>old</del>", "<ins>new</ins>", "20 lines the same")
    assert "<img" not in drawn and [words for words in said if words not in drawn] == []
    assert "the same, line for line" in page_versions.render_comparison(old, old, [])
