"""Drives a full report on six parts over 60 pages with a scripted model in a generated world: it must finish,
take up where it stood after kills, write what there is in the middle, and cost what the plan says.

    python -m bench.depth [--model-ms 20] [--keep FOLDER]

A child process drives the run; it is killed twice at the numbers of pages in KILLS, and a branch of the run is
told to write its answer at HALF. `--keep` leaves the store, to look at the run on the screens: TOUCHSTONE_DATA is
then FOLDER/data. Exit code 1 when anything of this fails; a run takes a minute or less."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.web.claim_judge import ALWAYS, check_reply
from tests.web.folders import page, write_world
from tests.web.reporting_model import find_facts
from tests.web.scripted import ScriptedModel

PARTS = ("mills", "ferries", "dairies", "quarries", "lighthouses", "railways")
PAGES_A_PART = 12
PAGES, HALF, KILLS = 60, 30, (14, 41)
QUESTION = f"How did the {', '.join(PARTS[:-1])} and {PARTS[-1]} of the Vessen coast come to an end?"
PLACES = "Orrin Talby Vinga Selm Aldra Norvik Hasle Brenn Ytre Ulvang Dalby Kvarn".split()
BUYERS = "Brinck Orre Brorsen Lind Kast Ferrand Selmer Holt Vasshaug Rise Dahl Aune".split()
FACT = r"The {kind} of \w+ were closed in \d+ after \w+ bought them for \d+ crowns\."


def write_pages(folder: Path) -> str:
    """The world: twelve pages for each part, each with one sentence that answers and some that do not."""
    docs = []
    for k, kind in enumerate(PARTS):
        for n, place in enumerate(PLACES[:PAGES_A_PART]):
            fact = (
                f"The {kind} of {place} were closed in {1890 + 5 * k + n} after {BUYERS[n % len(BUYERS)]} bought them for "
                f"{300 + 7 * n} crowns."
            )
            rest = [
                f"The {kind} of {place} had {m + 3} hands and a yard by the water in the year {1850 + m}, and the "
                f"council of {place} kept a book of them."
                for m in range(40)
            ]
            rest.insert(7 + n, fact)
            text = "\n\n".join(" ".join(rest[at : at + 4]) for at in range(0, len(rest), 4))
            title = f"The {kind} of {place}"
            docs.append(page(f"https://{place.lower()}{k}.example/{kind}", title, text))
    return write_world(folder, docs)


class Script:
    """The model: six parts, rounds of four pages for one part after the other, facts as the pages say them."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, messages: list[dict[str, Any]], shape: type[Any]) -> Any:
        time.sleep(self.seconds)
        prompt = "\n".join(str(message["content"]) for message in messages)
        match shape.__name__:
            case "PlanReply":
                return {"parts": [{"question": f"How did the {kind} come to an end?"} for kind in PARTS]}
            case "DecisionReply":
                return {"actions": self._propose(prompt)}
            case "AnalyzerReply":
                return self._analyze(prompt)
            case "ReportReply":
                return {"length": "full", "answer": []}
            case "OutlineReply":
                return self._outline(prompt)
            case "SectionReply":
                said = [{"text": line, "fact_ids": [name]} for name, line in find_facts(prompt).items()]
                return {"blocks": [{"kind": "paragraph", "sentences": said}]}
            case "SummaryReply":
                lines = re.findall(r"^- (.*) \((f\d+)[,)]", prompt, re.MULTILINE)
                return {"sentences": [{"text": text, "fact_ids": [name]} for text, name in lines[::9]]}
            case "CompareFactsReply":
                return {"conflicts": []}
        return check_reply(prompt, shape.__name__, ALWAYS)

    def _propose(self, prompt: str) -> list[dict[str, Any]]:
        listed = prompt.split("Pages that were read in part")[0].splitlines()
        unread = [line for line in listed if re.match(r"u\d+ http", line) and "(read)" not in line]
        for n, kind in enumerate(PARTS, start=1):
            query = f"end of the {kind} of the Vessen coast"
            ids = [line.split()[0] for line in unread if f"/{kind}" in line]
            if ids:
                return [{"next_action": "crawl_url", "query_or_url": i, "part": str(n)} for i in ids[:4]]
            if f": {query} ->" not in prompt:
                return [{"next_action": "search_duckduckgo", "query_or_url": query, "part": str(n)}]
        return [{"next_action": "send_to_hitl"}]

    def _analyze(self, prompt: str) -> dict[str, Any]:
        shown = re.split(r"Passage (p\d+)[^\n]*:\n", prompt.split("Pages of this round")[-1])
        facts = [
            {
                "quote": quote,
                "statement": quote,
                "passage_id": name,
                "part": str(n),
                "subject": quote.split(" were ")[0],
                "attribute": "closing",
            }
            for name, text in zip(shown[1::2], shown[2::2], strict=True)
            for n, kind in enumerate(PARTS, start=1)
            for quote in re.findall(FACT.format(kind=kind), text)
        ]
        latest = max((int(fact["part"]) for fact in facts), default=1)
        return {
            "facts": facts,
            "assessment": f"{latest - 1} of six parts are answered.",
            "confidence_score": 0.4 + 0.08 * latest,
            "answered_parts": [str(n) for n in range(1, latest)],
            "suggestions_for_next_step": ["Read on."],
        }

    def _outline(self, prompt: str) -> dict[str, Any]:
        facts = re.findall(r"^(f\d+) \[[^\]]*part (\d+)\]", prompt, re.MULTILINE)
        sections = [
            {"heading": f"The {kind}", "part": str(n), "fact_ids": [i for i, part in facts if part == str(n)]}
            for n, kind in enumerate(PARTS, start=1)
        ]
        return {"title": "The end of six trades", "sections": sections}


def open_bench(data: Path, seconds: float) -> Workbench:
    """A workbench on a store, with the scripted model."""
    bench = Workbench(config.read_config({"TOUCHSTONE_DATA": str(data), "DATABASE_URL": ""}))
    model = ScriptedModel(Script(seconds))
    bench.worker.model_client = lambda name, fast="": (model, "")  # type: ignore[method-assign]
    return bench


def drive_and_kill(data: Path, run_id: str, seconds: float, at: int) -> None:
    """Drive the run in a child process; kill it when so many pages are read."""
    child = os.fork()
    if not child:
        open_bench(data, seconds).drive(run_id)
        os._exit(0)
    bench, ended = open_bench(data, seconds), 0
    while not ended and bench.snapshot(run_id).state.pages_read_count < at:
        time.sleep(0.02)
        ended, _ = os.waitpid(child, os.WNOHANG)
    bench.shutdown()
    if ended:
        sys.exit(f"the run ended before page {at}")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def check_report(view: RunSnapshot, pages: int) -> list[str]:
    """What is wrong with a finished run."""
    answer, state = view.state.answer, view.state
    if view.run.status is not Status.REVIEW or answer is None:
        return [f"it rests as {view.run.status}: {view.run.error}"]
    headings = {block.text for block in answer.blocks if block.kind == "heading"}
    fetched = [action.query_or_url for action in state.actions if action.action == "crawl_url"]
    wrong = {
        "not a full report": answer.length != "full",
        f"{state.pages_read_count} pages were read": not pages <= state.pages_read_count,
        "a page was recorded twice": len(fetched) != len(set(fetched)),
        "a step is missing": [step.n for step in view.steps] != list(range(len(view.steps))),
        "an unsupported sentence": answer.statements.unsupported > 0,
        f"headings {headings}": pages == PAGES and not {f"The {kind}" for kind in PARTS} <= headings,
    }
    return [what for what, is_wrong in wrong.items() if is_wrong]


def main(arguments: list[str]) -> int:
    """Drive, kill, write in the middle, check, print; 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model-ms", type=int, default=20)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args(arguments)
    seconds = options.model_ms / 1000
    with tempfile.TemporaryDirectory() as made:
        folder = options.keep or Path(made)
        data, world = folder / "data", write_pages(folder / "world")
        settings = Settings(
            world=world, report="full", max_steps=80, max_pages=PAGES, max_calls=120, at_cap="report"
        )
        bench, began = open_bench(data, seconds), time.monotonic()
        whole, half = (bench.start(QUESTION, settings) for _ in range(2))
        if options.keep:
            drive_and_kill(data, under_way := bench.start(QUESTION, settings), seconds, HALF)
            bench.act(under_way, "stop")
            bench.drive(under_way)
        for at in KILLS:
            drive_and_kill(data, whole, seconds, at)
        drive_and_kill(data, half, seconds, HALF)
        bench.act(half, "stop")
        bench.act(half, "finish")
        for run_id in (whole, half):
            bench.drive(run_id)
        views = {"whole": bench.snapshot(whole), "written in the middle": bench.snapshot(half)}
        faults = [
            f"{name}: {fault}"
            for (name, view), least in zip(views.items(), (PAGES, HALF), strict=True)
            for fault in check_report(view, least)
        ]
        for name, view in views.items():
            calls = bench.calls(view.run.id)
            parts = Counter(part.status for part in view.state.answer.parts) if view.state.answer else {}
            print(
                f"  {name}: {view.state.pages_read_count} pages, {len(view.state.actions)} actions, "
                f"{len(view.steps)} steps, {len(calls)} calls, {sum(c.prompt_tokens for c in calls):,} prompt tokens, "
                f"{len(view.state.facts)} facts, parts {dict(parts)}"
            )
        print(f"  {time.monotonic() - began:.1f} s in all; faults: {json.dumps(faults)}")
        bench.shutdown()
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
