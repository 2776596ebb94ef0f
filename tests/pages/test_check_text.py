"""The screen that checks a text, as Streamlit's own tester sees it; and its HTML."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from agent import api
from agent.settings.config import ROOT
from agent.types import Fact, MarkedSentence, Settings, TextSentence
from agent.workbench import Workbench
from pages.widgets.check_text import marked_text
from tests.pages.conftest import shown

EXAMPLE = ROOT / "demo" / "report-to-check.md"

pytestmark = pytest.mark.slow


def sentence(text: str = "It is old.", **more: object) -> MarkedSentence:
    said = TextSentence(id="s1", start=0, end=len(text), text=text, kind="claim")
    known = {"mark": None, "automatic": None, "reason": "", "facts": [], "closest": ""}
    known |= {"overruled": "", "differs": False}
    return MarkedSentence(sentence=said, **(known | more))  # type: ignore[arg-type]


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
