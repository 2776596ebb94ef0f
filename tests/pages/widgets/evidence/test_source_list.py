"""The Sources tab: domains with facts, copies and signs; nothing from outside becomes markup."""

from __future__ import annotations

from agent.actions.sources import SourceDomain
from agent.types import Fact, PageRef
from pages.widgets.evidence import source_list
from tests.records import fill

EVIL = "<img src=x onerror=alert(1)>"


def test_the_sources_tell_trust_and_copies_and_stay_letters():
    page = fill(PageRef, url="https://a.example/", page_id="p", trust=0.65, trust_why=[EVIL])
    disputed = Fact(id="h", statement="s", quote="q", verified=True, disputed=True)
    struck = Fact(id="g", statement="s", quote="q", verified=True, trust=0.65, decision="struck")
    drawn = source_list.render_domains(
        [
            SourceDomain("a.example", [page], [struck], ["c.example"]),
            SourceDomain("d.example", [], [disputed]),
        ]
    )
    for words in ("same text as c.example", "ordinary 0.65", "(0 may count)", "1 disputed"):
        assert words in drawn, words
    assert "<img" not in drawn
