"""The screen that checks a text, as Streamlit's own tester sees it; and its HTML."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from agent import api
from agent.settings.config import ROOT
from agent.types import CheckedText, Fact, MarkedSentence, Settings, TextSentence
from agent.workbench import Workbench
from pages.widgets.check_text import marked_text, run
from tests.pages.conftest import shown

EXAMPLE = ROOT / "demo" / "report-to-check.md"

pytestmark = pytest.mark.slow


def sentence(text: str = "It is old.", **more: object) -> MarkedSentence:
    said = TextSentence(id="s1", start=0, end=len(text), text=text, kind="claim")
    known = {"mark": None, "automatic": None, "reason": "", "facts": [], "closest": ""}
    known |= {"overruled": "", "differs": False}
    return MarkedSentence(sentence=said, **(known | more))  # type: ignore[arg-type]


def test_without_a_text_it_says_what_is_missing(app: Callable[..., AppTest], bench: Workbench) -> None:
    tester = app("check_text")
    assert not tester.exception and "Nothing checked yet" in shown(tester)
    tester.button(key="check_text-start").click().run()
    assert "Paste a text first" in tester.warning[0].value and bench.runs() == []


def test_without_a_network_the_demo_world_is_offered_in_sight(app: Callable[..., AppTest]) -> None:
    for screen, flow in (("check_text", "check_text"), ("collect", "collect"), ("site", "site")):
        tester = app(screen)
        tester.button(key=f"{flow}-use-demo").click().run()
        assert tester.selectbox(key=f"{flow}-world").value == "demo"
        assert "There seems to be" not in shown(tester)


def test_a_pasted_text_starts_a_run_with_its_settings(app: Callable[..., AppTest], bench: Workbench) -> None:
    tester = app("check_text")
    tester.text_area(key="check:text").set_value("# Mills\n\nIt is old.").run()
    tester.toggle(key="check-text-search").set_value(True).run()
    tester.number_input(key="check-text-pages").set_value(7).run()
    tester.button(key="check_text-start").click().run()
    (made,) = bench.runs()
    own = made.settings.check_text
    assert (made.question, made.settings.flow, own.max_pages, own.search_missing) == (
        "Mills",
        "check_text",
        7,
        True,
    )
    assert bench.page(own.page_id).origin == "given"
    assert tester.query_params["run"] in (made.id, [made.id])


def test_a_checked_text_is_shown_with_its_marks(app: Callable[..., AppTest], bench: Workbench) -> None:
    settings = Settings(world="demo", model="keyless")
    run_id = api.start_text_check(bench, EXAMPLE.name, EXAMPLE.read_bytes(), settings)
    bench.drive(run_id)
    text = shown(app("check_text", run=run_id))
    assert "11 claims: 2 source unavailable" in text and "differing from the source" in text
    assert "The Stenfors bridge was closed to all traffic on 18 June 2026." in text


def test_nothing_of_a_text_becomes_markup() -> None:
    evil = "<img src=x onerror=alert(1)> \u202ereversed"
    fact = Fact(id="f1", statement=evil, quote=evil, page_id="p", url="javascript:alert(1)", title=evil)
    one = sentence(evil, mark="contradicted", reason=evil, facts=[fact], closest=evil, overruled=evil)
    html = marked_text.render([[one]], "r1") + marked_text.render([[one]], "r1", only_problems=True)
    assert "<img" not in html and "\u202e" not in html and 'href="javascript' not in html


def test_each_mark_has_a_sign_and_not_its_colour_alone() -> None:
    html = {
        mark: marked_text.render([[sentence(mark=mark)]], "r")
        for mark in marked_text.TONES
        if mark != "no_claim"
    }
    signs = {mark: text.partition('class="sign"')[2].partition("</span>")[0] for mark, text in html.items()}
    assert len(set(signs.values())) == len(signs) and all(signs.values())


def test_a_claim_that_is_still_to_be_checked_is_counted() -> None:
    text = CheckedText(
        title="t",
        sentences=[sentence(), sentence(mark="supported", automatic="supported")],
        url="",
        page_id="",
        why_stopped="",
    )
    assert "2 claims: 1 supported, 1 to check" in run.render_summary(text)
