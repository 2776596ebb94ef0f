"""A scripted model for collecting: it answers each role from what stands in its prompt, as a sensible model
would, and knows no page by heart.

    install_walker(bench, Walker(topic="Kallsteg", section="forum", days=30))

`decisions` overrules the decision about an address; `prompts` holds what was asked, by role."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import date, timedelta
from typing import Any

from agent.workbench import Workbench
from tests.web.model_server import Request
from tests.web.scripted import ScriptedModel

ADDRESS = re.compile(r"^<about-\w+>\n(\S+)$", re.MULTILINE)
TODAY = re.compile(r"^Today is (\d{4}-\d\d-\d\d)", re.MULTILINE)
LINK = re.compile(r"^u\d+ (https?://\S+)(?: \((\d{4}-\d\d-\d\d)\))?", re.MULTILINE)
SIGNS = re.compile(r"(\d+) words, (\d+) posts with writer and date, (\d+) links beside a date")
ITEM = re.compile(r"^Item (\w+)", re.MULTILINE)
PASSAGE = re.compile(r"^Passage (\w+):\n<(passage-\w+)>\n(.*?)\n</\2>", re.MULTILINE | re.DOTALL)


class Walker:
    """Called with each request; replies as a dict."""

    def __init__(
        self,
        *,
        topic: str = "",
        section: str = "",
        days: int | None = None,
        decisions: dict[str, dict[str, Any]] | None = None,
        **wanted: Any,
    ) -> None:
        self.topic, self.section, self.days, self.decisions = topic, section, days, decisions or {}
        self.wanted = wanted
        self.prompts: dict[str, list[str]] = defaultdict(list)

    def __call__(self, request: Request) -> Any:
        return self.reply(request.body["response_format"]["json_schema"]["name"], request.prompt)

    def reply(self, role: str, prompt: str) -> Any:
        """The reply to a prompt, by the name of its shape."""
        self.prompts[role].append(prompt)
        return getattr(self, f"_{role}")(prompt)

    def _IntentReply(self, prompt: str) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "target_section": self.section,
            "since": self.days and str(date.fromisoformat(TODAY.search(prompt)[1]) - timedelta(self.days)),
            "max_articles": None,
            **self.wanted,
        }

    def _PageDecision(self, prompt: str) -> dict[str, Any]:
        url = ADDRESS.search(prompt)[1]
        if url in self.decisions:
            return {
                "reasoning": "as told",
                "confidence": 0.9,
                "page_type": "other",
                "target_url": None,
                **self.decisions[url],
            }
        words, posts, dated = map(int, SIGNS.search(prompt).groups())
        way = next(
            (link for link, _ in LINK.findall(prompt) if self.section and link.endswith(self.section)), None
        )
        if posts > 1:
            action, kind = "EXTRACT_CONTENT", "forum_thread"
        elif way and not dated:
            action, kind = "NAVIGATE_TO", "company_profile"
        elif dated > 1:
            action, kind = "EXTRACT_LINKS", "forum_listing" if self.section == "forum" else "news_listing"
        else:
            action, kind = ("EXTRACT_CONTENT", "article") if words > 60 else ("STOP", "other")
        return {
            "action": action,
            "reasoning": "judged by its signs",
            "confidence": 0.9,
            "page_type": kind,
            "target_url": way if action == "NAVIGATE_TO" else None,
        }

    def _LinkRanking(self, prompt: str) -> dict[str, Any]:
        dated = [
            {"url": url, "anchor_text": "", "relevance_score": 0.8, "detected_date": day}
            for url, day in LINK.findall(prompt)
            if day
        ]
        return {"links": dated}

    def _RelevanceReply(self, prompt: str) -> dict[str, Any]:
        return {
            "items": [
                {"id": name, "is_relevant": True, "reason": "to the point"} for name in ITEM.findall(prompt)
            ]
        }

    def _DigestReply(self, prompt: str) -> dict[str, Any]:
        quoted = [(name, text.split("\n")[-1].strip()) for name, _, text in PASSAGE.findall(prompt)]
        return {
            "answer": [
                {"text": quote, "quotes": [{"passage_id": name, "quote": quote}]}
                for name, quote in quoted[:4]
            ]
        }

    def _CompareFactsReply(self, prompt: str) -> dict[str, Any]:
        return {"conflicts": []}

    def _CheckClaimsReply(self, prompt: str) -> dict[str, Any]:
        numbers = re.findall(r"^Statement (\d+):", prompt, re.MULTILINE)
        return {"claims": [{"n": int(n), "supported": True, "quote": "q1"} for n in numbers]}

    def _RepairReply(self, prompt: str) -> dict[str, Any]:
        return {"sentences": []}

    def _ContentReply(self, prompt: str) -> dict[str, Any]:
        return {
            "title": "",
            "content": "",
            "publish_date": None,
            "metadata": {"post_count": None, "author": None},
            "posts": [],
        }


def install_walker(bench: Workbench, walker: Walker | None = None, **wanted: Any) -> Walker:
    """Let a Walker, or one with this intent, answer on the workbench, without a server."""
    walker = walker or Walker(**wanted)

    def answer(messages: list[dict[str, Any]], shape: Any) -> Any:
        return walker.reply(shape.__name__, "\n".join(str(one["content"]) for one in messages))

    bench.worker.model_client = lambda name, fast="": (ScriptedModel(answer), "")  # type: ignore[method-assign]
    return walker
