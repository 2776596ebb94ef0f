"""Writes runs of any length into a store, step by step as a flow does."""

from __future__ import annotations

import hashlib
import random
import time
from typing import Any

from agent.engine.state import to_jsonable
from agent.flows import FLOWS
from agent.store.database import Store
from agent.store.ledger import utc_timestamp
from agent.types import (
    Action,
    Answer,
    Assessment,
    Fact,
    Lead,
    ModelCall,
    Outcome,
    PageRef,
    Proposal,
    Refusal,
    Run,
    Sentence,
    Settings,
    Source,
    StatementCounts,
    Status,
    Step,
)
from tests.records import fill

WORDS = "harbour lantern ledger storm keeper archive mill bridge dairy register ferry granite copper orchard winter council".split()


class Writer:
    """Writes one synthetic run, step by step, as the flow would."""

    def __init__(self, store: Store, size: int, seed: int) -> None:
        self.store, self.size, self.dice = store, size, random.Random(seed)
        self.run_id = hashlib.sha256(f"{size}-{seed}".encode()).hexdigest()[:12]
        self.settings = Settings(world="demo", model="keyless", max_steps=size, max_pages=size)
        self.question = f"Which keeper of the Brindle lighthouse wrote the ledger of {size} storms ({seed})?"
        self.steps: list[Step] = []
        self.calls: list[ModelCall] = []
        self.facts: list[Fact] = []

    def write(self, status: Status, owner: str = "") -> str:
        """Put the run into the store; returns its id. A run at work is held by `owner`, so that nobody drives
        it on."""
        self._step("ask", {"question": self.question, "settings": self.settings}, "decide", by="person")
        for n in range(self.size):
            self._look(n)
        if status is Status.REVIEW:
            self._answer()
        flow = FLOWS["research"]
        state = flow.fold_steps(self.steps)
        run = fill(
            Run,
            id=self.run_id,
            question=self.question,
            status=status,
            settings=self.settings,
            created_at=utc_timestamp(),
            updated_at=utc_timestamp(),
        )
        self.store.ledger.add_if_absent(run, self.steps, **state.summary())
        for call in self.calls:
            self.store.calls.record(call)
        if owner:
            self.store.ledger.update_run(self.run_id, owner=owner, lease_until=time.time() + 36_000, token=1)
        return self.run_id

    def _step(self, name: str, change: dict[str, Any], next: str, by: str = "keyless") -> None:
        self.steps.append(
            Step(
                n=len(self.steps),
                name=name,
                change=to_jsonable(change),
                next=next,
                by=by,
                at=utc_timestamp(),
                seconds=0.1,
                cpu_ms=9.0,
            )
        )  # type: ignore[arg-type]

    def _look(self, n: int) -> None:
        """Decide, look, analyze."""
        head, search = len(self.steps), n % 4 == 0
        url = f"https://h{n % 40}.example/{self.size}/{n}"
        what, kind = (self._say(4), "search_duckduckgo") if search else (url, "crawl_url")
        proposal = Proposal(next_action=kind, query_or_url=what, reasoning=self._say(12))  # type: ignore[arg-type]
        refused = (
            [Refusal(what=f"{url}/elsewhere", why="outside the allowed domains", step=head)]
            if n % 10 == 3
            else []
        )
        self._step(
            "decide",
            {"pending": proposal, **({"refusals": refused} if refused else {})},
            "search" if search else "crawl",
        )
        failed = n % 10 == 7
        action = fill(
            Action,
            step=head + 1,
            action=kind,
            query_or_url=what,
            reasoning=proposal.reasoning,
            outcome=Outcome.BLOCKED if failed else Outcome.OK,  # type: ignore[arg-type]
            detail="it asked for a login" if failed else "",
            hits=10 if search else 0,
            page_id="" if search or failed else f"page{n % 50}",
        )
        ref = PageRef(
            url=url,
            page_id=action.page_id,
            title=self._say(3),
            outcome=action.outcome,
            detail=action.detail,
            step=head + 1,
            facts=5,
            found_on="search: x" if n < 5 else f"https://h{(n - 1) % 40}.example/{self.size}/{n - 1}",
        )
        self._step(
            "search" if search else "crawl",
            {"actions": [action], "pages": [] if search else [ref], "pending": None},
            "analyze",
        )
        facts = [self._fact(url, head + 2, action.page_id) for _ in range(5)]
        leads = [
            fill(
                Lead,
                id=f"{n}-{i}",
                kind="url",
                value=f"{url}/{i}",
                text=self._say(3),
                score=self.dice.random(),
                step=head + 2,
            )
            for i in range(5)
        ]
        if n % 20 == 19:
            facts = [
                fact.replace(
                    statement=f"The mill was built in {year}.", subject=f"mill {n}", attribute="built"
                )
                for fact, year in zip(facts, (1901, 1902), strict=False)
            ]
        said = Assessment(step=head + 2, model=round(self.dice.random(), 2))
        found: dict[str, Any] = {"facts": facts, "leads": leads, "assessments": [said]}
        self._step("analyze", found, "decide")
        prompt = [{"role": "user", "content": self._say(200)}]
        self.calls.append(
            fill(
                ModelCall,
                key=f"{self.run_id}-{n}",
                run_id=self.run_id,
                step=head,
                role="decision",
                model="m",
                prompt=prompt,
                reply=self._say(40),
                at=utc_timestamp(),
            )
        )

    def _fact(self, url: str, step: int, page_id: str) -> Fact:
        quote = f"{self._say(14)}."
        number = len(self.facts)
        fact = Fact(
            id=f"f{number}",
            statement=quote,
            quote=quote,
            page_id=page_id or "page1",
            url=url,
            title=self._say(3),
            start=10 * number,
            end=10 * number + 9,
            sha256="0" * 64,
            fetched_at=utc_timestamp(),
            subject=self._say(2),
            attribute=self.dice.choice(WORDS),
            trust=0.5,
            relevance=self.dice.random(),
            verified=number % 9 != 0,
            step=step,
        )
        self.facts.append(fact)
        return fact

    def _answer(self) -> None:
        cited = [fact for fact in self.facts if fact.verified][:6]
        sources = [
            fill(Source, n=i + 1, url=fact.url, title=fact.title, quotes=[fact.quote], fact_ids=[fact.id])
            for i, fact in enumerate(cited)
        ]
        said = [Sentence(text=fact.statement, fact_ids=[fact.id], backed=True) for fact in cited]
        counted = StatementCounts(backed=6)
        answer = Answer(
            n=1,
            verdict="partial",
            sentences=said,
            sources=sources,
            statements=counted,
            confidence=0.6,
            step=len(self.steps),
        )
        self._step(
            "report", {"answers": [answer], "why_stopped": "it ended", "stop_reason": "enough"}, "review"
        )

    def _say(self, words: int) -> str:
        return " ".join(self.dice.choice(WORDS) for _ in range(words)).capitalize()
