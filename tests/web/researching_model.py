"""A scripted model that drives a research run, and a short way to run one with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.web.claim_judge import ALWAYS, check_reply
from tests.web.model_server import ModelServer, Request

SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
ROOF = "https://www.alvmora-mejeri.example/news/2026-05-solar-roof"
TOUR = "https://ostvandring.example/2026/07/cellar-tour"
QUOTE = "Since Monday there are 412 solar panels on the roof of Älvmora Mejeri."
INVENTED = "https://invented.example/page"
ASK = {
    "next_action": "search_duckduckgo",
    "query_or_url": "solar panels roof Älvmora Mejeri",
    "reasoning": "A first look.",
}
END = {"next_action": "send_to_hitl", "query_or_url": None, "reasoning": "It is answered."}
Told_ = dict[str, Any]


def crawl(url: str) -> Told_:
    return {"next_action": "crawl_url", "query_or_url": url, "reasoning": "It looks promising."}


def together(*actions: Told_) -> Told_:
    """A round of several actions."""
    return {"actions": list(actions)}


def role_of(prompt: str) -> str:
    """Which role a prompt belongs to, by the schema that stands in it."""
    keys = {"report": "You write up", "analyzer": '"new_potential_urls"', "decision": '"next_action"'}
    keys |= {"plan": "You plan a web research run"}
    keys |= {"outline": "You plan a research report", "section": "You write one section"}
    keys |= {"summary": "You write the summary"}
    keys |= {"revision": "You say what the note asks for"}
    keys |= {"check_claims": '"claims"', "repair": '"sentences"', "compare_facts": '"ruling"'}
    return next(role for role, key in keys.items() if key in prompt)


def find_fact_ids(prompt: str) -> list[str]:
    """The short ids of the facts that a prompt lists."""
    return list(dict.fromkeys(re.findall(r"^(?:- .*?: )?(f\d+) \[", prompt, re.MULTILINE)))


class Script:
    """A model that plays all roles: `decisions` one after the other, then handing over; facts by `quotes`; a
    report of `sentences`; a `judge` of claims (all are supported by default) and `repairs` of sentences."""

    def __init__(self, *decisions: Any, quotes: list[str] | None = None, **more: Any) -> None:
        self.decisions, self.quotes, self.more = list(decisions), [QUOTE] if quotes is None else quotes, more
        self.prompts: list[tuple[str, str]] = []

    def __call__(self, prompt: str) -> Any:
        role = role_of(prompt)
        self.prompts.append((role, prompt))
        if role in self.more and callable(self.more[role]):
            return self.more[role](prompt)
        return getattr(self, role)(prompt)

    def plan(self, prompt: str) -> Told_:
        """One part, in the question's own words, unless the script says otherwise."""
        question = re.search(r"^Question: (.*)$", prompt, re.MULTILINE)
        return self.more.get("plan") or {"parts": [{"question": question[1] if question else ""}]}

    def decision(self, _prompt: str) -> Any:
        return self.decisions.pop(0) if self.decisions else END

    def analyzer(self, prompt: str) -> Told_:
        about = {"passage_id": "p", "subject": "Älvmora Mejeri", "attribute": "solar panels"}
        facts = [{"statement": quote, "quote": quote, **about} for quote in self.quotes]
        return {
            "facts": self.more.get("facts", facts) if "Passage p1" in prompt else [],
            "answered_parts": list("12345678") if self.more.get("confidence", 0.95) >= 0.8 else [],
            "assessment": "Seen.",
            "confidence_score": self.more.get("confidence", 0.95),
            "suggestions_for_next_step": [],
            "new_potential_urls": self.more.get("urls", []),
            "inconsistencies_found": self.more.get("inconsistencies"),
            "inconsistent_fact_ids": self.more.get("sides", []),
        }

    def report(self, prompt: str) -> Told_:
        ids = find_fact_ids(prompt)
        sentences = self.more.get("sentences", [(QUOTE, None)])
        return {
            "answer": [
                {"text": text, "fact_ids": ids if cited is None else cited} for text, cited in sentences
            ]
        }

    def check_claims(self, prompt: str) -> Told_:
        return check_reply(prompt, "CheckClaimsReply", self.more.get("judge", ALWAYS))

    def repair(self, prompt: str) -> Told_:
        return check_reply(prompt, "RepairReply", repairs=self.more.get("repairs"))

    def revision(self, _prompt: str) -> Told_:
        return {"understood": "do it again", "is_whole": True, "needs_research": True}

    def compare_facts(self, prompt: str) -> Told_:
        return {"conflicts": self.more.get("rulings", [])}

    def served(self, request: Request) -> Any:
        return self(request.prompt)

    def scripted(self, messages: list[dict[str, str]], _shape: Any) -> Any:
        return self("\n".join(message["content"] for message in messages))


@contextmanager
def workbench(server: ModelServer) -> Iterator[Workbench]:
    opened = Workbench(config.read_config({"OPENAI_BASE_URL": server.url, "MODEL": "served"}))
    try:
        yield opened
    finally:
        opened.shutdown()


def run(
    bench: Workbench, question: str = SOLAR, rests: Status = Status.REVIEW, **settings: Any
) -> RunSnapshot:
    run_id = bench.start(question, Settings(**{"world": "demo", **settings}))
    assert bench.drive(run_id) is rests, bench.snapshot(run_id).run.error
    return bench.snapshot(run_id)


def driven(
    script: Callable[[Request], Any] | Script, question: str = SOLAR, **settings: Any
) -> tuple[RunSnapshot, ModelServer, list[Any]]:
    """A whole run with this model; the view, the server and the calls."""
    with (
        ModelServer(script.served if isinstance(script, Script) else script) as server,
        workbench(server) as bench,
    ):
        view = run(bench, question, **settings)
        return view, server, bench.calls(view.run.id)


def failing(role: str, script: Script, reply: Any = "I would rather not say.") -> Callable[[Request], Any]:
    return lambda request: reply if role_of(request.prompt) == role else script.served(request)
