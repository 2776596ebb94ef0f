"""Threads of each flow that researches, with a private note in the first run, a public note behind it and a further
question: what the model was shown, and whether the roles whose replies go out were shown the note or its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.actions.export import export_run, list_formats, render_shared_run
from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.collecting_model import PASSAGE, Walker
from tests.web.folders import write_world
from tests.web.model_server import ModelServer, Request
from tests.web.private_run import find_canaries
from tests.web.researching_model import END, Script, crawl, find_fact_ids, role_of, together
from tests.web.site import Site, html

FLOWS = ("research", "site", "collect")
NOTE = "Our client Holmberg intends to purchase the yard before Christmas: write it for them."
PARAPHRASE = "A takeover by the mandator is planned this winter"
WORDS = ("Holmberg", "purchase the yard")
ASKS_OUT = frozenset(
    "plan decision analyzer AgentDecision IntentReply PageDecision LinkRanking RelevanceReply".split()
)
"""The roles whose replies go to engines and pages, or choose what is read."""
FACT = "The Kallsteg yard sold 100 boats in 2020."


def _article(n: int) -> Any:
    text = (
        f"Kallsteg report number {n} says that the yard at Kallsteg sold {n}00 boats in the spring season. "
        * 12
    )
    return html(f"<title>Article {n}</title><article><h1>Kallsteg article {n}</h1><p>{text}</p></article>")


LINKS = "".join(f'<li><a href="/a{n}">Kallsteg article {n}</a> 2026-11-0{n}</li>' for n in range(1, 4))
START = html(f"<title>Kallsteg</title><h1>Kallsteg yard</h1><p>{FACT}</p><ul>{LINKS}</ul>")
PAGES = {"/": START, **{f"/a{n}": _article(n) for n in range(1, 4)}}


class Telling(Walker):
    """A model that says in other words what a private note told it, wherever it was shown the note."""

    def __init__(self, start: str) -> None:
        super().__init__(topic="Kallsteg")
        asked = {"parts": [{"question": "How many boats did the Kallsteg yard sell?"}]}
        self.research = Script(together(crawl(start)), END, crawl(start), plan=asked)
        self.research.report, self.research.revision = self._report, self._revision  # type: ignore[method-assign]
        self.research.analyzer = self._analyzer  # type: ignore[method-assign]
        self.seen: list[tuple[str, list[str]]] = []

    def __call__(self, request: Request) -> dict[str, Any]:
        prompt, role = request.prompt, request.body["response_format"]["json_schema"]["name"]
        with_note = find_canaries(prompt.encode(), (*WORDS, PARAPHRASE))
        is_own = hasattr(self, f"_{role}")
        self.seen.append((role if is_own else role_of(prompt), with_note))
        reply = super().__call__(request) if is_own else self.research(prompt)
        return self._tell(reply) if with_note else reply

    def _tell(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._tell(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._tell(item, name) for item in value]
        told = name in ("text", "topic", "reasoning", "question", "standalone_question", "reason")
        return f"{PARAPHRASE}." if told and isinstance(value, str) else value

    def _AgentDecision(self, prompt: str) -> dict[str, Any]:
        chosen = {
            "decision": "answer",
            "reasoning": "enough",
            "standalone_question": "How many boats were sold?",
        }
        return {**chosen, "selected_url_indices": [], "useful_visited_indices": [0]}

    def _DraftReply(self, prompt: str) -> dict[str, Any]:
        name = next((name for name, _, text in PASSAGE.findall(prompt) if FACT in text), "p1")
        return {
            "refusal": "none",
            "answer": [{"text": FACT, "quotes": [{"passage_id": name, "quote": FACT}]}],
        }

    def _report(self, prompt: str) -> dict[str, Any]:
        said = [{"text": FACT, "fact_ids": [i]} for i in find_fact_ids(prompt)[:1]]
        return {"blocks": [{"kind": "paragraph", "sentences": said}]}

    def _revision(self, prompt: str) -> dict[str, Any]:
        is_told = bool(find_canaries(prompt.encode(), (*WORDS, PARAPHRASE)))
        asks = {"questions": [f"Since when {PARAPHRASE}?"], "searches": [PARAPHRASE]} if is_told else {}
        return {"understood": "write it anew", "is_whole": True, "needs_research": True, **asks}

    def _analyzer(self, prompt: str) -> dict[str, Any]:
        found = re.findall(r"\b(p\d+)\b", prompt[: prompt.find(FACT)])
        fact = {"statement": FACT, "quote": FACT, "attribute": "sold", "subject": "yard", "part": "1"}
        told = {"assessment": "Seen.", "confidence_score": 0.9, "answered_parts": ["1"]}
        return {"facts": [{**fact, "passage_id": found[-1]}] if found and FACT in prompt else [], **told}


@dataclass
class PrivateThread:
    """A workbench with the runs of a thread, what the roles were shown, and what was asked of the site."""

    bench: Workbench
    model: Telling
    site: Site
    runs: list[str] = field(default_factory=list)

    def list_told(self) -> list[str]:
        """The roles whose replies go out that were shown the note or what was made of it, and requests and
        searches that tell it."""
        told = [
            f"{role}: {', '.join(words)}" for role, words in self.model.seen if role in ASKS_OUT and words
        ]
        for view in map(self.bench.snapshot, self.runs):
            asked = [action.query_or_url for action in view.state.actions]
            asked += [text for r in view.state.readings for text in (*r.questions, *r.searches)]
            asked += [part.question for part in view.state.plan]
            told += [text for text in asked if find_canaries(text.encode(), (*WORDS, PARAPHRASE))]
        return told

    def list_leaks(self) -> list[str]:
        """The files and shares that hold a word of the note."""
        flow, found = self.bench.snapshot(self.runs[0]).run.settings.flow, list[str]()
        for run_id in self.runs:
            ways = {one.name: export_run(self.bench, run_id, one.name) for one in list_formats(flow)}
            ways["share"] = render_shared_run(self.bench, run_id).document.encode()
            found += [f"{name} of {run_id}" for name, body in ways.items() if find_canaries(body, WORDS)]
        return found


@contextmanager
def private_thread(folder: Path, flow: str) -> Iterator[PrivateThread]:
    """A run that is sent back with the private note and then with a public one, and a further question."""
    with Site(PAGES) as site:
        model = Telling(site.url("/"))
        with ModelServer(model) as server:
            own = {
                "TOUCHSTONE_DATA": str(folder / "data"),
                "OPENAI_BASE_URL": server.url,
                "MODEL": "served",
                "OLLAMA_URL": "",
            }
            web = {"EMBEDDING_MODEL": "off", "FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"}
            bench = Workbench(config.read_config({**own, **web}))
            bench.worker.model_search.find()
            page = {"url": site.url("/"), "title": "Kallsteg", "text": FACT}
            world = write_world(folder / "world", [page]) if flow == "research" else "live"
            more = {} if flow == "research" else {"start_urls": [site.url("/")]}
            settings = Settings(flow=flow, world=world, threshold=0.99, max_steps=4, **more)
            asked = f"How many boats did the Kallsteg yard sell? {site.url('/')}"
            made = PrivateThread(bench, model, site)
            try:
                made.runs.append(bench.start(asked, settings))
                _drive(bench, made.runs[0])
                bench.act(
                    made.runs[0], "send_back", bench.snapshot(made.runs[0]).head, note=NOTE, private=True
                )
                _drive(bench, made.runs[0])
                bench.act(
                    made.runs[0],
                    "send_back",
                    bench.snapshot(made.runs[0]).head,
                    note="Say more of the boats.",
                )
                _drive(bench, made.runs[0])
                made.runs.append(bench.follow_up(made.runs[0], "How many boats were sold in 2021?"))
                _drive(bench, made.runs[1])
                yield made
            finally:
                bench.shutdown()


def _drive(bench: Workbench, run_id: str) -> None:
    status = bench.drive(run_id)
    assert status is Status.REVIEW, (status, bench.snapshot(run_id).run.error)
