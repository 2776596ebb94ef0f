"""Measures what the sections of a full report cost: calls and prompt tokens a section, by role.

    python -m bench.report [--sections 5] [--facts 9] [--json OUT]

A run knows facts of 30 invented pages (quotes of 23 to 37 words; of nine facts two share the quote of another)
and writes its full report with a scripted model: an outline of so many sections with so many facts each, in each
section a table and a paragraph whose sentences put the facts in other words, so that the judge is asked about
all of them, and one of them fails and is taken out by the repair. Goals, and when the exit code is 1: two calls and 4,000 prompt
tokens a section, from the outline to the end."""

from __future__ import annotations

import hashlib
import random
import re
import sys
import tempfile
from collections import Counter
from typing import Any

from agent.engine.state import to_jsonable
from agent.settings import config
from agent.types import Fact, ModelCall, Outcome, Page, PageRef, PlanPart, Settings, Status
from agent.workbench import Workbench
from bench import make_parser, write_figures
from tests.web.claim_judge import check_reply
from tests.web.reporting_model import find_facts
from tests.web.scripted import ScriptedModel

MAX_CALLS, MAX_TOKENS = 2.0, 4_000
PAGES = 30
QUESTION = "What are the harbours of the Vessen coast, who runs them, and how have they changed?"
TOPICS = ("trade", "owners", "dredging", "ferries", "storms", "pilots", "wages", "cranes")
NAMES = "Aldo Brinck,Mathilde Orre,Ansa Brorsen,Petra Lind,Olle Kast,Ida Ferrand,Jon Selmer,Vera Holt".split(
    ","
)
LEAD = "The office of the harbour kept a book of what was done in each of these years, and by whom it was ordered."
"""What stands before each quote on its page."""
FILLER = (
    "harbour quay winter mail passengers island timber engine crew summer route storm council keeper".split()
)


def write_quote(dice: random.Random, place: str, topic: str, n: int) -> str:
    """A sentence of 20 to 45 words with a name and a figure."""
    words = dice.choices(FILLER, k=dice.choice((6, 9, 14, 20)))
    name, where = dice.choice(NAMES), f"of {place}" if n % 2 else "here"
    return (
        f"In {1900 + n % 90} the {topic} {where} were led by {name}, with {120 + n} workers, "
        f"{' '.join(words[:3])}, while the {' '.join(words[3:])}."
    )


def start(bench: Workbench, sections: int, facts: int) -> str:
    """A run that knows the facts and is about to write its report."""
    dice = random.Random(5)
    run_id = bench.start(QUESTION, Settings(world="demo", report="full"))
    places = [f"Port {dice.choice(NAMES).split()[0]}{n}" for n in range(PAGES)]
    quotes: list[list[tuple[int, str]]] = [[] for _ in range(PAGES)]
    for n in range(sections * facts):
        part, page = n // facts, n % PAGES
        is_shared = n % facts in (4, 8)
        if is_shared:
            quotes[(n - 1) % PAGES].append((n, ""))
        else:
            quotes[page].append((n, write_quote(dice, places[page], TOPICS[part % len(TOPICS)], n)))
    made, refs = list[Fact](), []
    for page, told in enumerate(quotes):
        text = "\n\n".join(f"{LEAD} {quote}" for _, quote in told if quote)
        url, title = f"https://coast{page}.example/history", f"{places[page]}: a history of the harbour"
        sha = hashlib.sha256(text.encode()).hexdigest()
        stored = Page(url=url, final_url=url, outcome=Outcome.OK, title=title, text=text, sha256=sha)
        page_id = bench.store.pages.put(stored.replace(fetched_at="2026-11-21T09:00:00Z"))
        refs.append(PageRef(url=url, page_id=page_id, title=title, step=1, facts=len(told)))
        last = ""
        for n, own in told:
            last = quote = own or last
            start_at = text.index(quote)
            name, count = re.search(r"led by ([^,]+), with (\d+)", quote).groups()  # type: ignore[union-attr]
            topic, year = TOPICS[n // facts % len(TOPICS)], quote[3:7]
            said = f"{name} was at the head of the {topic} of {places[page]} in {year}, as it is told there."
            if not own:
                said = f"At {places[page]} {count} people worked in the {topic} under {name} in {year}."
            made.append(
                Fact(
                    id=f"fact{n:03}",
                    statement=said,
                    quote=quote,
                    part=str(n // facts + 1),
                    page_id=page_id,
                    url=url,
                    title=title,
                    start=start_at,
                    end=start_at + len(quote),
                    sha256=sha,
                    verified=True,
                    relevance=0.8,
                    step=1,
                    by="model",
                    published_at="2021-05-01",
                )
            )
    plan = [
        PlanPart(id=str(n + 1), question=f"What is known of the {TOPICS[n % 8]}?") for n in range(sections)
    ]
    change = to_jsonable({"facts": made, "pages": refs, "plan_parts": plan})
    bench.store.ledger.append_person_step(
        run_id, "add", change, next="report", among=tuple(Status), status=Status.RUNNING
    )
    return run_id


class Script:
    """The writer and its judge; of each section the first sentence fails, and the repair takes it out."""

    def __init__(self, sections: int) -> None:
        self.sections = sections

    def __call__(self, messages: list[dict[str, Any]], shape: type[Any]) -> Any:
        prompt = "\n".join(str(message["content"]) for message in messages)
        match shape.__name__:
            case "OutlineReply":
                return self._outline(prompt)
            case "SectionReply":
                return self._section(prompt)
            case "SummaryReply":
                ids = re.findall(r"^- .*\((f\d+)[,)]", prompt, re.MULTILINE)
                lines = re.findall(r"^- (.*) \(f\d+", prompt, re.MULTILINE)
                return {
                    "sentences": [
                        {"text": t, "fact_ids": [i]} for t, i in list(zip(lines, ids, strict=True))[:4]
                    ]
                }
            case "RepairReply":
                failed = re.findall(r"^Sentence (\d+), cites (q\d+)", prompt, re.MULTILINE)
                return {"sentences": [{"n": int(n), "text": "", "quotes": [q]} for n, q in failed]}
            case "CompareFactsReply":
                return {"conflicts": []}
        return check_reply(prompt, shape.__name__, lambda statement, _: "in all the years" not in statement)

    def _outline(self, prompt: str) -> Any:
        parts = re.findall(r"^(f\d+) \[[^\]]*part (\d+)\]", prompt, re.MULTILINE)
        return {
            "title": "The harbours",
            "sections": [
                {
                    "heading": f"The {TOPICS[n % 8]}",
                    "part": str(n + 1),
                    "form": "prose",
                    "fact_ids": [i for i, part in parts if part == str(n + 1)],
                }
                for n in range(self.sections)
            ],
        }

    def _section(self, prompt: str) -> Any:
        said = []
        for n, (i, line) in enumerate(find_facts(prompt).items()):
            text = line.partition(" | quote:")[0].rstrip(".")
            wrong = " in all the years" if n == 0 and ("the trade" in line or "the owners" in line) else ""
            said.append({"text": f"{text}{wrong}.", "fact_ids": [i]})
        return {"blocks": [{"kind": "paragraph", "sentences": said}]}


def measure(sections: int, facts: int, context: int = 32_768) -> list[ModelCall]:
    """The calls of one report, from the outline on."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(config.read_config({"TOUCHSTONE_DATA": folder}))
        model = ScriptedModel(Script(sections), context=context)
        bench.worker.model_client = lambda name, fast="": (model, "")  # type: ignore[method-assign]
        try:
            run_id = start(bench, sections, facts)
            assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
            answer = bench.snapshot(run_id).state.answer
            assert (
                answer and answer.length == "full" and answer.statements.backed >= sections * (facts - 2)
            ), answer
            return [call for call in bench.calls(run_id) if call.role != "report"]
        finally:
            bench.shutdown()


def main(arguments: list[str]) -> int:
    """Measure, print; 1 when a goal is missed."""
    parser = make_parser(__doc__)
    parser.add_argument("--sections", type=int, default=5)
    parser.add_argument("--facts", type=int, default=9)
    options = parser.parse_args(arguments)
    calls = measure(options.sections, options.facts)
    tokens, count = Counter[str](), Counter[str]()
    for call in calls:
        tokens[call.role] += call.prompt_tokens
        count[call.role] += 1
    for role, total in tokens.most_common():
        print(f"  {role:<14} {count[role]:>3} calls {total:>7} prompt tokens")
    figures = {
        "calls_a_section": round(len(calls) / options.sections, 2),
        "prompt_tokens_a_section": round(tokens.total() / options.sections),
    }
    for (name, value), most in zip(figures.items(), (MAX_CALLS, MAX_TOKENS), strict=True):
        print(f"  {name:<24} {value:>8} (at most {most:g}){'' if value <= most else '  OVER'}")
    write_figures(options.json, figures)
    return int(figures["calls_a_section"] > MAX_CALLS or figures["prompt_tokens_a_section"] > MAX_TOKENS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
