"""The site flow with a scripted model."""

from __future__ import annotations

from agent.types import SiteLimits
from tests.agent.flows.site.cases import RETURNS, scripted
from tests.web.claim_judge import CHECKING_SHAPES, check_reply


def test_a_model_decides_and_writes_and_its_quotes_are_checked(ask, bench, monkeypatch):
    def teller(messages, shape):
        prompt = messages[1]["content"]
        if shape.__name__ in CHECKING_SHAPES:
            return check_reply(prompt, shape.__name__)
        if shape.__name__ == "AgentDecision":
            if RETURNS in prompt.split("Unvisited addresses:")[0]:
                return {
                    "decision": "answer",
                    "reasoning": "The returns page says it.",
                    "useful_visited_indices": [99],
                }
            index = next(line for line in prompt.splitlines() if RETURNS in line).split("]")[0].lstrip("[")
            return {
                "decision": "explore",
                "reasoning": "Returns are missing.",
                "selected_url_indices": [9999, int(index)],
            }
        passage = next(line for line in prompt.splitlines() if line.startswith("Passage "))[8:].rstrip(":")
        good = next(
            line[8:].rstrip(":")
            for line in prompt.splitlines()
            if line.startswith("Passage ") and _follows(prompt, line, "30 days")
        )
        return {
            "refusal": "none",
            "confidence": 0.9,
            "answer": [
                {
                    "text": "You have 30 days from delivery.",
                    "quotes": [{"passage_id": good, "quote": "within 30 days of delivery"}],
                },
                {
                    "text": "You get a free cake.",
                    "quotes": [{"passage_id": passage, "quote": "a free cake for everyone"}],
                },
            ],
        }

    model = scripted(bench, monkeypatch, teller)
    view = ask(
        instruction="Prefer official pages.",
        allowed_domains=["kallsteg.example"],
        site=SiteLimits(crawl_ahead=0),
    )
    state, answer = view.state, view.state.answer
    assert [choice.by for choice in state.own.choices] == ["model", "model"] and state.refusals[
        0
    ].what == "address 9999"
    assert answer.by == "model"
    assert [sentence.check for sentence in answer.sentences] == ["judged_supported", "not_supported"]
    assert answer.statements.unsupported == 1 and set(state.own.useful_visited_indices) == {
        state.own.visited_urls[1]
    }
    asked = [a for a in model.requests if a.schema.__name__ not in CHECKING_SHAPES]
    assert all("Prefer official pages." in a.messages[1]["content"] for a in asked)


def _follows(prompt: str, line: str, words: str) -> bool:
    return words in prompt.split(line, 1)[1].split("\nPassage ")[0]


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
