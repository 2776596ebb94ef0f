"""A run with facts of three kilns to report on, and a scripted model that writes full reports."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from agent.engine.state import to_jsonable
from agent.types import Fact, Outcome, Page, PageRef, PlanPart, Settings, Status
from agent.workbench import Workbench
from tests.web.claim_judge import ALWAYS, Judging, unfence
from tests.web.researching_model import Script, role_of

ASKED = "How do the kilns of Østby, Lunde and Myra compare, and who runs them?"
KILNS = {"Østby": (1921, 40, "Petra Aune"), "Lunde": (1934, 55, "Jon Rise"), "Myra": (1950, 70, "Siri Dahl")}
PLAN = [
    PlanPart(id="1", question="How do the kilns of Østby, Lunde and Myra compare?"),
    PlanPart(id="2", question="Who runs them?"),
]


def start_report(bench: Workbench, question: str = ASKED, **settings: Any) -> str:
    """A run that knows the kilns and is about to write its answer."""
    run_id = bench.start(question, Settings(**{"world": "demo", "report": "full", **settings}))
    facts, refs = [], []
    for n, (place, (built, tonnes, owner)) in enumerate(KILNS.items()):
        lines = {
            "1": f"The kiln of {place} was built in {built}. The kiln of {place} burns {tonnes} tonnes a year.",
            "2": f"The kiln of {place} is run by {owner}.",
        }
        text, url = " ".join(lines.values()), f"https://kiln{n}.example/"
        page = Page(
            url=url,
            final_url=url,
            outcome=Outcome.OK,
            title=f"The kiln of {place}",
            text=text,
            fetched_at="2026-11-21T09:00:00Z",
            sha256=hashlib.sha256(text.encode()).hexdigest(),
        )
        page_id = bench.store.pages.put(page)
        refs.append(PageRef(url=url, page_id=page_id, title=page.title, step=1, facts=2))
        for part, line in lines.items():
            start = text.index(line)
            facts.append(
                Fact(
                    id=f"kiln{n}{part}",
                    statement=line,
                    quote=line,
                    part=part,
                    page_id=page_id,
                    url=url,
                    title=page.title,
                    start=start,
                    end=start + len(line),
                    sha256=page.sha256,
                    verified=True,
                    relevance=0.8,
                    step=1,
                    by="model",
                    published_at=f"202{n}-05-01",
                )
            )
    change = to_jsonable({"facts": facts, "pages": refs, "plan_parts": PLAN})
    bench.store.ledger.append_person_step(
        run_id, "add", change, next="report", among=tuple(Status), status=Status.RUNNING
    )
    return run_id


class ReportScript(Script):
    """Plays outline, section, summary and the judge. Facts are told apart by the words of their statements."""

    def __init__(self, judge: Judging = ALWAYS, **more: Any) -> None:
        super().__init__(judge=judge, **more)

    def __call__(self, prompt: str) -> Any:
        role = role_of(prompt)
        told = self.more.get(role)
        if told is None or callable(told):
            return super().__call__(prompt)
        self.prompts.append((role, prompt))
        return told

    def count(self, role: str) -> int:
        """How often a role was asked."""
        return sum(name == role for name, _ in self.prompts)

    def report(self, _prompt: str) -> Any:
        return {"length": "full", "blocks": []}

    def outline(self, prompt: str) -> Any:
        ids = find_facts(prompt)
        first = [i for i, line in ids.items() if "built" in line]
        rest = [i for i in ids if i not in first]
        return {
            "title": "Three kilns",
            "sections": [
                {"heading": "Age and output", "part": "1", "form": "table", "fact_ids": first},
                {"heading": "Who runs them", "part": "2", "form": "prose", "fact_ids": rest},
            ],
        }

    def section(self, prompt: str) -> Any:
        ids = find_facts(prompt)
        if "as a table" not in prompt:
            said = [{"text": line, "fact_ids": [i]} for i, line in ids.items()]
            return {"blocks": [{"kind": "paragraph", "sentences": said}]}
        rows = [
            {
                "label": re.search(r"kiln of (\w+)", line)[1],
                "cells": [
                    {"text": re.search(r"in (\d+)", line)[1], "fact_ids": [i]},
                    {"text": re.search(r"burns (\d+)", line)[1], "fact_ids": [i]},
                ],
            }
            for i, line in ids.items()
            if "built" in line
        ]
        heads = ["Kiln", "Built", "Tonnes a year"]
        return {"blocks": [{"kind": "table", "text": "The kilns compared", "heads": heads, "rows": rows}]}

    def summary(self, prompt: str) -> Any:
        [told] = unfence(prompt, "sentences")
        line = next(line for line in told.splitlines() if "run by" in line)
        text, cited = re.fullmatch(r"- (.*) \((.*)\)", line).groups()
        return {"sentences": [{"text": text, "fact_ids": cited.split(", ")}]}


def find_facts(prompt: str) -> dict[str, str]:
    """The facts of a prompt by their short ids."""
    return dict(re.findall(r"^(f\d+) \[[^\]]*\] (.*)$", prompt, re.MULTILINE))
