"""The Ask a site screen, whole: the form and its desks, the conversation, refusals, and what it says when
something cannot be."""

from __future__ import annotations

import pytest

from tests.pages.conftest import find_button

pytestmark = pytest.mark.slow

START = "https://kallsteg.example/"
QUESTION = "How do I return a Kallsteg C2 logger?"


def _fill(tester, starts=START, question=QUESTION):
    tester.text_area(key="site:starts").set_value(starts).run()
    tester.text_area(key="site:question").set_value(question).run()
    tester.selectbox(key="site-world").set_value("demo").run()
    return tester


def test_the_form_fills_in_the_domains_and_asks(app, bench):
    tester = _fill(app("site"))
    assert not tester.exception
    assert tester.text_area(key="site-allowed").value == "kallsteg.example"
    tester.text_area(key="site:instruction").set_value("Prefer the FAQ.").run()
    tester.number_input(key="site-max_pages").set_value(7).run()
    find_button(tester, "Ask").click().run()
    settings = bench.runs()[0].settings
    assert (settings.flow, settings.world, settings.instruction) == ("site", "demo", "Prefer the FAQ.")
    assert (settings.start_urls, settings.allowed_domains) == ([START], ["kallsteg.example"])
    assert (settings.site.max_pages, settings.site.max_iterations) == (7, 5)
    assert bench.store.draft("site:question") == "" and bench.store.draft("site:starts") == START


def test_what_cannot_be_is_refused_in_words(app, bench):
    tester = app("site")
    tester.text_area(key="site:question").set_value(QUESTION).run()
    find_button(tester, "Ask").click().run()
    assert "at least one page to start from" in tester.warning[0].value.replace("\\", "")
    assert bench.runs() == []
    tester.text_area(key="site:starts").set_value("kallsteg").run()
    find_button(tester, "Ask").click().run()
    assert "is not a web address" in tester.warning[0].value.replace("\\", "")
