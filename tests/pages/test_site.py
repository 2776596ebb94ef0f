"""The Ask a site screen, whole: the form and its desks, the conversation, refusals, and what it says when
something cannot be."""

from __future__ import annotations

import pytest

from pages.widgets.site import form
from tests.pages.conftest import find_button

pytestmark = pytest.mark.slow

START = "https://kallsteg.example/"
QUESTION = "How do I return a Kallsteg C2 logger?"


def _fill(tester, text=f"{START} {QUESTION}"):
    tester.text_area(key="site:question").set_value(text).run()
    tester.selectbox(key="site-world").set_value("demo").run()
    return tester


def test_the_form_fills_in_the_domains_and_asks(app, bench):
    tester = _fill(app("site"))
    assert not tester.exception
    assert tester.text_input(key="site-allowed_domains").value == "kallsteg.example"
    tester.text_area(key="site:instruction").set_value("Prefer the FAQ.").run()
    tester.number_input(key="site-max_pages").set_value(7).run()
    find_button(tester, "Ask").click().run()
    settings = bench.runs()[0].settings
    assert (settings.flow, settings.world, settings.instruction) == ("site", "demo", "Prefer the FAQ.")
    assert (settings.start_urls, settings.allowed_domains) == ([START], ["kallsteg.example"])
    assert (settings.site.max_pages, settings.site.max_iterations) == (7, 5)
    assert bench.runs()[0].question == QUESTION and bench.store.draft("site:question") == ""


def test_what_cannot_be_is_refused_in_words(app, bench):
    tester = app("site")
    tester.text_area(key="site:question").set_value(QUESTION).run()
    find_button(tester, "Ask").click().run()
    assert "at least one page to start from" in tester.warning[0].value.replace("\\", "")
    assert bench.runs() == []


@pytest.mark.parametrize(
    ("text", "starts", "question"),
    [
        ("kallsteg.example How?", ["https://kallsteg.example"], "How?"),
        (
            "https://a.example/x, b.example\nWho is it?",
            ["https://a.example/x", "https://b.example"],
            "Who is it?",
        ),
        ("What does https://a.example/ say?", ["https://a.example/"], "What does https://a.example/ say?"),
        ("How does node.js start?", [], "How does node.js start?"),
        ("", [], ""),
    ],
)
def test_one_field_holds_the_address_and_the_question(text, starts, question):
    assert form.read_request(text) == (starts, question)
