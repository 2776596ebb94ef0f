"""The site flow with a scripted model."""

from __future__ import annotations

from agent.types import SiteLimits
from tests.agent.flows.site.cases import QUESTION, RETURNS, scripted
from tests.web.claim_judge import CHECKING_SHAPES, check_reply
from tests.web.folders import page, write_world


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


def test_a_model_understands_a_follow_up_and_may_refuse(ask, bench, monkeypatch):
    def teller(messages, shape):
        if shape.__name__ == "AgentDecision":
            return {
                "decision": "answer",
                "reasoning": "Enough.",
                "standalone_question": "Is the return of a Kallsteg C2 free for goats?",
            }
        assert (
            "Is the return of a Kallsteg C2 free for goats?" in messages[-1]["content"]
            and QUESTION in messages[-1]["content"]
        )
        return {"refusal": "off_topic", "message": "I can only help with loggers.", "confidence": 0.1}

    first = ask()
    scripted(bench, monkeypatch, teller)
    second = ask("And for goats?", follow=first.run.id)
    assert second.state.asked == "Is the return of a Kallsteg C2 free for goats?"
    assert (second.state.answer.reason, second.state.answer.certainty) == (
        "off_topic",
        "I can only help with loggers.",
    )
    assert "The model worded this" in second.state.answer.remark


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


def test_what_a_model_chose_is_shown_first_all_pages_are_listed_and_the_writer_knows_the_parts(
    ask, bench, monkeypatch, tmp_path
):
    beds = [page(f"https://g.example/bed-{n}", f"Bed {n}", f"The gate of bed {n} is red.") for n in range(9)]
    hours = page("https://g.example/zeiten", "Zeiten", "Geöffnet ab neun Uhr.")
    about = page("https://g.example/about", "About", "A park.")
    world, decisions, drafts = write_world(tmp_path / "w", [*beds, hours, about]), list[str](), list[str]()
    parts, found = ["When does the gate open?", "Which colour has the gate?"], list[int]()

    def teller(messages, shape):
        prompt = messages[-1]["content"]
        if shape.__name__ != "AgentDecision":
            drafts.append(prompt)
            return {"refusal": "not_covered", "message": "Ask [us](https://evil.test/x) or a@evil.test."}
        decisions.append(prompt)
        if len(decisions) > 1:
            return {"decision": "answer", "useful_visited_indices": found}
        chosen = next(line for line in prompt.splitlines() if "zeiten" in line).split("]")[0].lstrip("[")
        found.append(int(chosen))
        return {
            "decision": "explore",
            "selected_url_indices": found,
            "search_words": "Öffnungszeiten",
            "parts": parts,
            "standalone_question": "There is no conversation.",
        }

    scripted(bench, monkeypatch, teller)
    starts = ["https://g.example/", *(f"https://g.example/bed-{n}" for n in range(9))]
    sites = {"world": world, "allowed_domains": ["g.example"], "site": SiteLimits(crawl_ahead=0)}
    view = ask("When does the gate open, and which colour has it?", *starts, **sites)
    second = decisions[1].split("Pages read")[1]
    assert "Geöffnet ab neun" in second and second.index("Geöffnet") < second.index("gate of bed 0")
    assert all(f"bed-{n}" in second or f"] Bed {n}" in second for n in range(9)), "each page is listed"
    assert drafts[0].index("Geöffnet") < drafts[0].index("gate of bed 0") and f"2: {parts[1]}" in drafts[0]
    assert [part.question for part in view.state.plan] == parts and view.state.own.search_words
    assert view.state.asked == view.state.question, "nothing completes a question without a conversation"
    assert view.state.answer.certainty == "Ask [us] or [contact removed]."
