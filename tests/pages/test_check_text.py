"""The HTML of the screen that checks a text."""

from __future__ import annotations

from agent.types import Fact, MarkedSentence, TextSentence
from pages.widgets.check_text import marked_text
from tests.records import fill


def test_nothing_of_a_text_becomes_markup() -> None:
    evil = "<img src=x onerror=alert(1)> \u202ereversed"
    fact = fill(Fact, id="f1", statement=evil, quote=evil, page_id="p", url="javascript:alert(1)", title=evil)
    said = fill(TextSentence, id="s1", end=len(evil), text=evil, kind="claim")
    told = {"reason": evil, "facts": [fact], "closest": evil, "overruled": evil}
    one = fill(MarkedSentence, sentence=said, mark="contradicted", **told)
    html = marked_text.render([[one]], "r1") + marked_text.render([[one]], "r1", only_problems=True)
    assert "<img" not in html and "\u202e" not in html and 'href="javascript' not in html
