"""The site flow with a scripted model."""

from __future__ import annotations

from agent.types import SiteLimits
from tests.agent.flows.site.cases import scripted


def test_page_text_is_fenced_and_windowed_in_prompts(ask, bench, monkeypatch):
    seen: list[str] = []

    def teller(messages, shape):
        seen.append(messages[-1]["content"])
        return {"decision": "answer"} if shape.__name__ == "AgentDecision" else {"refusal": "not_covered"}

    scripted(bench, monkeypatch, teller)
    view = ask(site=SiteLimits(content_max_chars=120))
    window = seen[0].split("Pages read")[1].split("Unvisited addresses")[0]
    assert "<page-" in window and len(window) < 600
    assert len(bench.page(view.state.own.url_content(view.state)[0]).text) > 120, (
        "what is stored is the whole text"
    )
